# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that move elements without computing any."""

import numpy as np

from choose import axis, between, chance, pick, some_axes, value
from graph import DTYPES, FLOATS, INTEGERS, Refused

ALL = (*FLOATS, *INTEGERS, "bool")


def keep(graph, op, v, *operands, **attributes):
    return graph.node(op, [v, *operands], v.low, v.high, v.exact, **attributes)


def factors(graph, number):
    """The number as a product, ones among its factors."""
    dims = []
    while number > 1 and len(dims) < 3:
        divisors = [d for d in range(1, number + 1) if number % d == 0]
        d = pick(graph, divisors)
        dims.append(d)
        number //= d
    return [*dims, number]


def reshape(graph):
    v = value(graph, ALL, where=lambda v: 0 < v.size)
    kind = graph.random.random()
    if kind < 0.4 and v.rank > 1:
        # Neighbouring axes become one, or one becomes several.
        at = between(graph, 0, v.rank - 2)
        dims = [*v.shape[:at], v.shape[at] * v.shape[at + 1],
                *v.shape[at + 2:]]
    elif kind < 0.7 and v.rank > 0:
        at = between(graph, 0, v.rank - 1)
        dims = [*v.shape[:at], *factors(graph, v.shape[at]),
                *v.shape[at + 1:]]
    else:
        dims = factors(graph, v.size)
    if len(dims) > 6:
        raise Refused("too many axes")
    if dims and chance(graph, 0.3):
        dims[between(graph, 0, len(dims) - 1)] = -1
    return keep(graph, "Reshape", v, graph.integers(dims))


def transpose(graph):
    v = value(graph, ALL, where=lambda v: v.rank > 1)
    order = [int(a) for a in graph.random.permutation(v.rank)]
    return keep(graph, "Transpose", v, perm=order)


def slice_(graph):
    v = value(graph, ALL, where=lambda v: v.rank > 0 and v.size > 0)
    axes = some_axes(graph, v.rank)
    starts, ends, steps = [], [], []
    for a in axes:
        d = v.shape[a]
        step = pick(graph, [1, 1, 1, 2, 3, -1, -2])
        first = between(graph, 0, d - 1)
        if step > 0:
            starts.append(first - d if chance(graph, 0.3) else first)
            ends.append(pick(graph, [between(graph, first + 1, d), 2 ** 40]))
        else:
            starts.append(first)
            ends.append(pick(graph, [first - between(graph, 1, first + 1),
                                     -2 ** 40]))
            if -d <= ends[-1] < 0:
                ends[-1] = -2 ** 40
        steps.append(step)
    operands = [starts, ends, axes]
    if any(s != 1 for s in steps):
        operands.append(steps)
    return keep(graph, "Slice", v, *[graph.integers(o) for o in operands])


def concat(graph):
    v = value(graph, ALL, where=lambda v: v.rank > 0)
    at = axis(graph, v.rank)
    parts = [v]
    for _ in range(between(graph, 1, 3)):
        def fits(o):
            return o.rank == v.rank and all(
                a == b for i, (a, b) in enumerate(zip(o.shape, v.shape))
                if i != at % v.rank)
        if chance(graph, 0.7):
            parts.append(value(graph, (v.dtype,), where=fits))
        else:
            dims = list(v.shape)
            dims[at] = between(graph, 1, 9)
            parts.append(graph.source(v.dtype, dims, v.low, v.high,
                                      constant=chance(graph, 0.5)))
    order = graph.random.permutation(len(parts))
    return graph.node("Concat", [parts[i] for i in order],
                      min(p.low for p in parts), max(p.high for p in parts),
                      all(p.exact for p in parts), axis=at)


def split(graph):
    v = value(graph, ALL, where=lambda v: v.rank > 0)
    at = axis(graph, v.rank)
    n = v.shape[at]
    if n < 2:
        raise Refused("nothing to split")
    first = between(graph, 1, n - 1)
    return keep(graph, "Split", v, graph.integers([first, n - first]),
                outputs=2, axis=at)[0]


def pad(graph):
    v = value(graph, FLOATS + INTEGERS,
              where=lambda v: 0 < v.rank < 6 and v.size > 0)
    mode = pick(graph, [None, None, "edge", "reflect", "wrap"])
    most = [2 if mode in (None, "edge") else min(2, d - 1) for d in v.shape]
    low = -1 if mode is None and chance(graph, 0.2) else 0
    pads = [between(graph, low if d > 2 else 0, max(m, 0))
            for m, d in zip(most * 2, v.shape * 2)]
    operands = [graph.integers(pads)]
    low, high = v.low, v.high
    if mode is None:
        number = 0
        if chance(graph, 0.5):
            number = 1
            operands.append(graph.constant(np.array(1, DTYPES[v.dtype])))
        low, high = min(low, number), max(high, number)
    return graph.node("Pad", [v, *operands], low, high, v.exact, mode=mode)


