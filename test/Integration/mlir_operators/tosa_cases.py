# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each operator of TOSA's main inference profile, beside NumPy.

A case is (name, op, operands, attributes, expected): an operand is an array
that the program gets, or Known(array) for one that is part of it.
"""

import math

import numpy as np

RANDOM = np.random.default_rng(22)


class Known:
    def __init__(self, value):
        self.value = np.asarray(value)


class Shape(Known):
    """An operand of !tosa.shape."""


def f32(*shape, low=-2, high=2):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def ints(*shape, low=-50, high=50, kind=np.int32):
    return RANDOM.integers(low, high, shape).astype(kind)


def flags(*shape):
    return RANDOM.random(shape) < 0.5


ZERO = Known(np.zeros(1, np.float32))


def unary():
    x = f32(3, 5)
    positive = f32(3, 5, low=0.1, high=4)
    yield "abs", "abs", [x], {}, np.abs(x)
    yield "ceil", "ceil", [x], {}, np.ceil(x)
    yield "cos", "cos", [x], {}, np.cos(x)
    yield "erf", "erf", [x], {}, np.vectorize(math.erf)(x)
    yield "exp", "exp", [x], {}, np.exp(x)
    yield "floor", "floor", [x], {}, np.floor(x)
    yield "log", "log", [positive], {}, np.log(positive)
    yield "negate", "negate", [x, ZERO, ZERO], {}, -x
    yield "reciprocal", "reciprocal", [positive], {}, 1 / positive
    yield "rsqrt", "rsqrt", [positive], {}, 1 / np.sqrt(positive)
    yield "sigmoid", "sigmoid", [x], {}, 1 / (1 + np.exp(-x))
    yield "sin", "sin", [x], {}, np.sin(x)
    yield "tanh", "tanh", [x], {}, np.tanh(x)
    yield "identity", "identity", [x], {}, x
    i = ints(3, 5)
    yield "bitwise_not", "bitwise_not", [i], {}, ~i
    yield "clz", "clz", [i], {}, np.vectorize(
        lambda v: 32 - (int(v) & 0xffffffff).bit_length())(i).astype(np.int32)
    b = flags(3, 5)
    yield "logical_not", "logical_not", [b], {}, ~b
    for kind in (np.int8, np.int16, np.int32):
        yield (f"cast_{np.dtype(kind)}", "cast", [x], {},
               np.rint(x).astype(kind))
    yield "cast_float", "cast", [i], {}, i.astype(np.float32)
    yield "cast_wide", "cast", [ints(4, kind=np.int8)], {}, None
    yield ("clamp", "clamp", [x], {"min_val": "-5.0e-1 : f32",
                                   "max_val": "1.0 : f32"},
           np.clip(x, -0.5, 1))


def binary():
    x, y, row = f32(3, 5), f32(3, 5), f32(1, 5)
    i, j = ints(3, 5), ints(3, 5)
    shift = Known(np.zeros(1, np.int8))
    yield "add", "add", [x, row], {}, x + row
    yield "sub", "sub", [x, y], {}, x - y
    yield "mul", "mul", [x, row, shift], {}, x * row
    yield "mul_ints", "mul", [i, j, shift], {}, i * j
    yield "maximum", "maximum", [x, y], {}, np.maximum(x, y)
    yield "minimum", "minimum", [x, y], {}, np.minimum(x, y)
    base = f32(3, 5, low=0.1, high=3)
    yield "pow", "pow", [base, y], {}, base ** y
    for op, function in [("equal", np.equal), ("greater", np.greater),
                         ("greater_equal", np.greater_equal)]:
        yield op, op, [i, j], {}, function(i, j)
        yield f"{op}_floats", op, [x, y], {}, function(x, y)
    for op, function in [("bitwise_and", np.bitwise_and),
                         ("bitwise_or", np.bitwise_or),
                         ("bitwise_xor", np.bitwise_xor)]:
        yield op, op, [i, j], {}, function(i, j)
    b, c = flags(3, 5), flags(3, 5)
    for op, function in [("logical_and", np.logical_and),
                         ("logical_or", np.logical_or),
                         ("logical_xor", np.logical_xor)]:
        yield op, op, [b, c], {}, function(b, c)
    n = ints(3, 5, low=0, high=8)
    yield "logical_left_shift", "logical_left_shift", [i, n], {}, i << n
    yield ("logical_right_shift", "logical_right_shift", [i, n], {},
           (i.view(np.uint32) >> n.astype(np.uint32)).view(np.int32))
    yield ("arithmetic_right_shift", "arithmetic_right_shift", [i, n],
           {"round": "false"}, i >> n)
    d = ints(3, 5, low=1, high=9)
    yield "intdiv", "intdiv", [i, d], {}, np.trunc(i / d).astype(np.int32)
    yield "select", "select", [b, x, y], {}, np.where(b, x, y)


def reductions():
    x, b = f32(3, 5, 7), flags(3, 5)
    for axis in range(3):
        attribute = {"axis": f"{axis} : i32"}
        for op, function in [("reduce_sum", np.sum), ("reduce_max", np.max),
                             ("reduce_min", np.min),
                             ("reduce_product", np.prod)]:
            yield (f"{op}_{axis}", op, [x], attribute,
                   function(x, axis, keepdims=True))
        yield (f"argmax_{axis}", "argmax", [x], attribute,
               np.argmax(x, axis).astype(np.int32))
    yield ("reduce_all", "reduce_all", [b], {"axis": "1 : i32"},
           np.all(b, 1, keepdims=True))
    yield ("reduce_any", "reduce_any", [b], {"axis": "0 : i32"},
           np.any(b, 0, keepdims=True))


def movement():
    x, y = f32(3, 5), f32(3, 2)
    yield ("concat", "concat", [x, y], {"axis": "1 : i32"},
           np.concatenate([x, y], 1))
    yield ("pad", "pad", [x, Shape([1, 0, 2, 3]),
                          Known(np.full(1, 0.5, np.float32))], {},
           np.pad(x, ((1, 0), (2, 3)), constant_values=0.5))
    yield "reshape", "reshape", [x, Shape([5, 3])], {}, x.reshape(5, 3)
    yield "reverse", "reverse", [x], {"axis": "1 : i32"}, x[:, ::-1]
    yield ("slice", "slice", [x, Shape([1, 2]), Shape([2, 3])], {},
           x[1:3, 2:5])
    yield "tile", "tile", [x, Shape([2, 3])], {}, np.tile(x, (2, 3))
    t = f32(2, 3, 4)
    yield ("transpose", "transpose", [t], {"perms": "array<i32: 2, 0, 1>"},
           t.transpose(2, 0, 1))
    values, places = f32(2, 7, 3), ints(2, 4, low=0, high=7)
    yield ("gather", "gather", [values, places], {},
           np.stack([v[p] for v, p in zip(values, places)]))
    where = np.stack([RANDOM.permutation(7)[:4] for _ in range(2)])
    put, scattered = f32(2, 4, 3), values.copy()
    for n in range(2):
        scattered[n, where[n]] = put[n]
    yield ("scatter", "scatter", [values, where.astype(np.int32), put], {},
           scattered)


def windows(x, size, strides, pads):
    """x padded, and where each window of its axes 1 and 2 begins."""
    top, bottom, left, right = pads
    rows = (x.shape[1] + top + bottom - size[0]) // strides[0] + 1
    columns = (x.shape[2] + left + right - size[1]) // strides[1] + 1
    return rows, columns


def conv2d(x, w, bias, strides, pads):
    rows, columns = windows(x, w.shape[1:3], strides, pads)
    padded = np.pad(x, ((0, 0), pads[:2], pads[2:], (0, 0)))
    y = np.zeros((x.shape[0], rows, columns, w.shape[0]), np.float64)
    for r in range(rows):
        for c in range(columns):
            part = padded[:, r * strides[0]:r * strides[0] + w.shape[1],
                          c * strides[1]:c * strides[1] + w.shape[2]]
            y[:, r, c] = np.einsum("nhwc,ohwc->no", part, w)
    return y + bias


def pool(x, size, strides, fold):
    rows, columns = windows(x, size, strides, (0, 0, 0, 0))
    return np.stack([np.stack([
        fold(x[:, r * strides[0]:r * strides[0] + size[0],
               c * strides[1]:c * strides[1] + size[1]], (1, 2))
        for c in range(columns)], 1) for r in range(rows)], 1)


def contractions():
    a, b = f32(2, 3, 5), f32(2, 5, 7)
    yield "matmul", "matmul", [a, b, ZERO, ZERO], {}, a @ b
    x, w, bias = f32(2, 9, 8, 3), f32(4, 3, 2, 3), f32(4)
    geometry = {"pad": "array<i64: 1, 1, 0, 1>",
                "stride": "array<i64: 2, 1>",
                "dilation": "array<i64: 1, 1>", "acc_type": "f32"}
    yield ("conv2d", "conv2d", [x, w, bias, ZERO, ZERO], geometry,
           conv2d(x, w, bias, (2, 1), (1, 1, 0, 1)))
    d = f32(3, 2, 3, 2)
    full = np.zeros((6, 3, 2, 3), np.float32)
    for c in range(3):
        for m in range(2):
            full[c * 2 + m, :, :, c] = d[:, :, c, m]
    wide = f32(6)
    yield ("depthwise_conv2d", "depthwise_conv2d",
           [x, d, wide, ZERO, ZERO], geometry,
           conv2d(x, full, wide, (2, 1), (1, 1, 0, 1)))
    flat = {"kernel": "array<i64: 3, 2>", "stride": "array<i64: 2, 2>",
            "pad": "array<i64: 0, 0, 0, 0>"}
    even = f32(2, 9, 8, 3)
    yield ("max_pool2d", "max_pool2d", [even], flat,
           pool(even, (3, 2), (2, 2), np.max))
    yield ("avg_pool2d", "avg_pool2d", [even, ZERO, ZERO],
           {**flat, "acc_type": "f32"},
           pool(even, (3, 2), (2, 2), np.mean))
    t, tw, tb = f32(1, 3, 4, 2), f32(5, 2, 3, 2), f32(5)
    made = np.zeros((1, 2 * 2 + 2, 3 * 1 + 3, 5))
    for r in range(3):
        for c in range(4):
            made[:, 2 * r:2 * r + 2, c:c + 3] += np.einsum(
                "nc,ohwc->nhwo", t[:, r, c], tw)
    yield ("transpose_conv2d", "transpose_conv2d", [t, tw, tb, ZERO, ZERO],
           {"out_pad": "array<i64: 0, 0, 0, 0>",
            "stride": "array<i64: 2, 1>", "acc_type": "f32"}, made + tb)
    volume, kernel = f32(1, 4, 5, 6, 2), f32(3, 2, 2, 3, 2)
    y = np.zeros((1, 3, 4, 4, 3))
    for i, j, k in np.ndindex(3, 4, 4):
        y[:, i, j, k] = np.einsum(
            "nabdc,oabdc->no", volume[:, i:i + 2, j:j + 2, k:k + 3], kernel)
    yield ("conv3d", "conv3d", [volume, kernel, ZERO_3, ZERO, ZERO],
           {"pad": "array<i64: 0, 0, 0, 0, 0, 0>",
            "stride": "array<i64: 1, 1, 1>",
            "dilation": "array<i64: 1, 1, 1>", "acc_type": "f32"}, y)


ZERO_3 = Known(np.zeros(3, np.float32))


def quantized():
    a, b = (ints(1, 3, 5, low=-128, high=128, kind=np.int8),
            ints(1, 5, 4, low=-128, high=128, kind=np.int8))
    zeros = [Known(np.full(1, z, np.int8)) for z in (3, -4)]
    yield ("matmul_int8", "matmul", [a, b, *zeros], {},
           (a.astype(np.int32) - 3) @ (b.astype(np.int32) + 4))
    table = ints(256, low=-128, high=128, kind=np.int8)
    x = ints(3, 5, low=-128, high=128, kind=np.int8)
    yield ("table", "table", [x, Known(table)], {},
           table[x.astype(np.int32) + 128])


def cases():
    for family in (unary, binary, reductions, movement, contractions,
                   quantized):
        for name, op, operands, attributes, expected in family():
            if expected is None:
                expected = operands[0].astype(np.int32)
            yield name, f"tosa.{op}", operands, attributes, expected
