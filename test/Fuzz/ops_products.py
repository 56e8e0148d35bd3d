# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions with what networks have before and behind them."""

import numpy as np

from choose import (between, chance, partner, pick, size, some_axes, value)

from ops_elementwise import epilogue, unary


def summed(a, b, terms):
    """Sums of products of numbers without a preferred sign."""
    high = a * b * (3 * terms ** 0.5 + 1)
    return -high, high


def scaled_weight(graph, v, dims, terms):
    high = (3.0 / terms) ** 0.5
    if chance(graph, 0.15):
        return graph.source(v.dtype, dims, -high, high)
    return graph.weight(v.dtype, dims, -high, high)


def spoiled(graph, v):
    """The value behind a transpose or not: operands come in any order."""
    if v.rank < 2 or chance(graph, 0.7):
        return v
    order = list(range(v.rank))
    order[-1], order[-2] = order[-2], order[-1]
    return graph.node("Transpose", [v], v.low, v.high, v.exact, perm=order)


def matmul(graph):
    v = value(graph, ranks=(1, 2, 3, 4), where=lambda v: v.size <= 8000)
    if chance(graph, 0.3):
        v = spoiled(graph, v)
    k = v.shape[-1]
    right = between(graph, 1, 64) if chance(graph, 0.5) else size(graph)
    batch = v.shape[:-2] if chance(graph, 0.3) else ()
    if chance(graph, 0.1):
        batch = tuple(1 if chance(graph, 0.3) else d for d in batch)
    dims = (*batch, k, right)
    if chance(graph, 0.1) and v.rank > 1:
        dims = (k,)
    if chance(graph, 0.2) and len(dims) > 1:
        turned = (*dims[:-2], dims[-1], dims[-2])
        w = scaled_weight(graph, v, turned, k)
        order = list(range(len(dims)))
        order[-1], order[-2] = order[-2], order[-1]
        w = graph.node("Transpose", [w], w.low, w.high, True, perm=order)
    else:
        w = scaled_weight(graph, v, dims, k)
    operands = [v, w]
    low, high = summed(v.magnitude, w.magnitude, k)
    return epilogue(graph, graph.node("MatMul", operands, low, high))


def matmul_left(graph):
    """The weight on the left."""
    v = value(graph, ranks=(2, 3), where=lambda v: v.size <= 8000)
    k = v.shape[-2]
    w = scaled_weight(graph, v, (size(graph), k), k)
    low, high = summed(v.magnitude, w.magnitude, k)
    return epilogue(graph, graph.node("MatMul", [w, v], low, high))


def matmul_values(graph):
    """Two values that fit each other, or are made to."""
    v = value(graph, ranks=(2, 3, 4), where=lambda v: v.size <= 6000)
    w = value(graph, (v.dtype,), where=lambda w: w.shape == v.shape)
    order = list(range(v.rank))
    order[-1], order[-2] = order[-2], order[-1]
    turned = graph.node("Transpose", [w], w.low, w.high, w.exact, perm=order)
    pair = [v, turned] if chance(graph, 0.5) else [turned, v]
    k = pair[0].shape[-1]
    low, high = summed(v.magnitude, w.magnitude, k)
    return epilogue(graph, graph.node("MatMul", pair, low, high))


def gemm(graph):
    v = value(graph, ranks=(2,))
    turn_a, turn_b = chance(graph, 0.2), chance(graph, 0.5)
    m, k = v.shape[::-1] if turn_a else v.shape
    n = size(graph)
    w = scaled_weight(graph, v, (n, k) if turn_b else (k, n), k)
    operands = [v, w]
    if chance(graph, 0.7):
        dims = pick(graph, [(n,), (m, n), (1, n), (m, 1), (), (1,)])
        operands.append(graph.source(v.dtype, dims, constant=chance(graph, .8)))
    low, high = summed(v.magnitude, w.magnitude, k)
    return epilogue(graph, graph.node(
        "Gemm", operands, low - 4, high + 4, transA=int(turn_a) or None,
        transB=int(turn_b) or None, alpha=pick(graph, [None, None, 0.5]),
        beta=pick(graph, [None, None, 1.5])))


