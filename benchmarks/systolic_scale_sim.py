#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models on tpu-128 beside SCALE-Sim, whose best dataflow each
contraction gets.

SCALE-Sim's cycles are its closed form for each layer as the file has it, each
from an idle array: folds of C columns and T steps take 2R + C + T - 2 cycles
each on an array of R x C. (It leaves the drain out where sums stay in the
array: R + C + K - 2.) Depthwise convolutions are left out on both sides, and so
is what stays on the host. Ours are the simulated cycles of whole streams, with
all transfers: as they are, with shadow loading, which SCALE-Sim's array does not
have, and searched and timed again on the same machine without it.

`--check` needs SCALE-Sim (PyPI: scalesim 3.0.0, with numpy below 2) in the
Python it names, and runs layers there, too.
"""

import argparse
import collections
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx
import onnxruntime

from systolic_models import KNOWN, MODELS, ROOT, run

NAMES = ["resnet50", "mobilenet_v2", "bert_base", "ppocr_det"]
DIM = 128
MOST_ELEMENTS = 1 << 20  # of a matrix that SCALE-Sim itself gets


def fixed(model, batch, work):
    """The file with its inputs' shapes, and its shapes by name."""
    path = work / f"{model}.onnx"
    network = onnx.load(MODELS / f"{model}.onnx")
    shapes = KNOWN[model][0]
    for value in network.graph.input:
        if value.name in shapes:
            shape = value.type.tensor_type.shape
            del shape.dim[:]
            for size in (batch, *shapes[value.name][1:]):
                shape.dim.add().dim_value = size
    # What the exporter inferred is of other sizes.
    del network.graph.value_info[:]
    for value in network.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            dim.dim_param = ""
    onnx.save(network, path)
    # Folds what computes shapes.
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = \
        onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(work / "folded.onnx")
    onnxruntime.InferenceSession(str(path), options,
                                 providers=["CPUExecutionProvider"])
    folded = onnx.shape_inference.infer_shapes(
        onnx.load(work / "folded.onnx"), data_prop=True).graph
    found = {tensor.name: tuple(tensor.dims) for tensor in folded.initializer}
    for value in (*folded.input, *folded.value_info, *folded.output):
        found[value.name] = tuple(
            dim.dim_value for dim in value.type.tensor_type.shape.dim)
    return path, folded, found


def layers(graph, shapes, on_host=()):
    """M, N and K of each product, and how often; without depthwise ones and
    those of these names."""
    found = collections.Counter()
    for node in graph.node:
        if node.op_type not in ("Conv", "ConvTranspose", "Gemm", "MatMul",
                                "FusedConv", "FusedGemm", "FusedMatMul"):
            continue
        if node.name.removesuffix("/MatMulAddFusion") in on_host:
            continue
        flags = {one.name: onnx.helper.get_attribute_value(one)
                 for one in node.attribute}
        a, b = (shapes[name] for name in node.input[:2])
        result = shapes[node.output[0]]
        if any(size <= 0 for size in (*a, *b, *result)):
            sys.exit(f"error: {node.name}: its shapes are not known")
        groups = flags.get("group", 1)
        if "Conv" in node.op_type and 1 < groups == a[1]:
            continue
        if node.op_type == "ConvTranspose":
            m, n, k = a[0] * math.prod(a[2:]), math.prod(b[1:]), b[0] // groups
        elif "Conv" in node.op_type:
            m, n, k = (result[0] * math.prod(result[2:]), b[0] // groups,
                       math.prod(b[1:]))
        else:
            # One matrix for all batches is one product.
            groups = math.prod(result[:-2]) if len(b) > 2 else 1
            m, n = math.prod(result[:-1]) // groups, result[-1]
            k = a[0] if flags.get("transA") else a[-1]
        found[m, n, k] += groups
    return found


