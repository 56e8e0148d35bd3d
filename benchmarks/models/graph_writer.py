# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes ONNX graphs node by node, named as PyTorch's exporter names them.

Weights are random from a fixed seed, scaled so that what flows through stays
of the order of one: an error somewhere shows at the output, and none of it
hides behind a saturated softmax.
"""

import pathlib
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"float": TensorProto.FLOAT, "int64": TensorProto.INT64,
         "int8": TensorProto.INT8}


class GraphWriter:
    def __init__(self, name, opset):
        self.name = name
        self.opset = opset
        self.nodes = []
        self.weights = []
        self.inputs = []
        self.outputs = []
        self.counts = {}

    def random(self, name):
        """A generator of its own for each weight: what one draws does not
        depend on which weights were made before."""
        return np.random.default_rng(zlib.crc32(f"{self.name}/{name}".encode()))

    def normal(self, name, shape, deviation, mean=0.0):
        values = self.random(name).standard_normal(shape, dtype=np.float32)
        values *= np.float32(deviation)
        if mean:
            values += np.float32(mean)
        return self.weight(name, values)

    def filters(self, name, shape, deviation):
        """The weight of a convolution: [out, in, kernel...]."""
        values = self.random(name).standard_normal(shape, dtype=np.float32)
        return self.weight(name, centred(values * np.float32(deviation)))

    def uniform(self, name, shape, low, high):
        values = self.random(name).uniform(low, high, shape)
        return self.weight(name, values.astype(np.float32))

    def weight(self, name, values):
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def input(self, name, kind, shape):
        self.inputs.append(
            helper.make_tensor_value_info(name, TYPES[kind], shape))
        return name

    def output(self, value, name, kind, shape):
        """Makes a value an output of the graph, under a name of its own."""
        for node in self.nodes:
            node.input[:] = [name if i == value else i for i in node.input]
            node.output[:] = [name if o == value else o for o in node.output]
        self.outputs.append(
            helper.make_tensor_value_info(name, TYPES[kind], shape))

    def add(self, kind, inputs, scope="", **attributes):
        """Adds a node with one output and returns that output's name."""
        path = f"{scope}/{kind}"
        count = self.counts.get(path, 0)
        self.counts[path] = count + 1
        path += f"_{count}" if count else ""
        result = f"{path}_output_0"
        self.nodes.append(
            helper.make_node(kind, inputs, [result], path, **attributes))
        return result

    def constant(self, value, dtype=np.float32, scope=""):
        """A Constant node, which is how exporters write small numbers."""
        tensor = numpy_helper.from_array(np.array(value, dtype))
        return self.add("Constant", [], scope, value=tensor)

    def save(self, path):
        graph = helper.make_graph(self.nodes, self.name, self.inputs,
                                  self.outputs, self.weights)
        domains = {node.domain for node in self.nodes} - {""}
        model = helper.make_model(
            graph, producer_name="ashlar-benchmarks", ir_version=8,
            opset_imports=[helper.make_opsetid("", self.opset),
                           *(helper.make_opsetid(d, 1) for d in domains)])
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".new")
        onnx.save(model, unfinished)
        unfinished.rename(path)


def centred(weight):
    """Takes each filter's mean away, as training does in effect: what comes
    out of a ReLU is positive, and its mean would otherwise grow from layer to
    layer until the picture hardly mattered."""
    if np.prod(weight.shape[1:]) < 4:
        return weight
    return weight - weight.mean(tuple(range(1, weight.ndim)), keepdims=True)


def he(fan_in):
    """Keeps the variance through a layer that a ReLU follows."""
    return np.sqrt(2.0 / fan_in)


def xavier(fan_in):
    """Keeps the variance through a layer that nothing follows."""
    return np.sqrt(1.0 / fan_in)
