# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that grow: how long a compile takes may depend on the number of
nodes, and should not depend on it in any other way than proportionally."""

from onnx import TensorProto, helper

import bert
from graph_writer import GraphWriter, xavier

LAYERS = (2, 6, 12, 24, 48)
NODES = (1250, 2500, 5000, 10000)
LENGTH = 32


def write_transformer(path, layers):
    """Equal layers, small, so that writing weights takes no time."""
    size = bert.Size(layers=layers, hidden=64, heads=4, inner=256,
                     vocabulary=100, positions=LENGTH)
    g = GraphWriter(f"transformer_{layers}", opset=13)
    x, _ = bert.Encoder(g, size, 1, LENGTH, decomposed=True).write()
    g.output(x, "last_hidden_state", "float", [1, LENGTH, size.hidden])
    g.save(path)


def write_chain(path, nodes):
    """Blocks of four nodes, each with its own weights: x + relu(x * W + b)."""
    g = GraphWriter(f"chain_{nodes}", opset=13)
    width = 32
    x = g.input("x", "float", [8, width])
    for i in range(nodes // 4):
        w = g.normal(f"w{i}", (width, width), 0.05 * xavier(width))
        b = g.normal(f"b{i}", (width,), 0.01)
        y = g.add("MatMul", [x, w])
        y = g.add("Add", [y, b])
        y = g.add("Relu", [y])
        x = g.add("Add", [x, y])
    # An output of a name of its own: renaming a value walks over all nodes.
    g.nodes[-1].output[0] = "y"
    g.outputs.append(helper.make_tensor_value_info(
        "y", TensorProto.FLOAT, [8, width]))
    g.save(path)
