#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels at their edges, a sample of them: micro-kernels beside plain loops,
random strategies beside the same, and of made-up machines interpreted, as are
random structured ops on accumulators; stores of rows whose end is part of a
vector beside NumPy, and models with such rows beside ONNX Runtime.

test/Integration/micro_kernels/micro_kernels.py and stores/stores.py say what
they are and, without --sample, run them all, as --mode=full does. A few
micro-kernels also stop at each level of the tile dialect.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MICRO_KERNELS = "micro_kernels/micro_kernels.py"
STRATEGIES = "micro_kernels/strategies.py"
LEVELS = "micro_kernels/levels.py"
GENERICS = "micro_kernels/generics.py"
STORES = "stores/stores.py"
MODELS = "stores/models.py"
COUNT = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)

# Programs, arguments, and kernels of each preset and type; None: all there are.
# Strategies are drawn, so many for each level of --mode.
STRATEGY_COUNTS = {"quick": 80, "full": 10000}
RUNS = [
    (MICRO_KERNELS, [], 24),
    (MICRO_KERNELS, ["--form=matrices"], 12),
    (MICRO_KERNELS, ["--form=contracts", "--preset=host"], 8),
    (MICRO_KERNELS, ["--form=steps", "--preset=host"], 8),
    (STORES, [], 50),
    (MODELS, [], None),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    totals = [0, 0, 0]
    drawn = STRATEGY_COUNTS.get(arguments.mode, 300)
    random = [(program, [f"--count={drawn}"], None)
              for program in (STRATEGIES, LEVELS, GENERICS)]
    for program, extra, sample in [*RUNS, *random]:
        if sample is not None and arguments.mode != "full":
            sample = 4 if arguments.mode == "quick" else sample
            extra = [f"--sample={sample}", *extra]
        done = subprocess.run(
            [sys.executable, ROOT / "test" / "Integration" / program,
             f"--build={arguments.build}", *extra],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        count = COUNT.search(done.stdout)
        print(COUNT.sub("", done.stdout), end="")
        if not count:
            print(f"FAIL {program} {' '.join(extra)}: "
                  f"ended with {done.returncode}")
            totals[1] += 1
            continue
        totals = [t + int(c) for t, c in zip(totals, count.groups())]
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
