# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named operators of linalg, and generic ones, beside NumPy.

A case is (name, op, inputs, attributes, expected, start): an input that is no
array, but a number, is part of the program, and the result starts from start.
"""

import math

import numpy as np

import window_cases

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


def blocks():
    """Products of tiles, of bytes, and what selects or divides."""
    a, b = f32(2, 3, 4, 5), f32(6, 3, 7, 5)
    yield ("mmt4d", "mmt4d", [a, b], "", np.einsum("mkac,nkbc->mnab", a, b))
    a, b = f32(2, 2, 3, 4, 5), f32(2, 6, 3, 7, 5)
    yield ("batch_mmt4d", "batch_mmt4d", [a, b], "",
           np.einsum("zmkac,znkbc->zmnab", a, b))
    stack, other = f32(4, 3, 5), f32(4, 5, 7)
    yield ("batch_reduce_matmul", "batch_reduce_matmul", [stack, other], "",
           np.einsum("zij,zjk->ik", stack, other))
    flags = RANDOM.random((3, 5)) < 0.5
    x, y = f32(3, 5), f32(3, 5)
    yield "select", "select", [flags, x, y], "", np.where(flags, x, y)
    n = RANDOM.integers(-2**31, 2**31, (3, 5)).astype(np.int32)
    d = RANDOM.integers(1, 9, (3, 5)).astype(np.int32)
    yield ("div_unsigned", "div_unsigned", [n, d], "",
           (n.view(np.uint32) // d.view(np.uint32)).view(np.int32))
    for op, shapes in [("quantized_matmul", ((3, 5), (5, 7))),
                       ("quantized_batch_matmul", ((2, 3, 5), (2, 5, 7)))]:
        a, b = (RANDOM.integers(-128, 128, s).astype(np.int8) for s in shapes)
        yield (op, op, [a, b, np.int32(3), np.int32(-4)], "",
               (a.astype(np.int32) - 3) @ (b.astype(np.int32) + 4))


def cases():
    for family in (elementwise, products, blocks):
        for name, op, inputs, attributes, expected in family():
            if op == "dot":
                expected = inputs[0] @ inputs[1]
            elif op == "batch_matvec":
                expected = np.einsum("bij,bj->bi", *inputs)
            elif op == "batch_vecmat":
                expected = np.einsum("bi,bij->bj", *inputs)
            yield name, f"linalg.{op}", inputs, attributes, expected, 0
    for name, op, *rest in window_cases.cases(RANDOM):
        yield name, f"linalg.{op}", *rest
