# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named operators of linalg, and generic ones, beside NumPy.

A case is (name, op, inputs, shape of the result, expected): the result starts
from zeros, or from what Initial names.
"""

import math

import numpy as np

RANDOM = np.random.default_rng(23)


def f32(*shape, low=-2, high=2):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def elementwise():
    x, y = f32(3, 5), f32(3, 5)
    positive = f32(3, 5, low=0.1, high=4)
    for op, function in [("abs", np.abs), ("ceil", np.ceil), ("exp", np.exp),
                         ("floor", np.floor), ("negf", np.negative),
                         ("tanh", np.tanh), ("square", np.square),
                         ("erf", np.vectorize(math.erf)), ("round", np.round)]:
        yield op, op, [x], "", function(x)
    for op, function in [("log", np.log), ("sqrt", np.sqrt),
                         ("rsqrt", lambda v: 1 / np.sqrt(v)),
                         ("reciprocal", np.reciprocal)]:
        yield op, op, [positive], "", function(positive)
    for op, function in [("add", np.add), ("sub", np.subtract),
                         ("mul", np.multiply), ("max", np.maximum),
                         ("min", np.minimum)]:
        yield op, op, [x, y], "", function(x, y)
    yield "div", "div", [x, positive], "", x / positive
    yield "powf", "powf", [positive, y], "", positive ** y
    yield "copy", "copy", [x], "", x


def products():
    a, b = f32(3, 5), f32(5, 7)
    yield "matmul", "matmul", [a, b], "", a @ b
    stack, other = f32(2, 3, 5), f32(2, 5, 7)
    yield "batch_matmul", "batch_matmul", [stack, other], "", stack @ other
    v, w = f32(5), f32(3)
    yield "matvec", "matvec", [a, v], "", a @ v
    yield "vecmat", "vecmat", [w, a], "", w @ a
    yield "dot", "dot", [v, f32(5)], "", None
    yield ("batch_matvec", "batch_matvec", [stack, f32(2, 5)], "", None)
    yield ("batch_vecmat", "batch_vecmat", [f32(2, 5), other], "", None)


def convolutions():
    one = ("{dilations = dense<1> : tensor<%dxi64>, "
           "strides = dense<1> : tensor<%dxi64>}")
    x, w = f32(2, 7, 6, 3), f32(3, 2, 3, 4)
    y = np.zeros((2, 5, 5, 4))
    for r, c in np.ndindex(5, 5):
        y[:, r, c] = np.einsum("nhwc,hwco->no", x[:, r:r + 3, c:c + 2], w)
    yield ("conv_2d_nhwc_hwcf", "conv_2d_nhwc_hwcf", [x, w], one % (2, 2), y)
    xc, wc = x.transpose(0, 3, 1, 2).copy(), w.transpose(3, 2, 0, 1).copy()
    yield ("conv_2d_nchw_fchw", "conv_2d_nchw_fchw", [xc, wc], one % (2, 2),
           y.transpose(0, 3, 1, 2))
    d = f32(3, 2, 3)
    z = np.zeros((2, 5, 5, 3))
    for r, c in np.ndindex(5, 5):
        z[:, r, c] = np.einsum("nhwc,hwc->nc", x[:, r:r + 3, c:c + 2], d)
    yield ("depthwise_conv_2d_nhwc_hwc", "depthwise_conv_2d_nhwc_hwc", [x, d],
           one % (2, 2), z)
    line, taps = f32(2, 9, 3), f32(4, 3, 5)
    y = np.stack([np.einsum("nwc,wco->no", line[:, i:i + 4], taps)
                  for i in range(6)], 1)
    yield ("conv_1d_nwc_wcf", "conv_1d_nwc_wcf", [line, taps], one % (1, 1), y)
    shape = np.zeros((3, 2), np.float32)
    for op, fold in [("pooling_nhwc_sum", np.sum)]:
        y = np.stack([np.stack([fold(x[:, r:r + 3, c:c + 2], (1, 2))
                                for c in range(5)], 1) for r in range(5)], 1)
        yield op, op, [x, shape], one % (2, 2), y


def cases():
    for family in (elementwise, products, convolutions):
        for name, op, inputs, attributes, expected in family():
            if op == "dot":
                expected = inputs[0] @ inputs[1]
            elif op == "batch_matvec":
                expected = np.einsum("bij,bj->bi", *inputs)
            elif op == "batch_vecmat":
                expected = np.einsum("bi,bij->bj", *inputs)
            yield name, f"linalg.{op}", inputs, attributes, expected
