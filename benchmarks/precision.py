#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed and error of each precision, beside OpenVINO's.

One thread each, in turns; medians of the rounds. An error is the largest
difference to ONNX Runtime's f32, relative to its largest element, over all
inputs of the model. Writes benchmarks/results/precision.md and precision.json.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "Integration"), str(ROOT / "benchmarks")]
import compare_models  # noqa: E402
import model_list  # noqa: E402
from measure.context import Context, Refused, only  # noqa: E402
from measure.contenders import Ours, OpenVINO  # noqa: E402

NAMES = ["resnet50", "mobilenet_v2", "bert_base", "minilm_l6", "ppocr_det",
         "ppocr_rec", "ppocr_cls"]
PRECISIONS = {"f32": [], "bf16": ["--precision=bf16"],
              "f16": ["--precision=f16"], "auto": ["--precision=auto"]}


def run_ours(context, module, case, expected):
    command = [context.bin / "ashlar-run", module]
    for index, (name, values) in enumerate(case.feeds.items()):
        np.save(context.work / f"in-{index}.npy", values)
        command.append(f"--input={name}={context.work / f'in-{index}.npy'}")
    for index, (name, _) in enumerate(expected):
        command.append(f"--output={name}={context.work / f'out-{index}.npy'}")
    context.run(*command)
    return [np.load(context.work / f"out-{index}.npy")
            for index in range(len(expected))]


def error(found, expected):
    return max(compare_models.difference(
        np.asarray(f).astype(v.dtype).reshape(v.shape), v)
        for f, (_, v) in zip(found, expected))


def open_ours(context, model, path, precision, row):
    module = context.work / f"{model.name}.{precision}.ash"
    start = time.perf_counter()
    context.compile(path, module, "--quiet", *model.arguments(),
                    *PRECISIONS[precision])
    row["compile_s"] = round(time.perf_counter() - start, 2)
    row["module_bytes"] = module.stat().st_size
    return module


def measure(context, model, path, chosen, peers):
    cases, theirs = model.cases(path), compare_models.Theirs(path)
    rows, opened = {}, {}
    for precision in chosen:
        row = rows[precision] = {}
        try:
            module = open_ours(context, model, path, precision, row)
            row["error"] = max(
                error(run_ours(context, module, case, expected), expected)
                for case in cases for expected in [theirs.outputs(case)])
            opened[precision] = Ours(context, module, cases[0].feeds, 1)
        except Refused as why:
            row["refused"] = str(why)
    for precision in ["f32", "bf16"] if peers else []:
        row = rows[f"openvino {precision}"] = {}
        try:
            found = []
            for case in reversed(cases):
                peer = OpenVINO(path, case.feeds, 1, precision)
                found.append(error(peer.outputs(), theirs.outputs(case)))
            row["error"] = max(found)
            opened[f"openvino {precision}"] = peer
        except Refused as why:
            row["refused"] = str(why)
    for who, found in context.in_turns(opened).items():
        rows[who].update(found)
    return rows


def table(results, kind):
    lines = [f"| model | {kind} | ms | error | module |", "|---|---|---|---|---|"]
    for model, rows in results.items():
        for who, row in rows.items():
            if "refused" in row:
                lines.append(f"| {model} | {who} | refused: {row['refused']} "
                             "| | |")
                continue
            found = f"{row['error']:.1e}" if "error" in row else ""
            size = f"{row['module_bytes'] / 2**20:.1f} MiB" \
                if "module_bytes" in row else ""
            lines.append(f"| {model} | {who} | {row['ms']:.2f} | {found} "
                         f"| {size} |")
    return "\n".join(lines) + "\n"


def parser_of(description, names):
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("names", nargs="*", default=names)
    parser.add_argument("--bin", type=pathlib.Path,
                        default=ROOT / "build" / "bin")
    parser.add_argument("--seconds", type=float, default=2.5,
                        help="of each contender on each model")
    parser.add_argument("--output", type=pathlib.Path,
                        default=ROOT / "benchmarks" / "results")
    return parser


def write_report(arguments, name, kind, measure_model):
    """`measure_model(context, model, path)` of each model, into files of this
    name; `kind` is what its rows differ in."""
    models = {m.name: m for m in model_list.all_models()}
    results = {}
    with tempfile.TemporaryDirectory() as folder, only(1):
        context = Context(arguments.bin.resolve(), None, pathlib.Path(folder),
                          arguments.seconds)
        for model in arguments.names:
            with models[model].prepare(context.work) as path:
                results[model] = measure_model(context, models[model], path)
            print(table({model: results[model]}, kind), flush=True)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / f"{name}.md").write_text(table(results, kind))
    (arguments.output / f"{name}.json").write_text(
        json.dumps(results, indent=1) + "\n")


def main():
    parser = parser_of(__doc__, NAMES)
    parser.add_argument("--precisions", default=",".join(PRECISIONS))
    parser.add_argument("--no-peers", action="store_true",
                        help="leave OpenVINO out")
    arguments = parser.parse_args()
    write_report(arguments, "precision", "precision",
                 lambda context, model, path: measure(
                     context, model, path, arguments.precisions.split(","),
                     not arguments.no_peers))


if __name__ == "__main__":
    main()