def expand(graph):
    v = value(graph, ALL, where=lambda v: v.rank < 5)
    dims = [pick(graph, [1, 2, 5]) if d == 1 else d for d in v.shape]
    if chance(graph, 0.4):
        dims = [pick(graph, [1, 2, 3])] + dims
    return keep(graph, "Expand", v, graph.integers(dims))


def unsqueeze(graph):
    v = value(graph, ALL, where=lambda v: v.rank < 5)
    return keep(graph, "Unsqueeze", v, graph.integers([between(
        graph, 0, v.rank)]))


def squeeze(graph):
    v = value(graph, ALL, where=lambda v: 1 in v.shape)
    at = pick(graph, [a for a, d in enumerate(v.shape) if d == 1])
    return keep(graph, "Squeeze", v, graph.integers([at]))


def flatten(graph):
    v = value(graph, ALL)
    return keep(graph, "Flatten", v, axis=between(graph, 0, v.rank))


def tile(graph):
    v = value(graph, ALL, where=lambda v: v.rank > 0 and v.size < 2000)
    return keep(graph, "Tile", v, graph.integers(
        [pick(graph, [1, 1, 2, 3]) for _ in v.shape]))


def gather(graph):
    v = value(graph, ALL, where=lambda v: v.rank > 0 and v.size > 0)
    at = axis(graph, v.rank)
    dims = pick(graph, [(), (3,), (1,), (2, 4)])
    n = v.shape[at]
    index = graph.source("i64", dims, -n, n - 1, constant=chance(graph, 0.5))
    return keep(graph, "Gather", v, index, axis=at)


def gather_elements(graph):
    v = value(graph, ALL, where=lambda v: v.rank > 0 and v.size > 0)
    at = axis(graph, v.rank)
    dims = list(v.shape)
    dims[at] = between(graph, 1, 5)
    n = v.shape[at]
    index = graph.source("i64", dims, -n, n - 1, constant=chance(graph, 0.5))
    return keep(graph, "GatherElements", v, index, axis=at)


def blocks(graph):
    if chance(graph, 0.5):
        v = value(graph, FLOATS, ranks=(4,), where=lambda v: (
            v.shape[1] % 4 == 0))
        return keep(graph, "DepthToSpace", v, blocksize=2, mode=pick(
            graph, [None, "CRD"]))
    v = value(graph, FLOATS, ranks=(4,), where=lambda v: (
        v.shape[2] % 2 == 0 and v.shape[3] % 2 == 0))
    return keep(graph, "SpaceToDepth", v, blocksize=2)


def shuffle(graph):
    """Channels in groups, transposed: three movements that are one."""
    v = value(graph, FLOATS, ranks=(4,))
    n, c, h, w = v.shape
    g = pick(graph, [g for g in (2, 3, 4) if c % g == 0])
    v = keep(graph, "Reshape", v, graph.integers([n, g, c // g, h, w]))
    v = keep(graph, "Transpose", v, perm=[0, 2, 1, 3, 4])
    return keep(graph, "Reshape", v, graph.integers([n, c, h, w]))


def trilu(graph):
    v = value(graph, FLOATS[:3] + ("i64",), where=lambda v: v.rank > 1)
    return graph.node("Trilu", [v, graph.constant(np.array(
        between(graph, -2, 2), np.int64))], min(v.low, 0), max(v.high, 0),
        v.exact, upper=pick(graph, [None, 0]))


def scatter(graph):
    v = value(graph, FLOATS[:1] + ("i32",), where=lambda v: (
        v.rank > 0 and 1 < v.shape[0] < 40 and v.size < 4000))
    rows = [int(r) for r in graph.random.permutation(v.shape[0])][:2]
    updates = graph.source(v.dtype, (2, *v.shape[1:]), -2, 2,
                           constant=chance(graph, 0.4))
    return graph.node("ScatterND", [v, graph.integers([[r] for r in rows]),
                                    updates], min(v.low, -2), max(v.high, 2),
                      v.exact)


MAKERS = [(reshape, 4), (transpose, 4), (slice_, 3), (concat, 3), (split, 2),
          (pad, 2), (expand, 1), (unsqueeze, 1), (squeeze, 1), (flatten, 1),
          (tile, 1), (gather, 1), (gather_elements, 1), (blocks, 1),
          (shuffle, 1), (trilu, 1), (scatter, 1)]
