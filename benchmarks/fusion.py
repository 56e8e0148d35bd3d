#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes moved and kernels launched for one inference, at each level of --fuse.

Bytes are what kernels read and write, each operand of a launch once. The floor
is what nobody can avoid: inputs, outputs and weights, once. Beside ours stands
the number of nodes that ONNX Runtime is left with after its own optimisation.
Writes benchmarks/results/fusion.md and fusion.json.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "Integration")]
import model_list  # noqa: E402

NAMES = ["resnet50", "mobilenet_v2", "bert_base", "minilm_l6", "ppocr_det",
         "ppocr_rec", "ppocr_cls"]
LEVELS = ["none", "basic", "all"]
TYPE_BYTES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2,
              "bf16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8,
              "f64": 8}


def inspect(tools, module):
    result = subprocess.run([tools / "ashlar-inspect", module, "--json"],
                            check=True, capture_output=True, text=True)
    return json.loads(result.stdout)


def tensor_bytes(tensors):
    return sum(int(np.prod(t["shape"], dtype=np.int64)) *
               TYPE_BYTES[t["type"]] for t in tensors)


def ort_nodes(path, work):
    """Nodes after ONNX Runtime's optimisation, constants apart."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(work / "optimized.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(path), options,
                                 providers=["CPUExecutionProvider"])
    model = onnx.load(options.optimized_model_filepath,
                      load_external_data=False)
    return sum(node.op_type != "Constant" for node in model.graph.node)


def measure(tools, model, path, work):
    module = work / "model.ash"
    row = {"model": model.name,
           "nodes": len(onnx.load(path, load_external_data=False).graph.node),
           "ort_nodes": ort_nodes(path, work)}
    for level in LEVELS:
        subprocess.run([tools / "ashlar-compile", path, "-o", module,
                        "--quiet", f"--fuse={level}", *model.arguments()],
                       check=True)
        found = inspect(tools, module)
        kernels = found["programs"][0]["kernels"]
        row[level] = {
            "bytes": sum(k["bytes"] * k["launches"] for k in kernels),
            "launches": sum(k["launches"] for k in kernels),
            "kernels": len(kernels)}
        if level == "none":
            # Weights as the model has them: transforms may enlarge them.
            row["floor_bytes"] = (
                found["programs"][0]["contract"]["weights_bytes"] +
                sum(tensor_bytes(e["inputs"]) + tensor_bytes(e["outputs"])
                    for e in found["entries"]))
        module.unlink()
    return row


def table(rows):
    lines = ["# Bytes moved and kernels launched", "",
             "One inference; MiB that kernels read and write at each level of "
             "`--fuse`; the floor is inputs, outputs and weights once.", "",
             "| model | floor | none | basic | all | all / floor | nodes | "
             "ONNX Runtime's | launches: none | basic | all |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        mib = [row["floor_bytes"]] + [row[level]["bytes"] for level in LEVELS]
        cells = [row["model"], *(f"{b / 2**20:.1f}" for b in mib),
                 f"{mib[-1] / mib[0]:.2f}", row["nodes"], row["ort_nodes"],
                 *(row[level]["launches"] for level in LEVELS)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"of {', '.join(NAMES)} (default: all)")
    parser.add_argument("--bin", type=pathlib.Path,
                        default=ROOT / "build" / "bin")
    parser.add_argument("--results", type=pathlib.Path,
                        default=ROOT / "benchmarks" / "results")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in NAMES:
            parser.error(f"no model {name}")
    tools = arguments.bin.resolve()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        models = {m.name: m for m in model_list.all_models()}
        for name in arguments.names or NAMES:
            with models[name].prepare(work) as path:
                rows.append(measure(tools, models[name], path, work))
            print(json.dumps(rows[-1]), flush=True)
    arguments.results.mkdir(parents=True, exist_ok=True)
    (arguments.results / "fusion.md").write_text(
        "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->\n" +
        table(rows))
    (arguments.results / "fusion.json").write_text(
        json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
