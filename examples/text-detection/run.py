#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where plain bf16 goes wrong: PP-OCR's text detector on a photographed page.

Compiles the detector in f32, in bf16 and with --precision=auto, calibrated on
parts of the page, runs all three on the whole page, which auto has not seen,
and says how far their maps of text are from f32's. The commands are printed.
"""

import argparse
import pathlib
import shlex
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "Integration"))
import model_case  # noqa: E402
import model_inputs  # noqa: E402

SIZE = (640, 640)
# Above this probability PP-OCR takes a pixel for text.
TEXT = 0.3


def run(*command):
    words = [str(word) for word in command]
    print("$ " + shlex.join(words), flush=True)
    done = subprocess.run(words, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"error: {words[0]} ended with {done.returncode}")


def write_inputs(work, count):
    """The page, and parts of it at other scales and contrasts."""
    np.save(work / "page.npy", model_inputs.page_picture(*SIZE))
    for number in range(count):
        folder = work / "parts" / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "x.npy", model_inputs.text_picture(
            f"part {number}", *SIZE, (300, 180)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path,
                        default=pathlib.Path("build/bin"))
    parser.add_argument("--work", type=pathlib.Path, required=True,
                        help="a folder for what is written")
    parser.add_argument("--parts", type=int, default=16,
                        help="inputs that auto is calibrated on (%(default)s)")
    parser.add_argument("--tolerance", default="1e-2")
    arguments = parser.parse_args()
    work = arguments.work
    work.mkdir(parents=True, exist_ok=True)
    write_inputs(work, arguments.parts)
    maps = {}
    with model_case.fetched(model_case.MODELS / "ppocr_det.onnx",
                            work) as model:
        model = model.relative_to(pathlib.Path.cwd())
        for kind, flags in {
                "f32": [], "bf16": ["--precision=bf16"],
                "auto": ["--precision=auto",
                         f"--tolerance={arguments.tolerance}",
                         f"--calibration={work / 'parts'}"]}.items():
            start = time.monotonic()
            run(arguments.bin / "ashlar-compile", model,
                "--shape=x=1x3x640x640", *flags, "-o", work / f"{kind}.ash")
            print(f"  compiled in {time.monotonic() - start:.0f} s")
            run(arguments.bin / "ashlar-run", work / f"{kind}.ash",
                f"--input=x={work / 'page.npy'}",
                f"--output=sigmoid_0.tmp_0={work / kind}.npy")
            maps[kind] = np.load(work / f"{kind}.npy")
    exact = maps["f32"]
    text = exact > TEXT
    print(f"\n  {text.sum():,} of {text.size:,} pixels are text in f32")
    for kind in "bf16", "auto":
        print(f"  {kind}: the map is off by up to "
              f"{np.abs(maps[kind] - exact).max():.2g}, "
              f"{((maps[kind] > TEXT) != text).sum():,} pixels flip")


if __name__ == "__main__":
    main()
