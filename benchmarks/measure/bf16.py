# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bf16 products with constant weights, in chains of layers as nets have them:
each layer's weights have been pushed out of the near caches by the others."""

import ml_dtypes
import numpy as np

import matmul
from measure.context import geomean, only
from measure.contenders import Ours, OpenVINO

LAYERS = 8
# M, and the widths that layers go through in turns.
CHAINS = {"1024x1024x1024": (1024, (1024, 1024)),
          "128x768x3072": (128, (3072, 768))}


def has_bf16():
    """Whether the processor multiplies bf16: without, this says nothing."""
    with open("/proc/cpuinfo") as file:
        text = file.read()
    return any(f in text for f in ("amx_bf16", "avx512_bf16", " bf16"))


def measure_chain(context, name, m, widths):
    widths = [widths[i % 2] for i in range(LAYERS + 1)]
    model, module = context.work / "bf16.onnx", context.work / "bf16.ash"
    matmul.write_bf16_chain(model, m, widths)
    draw = np.random.default_rng(2)
    x = draw.standard_normal((m, widths[0])).astype(ml_dtypes.bfloat16)

    def ours():
        context.compile(model, module, "--quiet")
        return Ours(context, module, {}, 1)  # .npy has no bf16

    def openvino():
        import openvino
        peer = OpenVINO(model, {"x": x}, 1, precision="bf16")
        peer.feeds = {"x": openvino.Tensor(
            x.view(np.uint16), x.shape, openvino.Type.bf16)}
        return peer

    with only(1):
        row = {"name": name, "layers": LAYERS, **context.in_turns(
            context.opened({"ours": ours, "openvino": openvino}))}
    for who in ("ours", "openvino"):
        if "ms" in row[who]:
            row[who]["ms"] /= LAYERS
    return row


def measure(context):
    if not has_bf16():
        print("  this processor has no bf16")
        return {"rows": []}
    rows = []
    for name, (m, widths) in CHAINS.items():
        rows.append(measure_chain(context, name, m, widths))
        print(f"  {name}:" + "".join(
            f" {who} {rows[-1][who]['ms']:.3f} ms" if "ms" in rows[-1][who]
            else f" {who} refused ({rows[-1][who]['refused'][:80]})"
            for who in ("ours", "openvino")), flush=True)
    return {"rows": rows, "ratio": geomean(
        r["openvino"]["ms"] / r["ours"]["ms"] for r in rows
        if "ms" in r["ours"] and "ms" in r["openvino"])}
