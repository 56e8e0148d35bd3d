# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers, quantisation and conversions between types."""

import numpy as np

from choose import between, chance, partner, pick, size, value
from graph import DTYPES, INTEGERS, Refused, proto_type

WIDE = ("i32", "i64", "u32", "u64")


def limits(dtype):
    info = np.iinfo(DTYPES[dtype])
    return info.min, info.max


def arithmetic(graph):
    """Overflow wraps around; intervals do not matter."""
    v = value(graph, ("i8", "u8", "i32", "i64", "u32", "u64"))
    op = pick(graph, ["Add", "Sub", "Mul", "Max", "Min"])
    low, high = limits(v.dtype)
    return graph.node(op, [v, partner(graph, v, -9, 9)], low, high)


def divide(graph):
    v = value(graph, ("i32", "i64", "u8"))
    op = pick(graph, ["Div", "Mod"])
    divisor = graph.source(v.dtype, v.shape[-1:], 1, 9,
                           constant=chance(graph, 0.5))
    return graph.node(op, [v, divisor], *limits(v.dtype))


def bits(graph):
    v = value(graph, INTEGERS)
    op = pick(graph, ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"])
    operands = [v] if op == "BitwiseNot" else [v, partner(graph, v, 0, 100)]
    return graph.node(op, operands, *limits(v.dtype))


def shift(graph):
    v = value(graph, ("u8", "u16", "u32", "u64"))
    by = graph.source(v.dtype, v.shape[-1:], 0, 7, constant=True)
    return graph.node("BitShift", [v, by], *limits(v.dtype),
                      direction=pick(graph, ["LEFT", "RIGHT"]))


def quantize(graph):
    v = value(graph, ("f32",), exact=True,
              where=lambda v: 0 < v.magnitude < 1000)
    scale = graph.constant(np.array(v.magnitude / 120, np.float32))
    zero = graph.constant(np.array(between(graph, 0, 90),
                                   pick(graph, [np.uint8, np.int8])))
    q = graph.node("QuantizeLinear", [v, scale, zero], -128, 255)
    if chance(graph, 0.5):
        return q
    return graph.node("DequantizeLinear", [q, scale, zero], -3 * v.magnitude,
                      3 * v.magnitude)


def dequantize(graph):
    v = value(graph, ("u8", "i8", "i32"))
    scale = graph.weight("f32", (), 0.01, 0.1)
    operands = [v, scale]
    if chance(graph, 0.6) and v.dtype != "i32":
        operands.append(graph.constant(np.array(7, DTYPES[v.dtype])))
    high = 0.1 * max(abs(x) for x in limits("u8")) * 2
    if v.dtype == "i32":
        high = 0.1 * v.magnitude
    return graph.node("DequantizeLinear", operands, -high, high)


def matmul_integer(graph):
    v = value(graph, ("u8", "i8"), ranks=(2, 3))
    k, n = v.shape[-1], size(graph)
    dtype = pick(graph, ["u8", "i8"])
    w = graph.source(dtype, (k, n), *limits(dtype), constant=chance(graph, 0.8))
    operands = [v, w]
    if chance(graph, 0.5):
        operands.append(graph.constant(np.array(between(graph, 0, 90),
                                                DTYPES[v.dtype])))
        if chance(graph, 0.5):
            operands.append(graph.constant(np.array(between(graph, 0, 90),
                                                    DTYPES[dtype])))
    high = 90000 * k
    return graph.node("MatMulInteger", operands, -high, high)


def conv_integer(graph):
    v = value(graph, ("u8", "i8"), ranks=(4,))
    k = pick(graph, [1, 3])
    if min(v.shape[2:]) < k:
        raise Refused("the window is larger than the image")
    w = graph.weight("u8" if chance(graph, 0.5) else "i8",
                     (size(graph, 17), v.shape[1], k, k), 0, 120)
    zero = graph.constant(np.array(between(graph, 0, 90), DTYPES[v.dtype]))
    high = 90000 * v.shape[1] * k * k
    return graph.node("ConvInteger", [v, w, zero], -high, high,
                      pads=pick(graph, [None, [k // 2] * 4]))


def dequantized_product(graph):
    """A product as quantized models bring it, each operand dequantized. What
    reads both sums and roundings may round the other way, so nothing
    quantizes the result."""
    of_images = chance(graph, 0.6)
    v = value(graph, ("u8", "i8"), ranks=(4,) if of_images else (2, 3))
    dtype = pick(graph, ["u8", "i8", "i8"])

    def parameters(dtype, channels=1, zero=True):
        shape = (channels,) if channels > 1 else ()
        zeros = graph.random.integers(0, 90 if zero else 1, shape)
        return [graph.weight("f32", shape, 0.01, 0.1),
                graph.constant(zeros.astype(DTYPES[dtype]))]

    x = graph.node("DequantizeLinear", [v, *parameters(v.dtype)], -35, 35)
    channels = v.shape[1] if of_images else v.shape[-1]
    k = pick(graph, [1, 3]) if of_images else 1
    out, group = size(graph, 48), None
    if of_images and min(v.shape[2:]) < k:
        raise Refused("the window is larger than the image")
    if of_images and chance(graph, 0.2):
        out = group = channels
        channels = 1
    shape = (out, channels, k, k) if of_images else (channels, out)
    constant = of_images or chance(graph, 0.7)
    w = graph.source(dtype, shape, *limits(dtype), constant=constant)
    along = out if constant and chance(graph, 0.5) else 1
    w = graph.node("DequantizeLinear",
                   [w, *parameters(dtype, along, chance(graph, 0.4))], -35, 35,
                   axis=0 if of_images else 1)
    high = 35 * 35 * channels * k * k
    if not of_images:
        return graph.node("MatMul", [x, w], -high, high)
    operands = [x, w]
    if chance(graph, 0.5):
        operands.append(graph.weight("f32", (out,), -9, 9))
    return graph.node("Conv", operands, -high - 9, high + 9, group=group,
                      pads=pick(graph, [None, [k // 2] * 4]),
                      strides=pick(graph, [None, [2, 2]]))


def qlinear_conv(graph):
    v = value(graph, ("u8", "i8"), ranks=(4,))
    k, out = pick(graph, [1, 3]), size(graph, 33)
    if min(v.shape[2:]) < k:
        raise Refused("the window is larger than the image")
    w = graph.weight(v.dtype, (out, v.shape[1], k, k), *limits(v.dtype))

    def scale(x):
        return graph.constant(np.array(x, np.float32))

    def zero(high=90):
        return graph.constant(np.array(between(graph, 0, high),
                                       DTYPES[v.dtype]))
    terms = v.shape[1] * k * k
    return graph.node("QLinearConv", [
        v, scale(0.02), zero(), w, scale(0.03), zero(pick(graph, [0, 90])),
        scale(0.02 * 0.03 * 90 * terms ** 0.5), zero()], *limits(v.dtype),
        pads=pick(graph, [None, [k // 2] * 4]))


def qlinear_matmul(graph):
    v = value(graph, ("u8", "i8"), ranks=(2, 3))
    k, n = v.shape[-1], size(graph)
    w = graph.weight(v.dtype, (k, n), *limits(v.dtype))

    def scale(x):
        return graph.constant(np.array(x, np.float32))

    def zero():
        return graph.constant(np.array(between(graph, 0, 90), DTYPES[v.dtype]))
    return graph.node("QLinearMatMul", [
        v, scale(0.02), zero(), w, scale(0.03), zero(),
        scale(0.02 * 0.03 * 90 * k ** 0.5), zero()], *limits(v.dtype))


def cast(graph):
    v = value(graph, (*INTEGERS, "f32", "f16", "bf16", "f64", "bool"))
    if v.is_float:
        targets = ["f32", "f16", "bf16", "f64"]
        if v.exact:
            targets += [d for d in INTEGERS
                        if limits(d)[0] <= v.low and v.high <= limits(d)[1]]
            targets += ["bool"]
    elif v.dtype == "bool":
        targets = ["f32", "i32", "u8", "i64", "f16"]
    else:
        targets = [*INTEGERS, "f64", "bool"]
        if v.magnitude < 1000:
            targets += ["f32", "f32", "f32", "f16", "bf16"]
    dtype = pick(graph, [t for t in targets if t != v.dtype])
    low, high = v.low, v.high
    if dtype in INTEGERS and (low < limits(dtype)[0]
                              or high > limits(dtype)[1]):
        low, high = limits(dtype)
    return graph.node("Cast", [v], low, high, v.exact, to=proto_type(dtype))


MAKERS = [(arithmetic, 3), (divide, 1), (bits, 1), (shift, 1), (quantize, 2),
          (dequantize, 2), (matmul_integer, 2), (conv_integer, 1),
          (qlinear_matmul, 1), (qlinear_conv, 1), (dequantized_product, 3),
          (cast, 4)]
