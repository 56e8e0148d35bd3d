# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of a graph's inputs that are left to the caller of its module."""

import numpy as np

# As many sizes of a range are looked at, all of a small one.
MOST_POINTS = 6


class Opened:
    def __init__(self, ranges, shapes, points):
        self.ranges = ranges  # symbol -> (least, most, step)
        self.shapes = shapes  # input -> dims: numbers, symbols
        self.points = points  # values of all symbols, each

    def names(self):
        return ",".join(self.ranges)

    def dims(self, name, array):
        return self.shapes.get(name, array.shape)

    def holds(self, sizes, inputs):
        """Whether a module for the ranges is for these sizes, "1,2"."""
        used = {d for n, s in self.shapes.items() if n in inputs for d in s}
        ranges = [r for symbol, r in self.ranges.items() if symbol in used]
        return all(low <= size <= high and size % step == 0
                   for size, (low, high, step) in zip(
                       map(int, sizes.split(",")), ranges))

    def flags(self, inputs):
        """Of those that are still there after shrinking."""
        shapes = {n: s for n, s in self.shapes.items() if n in inputs}
        used = {d for dims in shapes.values() for d in dims}
        kept = [i for i, symbol in enumerate(self.ranges) if symbol in used]
        points = dict.fromkeys(tuple(p[i] for i in kept) for p in self.points)
        ranges = ",".join(f"{s}={low}..{high}" + (f":{step}" if step > 1 else "")
                          for s, (low, high, step) in self.ranges.items()
                          if s in used)
        if not ranges:
            return []
        return [f"--dim={ranges}",
                *(f"--shape={n}=" + "x".join(map(str, dims))
                  for n, dims in shapes.items()),
                "--at=" + "/".join(",".join(map(str, p)) for p in points)]


def sizes_in(random, low, high, step):
    """All of a few, else the ends, what is beside them and others; and zero,
    which is in some ranges only."""
    every = range(low, high + 1, step)
    if len(every) <= MOST_POINTS:
        return sorted({0, *every})
    inside = random.integers(0, len(every) - 1, 2, endpoint=True)
    return sorted({0, low, low + step, *(every[int(i)] for i in inside),
                   every[-1]})


def open_sizes(seed, inputs):
    """Always the same for a seed; None where no input has a size."""
    random, stepping, zeros = (np.random.default_rng([seed, i])
                               for i in (3, 5, 7))
    sizes = sorted({d for array in inputs.values() for d in array.shape})
    if not sizes:
        return None
    small = [s for s in sizes if s <= 9]
    if small and random.random() < 0.8:
        sizes = small
    count = min(len(sizes), 1 if random.random() < 0.7 else 2)
    chosen = [int(s) for s in random.choice(sizes, count, replace=False)]
    ranges, shapes = {}, {n: list(a.shape) for n, a in inputs.items()}
    for symbol, own in zip("NM", chosen):
        places = [(n, i) for n, a in inputs.items()
                  for i, d in enumerate(a.shape) if d == own]
        # Mostly all that are equal, as those of a batch are.
        if random.random() < 0.3:
            places = [places[int(random.integers(len(places)))]]
        for name, axis in places:
            shapes[name][axis] = symbol
        low = 1 if random.random() < 0.8 else int(random.integers(1, own + 1))
        high = max(own, low + 1 + int(random.integers(4)))
        ranges[symbol] = (low, own if own > low and random.random() < 0.7
                          else high, 1)
        # Multiples of what groups of terms are, where the size is one.
        steps = [s for s in (4, 2) if own % s == 0]
        if steps and stepping.random() < 0.25:
            ranges[symbol] = (steps[0], own + 2 * steps[0], steps[0])
        # A part of its own, as an empty cache or batch is.
        if zeros.random() < 0.25:
            ranges[symbol] = (0, *ranges[symbol][1:])
    every = [sizes_in(random, *range) for range in ranges.values()]
    points = [(s,) for s in every[0]]
    if len(every) == 2:
        tops = [sizes[-1] for sizes in every]
        ends = [low for low, _, _ in ranges.values()]
        points = [tuple(tops), tuple(ends), (0, tops[1]), (ends[0], tops[1]),
                  (tops[0], ends[1])]
        points += [tuple(int(random.choice(sizes[1:])) for sizes in every)
                   for _ in range(2)]
    opened = {n: tuple(s) for n, s in shapes.items()
              if any(isinstance(d, str) for d in s)}
    return Opened(ranges, opened, list(dict.fromkeys(points)))
