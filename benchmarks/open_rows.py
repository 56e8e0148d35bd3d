# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of open sizes: at which sizes they are looked at, a row a model."""

import pathlib
import sys
import tempfile


def five_sizes(ranges):
    """Of {symbol: (least, most, step)}: the ends, what is beside the least, and
    two between; a small range has some of them twice."""
    points = []
    for part in (0.0, 0.02, 0.3, 0.6, 1.0):
        point = {}
        for symbol, (least, most, step) in ranges.items():
            count = (most - least) // step
            at = 1 if part == 0.02 and count else round(part * count)
            point[symbol] = least + at * step
        points.append(point)
    return points


def print_rows(names, measure, line):
    """Prints `line` of what `measure` says of each name, given a folder that
    is there meanwhile, and at the side the whole of its "why"; all rows."""
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            rows.append(measure(name, pathlib.Path(work)))
        print(line(rows[-1]), flush=True)
        if "why" in rows[-1]:
            print(rows[-1]["why"], file=sys.stderr, flush=True)
    return rows
