#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model's memory holds, and when: its contract as text, its arena as a
picture and a page, its kernels by what they cost.

    memory_maps.py [MODEL.onnx] [--shape NAME=1x3x224x224] [--out=FOLDER]
"""

import argparse
import pathlib

import ashlar

DIGITS = pathlib.Path(__file__).parents[1] / "digits" / "digits.onnx"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="?", default=DIGITS, type=pathlib.Path)
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--out", default=pathlib.Path("memory-maps"),
                        type=pathlib.Path)
    arguments = parser.parse_args()
    shapes = {name: tuple(map(int, sizes.split("x"))) for name, sizes in
              (shape.split("=") for shape in arguments.shape)}
    if arguments.model == DIGITS:
        shapes.setdefault("image", (1, 1, 8, 8))
    module = ashlar.compile(arguments.model, shapes=shapes)
    cost = module.contract
    print(f"weights {cost.weights_bytes}, code {cost.code_bytes}, arena "
          f"{cost.arena_bytes} (no plan needs less than "
          f"{cost.arena_lower_bound_bytes}), all {cost.peak_bytes} bytes")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in ("memory.svg", "memory.html"):
        module.memory_map(arguments.out / name)
    module.graph(arguments.out / "graph.html")
    for row in sorted(module.kernels(), key=lambda row: -row["bytes"])[:5]:
        print(f"  {row['name']}: {row['bytes']} bytes moved, "
              f"{row['code_bytes']} of code, bound by {row['bound']}")
    print(f"pictures in {arguments.out}")


if __name__ == "__main__":
    main()
