# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models in bf16 beside OpenVINO's bf16, and in 8 bits beside ONNX
Runtime, one thread: what AMX and the dot products of AVX-512 are for."""

import model_list
import quantized
from measure import models
from measure.bf16 import has_bf16
from measure.context import geomean, only
from measure.contenders import OnnxRuntime, Ours, OpenVINO


def turns(context, name, makers):
    """A row: `makers` open ours and a peer."""
    row = {"model": name, "threads": 1,
           **context.in_turns(context.opened(makers))}
    print("  " + models.line(row), flush=True)
    return row


def ours(context, model, path, feeds, *flags):
    module = context.work / "low.ash"
    context.compile(path, module, *model.arguments(), *flags, "--quiet")
    return Ours(context, module, feeds, 1)


def measure_bf16(context):
    if not has_bf16():
        print("  this processor has no bf16")
        return {"rows": []}
    real, rows = {m.name: m for m in model_list.all_models()}, []
    for name in models.NAMES:
        model = real[name]
        with model.prepare(context.work) as path, only(1):
            feeds = model.cases(path)[0].feeds
            rows.append(turns(context, name, {
                "ours": lambda: ours(context, model, path, feeds,
                                     "--precision=bf16"),
                "openvino": lambda: OpenVINO(path, feeds, 1, "bf16")}))
    return {"rows": rows}


def measure_int8(context):
    real, rows = {m.name: m for m in model_list.all_models()}, []
    for name in quantized.NAMES:
        model = real[name]
        with model.prepare(context.work) as path, only(1):
            paths, feeds = quantized.quantized(model, path, context.work)
            for kind in ("int8", "uint8"):
                rows.append(turns(context, f"{name}, {kind} activations", {
                    "ours": lambda: ours(context, model, paths[kind], feeds),
                    "onnxruntime": lambda: OnnxRuntime(paths[kind], feeds,
                                                       1)}))
    return {"rows": rows}


def ratio(part):
    return geomean(r for r in map(models.ratio, part.get("rows", [])) if r)
