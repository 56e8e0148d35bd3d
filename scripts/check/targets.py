#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real models, compiled for processors that this machine need not be.

test/Integration/cross_targets.py says how; in the mode full for all models and
all presets.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    command = [sys.executable, ROOT / "test/Integration/cross_targets.py",
               f"--bin={arguments.build / 'bin'}"]
    if arguments.mode == "full":
        command.append("--full")
    elif arguments.mode != "plain":
        # The small ones have most of what can go wrong.
        command += ["mobilenet_v2", "ppocr_cls", "ppocr_rec"]
    return subprocess.run(command, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
