# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of their own kind, one thread: recurrent layers in f32 and 8 bits,
models in f16, a decoder's step with weights of 4 bits, a diffusion block."""

import contextlib

import numpy as np
import onnx

import kinds
import model_list
from measure import models
from model_case import Case, Model

PEERS = ("onnxruntime", "openvino")
# Must and goal of each ratio.
BOUNDS = (1.0, 1.3)


def random_feeds(path):
    draw = np.random.default_rng(3)
    graph = onnx.load(path, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    return {i.name: draw.standard_normal(
        [d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
        for i in graph.input if i.name not in constants}


def written(name, write):
    @contextlib.contextmanager
    def prepare(work):
        path = work / f"{name}.onnx"
        write(path)
        try:
            yield path
        finally:
            path.unlink()

    return Model(name, prepare, lambda path: [Case("random",
                                                   random_feeds(path))])


def write_lstm_int8(path):
    """As ONNX Runtime's tool writes it: DynamicQuantizeLSTM."""
    from onnxruntime.quantization import QuantType, quantize_dynamic
    plain = path.with_suffix(".f32.onnx")
    kinds.write_lstm(plain)
    quantize_dynamic(plain, path, weight_type=QuantType.QInt8)
    plain.unlink()


def half(base):
    """The model in f16 but for its inputs and outputs, as ONNX Runtime's tool
    writes it."""
    from onnxruntime.transformers.float16 import convert_float_to_float16

    @contextlib.contextmanager
    def prepare(work):
        path = work / f"{base.name}_f16.onnx"
        with base.prepare(work) as plain:
            onnx.save(convert_float_to_float16(
                onnx.load(plain), keep_io_types=True), path)
        try:
            yield path
        finally:
            path.unlink()

    return Model(f"{base.name}_f16", prepare, base.cases, base.shapes)


def all_kinds():
    real = {m.name: m for m in model_list.all_models()}
    return [
        written("lstm", kinds.write_lstm),
        written("lstm_int8", write_lstm_int8),
        half(real["minilm_l6"]),
        half(real["mobilenet_v2"]),
        written("decoder_step", kinds.write_decoder_step),
        written("diffusion_block", kinds.write_diffusion_block),
    ]


def measure(context):
    rows = []
    for model in all_kinds():
        rows.append(models.measure_model(context, model, 1, PEERS))
        print("  " + models.line(rows[-1]), flush=True)
        (context.work / f"{model.name}.ash").unlink(missing_ok=True)
    return {"rows": rows}
