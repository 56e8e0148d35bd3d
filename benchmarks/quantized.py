#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized models beside f32 and beside ONNX Runtime, one thread each.

ONNX Runtime's own quantizer makes them: QDQ, weights of int8 per channel,
activations of int8 and of uint8, calibrated on random numbers, so that they
are worth measuring and nothing else. In turns; medians of the rounds. An error
is the largest difference to what the target `reference` makes of the same
model, relative to its largest element. Writes quantized.md and quantized.json.
"""

import numpy as np
import onnx

import precision
from measure import accuracy
from measure.context import Refused
from measure.contenders import OnnxRuntime, Ours

NAMES = ["resnet50", "mobilenet_v2"]


def peer(who):
    whose, kind = who.split(", ")
    return whose == "ours" and f"onnxruntime, {kind}"


BESIDE = {"beside ONNX Runtime": peer,
          "beside our f32": lambda who: who.startswith("ours, ") and
          who != "ours, f32" and "ours, f32"}


class Random:
    """What the quantizer reads its ranges from."""

    def __init__(self, feeds):
        self.left = iter(feeds)

    def get_next(self):
        return next(self.left, None)


def quantized(model, path, folder):
    """{what it is: path}, f32 first, where they are not there; and inputs."""
    from onnxruntime.quantization import (QuantFormat, QuantType,
                                          quantize_static)
    from onnxruntime.quantization.shape_inference import quant_pre_process
    plain = folder / f"{model.name}.onnx"
    if not plain.exists():
        quant_pre_process(path, plain, skip_symbolic_shape=True)
    shapes = {n: v.shape for n, v in model.cases(path)[0].feeds.items()}
    random = np.random.default_rng(1)
    feeds = [{n: random.standard_normal(s).astype(np.float32)
              for n, s in shapes.items()} for _ in range(2)]
    paths = {"f32": plain}
    for name, kind in ("int8", QuantType.QInt8), ("uint8", QuantType.QUInt8):
        paths[name] = folder / f"{model.name}.{name}.onnx"
        if not paths[name].exists():
            quantize_static(plain, paths[name], Random(feeds), per_channel=True,
                            quant_format=QuantFormat.QDQ, activation_type=kind,
                            weight_type=QuantType.QInt8)
    return paths, feeds[0]


def error(context, model, path, module, feeds):
    reference = context.work / "reference.ash"
    context.compile(path, reference, "--quiet", "--target=reference",
                    *model.arguments())
    names = [output.name for output in onnx.load(path).graph.output]
    case = precision.model_list.Case("random", feeds)
    expected = accuracy.outputs(context, reference, case, names)
    found = accuracy.outputs(context, module, case, names)
    return accuracy.error(found, list(zip(names, expected)))


def measure(context, model, path, folder):
    paths, feeds = quantized(model, path, folder)
    rows, opened = {}, {}
    for kind, source in paths.items():
        row = rows[f"ours, {kind}"] = {}
        module = folder / f"{model.name}.quantized-{kind}.ash"
        try:
            if not module.exists():
                context.compile(source, module, "--quiet", *model.arguments())
            row["module_bytes"] = module.stat().st_size
            row["error"] = error(context, model, source, module, feeds)
            opened[f"ours, {kind}"] = Ours(context, module, feeds, 1)
        except Refused as why:
            row["refused"] = str(why)
        rows[f"onnxruntime, {kind}"] = {}
        opened[f"onnxruntime, {kind}"] = OnnxRuntime(source, feeds, 1)
    for who, found in context.in_turns(opened).items():
        rows[who].update(found)
    return rows


def main():
    arguments = precision.parser_of(__doc__, NAMES).parse_args()
    precision.write_report(
        arguments, "quantized", "who, activations", BESIDE,
        lambda context, model, path: measure(
            context, model, path, arguments.modules or context.work))


if __name__ == "__main__":
    main()
