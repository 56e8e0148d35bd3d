#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How much bf16 costs in accuracy, and what precision="auto" keeps in f32 for a
tolerance: measured on inputs of one's own.

    precision_by_measurement.py [--tolerance=1e-3]
"""

import argparse
import pathlib
import sys

import numpy as np

import ashlar

try:
    from sklearn.datasets import load_digits
except ImportError as error:
    sys.exit(f"SKIP: {error}; pip install scikit-learn")

DIGITS = pathlib.Path(__file__).parents[1] / "digits" / "digits.onnx"
SHAPES = {"image": (1, 1, 8, 8)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tolerance", type=float, default=1e-3)
    tolerance = parser.parse_args().tolerance
    pictures = (load_digits().images / 16).astype(np.float32)
    pictures = pictures[:, None, None]
    # Calibrated on some, compared on others.
    calibration = [{"image": picture} for picture in pictures[:32]]
    held_out = pictures[-200:]
    exact = ashlar.compile(DIGITS, shapes=SHAPES)
    expected = np.stack([exact(picture) for picture in held_out])
    for name, options in (
            ("bf16", {"precision": "bf16"}),
            (f"auto, {tolerance:g}", {"precision": "auto",
                                      "tolerance": tolerance,
                                      "calibration": calibration})):
        module = ashlar.compile(DIGITS, shapes=SHAPES, **options)
        found = np.stack([module(picture) for picture in held_out])
        worst = np.abs(found - expected).max() / np.abs(expected).max()
        flips = (found.argmax(-1) != expected.argmax(-1)).sum()
        print(f"{name}: off by {worst:.1e} at most, {flips} of "
              f"{len(held_out)} pictures read differently, weights "
              f"{module.contract.weights_bytes} of "
              f"{exact.contract.weights_bytes} bytes")


if __name__ == "__main__":
    main()
