# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random networks of contractions that follow each other: convolutions of any
form, depthwise ones between them, products or attention, with biases, residual
sums and activations, norms and softmaxes of rows, branches, and values in the
middle that are outputs too."""

import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Network:
    def __init__(self, seed):
        self.choose = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.weights = [], []
        kind = self.choose.random()
        if kind < 0.45:
            self.convolutions()
        elif kind < 0.75:
            self.products()
        else:
            self.attention()

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

    def constant(self, value, type=np.float32):
        name = f"w{len(self.weights)}"
        self.weights.append(
            numpy_helper.from_array(np.array(value, type), name))
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

    def combine_rows(self, value):
        """What needs all of a row: a norm or a softmax, whole or in steps."""
        shape = value[1]
        rows = [*shape[:-1], 1]

        def mean(of, kind="ReduceMean"):
            return self.node(kind, [of[0]], rows, axes=[len(shape) - 1])
        kind = self.choose.choice(
            ["softmax", "masked", "layer", "steps", "lengths", "range"])
        if kind in ("softmax", "masked"):
            if kind == "masked":
                mask = self.numbers.random(shape[-1]) < 0.3
                mask[self.choose.randrange(shape[-1])] = False
                low = self.choose.choice([-np.inf, -1e9, np.finfo("f4").min])
                value = self.node("Add", [value[0], self.constant(
                    np.where(mask, low, 0))], shape)
            return self.node("Softmax", [value[0]], shape, axis=-1)
        if kind == "layer":
            return self.node(
                "LayerNormalization",
                [value[0], self.weight(shape[-1]), self.weight(shape[-1])],
                shape, axis=-1)
        if kind == "range":
            return self.node("Sub", [value[0], mean(value, "ReduceMax")[0]],
                             shape)
        if kind == "steps":
            value = self.node("Sub", [value[0], mean(value)[0]], shape)
        square = self.node("Mul", [value[0], value[0]], shape)
        square = self.node("Add", [mean(square)[0], self.constant(1e-3)], rows)
        value = self.node(
            "Div", [value[0], self.node("Sqrt", [square[0]], rows)[0]], shape)
        return self.node("Mul", [value[0], self.weight(shape[-1])], shape)

    def attention(self):
        choice = self.choose.choice
        batch, length = choice([1, 1, 2]), choice([1, 5, 37, 127, 128, 129, 200])
        heads, width = choice([1, 2, 3, 12]), choice([16, 32, 64, 100])
        terms = heads * width
        shape = [batch, length, terms]
        self.values = [("x", shape)]
        to = self.constant([batch, length, heads, width], np.int64)
        back = self.constant(shape, np.int64)
        for _ in range(self.choose.randint(1, 2)):
            x = self.values[-1]

            def project(value, rows=shape):
                weight = self.weight(terms, terms, scale=terms ** -0.5)
                value = self.node("MatMul", [value[0], weight], rows)
                return self.node("Add", [value[0], self.weight(terms)], rows)

            def head(value, order):
                value = self.node("Reshape", [value[0], to],
                                  [batch, length, heads, width])
                shape = [value[1][i] for i in order]
                return self.node("Transpose", [value[0]], shape, perm=order)
            q, k, v = (head(project(x), order) for order in
                       ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
            scores = self.node("MatMul", [q[0], k[0]],
                               [batch, heads, length, length])
            scores = self.node("Mul", [scores[0], self.constant(
                width ** -0.5)], scores[1])
            if self.choose.random() < 0.5:
                mask = np.where(
                    self.numbers.random((batch, 1, 1, length)) < 0.3, -1e9, 0)
                scores = self.node("Add", [scores[0], self.constant(mask)],
                                   scores[1])
            weights = self.node("Softmax", [scores[0]], scores[1], axis=-1)
            mixed = self.node("MatMul", [weights[0], v[0]], v[1])
            mixed = self.node("Transpose", [mixed[0]],
                              [batch, length, heads, width], perm=[0, 2, 1, 3])
            mixed = self.node("Reshape", [mixed[0], back], shape)
            value = self.node("Add", [project(mixed)[0], x[0]], shape)
            self.values.append(self.combine_rows(value))
            self.finish(project(self.values[-1]))

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
            if self.choose.random() < 0.35:
                value = self.combine_rows(value)
            self.finish(value)
