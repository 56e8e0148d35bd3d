#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text on real pictures: the package rapidocr-onnxruntime with its three ONNX
Runtime sessions replaced by Ashlar's, which takes one line. Reads each picture
with both, says whether the texts are equal, and draws the boxes.

    pip install rapidocr-onnxruntime build/wheels/dist/*.whl
    text_recognition.py page.png [more.png ...] --boxes=FOLDER

The first time, each set of sizes is compiled (a minute or two for a picture);
the modules are kept in a cache.
"""

import argparse
import pathlib
import sys
import time

import ashlar

try:
    from PIL import Image, ImageDraw
    from rapidocr_onnxruntime import RapidOCR
    from rapidocr_onnxruntime.utils import infer_engine
except ImportError as error:
    sys.exit(f"SKIP: {error}; pip install rapidocr-onnxruntime")


def read(engine, path):
    begin = time.perf_counter()
    found, _ = engine(str(path))
    return found or [], time.perf_counter() - begin


def draw(path, found, folder):
    """The picture with a box around each line that was found."""
    picture = Image.open(path).convert("RGB")
    pen = ImageDraw.Draw(picture)
    for box, _, _ in found:
        pen.polygon([tuple(point) for point in box], outline=(220, 30, 30))
    folder.mkdir(parents=True, exist_ok=True)
    picture.save(folder / f"{path.stem}-boxes.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pictures", nargs="+", type=pathlib.Path)
    parser.add_argument("--boxes", type=pathlib.Path,
                        help="draw what was found into this folder")
    arguments = parser.parse_args()
    theirs = RapidOCR()
    infer_engine.InferenceSession = ashlar.InferenceSession  # the one line
    ours = RapidOCR()
    differing = 0
    for path in arguments.pictures:
        expected, their_seconds = read(theirs, path)
        first, compiling = read(ours, path)
        found, our_seconds = read(ours, path)
        same = [text for _, text, _ in found] \
            == [text for _, text, _ in expected] and len(first) == len(found)
        differing += not same
        print(f"{path.name}: {len(found)} lines, "
              f"{'equal' if same else 'DIFFERENT'}; ONNX Runtime "
              f"{their_seconds:.2f} s, Ashlar {our_seconds:.2f} s "
              f"(the first time {compiling:.1f} s)")
        for _, text, score in found:
            print(f"  {float(score):.2f}  {text}")
        if arguments.boxes:
            draw(path, found, arguments.boxes)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
