# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators along axes: reductions, softmax, normalisations, sorting."""

from choose import axis, chance, pick, some_axes, value
from graph import Refused
from ops_elementwise import epilogue


def reduce(graph):
    op = pick(graph, ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin",
                      "ReduceL1", "ReduceL2", "ReduceSumSquare",
                      "ReduceLogSumExp", "ReduceProd"])
    v = value(graph, where=lambda v: v.rank > 0 and v.size > 0)
    axes = some_axes(graph, v.rank)
    count = 1
    for a in axes:
        count *= v.shape[a]
    m = v.magnitude
    low, high = {
        "ReduceSum": (v.low * count, v.high * count),
        "ReduceMean": (v.low, v.high), "ReduceMax": (v.low, v.high),
        "ReduceMin": (v.low, v.high), "ReduceL1": (0, m * count),
        "ReduceL2": (0, m * count ** 0.5 + 1),
        "ReduceSumSquare": (0, m * m * count),
        "ReduceLogSumExp": (v.low, v.high + 12),
        "ReduceProd": (-max(m, 1) ** count, max(m, 1) ** count)
        if count < 12 else (-1e9, 1e9)}[op]
    if op == "ReduceLogSumExp" and v.high > 10:
        raise Refused("may overflow")
    if chance(graph, 0.3):
        axes = [a - v.rank for a in axes]
    operands = [v, graph.integers(axes)]
    if len(axes) == v.rank and chance(graph, 0.5):
        operands = [v]
    return graph.node(op, operands, low, high,
                      v.exact and op in ("ReduceMax", "ReduceMin"),
                      keepdims=pick(graph, [None, 0]))


def softmax(graph):
    v = value(graph, where=lambda v: v.rank > 0 and v.magnitude < 100)
    op = pick(graph, ["Softmax", "Softmax", "LogSoftmax"])
    low, high = (0, 1) if op == "Softmax" else (-2 * v.magnitude - 12, 0)
    return epilogue(graph, graph.node(op, [v], low, high,
                                      axis=axis(graph, v.rank)))


def layer_norm(graph):
    v = value(graph, where=lambda v: v.rank > 0 and v.shape[-1] > 1)
    at = axis(graph, v.rank)
    dims = v.shape[at:]
    operands = [v, graph.weight(v.dtype, dims, 0.5, 1.5)]
    if chance(graph, 0.7):
        operands.append(graph.weight(v.dtype, dims))
    return epilogue(graph, graph.node("LayerNormalization", operands, -20, 20,
                                      axis=at, epsilon=1e-2))


def layer_norm_by_parts(graph):
    """As exporters write it: means and squares of what is left."""
    v = value(graph, where=lambda v: v.rank > 1 and v.shape[-1] > 1)
    axes = graph.integers([-1])
    mean = graph.node("ReduceMean", [v, axes], v.low, v.high)
    m = 2 * v.magnitude
    rest = graph.node("Sub", [v, mean], -m, m)
    square = graph.node("Mul", [rest, rest], 0, m * m)
    variance = graph.node("ReduceMean", [square, axes], 0, m * m)
    epsilon = graph.weight(v.dtype, (), 0.01, 0.02)
    variance = graph.node("Add", [variance, epsilon], 0.01, m * m + 1)
    deviation = graph.node("Sqrt", [variance], 0.1, m + 1)
    y = graph.node("Div", [rest, deviation], -10, 10)
    scale = graph.weight(v.dtype, v.shape[-1:], 0.5, 1.5)
    return epilogue(graph, graph.node("Mul", [y, scale], -15, 15))


def channel_norm(graph):
    v = value(graph, ranks=(3, 4, 5), where=lambda v: (
        v.size // max(v.shape[0] * v.shape[1], 1) > 1 and v.size > 0))
    op = pick(graph, ["InstanceNormalization", "GroupNormalization",
                      "BatchNormalization", "MeanVarianceNormalization",
                      "LRN", "LpNormalization"])
    c = v.shape[1]
    if op == "LRN":
        return graph.node(op, [v], v.low, v.high, size=pick(graph, [1, 3, 5]))
    if op == "LpNormalization":
        # Of what is near zero, noise is left.
        if v.low < 0.05:
            raise Refused("near zero")
        return graph.node(op, [v], -1, 1, axis=axis(graph, v.rank),
                          p=pick(graph, [1, 2]))
    if op == "MeanVarianceNormalization":
        if v.size // c < 8:
            raise Refused("too few for a variance")
        return graph.node(op, [v], -20, 20, axes=[0, *range(2, v.rank)])
    scale = graph.weight(v.dtype, (c,), 0.5, 1.5)
    bias = graph.weight(v.dtype, (c,))
    if op == "BatchNormalization":
        rest = [graph.weight(v.dtype, (c,)),
                graph.weight(v.dtype, (c,), 0.3, 2.0)]
        high = 3 * v.magnitude + 5
        return epilogue(graph, graph.node(op, [v, scale, bias, *rest], -high,
                                          high))
    extra = {}
    if op == "GroupNormalization":
        extra["num_groups"] = pick(graph, [g for g in range(1, c + 1)
                                           if c % g == 0])
    return epilogue(graph, graph.node(op, [v, scale, bias], -20, 20,
                                      epsilon=1e-2, **extra))


def extreme(graph):
    v = value(graph, ("f32", "f16", "f64", "i32", "i64"), exact=True,
              where=lambda v: v.rank > 0 and v.size > 0)
    at = axis(graph, v.rank)
    if chance(graph, 0.5):
        return graph.node(pick(graph, ["ArgMax", "ArgMin"]), [v], 0,
                          v.shape[at], axis=at, keepdims=pick(graph, [None, 0]),
                          select_last_index=pick(graph, [None, 1]))
    k = 1 + int(graph.random.integers(v.shape[at]))
    return graph.node("TopK", [v, graph.integers([k])], v.low, v.high, v.exact,
                      outputs=2, axis=at, largest=pick(graph, [None, 0]))[0]


def cumulative_sum(graph):
    v = value(graph, ("f32", "f64", "i32", "i64"),
              where=lambda v: v.rank > 0 and v.size < 4000)
    at = axis(graph, v.rank)
    high = v.magnitude * max(v.shape[at], 1)
    return graph.node("CumSum", [v, graph.constant(graph_int(at))], -high, high,
                      exclusive=pick(graph, [None, 1]),
                      reverse=pick(graph, [None, 1]))


def graph_int(number):
    import numpy as np
    return np.array(number, np.int64)


def integer_reduce(graph):
    v = value(graph, ("i32", "i64"), where=lambda v: v.rank > 0 and v.size > 0
              and v.magnitude * v.size < 2 ** 30)
    axes = some_axes(graph, v.rank)
    high = v.magnitude * v.size
    op = pick(graph, ["ReduceSum", "ReduceMax", "ReduceMin"])
    return graph.node(op, [v, graph.integers(axes)], -high, high,
                      keepdims=pick(graph, [None, 0]))


MAKERS = [(reduce, 4), (softmax, 3), (layer_norm, 2), (layer_norm_by_parts, 1),
          (channel_norm, 2), (extreme, 1), (cumulative_sum, 1),
          (integer_reduce, 1)]
