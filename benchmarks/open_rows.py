# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of open sizes: at which sizes they are looked at, a row a model."""

import pathlib
import sys
import tempfile
import time


def five_sizes(ranges):
    """Of {symbol: (least, most, step)}: the ends, what is beside the least, and
    two between; of small ranges fewer, each once."""
    points = []
    for part in (0.0, 0.02, 0.3, 0.6, 1.0):
        point = {}
        for symbol, (least, most, step) in ranges.items():
            count = (most - least) // step
            at = 1 if part == 0.02 and count else round(part * count)
            point[symbol] = least + at * step
        if point not in points:
            points.append(point)
    return points


def compare_times(calls):
    """Milliseconds of each in time of the process, the least of its turns: so
    that other work on the machine counts for little."""
    best = [float("inf")] * len(calls)
    counts = []
    for call in calls:
        begin = time.process_time()
        call()
        once = time.process_time() - begin
        counts.append(max(1, int(0.04 / max(once, 1e-6))))
    for _ in range(7):
        for i, call in enumerate(calls):
            begin = time.process_time()
            for _ in range(counts[i]):
                call()
            taken = (time.process_time() - begin) / counts[i]
            best[i] = min(best[i], taken * 1e3)
    return best


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
