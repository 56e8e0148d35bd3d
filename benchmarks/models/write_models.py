#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the models of the benchmarks, with random weights, as ONNX files.

The same name gives the same bytes on every machine. Models that are there
already are kept.
"""

import argparse
import pathlib
import time

import bert
import mobilenet_v2
import quantized_resnet50
import resnet50

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRITERS = {
    "resnet50": resnet50.write,
    "resnet50_int8": quantized_resnet50.write,
    "mobilenet_v2": mobilenet_v2.write,
    "bert_base": bert.write_bert_base,
    "minilm_l6": bert.write_minilm_l6,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"{', '.join(WRITERS)} (default: all)")
    parser.add_argument("--out", type=pathlib.Path,
                        default=ROOT / ".deps" / "models")
    parser.add_argument("--force", action="store_true",
                        help="write again what is there")
    arguments = parser.parse_args()
    for name in arguments.names or WRITERS:
        if name not in WRITERS:
            parser.error(f"no model {name}; there are: {', '.join(WRITERS)}")
        path = arguments.out / f"{name}.onnx"
        if path.exists() and not arguments.force:
            continue
        start = time.monotonic()
        WRITERS[name](path)
        print(f"{path.name}: {path.stat().st_size:,} bytes, "
              f"{time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
