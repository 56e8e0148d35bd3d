#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs for the target cpu, beside the target reference; some with
sizes that the caller chooses, beside compiles for each size.

test/Fuzz/fuzz.py says what they are. The seeds are always the same, so that a
change finds what it broke itself; longer runs take others with --first.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRAPHS = {"plain": 300, "quick": 40, "sanitize": 60, "full": 1000}
OPEN = {"plain": 100, "quick": 12, "sanitize": 12, "full": 5000}
COUNTS = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped$")


def run(build, *flags):
    """What of it passed, failed and was skipped; failed where it said nothing.
    """
    done = subprocess.Popen(
        [sys.executable, ROOT / "test" / "Fuzz" / "fuzz.py",
         f"--build={build}", f"--keep={build}/check/fuzz", *flags],
        stdout=subprocess.PIPE, text=True)
    counts = None
    for line in done.stdout:
        if found := COUNTS.match(line.strip()):
            counts = [int(n) for n in found.groups()]
        else:
            print(line, end="", flush=True)
    return counts if counts and done.wait() in (0, 1) else [0, 1, 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    program = arguments.build.resolve() / "unittests" / "run-graphs"
    if not program.exists():
        print(f"SKIP fuzz: {program.name} is not built")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    total = [sum(both) for both in zip(
        run(arguments.build, f"--count={GRAPHS[arguments.mode]}"),
        run(arguments.build, "--open", f"--count={OPEN[arguments.mode]}"))]
    print("{} passed, {} failed, {} skipped".format(*total))
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main())
