#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, softmax and norms for a preset: how often they launch, how many
workgroups each launch has, how many bytes one load of a thread is, and what is
predicted. Nothing runs, and no GPU is needed: it is what the compiler says and
writes."""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"f32": (TensorProto.FLOAT, 4), "bf16": (TensorProto.BFLOAT16, 2)}


def model(op, kind, shape, axes):
    """One node; of a reduction, over `axes`."""
    inputs, weights, attributes = ["x"], [], {}
    result = list(shape)
    given = [("x", shape)]
    if op.startswith("Reduce"):
        inputs.append("axes")
        weights.append(numpy_helper.from_array(np.array(axes), "axes"))
        attributes["keepdims"] = 0
        result = [n for d, n in enumerate(shape) if d not in axes]
    elif op == "LayerNormalization":
        inputs += ["scale", "bias"]
        given += [("scale", shape[-1:]), ("bias", shape[-1:])]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node(op, inputs, ["y"], **attributes)], "reduction",
        [info(name, TYPES[kind][0], size) for name, size in given],
        [info("y", TYPES[kind][0], result)], weights)
    return helper.make_model(
        graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18)]), \
        (np.prod(shape) + np.prod(result)) * TYPES[kind][1]


CASES = [
    ("ReduceSum", "f32", (64, 1000000), (1,)),
    ("ReduceSum", "bf16", (64, 1000000), (1,)),
    ("ReduceSum", "f32", (1, 1 << 24), (1,)),
    ("ReduceMean", "f32", (1 << 24,), (0,)),
    ("ReduceMax", "f32", (16, 50257), (1,)),
    ("ReduceSum", "f32", (32768, 4096), (1,)),
    ("ReduceSum", "f32", (100000, 256), (0,)),
    ("ReduceSum", "f32", (4096, 4096), (0,)),
    ("ReduceSum", "bf16", (32768, 4096), (0,)),
    ("ReduceSum", "f32", (10007, 1001), (0,)),
    ("ReduceMean", "f32", (32, 64, 56, 56), (0, 2, 3)),
    ("ReduceMean", "bf16", (32, 64, 56, 56), (0, 2, 3)),
    ("Softmax", "f32", (4, 4096), ()),
    ("Softmax", "f32", (8, 4096), ()),
    ("Softmax", "f32", (1, 50257), ()),
    ("Softmax", "f32", (16, 32000), ()),
    ("Softmax", "f32", (1, 131072), ()),
    ("Softmax", "f32", (1024, 65536), ()),
    ("LayerNormalization", "bf16", (1, 4096), ()),
    ("LayerNormalization", "f32", (4, 8192), ()),
    ("LayerNormalization", "f32", (8, 65536), ()),
]


def loads_of(ptx):
    """Bytes of each load from global memory that is written, by their count."""
    counts = {}
    for lanes, width in re.findall(
            r"ld\.global(?:\.nc)?(?:\.v(\d))?\.[busf](\d+)", ptx):
        size = int(lanes or 1) * int(width) // 8
        counts[size] = counts.get(size, 0) + 1
    return ", ".join(f"{n} of {size}" for size, n in
                     sorted(counts.items(), reverse=True))


def look_at(arguments, case, work):
    """Launches, workgroups of each, loads of the largest, microseconds."""
    op, kind, shape, axes = case
    made, least = model(op, kind, shape, axes)
    onnx.save(made, work / "m.onnx")
    compiler = [arguments.bin / "ashlar-compile", work / "m.onnx",
                f"--target={arguments.target}", "--quiet"]
    subprocess.run([*compiler, "-o", work / "m.ash", f"--save-temps={work}"],
                   check=True)
    tiled = subprocess.run([*compiler, "--until=tile"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    grids = {}
    for name, grid, rest in re.findall(
            r"exec\.kernel @(\S+) calls .* grid \[(.*?)\](.*)", tiled):
        [groups] = re.findall(r"size<(\d+)>", grid)
        grids[name] = groups if "block" in rest else f"{groups} of one thread"
    said = subprocess.run([arguments.bin / "ashlar-inspect", work / "m.ash",
                           "--json"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    kernels = json.loads(said)["programs"][0]["kernels"]
    [module] = work.glob("*/kernels.ptx")
    entries = module.read_text().split(".visible .entry ")[1:]
    largest = max(range(len(kernels)), key=lambda k: kernels[k]["bytes"])
    launch = arguments.launch * len(kernels)
    return [str(len(kernels)), ", ".join(grids[k["name"]] for k in kernels),
            loads_of(entries[largest]),
            f"{sum(k['bound_us'] for k in kernels) + launch:.1f}",
            f"{least / arguments.bandwidth / 1e6:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, default="build/bin")
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--launch", type=float, default=2.5,
                        help="microseconds, of the machine file")
    parser.add_argument("--bandwidth", type=float, default=3.35,
                        help="TB/s, of the machine file")
    arguments = parser.parse_args()
    print("| case | launches | workgroups | loads of the largest | "
          "predicted, us | bytes by bandwidth, us |\n|---|---|---|---|---|---|")
    for case in CASES:
        op, kind, shape, axes = case
        name = f"{op} {'x'.join(map(str, shape))} {kind}"
        if axes:
            name += f" over {', '.join(map(str, axes))}"
        with tempfile.TemporaryDirectory() as work:
            row = look_at(arguments, case, pathlib.Path(work))
        print(f"| {name} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
