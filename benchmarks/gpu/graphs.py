# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ONNX models of table.py's kinds. Both operands of a product are inputs,
so that no weights have to travel; those of convolutions are constant, as the
order in which they lie is the compiler's to choose."""

import onnx
from onnx import TensorProto, helper

import kinds

TYPES = {"f32": TensorProto.FLOAT, "bf16": TensorProto.BFLOAT16}


class Graph:
    def __init__(self, type_):
        self.type = TYPES[type_]
        self.nodes, self.inputs, self.constants = [], [], []

    def input(self, name, *shape):
        self.inputs.append(helper.make_tensor_value_info(
            name, self.type, shape))
        return name

    def axes(self, *values):
        self.constants.append(helper.make_tensor(
            "axes", TensorProto.INT64, [len(values)], values))
        return "axes"

    def constant(self, name, array):
        # bfloat16 is the upper half of what these numbers are.
        raw = (array.view("<u4") >> 16).astype("<u2") \
            if self.type == TensorProto.BFLOAT16 else array
        self.constants.append(helper.make_tensor(
            name, self.type, array.shape, raw.tobytes(), raw=True))
        return name

    def node(self, op, *inputs, to="", **attributes):
        to = to or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [to], **attributes))
        return to

    def model(self):
        output = helper.make_tensor_value_info("y", self.type, None)
        return helper.make_model(
            helper.make_graph(self.nodes, "case", self.inputs, [output],
                              self.constants),
            ir_version=10, opset_imports=[helper.make_opsetid("", 23)])


def matmul(g, m, n, k):
    g.node("MatMul", g.input("x", m, k), g.input("w", k, n), to="y")


def bmm(g, b, m, n, k):
    g.node("MatMul", g.input("x", b, m, k), g.input("w", b, k, n), to="y")


def epilogue(g, m, n, k):
    product = g.node("MatMul", g.input("x", m, k), g.input("w", k, n))
    biased = g.node("Add", product, g.input("b", n))
    g.node("Add", g.node("Gelu", biased), g.input("r", m, n), to="y")


def softmax(g, rows, width):
    g.node("Softmax", g.input("x", rows, width), to="y", axis=-1)


def layer_norm(g, rows, width):
    g.node("LayerNormalization", g.input("x", rows, width),
           g.input("w", width), g.input("b", width), to="y", axis=-1)


def add(g, rows, width):
    g.node("Add", g.input("x", rows, width), g.input("w", rows, width),
           to="y")


def swiglu(g, rows, width):
    x = g.input("x", rows, width)
    silu = g.node("Mul", x, g.node("Sigmoid", x))
    g.node("Mul", silu, g.input("w", rows, width), to="y")


def transpose(g, rows, width):
    g.node("Transpose", g.input("x", rows, width), to="y", perm=[1, 0])


def sum_rows(g, rows, width):
    g.node("ReduceSum", g.input("x", rows, width), g.axes(1), to="y",
           keepdims=0)


def sum_columns(g, rows, width):
    g.node("ReduceSum", g.input("x", rows, width), g.axes(0), to="y",
           keepdims=0)


def attention(g, heads, s, d, causal):
    q, k, v = (g.input(name, 1, heads, s, d) for name in "qkv")
    products = g.node("MatMul", q, g.node("Transpose", k, perm=[0, 1, 3, 2]))
    g.constants.append(helper.make_tensor("scale", g.type, [], [d ** -0.5]))
    scores = g.node("Mul", products, "scale")
    g.node("MatMul", g.node("Softmax", scores, axis=-1), v, to="y")


def attention_op(g, heads, s, d, causal):
    g.node("Attention", *(g.input(name, 1, heads, s, d) for name in "qkv"),
           to="y", is_causal=int(causal))


def grouped(g, heads, of_keys, rows, s, d):
    q = g.input("q", 1, heads, rows, d)
    k, v = (g.input(name, 1, of_keys, s, d) for name in "kv")
    g.node("Attention", q, k, v, to="y")


def conv(g, n, c, o, h, side, stride):
    # Channels last, which ONNX says by transposes.
    x = g.node("Transpose", g.input("x", n, h, h, c), perm=[0, 3, 1, 2])
    y = g.node("Conv", x, g.constant("w", kinds.conv_weights(o, c, side)),
               pads=[side // 2] * 4, strides=[stride] * 2)
    g.node("Transpose", y, to="y", perm=[0, 2, 3, 1])


KINDS = {each.__name__: each for each in (
    matmul, bmm, epilogue, softmax, layer_norm, add, swiglu, transpose,
    sum_rows, sum_columns, attention, attention_op, grouped,
    conv)}


def write(case, path):
    graph = Graph(case["type"])
    KINDS[case["kind"]](graph, **case["sizes"])
    model = graph.model()
    onnx.save(model, path)
    return [[i.name, [d.dim_value for d in i.type.tensor_type.shape.dim]]
            for i in model.graph.input]
