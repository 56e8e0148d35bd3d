# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random networks of contractions that follow each other: convolutions of any
form, depthwise ones between them, or products, with biases, residual sums and
activations, branches, and values in the middle that are outputs too."""

import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Network:
    def __init__(self, seed):
        self.choose = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.weights = [], []
        if self.choose.random() < 0.5:
            self.convolutions()
        else:
            self.products()

    def model(self):
        def described(value):
            return helper.make_tensor_value_info(
                value[0], TensorProto.FLOAT, value[1])
        middle = [v for v in self.values[1:-1] if self.choose.random() < 0.2]
        graph = helper.make_graph(
            self.nodes, "network", [described(self.values[0])],
            [described(v) for v in [self.values[-1], *middle]], self.weights)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def weight(self, *shape, scale=1.0):
        name = f"w{len(self.weights)}"
        values = self.numbers.standard_normal(shape) * scale
        self.weights.append(
            numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def constant(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(
            numpy_helper.from_array(np.array(value, np.float32), name))
        return name

    def node(self, kind, inputs, shape, **attributes):
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(
            kind, inputs, [name], name=name, **attributes))
        return name, shape

    def finish(self, value):
        """Perhaps a residual sum and an activation."""
        alike = [v for v in self.values if v[1] == value[1]]
        if alike and self.choose.random() < 0.7:
            other = self.choose.choice(alike)
            value = self.node("Add", [value[0], other[0]], value[1])
        if self.choose.random() < 0.6:
            kind = self.choose.choice(
                ["Relu", "Relu", "Clip", "Sigmoid", "Tanh", "HardSwish"])
            bounds = [self.constant(0), self.constant(1.5)] \
                if kind == "Clip" else []
            value = self.node(kind, [value[0], *bounds], value[1])
        self.values.append(value)

    def convolutions(self):
        choice = self.choose.choice
        size = choice([7, 9, 14, 20, 28, 33])
        self.values = [("x", [choice([1, 1, 2]), choice([3, 16, 64, 130, 256]),
                              size, size])]
        for _ in range(self.choose.randint(2, 7)):
            name, (images, channels, size, _) = choice(self.values[-2:])
            filters = choice([16, 40, 64, 72, 128, 131, 200, 256])
            taps = choice([1, 1, 3, 3, 5])
            step = choice([1, 1, 1, 2]) if size > 8 else 1
            margin = choice([0, taps // 2]) if size > 6 else taps // 2
            self.finish(self.convolution(name, images, channels, size, filters,
                                         taps, step, margin))
            if self.choose.random() < 0.4:
                self.depthwise()

    def convolution(self, name, images, channels, size, filters, taps, step,
                    margin, groups=1):
        terms = channels // groups * taps * taps
        out = (size + 2 * margin - taps) // step + 1
        return self.node(
            "Conv",
            [name, self.weight(filters, channels // groups, taps, taps,
                               scale=terms ** -0.5), self.weight(filters)],
            [images, filters, out, out], pads=[margin] * 4,
            strides=[step] * 2, group=groups)

    def depthwise(self):
        """What comes between the halves of an inverted residual."""
        choice = self.choose.choice
        name, (images, channels, size, _) = self.values[-1]
        taps = choice([taps for taps in (1, 2, 3, 3, 3, 5, 7) if taps <= size])
        step = choice([1, 1, 2, 3]) if size > 8 else 1
        margin = choice([0, taps // 2, taps // 2])
        self.finish(self.convolution(name, images, channels, size, channels,
                                     taps, step, margin, channels))

    def products(self):
        choice = self.choose.choice
        rows = choice([1, 5, 50, 128, 200, 300])
        self.values = [("x", [rows, choice([64, 100, 256, 768])])]
        for _ in range(self.choose.randint(2, 7)):
            name, (_, terms) = choice(self.values[-2:])
            columns = choice([32, 100, 256, 300, 768, 1100])
            weight = self.weight(terms, columns, scale=terms ** -0.5)
            value = self.node("MatMul", [name, weight], [rows, columns])
            if self.choose.random() < 0.6:
                value = self.node("Add", [value[0], self.weight(columns)],
                                  value[1])
            self.finish(value)