def einsum(graph):
    v = value(graph, ranks=(3, 4), where=lambda v: v.size <= 4000)
    letters = "abcd"[:v.rank]
    shared = some_axes(graph, v.rank)
    right = "".join(letters[a] for a in shared) + "z"
    order = graph.random.permutation(len(right))
    right = "".join(right[i] for i in order)
    gone = [letters[a] for a in shared if chance(graph, 0.6)]
    out = [c for c in letters if c not in gone] + ["z"]
    out = "".join(out[i] for i in graph.random.permutation(len(out)))
    sizes = dict(zip(letters, v.shape)) | {"z": size(graph, 17)}
    terms = int(np.prod([sizes[c] for c in gone])) if gone else 1
    w = scaled_weight(graph, v, tuple(sizes[c] for c in right), max(terms, 1))
    low, high = summed(v.magnitude, w.magnitude, max(terms, 1))
    return epilogue(graph, graph.node(
        "Einsum", [v, w], low, high, equation=f"{letters},{right}->{out}"))


def attention(graph):
    """softmax(Q K^T * s + mask) V, from one value through three weights."""
    v = value(graph, ranks=(3,), where=lambda v: v.size <= 3000)
    batch, length, width = v.shape
    heads, depth = between(graph, 1, 3), size(graph, 17)
    parts = []
    for _ in range(3):
        w = scaled_weight(graph, v, (width, heads * depth), width)
        low, high = summed(v.magnitude, w.magnitude, width)
        x = graph.node("MatMul", [v, w], low, high)
        if chance(graph, 0.5):
            bias = graph.weight(v.dtype, (heads * depth,))
            x = graph.node("Add", [x, bias], x.low - 1, x.high + 1)
        x = graph.node("Reshape", [x, graph.integers(
            [batch, length, heads, depth])], x.low, x.high)
        parts.append(graph.node("Transpose", [x], x.low, x.high,
                                perm=[0, 2, 1, 3]))
    q, k, x = parts
    k = graph.node("Transpose", [k], k.low, k.high, perm=[0, 1, 3, 2])
    low, high = summed(q.magnitude, k.magnitude, depth)
    s = graph.node("MatMul", [q, k], low, high)
    scale = graph.weight(v.dtype, (), 0.05, 0.3)
    s = graph.node("Mul", [s, scale], low, high)
    if chance(graph, 0.5):
        s = graph.node("Add", [s, partner(graph, s, -3, 0)], low - 9, high + 9)
    s = graph.node("Softmax", [s], 0, 1, axis=-1)
    y = graph.node("MatMul", [s, x], x.low, x.high)
    y = graph.node("Transpose", [y], y.low, y.high, perm=[0, 2, 1, 3])
    y = graph.node("Reshape", [y, graph.integers(
        [0, 0, heads * depth] if batch and length else
        [batch, length, heads * depth])], y.low, y.high)
    return epilogue(graph, y)


def gated(graph):
    """Two products of one value, one of them a gate."""
    v = value(graph, ranks=(2, 3), where=lambda v: v.size <= 6000)
    k, n = v.shape[-1], size(graph)
    both = []
    for _ in range(2):
        w = scaled_weight(graph, v, (k, n), k)
        low, high = summed(v.magnitude, w.magnitude, k)
        both.append(graph.node("MatMul", [v, w], low, high))
    gate = unary(graph, both[0], ["Sigmoid", "Tanh", "Relu", "HardSigmoid"])
    high = gate.magnitude * both[1].magnitude
    return epilogue(graph, graph.node("Mul", [gate, both[1]], -high, high))


MAKERS = [(matmul, 6), (matmul_left, 1), (matmul_values, 2), (gemm, 2),
          (einsum, 1), (attention, 1), (gated, 1)]