def best(m, n, k):
    """SCALE-Sim's cycles, by dataflow."""
    def folds(rows, columns):
        return -(-rows // DIM) * -(-columns // DIM)
    return {"ws": folds(k, n) * (3 * DIM + m - 2),
            "is": folds(k, m) * (3 * DIM + n - 2),
            "os": folds(m, n) * (2 * DIM + k - 2)}


def cycles_of(found):
    return sum(times * min(best(*layer).values())
               for layer, times in found.items())


def check(python, all_layers):
    """How many of SCALE-Sim's own totals, one less each, are not ours."""
    program = ("import json, sys; from systolic_cycles import theirs; "
               "print(json.dumps(theirs(int(sys.argv[1]), sys.argv[2], "
               "json.loads(sys.argv[3]))))")
    wrong = 0
    # It holds traces of all matrices.
    small = [layer for layer in all_layers
             if max(layer[0] * layer[1], layer[1] * layer[2],
                    layer[2] * layer[0]) <= MOST_ELEMENTS]
    left_out = len(all_layers) - len(small)
    all_layers = small
    for flow in ("ws", "is", "os"):
        done = subprocess.run(
            [python, "-c", program, str(DIM), flow, json.dumps(all_layers)],
            cwd=pathlib.Path(__file__).parent, text=True, capture_output=True)
        if done.returncode:
            sys.exit(f"error: SCALE-Sim: {done.stderr.strip()}")
        for layer, cycles in zip(all_layers, json.loads(done.stdout)):
            if cycles + 1 != best(*layer)[flow]:
                wrong += 1
                print(f"{flow} {layer}: {cycles}", file=sys.stderr)
    print(f"{len(all_layers)} layers, each with three dataflows: {wrong} "
          f"differ ({left_out} larger ones left out)")
    return wrong


def ours(bin_, path, work):
    """Use of the array, and the names of nodes that stay on the host."""
    module, remarks = work / "model.ash", work / "remarks.txt"
    run(bin_ / "ashlar-compile", path, "-o", module, "--quiet",
        "--target=systolic:tpu-128", "--precision=bf16",
        f"--remarks={remarks}")
    on_host = set()
    for line in remarks.read_text().splitlines():
        nodes, found, _ = line.partition(": missed: place: stays on the host")
        if found:
            on_host.update(re.findall("'(.*?)'", nodes))
    kernels = work / "kernels.mlir"
    kernels.write_text(run(bin_ / "ashlar-compile", path, "--until=schedule",
                           "--target=systolic:tpu-128", "--precision=bf16"))
    rows = json.loads(run(bin_ / "systolic-layers", "tpu-128", "--json",
                          f"--kernels={kernels}", "--without=shadow"))
    use = json.loads(run(bin_ / "ashlar-inspect", module, "--utilisation",
                         "--json"))[0]
    use["without_shadow"] = sum(one["times"] * one["contraction_cycles"]
                                for one in rows)
    return use, on_host


def row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def table(bin_, batch, models, seen):
    lines = [row("model", "SCALE-Sim", "of it, on our host", "ours",
                 "utilisation", "ours without shadow loading",
                 "SCALE-Sim by ours", "by ours without"), "|---" * 8 + "|"]
    ratios, without = [], []
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            path, graph, shapes = fixed(model, batch, work)
            found = layers(graph, shapes)
            seen.update(found)
            theirs = cycles_of(found)
            if bin_ is None:
                print(batch, model, theirs, flush=True)
                continue
            use, on_host = ours(bin_, path, work)
        shared = cycles_of(layers(graph, shapes, on_host))
        ratios.append(shared / use["contraction_cycles"])
        without.append(shared / use["without_shadow"])
        lines.append(row(model, f"{theirs:,}", f"{theirs - shared:,}",
                         f"{use['contraction_cycles']:,}",
                         f"{use['utilisation']:.1%}",
                         f"{use['without_shadow']:,}", f"{ratios[-1]:.2f}",
                         f"{without[-1]:.2f}"))
        print(batch, lines[-1], flush=True)
    if ratios:
        means = [f"{math.exp(sum(map(math.log, one)) / len(one)):.2f}"
                 for one in (ratios, without)]
        lines.append(row("geomean", "", "", "", "", "", *means))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT /
                        "benchmarks/results/systolic-scale-sim.md")
    parser.add_argument("--models", default=",".join(NAMES))
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--check", metavar="PYTHON",
                        help="only compare the closed form with SCALE-Sim")
    arguments = parser.parse_args()
    bin_ = None if arguments.check else arguments.bin.resolve()
    seen = collections.Counter()
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->",
             "# Models on `tpu-128` beside SCALE-Sim", "",
             "By `benchmarks/systolic_scale_sim.py`, bf16: cycles of each "
             "model's contractions, depthwise ones left out. SCALE-Sim's are "
             "those of its best dataflow for each layer, on an array of 128 x "
             "128 that never waits for memory. Layers that stay on the host "
             "with us are not in the ratio. Ours are of all streams, transfers "
             "and epilogues included; utilisation is of them, too.", "",
             "Ours has shadow loading: the next matrix shifts into the array "
             "while the one before is in use. SCALE-Sim's array has not, and "
             "pays for it in each fold (2R + C + T - 2). So ours stands here "
             "twice: as it is, and searched and timed again on the same "
             "machine without shadow loading."]
    for batch in map(int, arguments.batches.split(",")):
        lines += ["", f"## Batch {batch}", "",
                  *table(bin_, batch, arguments.models.split(","), seen)]
    if arguments.check:
        return check(arguments.check, sorted(seen)) != 0
    arguments.out.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
