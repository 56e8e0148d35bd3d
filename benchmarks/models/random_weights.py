#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives one of ONNX's light_* models random weights.

Those models keep their weights out of the file: each is a ConstantOfShape, all
elements alike, so that a compiler that mixes up two channels still gets the
right answer. Here each becomes an initializer with random values from a fixed
seed, scaled by its use; the layer before the last Softmax is scaled once more
after a trial run, so that no class takes all.
"""

import argparse
import pathlib
import zlib

import numpy as np
import onnx
import onnxruntime
from graph_writer import centred
from onnx import helper, numpy_helper

# The inputs of BatchNormalization: how each is drawn.
NORM_INPUTS = {1: "gain", 2: "offset", 3: "offset", 4: "gain"}


def roles(graph):
    """How each value is used: by which kind of node, as which operand."""
    consumers = {}
    for node in graph.node:
        for index, name in enumerate(node.input):
            consumers.setdefault(name, []).append((node, index))
    return consumers


def draw(name, shape, consumers):
    random = np.random.default_rng(zlib.crc32(name.encode()))
    if len(shape) > 1:
        # A ReLU follows most layers, which halves the variance.
        deviation = np.sqrt(2 / np.prod(shape[1:]))
        values = (random.standard_normal(shape, dtype=np.float32)
                  * np.float32(deviation))
        return centred(values)
    node, index = consumers[name][0]
    if node.op_type == "Unsqueeze":
        node, index = consumers[node.output[0]][0]
    kind = "offset"
    if node.op_type == "BatchNormalization":
        kind = NORM_INPUTS[index]
    elif node.op_type == "Mul":
        kind = "gain"
    if kind == "gain":
        return random.uniform(0.8, 1.2, shape).astype(np.float32)
    return (0.1 * random.standard_normal(shape)).astype(np.float32)


def randomize(model):
    graph = model.graph
    consumers = roles(graph)
    constants = {t.name: t for t in graph.initializer}
    kept, drawn = [], {}
    for node in graph.node:
        if (node.op_type == "ConstantOfShape"
                and node.input[0] in constants):
            shape = numpy_helper.to_array(constants[node.input[0]])
            name = node.output[0]
            drawn[name] = draw(name, tuple(map(int, shape)), consumers)
        else:
            kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)
    used = {name for node in kept for name in node.input}
    remaining = [t for t in graph.initializer if t.name in used]
    del graph.initializer[:]
    graph.initializer.extend(remaining)
    # Old models name their constants among their inputs too.
    inputs = [i for i in graph.input
              if i.name in used and i.name not in drawn]
    del graph.input[:]
    graph.input.extend(inputs)
    for name, values in drawn.items():
        graph.initializer.append(numpy_helper.from_array(values, name))
    # From IR version 4 on, an initializer need not be an input.
    model.ir_version = max(model.ir_version, 4)
    soften(model)
    return model


def soften(model):
    """Scales the last layer with weights so that its outputs spread by two."""
    graph = model.graph
    producers = {o: node for node in graph.node for o in node.output}
    weights = {t.name: t for t in graph.initializer}
    value = graph.output[0].name
    while producers[value].op_type not in ("Gemm", "Conv"):
        value = producers[value].input[0]
    last = producers[value]

    trial = onnx.ModelProto()
    trial.CopyFrom(model)
    trial.graph.output.append(helper.make_empty_tensor_value_info(value))
    session = onnxruntime.InferenceSession(trial.SerializeToString())
    feeds = {
        i.name: np.random.default_rng(0).standard_normal(i.shape)
        .astype(np.float32) for i in session.get_inputs()}
    spread = session.run([value], feeds)[0].std()
    for name in last.input[1:]:
        while name not in weights:  # behind a Reshape
            name = producers[name].input[0]
        values = numpy_helper.to_array(weights[name]) * np.float32(2 / spread)
        weights[name].CopyFrom(numpy_helper.from_array(values, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    onnx.save(randomize(onnx.load(arguments.model)), arguments.out)


if __name__ == "__main__":
    main()
