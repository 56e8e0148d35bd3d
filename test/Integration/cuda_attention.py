#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions as models have them, whose kernels NVIDIA's assembler must like.

Types, heads of 32 to 128, grouped, causal, masked, capped, of few rows, long or
of which each call chooses how many, for every preset: none may be refused, for
steps that wait for each other above all, and no hot kernel of known sizes may
spill but on sm_100a, whose own unit nothing uses. (Of 48 open forms on sm_90a
one keeps 16 bytes of a thread in memory: bf16, heads of 128 that share keys,
causal.) Nothing is run: device_units.py compares numbers.
"""

import argparse
import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import device_run

PRESETS = ("sm_80", "sm_90a", "sm_100a")
TYPES = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16}
# Heads, and heads of keys; what each head is of; rows and keys.
HEADS = [(8, 8), (32, 8)]
WIDTHS = [32, 64, 128]
SIZES = {"one row": (1, 1000), "odd": (130, 257), "long": (1024, 1024),
         "open": ("S", "P")}
KINDS = {"": {}, "causal": {"is_causal": 1}, "masked": {},
         "capped": {"softcap": 20.0}}


def forms():
    return list(itertools.product(PRESETS, TYPES, HEADS, WIDTHS, SIZES, KINDS))


def save(path, form):
    """The model, and what its sizes are."""
    _, kind, (heads, of_keys), width, size, how = form
    rows, keys = SIZES[size]
    shapes = {"q": [1, heads, rows, width], "k": [1, of_keys, keys, width],
              "v": [1, of_keys, keys, width]}
    if how == "masked":
        shapes["m"] = [rows, keys]
    node = helper.make_node("Attention", list(shapes), ["y"], name="attention",
                            **KINDS[how])
    onnx.save(helper.make_model(helper.make_graph(
        [node], "attention",
        [helper.make_tensor_value_info(name, TYPES[kind], shape)
         for name, shape in shapes.items()],
        [helper.make_tensor_value_info("y", TYPES[kind], None)]),
        ir_version=10, opset_imports=[helper.make_opsetid("", 23)]), path)
    return ["--dim=S=1..2048,P=9..2048"] if size == "open" else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas", type=pathlib.Path, required=True)
    parser.add_argument("--cases", type=int, help="that many of all, at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="forms whose name has this")
    arguments = parser.parse_args()
    named = {" ".join(map(str, form)).strip(): form for form in forms()}
    chosen = [name for name in named if arguments.only in name]
    if arguments.cases and arguments.cases < len(chosen):
        chosen = np.random.default_rng(arguments.seed).choice(
            chosen, arguments.cases, replace=False)
    tally = device_run.Tally()
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        for name in chosen:
            sizes, preset = save(work / "m.onnx", named[name]), named[name][0]
            done = subprocess.run(
                [arguments.bin / "ashlar-compile", "--quiet",
                 *["--strict"] * (preset != "sm_100a" and not sizes),
                 work / "m.onnx", "-o", work / "m.ash", *sizes,
                 f"--target=cuda:{preset}",
                 f"--assembler={arguments.ptxas.resolve()}"],
                stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT)
            said = done.stdout.strip().split("\n")[0][:400]
            tally.add(name, done.returncode and (said or "not compiled"))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
