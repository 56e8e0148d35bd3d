#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real models, compiled for processors that this machine need not be.

test/Integration/cross_targets.py says how; in the mode full for all models and
all presets. And in one file for processors and GPUs of three vendors
(all_targets.py): all models in the mode full, else a sample.
"""

import argparse
import pathlib
import sys

from on_device import Counts, call, count_said

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
    together = [sys.executable, ROOT / "test/Integration/all_targets.py",
                f"--bin={arguments.build / 'bin'}"]
    if arguments.mode != "full":
        together += ["hey_jarvis"] if arguments.mode == "quick" else [
            "hey_jarvis", "ppocr_cls"]
    counts = Counts()
    for name, each in (("processors", command), ("all targets", together)):
        count_said(counts, name, call(*each)[1])
    print(f"{counts.passed} passed, {counts.failed} failed, "
          f"{counts.skipped} skipped")
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
