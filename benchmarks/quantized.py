#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized models beside f32 and beside ONNX Runtime, one thread each.

ONNX Runtime's own quantizer makes them: QDQ, weights of int8 per channel,
activations of int8 and of uint8, calibrated on random numbers, so that they
are worth measuring and nothing else. In turns; medians of the rounds. An error
is the largest difference to what the target `reference` makes of the same
model, relative to its largest element. Writes quantized.md and quantized.json.
"""

import argparse
import json
import pathlib
import statistics
import tempfile

import numpy as np
import onnx

import precision
from measure.context import Context, Refused, only
from measure.contenders import OnnxRuntime, Ours

NAMES = ["resnet50", "mobilenet_v2"]


class Random:
    """What the quantizer reads its ranges from."""

    def __init__(self, feeds):
        self.left = iter(feeds)

    def get_next(self):
        return next(self.left, None)


def quantized(model, path, work):
    """{what it is: path}, f32 first; and inputs."""
    from onnxruntime.quantization import (QuantFormat, QuantType,
                                          quantize_static)
    from onnxruntime.quantization.shape_inference import quant_pre_process
    plain = work / f"{model.name}.onnx"
    quant_pre_process(path, plain, skip_symbolic_shape=True)
    shapes = {n: v.shape for n, v in model.cases(path)[0].feeds.items()}
    random = np.random.default_rng(1)
    feeds = [{n: random.standard_normal(s).astype(np.float32)
              for n, s in shapes.items()} for _ in range(2)]
    paths = {"f32": plain}
    for name, kind in ("int8", QuantType.QInt8), ("uint8", QuantType.QUInt8):
        paths[name] = work / f"{model.name}.{name}.onnx"
        quantize_static(plain, paths[name], Random(feeds), per_channel=True,
                        quant_format=QuantFormat.QDQ, activation_type=kind,
                        weight_type=QuantType.QInt8)
    return paths, feeds[0]


def error(context, model, path, module, feeds):
    reference = context.work / "reference.ash"
    context.compile(path, reference, "--quiet", "--target=reference",
                    *model.arguments())
    names = [(output.name, None) for output in onnx.load(path).graph.output]
    case = precision.model_list.Case("random", feeds)
    expected = precision.run_ours(context, reference, case, names)
    found = precision.run_ours(context, module, case, names)
    return precision.error(found, [("", values) for values in expected])


def measure(context, model, path):
    paths, feeds = quantized(model, path, context.work)
    rows, opened = {}, {}
    for kind, source in paths.items():
        row = rows[f"ours, {kind}"] = {}
        module = context.work / f"{model.name}.{kind}.ash"
        try:
            context.compile(source, module, "--quiet", *model.arguments())
            row["module_bytes"] = module.stat().st_size
            row["error"] = error(context, model, source, module, feeds)
            opened[f"ours, {kind}"] = Ours(context, module, feeds, 1)
        except Refused as why:
            row["refused"] = str(why)
        rows[f"onnxruntime, {kind}"] = {}
        opened[f"onnxruntime, {kind}"] = OnnxRuntime(source, feeds, 1)
    times = {who: [] for who in opened}
    for _ in range(context.rounds):
        for who, contender in opened.items():
            times[who].append(statistics.median(
                contender.block(context.seconds / context.rounds)))
    for who in opened:
        rows[who]["ms"] = statistics.median(times[who])
    return rows


def table(results):
    lines = ["| model | who, activations | ms | error | module |",
             "|---|---|---|---|---|"]
    for model, rows in results.items():
        for who, row in rows.items():
            if "ms" not in row:
                lines.append(f"| {model} | {who} | refused: {row['refused']} "
                             "| | |")
                continue
            found = f"{row['error']:.1e}" if "error" in row else ""
            size = f"{row['module_bytes'] / 2**20:.1f} MiB" \
                if "module_bytes" in row else ""
            lines.append(f"| {model} | {who} | {row['ms']:.2f} | {found} "
                         f"| {size} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--bin", type=pathlib.Path,
                        default=precision.ROOT / "build" / "bin")
    parser.add_argument("--seconds", type=float, default=2.5,
                        help="of each contender on each model")
    parser.add_argument("--output", type=pathlib.Path,
                        default=precision.ROOT / "benchmarks" / "results")
    arguments = parser.parse_args()
    models = {m.name: m for m in precision.model_list.all_models()}
    results = {}
    with tempfile.TemporaryDirectory() as folder, only(1):
        context = Context(arguments.bin.resolve(), None, pathlib.Path(folder),
                          arguments.seconds)
        for name in arguments.names:
            with models[name].prepare(context.work) as path:
                results[name] = measure(context, models[name], path)
            print(table({name: results[name]}), flush=True)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "quantized.md").write_text(table(results))
    (arguments.output / "quantized.json").write_text(
        json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
