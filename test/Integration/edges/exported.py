# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small graphs as exporters write them: name, text, and inputs for each run.

The files of the folder exported were written by scikit-learn's, TensorFlow's,
Paddle's and PyTorch's exporters and ONNX Runtime's quantiser (their versions
stand in them), and printed in ONNX's own text format.
"""

import pathlib

import numpy as np
import onnx
import onnx.parser
from onnx import helper

FOLDER = pathlib.Path(__file__).resolve().parent / "exported"
RANDOM = np.random.default_rng(31)
RUNS = 3
# What is for dimensions that a graph leaves open.
OPEN = 7
# Inputs that are no random numbers around zero.
SPECIAL = {
    ("tf2onnx_boxes", "x0"): lambda: np.sort(
        RANDOM.random((8, 2, 2)), 1).reshape(8, 4),
    ("tf2onnx_boxes", "x1"): lambda: RANDOM.random(8),
    ("tf2onnx_crops", "x1"): lambda: np.sort(
        RANDOM.random((3, 2, 2)), 1).reshape(3, 4),
    ("paddle_loop", "n"): lambda: RANDOM.integers(0, 6, 1),
    ("pytorch_packed", "x1"): lambda: np.sort(
        RANDOM.integers(1, 7, 3))[::-1].copy(),
    ("pytorch_while", "x"): lambda: RANDOM.random((3, 4)) + 0.1,
}


def values(name, value):
    tensor = value.type.tensor_type
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    make = SPECIAL.get((name, value.name))
    if make:
        return make().astype(dtype)
    shape = [d.dim_value or OPEN for d in tensor.shape.dim]
    if np.issubdtype(dtype, np.integer):
        return RANDOM.integers(0, 3, shape).astype(dtype)
    return RANDOM.standard_normal(shape).astype(dtype)


def cases():
    for path in sorted(FOLDER.glob("*.txt")):
        text = "".join(line for line in path.read_text().splitlines(True)
                       if not line.startswith("//"))
        graph = onnx.parser.parse_model(text).graph
        given = {tensor.name for tensor in graph.initializer}
        yield path.stem, text, [
            {value.name: values(path.stem, value) for value in graph.input
             if value.name not in given} for _ in range(RUNS)]


CASES = list(cases())
