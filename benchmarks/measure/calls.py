# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call costs where there is nothing to compute, and what a load."""

import json
import statistics

import numpy as np

import matmul
import model_list
from measure.context import Refused, only
from measure.contenders import OnnxRuntime


def measure_call(context):
    """One operator, ours through the C API, ONNX Runtime through Python."""
    model, module = context.work / "add.onnx", context.work / "add.ash"
    matmul.write_addition(model)
    context.compile(model, module, "--quiet")
    feeds = {n: np.ones(16, np.float32) for n in ("a", "b")}
    with only(1):
        theirs = OnnxRuntime(model, feeds, 1)
        ours, times = [], []
        for _ in range(context.rounds):
            share = context.seconds / context.rounds
            ours.append(json.loads(context.run(
                context.native / "call", module, share, 1)))
            times.append(1e3 * statistics.median(theirs.block(share)))
    return {"ours": {key: statistics.median(o[key] for o in ours)
                     for key in ("run_us", "bound_us")},
            "onnxruntime": {"run_us": statistics.median(times)}}


def measure_load(context, name="bert_base"):
    """Opening a model whose file the system has in memory already."""
    model = next(m for m in model_list.all_models() if m.name == name)
    module = context.work / f"{name}.ash"
    row = {"model": name}
    with model.prepare(context.work) as path, only(1):
        context.compile(path, module, *model.arguments(), "--quiet")
        feeds = model.cases(path)[0].feeds
        ours, theirs = [], []
        for _ in range(context.rounds):
            ours.append(json.loads(context.run(
                context.bin / "ashlar-bench", module, "--json", "--threads=1",
                "--min-time=0", "--warmup=0"))["load_us"])
            theirs.append(1e6 * OnnxRuntime(path, feeds, 1).open_s)
    row["ours"] = {"load_us": statistics.median(ours)}
    row["onnxruntime"] = {"load_us": statistics.median(theirs)}
    module.unlink()
    return row


def measure_rebind(context, name="ppocr_rec"):
    """Binding tensors of other sizes than before, nothing run."""
    model = next(m for m in model_list.all_models() if m.name == name)
    module = context.work / f"{name}-open.ash"
    with model.prepare(context.work) as path, only(1):
        context.compile(path, module, "--dim=N=1..8,W=32..3200",
                        "--shape=x=Nx3x48xW", "--quiet")
        found = json.loads(context.run(
            context.native / "rebind", module, context.seconds))
    module.unlink()
    return {"model": name, **found}


def measure(context):
    try:
        call = measure_call(context)
        print(f"  one operator: ours {call['ours']['run_us']:.3f} us, bound "
              f"{call['ours']['bound_us']:.3f} us; ONNX Runtime, Python "
              f"{call['onnxruntime']['run_us']:.2f} us", flush=True)
    except Refused as why:
        call = {"refused": str(why)}
    return call


def measure_rebinds(context):
    row = measure_rebind(context)
    print(f"  {row['model']}: {row['bind_us']:.1f} us", flush=True)
    return {"rows": [row]}


def measure_loads(context):
    row = measure_load(context)
    print(f"  {row['model']}: ours {row['ours']['load_us']:.0f} us, "
          f"ONNX Runtime {row['onnxruntime']['load_us']:.0f} us", flush=True)
    return {"rows": [row]}
