#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random networks whose contractions are one stream of a systolic machine.

test/Integration/streams/streams.py says what they are.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "test" / "Integration" / "streams" / "streams.py"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    count = 8 if arguments.mode == "quick" else 40
    return subprocess.run([sys.executable, PROGRAM,
                           f"--build={arguments.build}", f"--count={count}"],
                          stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
