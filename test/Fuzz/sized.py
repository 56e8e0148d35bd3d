# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nodes that hang on sizes alone, at the end of a graph of open sizes: places,
masks, rows of tables. Shape inference cannot follow them, so that they are not
among the operators of a graph."""

import numpy as np
from onnx import helper

from graph import Value


class Sized:
    def __init__(self, graph, random):
        self.graph = graph
        self.random = random

    def node(self, op, *inputs, **attributes):
        name = self.graph.fresh("s")
        names = [i.name if isinstance(i, Value) else i for i in inputs]
        self.graph.nodes.append(helper.make_node(
            op, names, [name], name=f"{op}_{name}", **attributes))
        return name

    def integers(self, *numbers):
        return self.graph.integers(list(numbers))

    def size(self, v, axis):
        """In a tensor of one element."""
        return self.node("Shape", v, start=axis, end=axis + 1)

    def along(self, v, axis, vector):
        """A vector as a tensor of v's rank, along one axis."""
        others = [a for a in range(v.rank) if a != axis]
        return (self.node("Unsqueeze", vector, self.integers(*others))
                if others else vector)

    def places(self, v, axis, begin=None):
        """Of the elements of an axis, counted from a size on if one is given."""
        count = self.node("Squeeze", self.size(v, axis))
        first = (self.node("Squeeze", begin) if begin
                 else self.graph.constant(np.int64(0)))
        return self.along(v, axis, self.node(
            "Range", first,
            self.node("Add", first, count), self.graph.constant(np.int64(1))))

    def scaled(self, v, axis, other):
        factor = self.node("Cast", self.places(v, axis), to=1)
        return self.node("Mul", v, factor)

    def masked(self, v, axis, other):
        if v.rank < 2:
            return self.scaled(v, axis, other)
        begin = self.size(v, other) if self.random.random() < 0.5 else None
        seen = self.node("LessOrEqual", self.places(v, other),
                         self.places(v, axis, begin))
        return self.node("Where", seen, v, self.graph.constant(np.float32(-7)))

    def rows(self, v, axis, other):
        """A part of a table; large ones are folded in another way."""
        width = int(self.random.choice([1, 3, 16, 64]))
        length = int(self.random.choice([100, 400]))
        table = self.graph.weight("f32", (length, width))
        begin = (self.size(v, other) if self.random.random() < 0.5
                 else self.integers(0))
        end = self.node("Add", begin, self.size(v, axis))
        rows = self.node("Slice", table, begin, end, self.integers(0))
        sums = self.node("ReduceSum", rows, self.integers(1), keepdims=0)
        return self.node("Add", v, self.along(v, axis, sums))

    def gathered(self, v, axis, other):
        table = self.graph.weight("f32", (int(self.random.choice([90, 9000])),))
        begin = self.size(v, other) if self.random.random() < 0.5 else None
        return self.node("Add", v, self.node(
            "Gather", table, self.places(v, axis, begin)))


def add_sized(seed, graph, opened):
    """To a third of the graphs; the values to return beside the others."""
    random = np.random.default_rng([seed, 9])
    if opened is None or random.random() > 1 / 3:
        return []
    found = [(n, a) for n, dims in opened.shapes.items()
             for a, d in enumerate(dims)
             if isinstance(d, str) and graph.inputs[n].dtype == np.float32]
    # No size is larger than the table, twice.
    if not found or max(max(graph.inputs[n].shape) for n, _ in found) > 40:
        return []
    name, axis = found[int(random.integers(len(found)))]
    v = next(v for v in graph.values if v.name == name)
    sized = Sized(graph, random)
    maker = [sized.scaled, sized.masked, sized.rows, sized.gathered][
        int(random.integers(4))]
    result = maker(v, axis, int(random.integers(v.rank)))
    return [Value(result, "f32", v.shape, -1e3, 1e3)]
