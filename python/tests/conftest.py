# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models that the tests share; each is compiled once."""

import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import ashlar

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


def model(nodes, inputs, outputs, initializers=()):
    """A ModelProto; ports as {name: (type, shape)}."""
    def ports(described):
        return [helper.make_tensor_value_info(name, kind, shape)
                for name, (kind, shape) in described.items()]
    graph = helper.make_graph(nodes, "g", ports(inputs), ports(outputs),
                              list(initializers))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)],
                             ir_version=9)
    onnx.checker.check_model(made)
    return made


def unary(operator, shape, kind=TensorProto.FLOAT, **attributes):
    """y = operator(x)"""
    return model([helper.make_node(operator, ["x"], ["y"], **attributes)],
                 {"x": (kind, shape)}, {"y": (kind, shape)})


@pytest.fixture(scope="session")
def negate():
    """y = -x, of floats 2x3."""
    return ashlar.compile(unary("Neg", [2, 3]))


@pytest.fixture(scope="session")
def subtract():
    """difference = a - b, total = a + b, of floats 4."""
    return ashlar.compile(model(
        [helper.make_node("Sub", ["a", "b"], ["difference"]),
         helper.make_node("Add", ["a", "b"], ["total"])],
        {"a": (TensorProto.FLOAT, [4]), "b": (TensorProto.FLOAT, [4])},
        {"difference": (TensorProto.FLOAT, [4]),
         "total": (TensorProto.FLOAT, [4])}))


@pytest.fixture(scope="session")
def open_sizes():
    """y = -x, of floats Nx3, N from 1 to 64."""
    return ashlar.compile(unary("Neg", ["batch", 3]), shapes={"x": ("N", 3)},
                          dims={"N": (1, 64)})


@pytest.fixture(scope="session")
def nonzero():
    """Where x, of floats 2x3, is not zero: a size that the data decide."""
    return ashlar.compile(model(
        [helper.make_node("NonZero", ["x"], ["y"])],
        {"x": (TensorProto.FLOAT, [2, 3])},
        {"y": (TensorProto.INT64, [2, None])}))


@pytest.fixture(scope="session")
def slow():
    """Products of matrices that take some tens of milliseconds."""
    nodes = [helper.make_node("MatMul", [f"v{i}", "w"], [f"v{i + 1}"])
             for i in range(12)]
    weights = np.random.default_rng(0).standard_normal(
        (1024, 1024)).astype(np.float32) / 32
    return ashlar.compile(model(
        nodes, {"v0": (TensorProto.FLOAT, [1024, 1024])},
        {"v12": (TensorProto.FLOAT, [1024, 1024])},
        [onnx.numpy_helper.from_array(weights, "w")]))


@pytest.fixture
def x():
    return np.arange(6, dtype=np.float32).reshape(2, 3)
