#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs for the target cpu, beside the target reference.

test/Fuzz/fuzz.py says what they are. The seeds are always the same, so that a
change finds what it broke itself; longer runs take others with --first.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRAPHS = {"plain": 300, "quick": 40, "sanitize": 60}


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
    count = GRAPHS.get(arguments.mode, GRAPHS["plain"])
    return subprocess.run(
        [sys.executable, ROOT / "test" / "Fuzz" / "fuzz.py",
         f"--build={arguments.build}", f"--count={count}",
         f"--keep={arguments.build}/check/fuzz"]).returncode


if __name__ == "__main__":
    sys.exit(main())
