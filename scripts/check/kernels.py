#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Micro-kernels at their edges, a sample of them, beside plain loops.

test/Integration/micro_kernels/micro_kernels.py says what they are and, without
--sample, runs them all. A few also stop at each level of the tile dialect.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "test" / "Integration" / "micro_kernels" / "micro_kernels.py"
COUNT = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)

# Arguments, and kernels of each preset and type.
RUNS = [
    ([], 24),
    (["--form=matrices"], 12),
    (["--form=contracts", "--preset=host"], 8),
    (["--form=steps", "--preset=host"], 8),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    totals = [0, 0, 0]
    for extra, sample in RUNS:
        if arguments.mode == "quick":
            sample = 4
        done = subprocess.run(
            [sys.executable, PROGRAM, f"--build={arguments.build}",
             f"--sample={sample}", *extra],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        count = COUNT.search(done.stdout)
        print(COUNT.sub("", done.stdout), end="")
        if not count:
            print(f"FAIL micro_kernels.py {' '.join(extra)}: "
                  f"ended with {done.returncode}")
            totals[1] += 1
            continue
        totals = [t + int(c) for t, c in zip(totals, count.groups())]
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
