# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random choices that operators share: values, sizes, operands."""

from graph import FLOATS, Refused

# Ones, sizes about those of a vector, odd ones and primes.
SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 31, 32, 33, 48, 65]


def pick(graph, things):
    things = list(things)
    if not things:
        raise Refused("nothing to choose from")
    return things[int(graph.random.integers(len(things)))]


def chance(graph, probability):
    return graph.random.random() < probability


def between(graph, low, high):
    """An integer, both ends included."""
    return int(graph.random.integers(low, high, endpoint=True))


def size(graph, most=65):
    return pick(graph, [s for s in SIZES if s <= most])


def shape(graph, rank, most=3000):
    """Sizes of so many axes, so many elements at most."""
    while True:
        dims = tuple(size(graph) for _ in range(rank))
        product = 1
        for d in dims:
            product *= d
        if product <= most:
            return dims


def value(graph, dtypes=FLOATS, ranks=None, exact=None, where=None):
    """A value of the graph, rather a late one than an early one."""
    found = [v for v in graph.values
             if v.dtype in dtypes
             and (ranks is None or v.rank in ranks)
             and (exact is None or v.exact == exact)
             and (where is None or where(v))]
    if not found:
        raise Refused("no such value")
    if chance(graph, 0.6):
        found = found[-2:]
    return pick(graph, found)


def broadcast_shape(graph, dims):
    """A shape that broadcasts to `dims`."""
    kept = tuple(1 if chance(graph, 0.3) else d for d in dims)
    return kept[between(graph, 0, len(kept)):] if chance(graph, 0.4) else kept


def partner(graph, v, low=-2.0, high=2.0, where=None):
    """Another operand beside `v`: a value of the same shape, one that
    broadcasts, a weight or a new input."""
    def fits(other):
        dims = other.shape[::-1]
        return (other.rank <= v.rank and other is not v
                and all(d in (1, e) for d, e in zip(dims, v.shape[::-1]))
                and (where is None or where(other)))
    if chance(graph, 0.5):
        try:
            return value(graph, (v.dtype,), where=fits)
        except Refused:
            pass
    dims = v.shape if chance(graph, 0.3) else broadcast_shape(graph, v.shape)
    return graph.source(v.dtype, dims, low, high,
                        constant=chance(graph, 0.7))


def axis(graph, rank):
    """One axis, counted from either end."""
    if rank == 0:
        raise Refused("a scalar has no axis")
    at = between(graph, 0, rank - 1)
    return at - rank if chance(graph, 0.3) else at


def some_axes(graph, rank, least=1):
    """Some of the axes, in order."""
    axes = [a for a in range(rank) if chance(graph, 0.5)]
    while len(axes) < min(least, rank):
        axes = sorted({*axes, between(graph, 0, rank - 1)})
    return axes
