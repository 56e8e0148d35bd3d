# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic, comparisons and logic of two operands and more, and casts."""

import ml_dtypes
import numpy as np
from operator_case import Case


def cases(random):
    yield from arithmetic(random)
    yield from powers(random)
    yield from remainders(random)
    yield from comparisons(random)
    yield from logic(random)
    yield from variadic(random)
    yield from conversions(random)


def arithmetic(random):
    for op in ["Add", "Sub", "Mul", "Div"]:
        for i, (left, right) in enumerate(random.pairs):
            yield Case(f"{op}_{i}", op, [random.floats(left, special=True),
                                         random.floats(right)])
        for dtype in [np.int8, np.uint8, np.int16, np.int32, np.uint32,
                      np.int64, np.uint64]:
            x = random.integers((3, 9), dtype)
            y = random.integers((9,), dtype)
            if op == "Div":
                y[y == 0] = 1
            yield Case(f"{op}_{np.dtype(dtype)}", op, [x, y],
                       reference=divide if op == "Div" else "onnx")
        yield Case(f"{op}_float64", op, [random.floats((5,), np.float64),
                                         random.floats((2, 1), np.float64)])
        yield Case(f"{op}_float16", op, [random.floats((5,), np.float16),
                                         random.floats((2, 1), np.float16)])
    # What traps in hardware must not trap here.
    lowest = np.iinfo(np.int32).min
    yield Case("Div_lowest", "Div", [np.array([lowest, 7, lowest], np.int32),
                                     np.array([-1, 0, 0], np.int32)],
               reference=lambda x, y: np.array([lowest, 0, 0], np.int32))
    yield Case("Div_unsigned_zero", "Div", [np.array([3, 0], np.uint8),
                                            np.array([0, 0], np.uint8)],
               reference=lambda x, y: np.zeros(2, np.uint8))


def divide(x, y):
    """Rounded to zero; the lowest value by -1 wraps."""
    with np.errstate(all="ignore"):
        quotient = np.abs(x.astype(object)) // np.abs(y.astype(object))
    sign = np.where((x < 0) != (y < 0), -1, 1).astype(object)
    bits = 8 * x.dtype.itemsize
    wrapped = (quotient * sign) % (1 << bits)
    unsigned = wrapped.astype(np.dtype(f"uint{bits}"))
    return unsigned.view(x.dtype)


def powers(random):
    base = random.floats((3, 7), low=0.1, high=4)
    for i, right in enumerate([(3, 7), (7,), (), (3, 1)]):
        yield Case(f"Pow_{i}", "Pow", [base, random.floats(right)])
    signed = random.floats((3, 7))
    for exponent in [0, 1, 2, 3, -1, 4, -2]:
        yield Case(f"Pow_constant_{exponent}", "Pow",
                   [signed, np.float32(exponent)], constants=[1])
    yield Case("Pow_root", "Pow", [base, np.float32(0.5)], constants=[1])
    yield Case("Pow_extended", "Pow", [signed, np.full((1, 1, 1), 2,
                                                       np.float32)],
               constants=[1])
    yield Case("Pow_float_integer", "Pow",
               [signed, random.integers((7,), np.int64, -3, 4)])
    yield Case("Pow_integer_float", "Pow",
               [random.integers((4, 3), np.int32, 0, 9),
                np.array([0, 1.5, 2], np.float32)], reference="onnx")
    for dtype in [np.int32, np.int64]:
        yield Case(f"Pow_{np.dtype(dtype)}", "Pow",
                   [random.integers((4, 5), dtype, -9, 9),
                    random.integers((5,), dtype, 0, 6)])
    yield Case("Pow_wraps", "Pow",
               [np.array([3, -5, 2, 0], np.int32),
                np.array([40, 31, 64, 0], np.int64)],
               reference=lambda x, y: np.array(
                   [wrap(3 ** 40), wrap((-5) ** 31), 0, 1], np.int32))
    yield Case("Pow_negative_exponent", "Pow",
               [np.array([1, -1, -1, 2, 0], np.int32),
                np.array([-3, -3, -2, -1, -1], np.int32)],
               reference=lambda x, y: np.array([1, -1, 1, 0, 0], np.int32))


def wrap(value):
    return (value + 2 ** 31) % 2 ** 32 - 2 ** 31


def remainders(random):
    for dtype in [np.int8, np.int32, np.int64, np.uint8, np.uint32]:
        x = random.integers((3, 9), dtype)
        y = random.integers((9,), dtype, 1, 20)
        if np.iinfo(dtype).min < 0:
            y[::2] = -y[::2]
        for fmod in [0, 1]:
            yield Case(f"Mod_{np.dtype(dtype)}_{fmod}", "Mod", [x, y],
                       attributes={"fmod": fmod}, reference="onnx")
    yield Case("Mod_float", "Mod", [random.floats((3, 9), low=-20, high=20),
                                    random.floats((9,))],
               attributes={"fmod": 1})
    yield Case("Mod_by_zero", "Mod", [np.array([5, -2 ** 31], np.int32),
                                      np.array([0, -1], np.int32)],
               reference=lambda x, y: np.zeros(2, np.int32))


def comparisons(random):
    for op in ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]:
        for i, (left, right) in enumerate(random.pairs):
            x = np.round(random.floats(left, special=True))
            yield Case(f"{op}_{i}", op, [x, np.round(random.floats(right))],
                       results=[bool])
        for dtype in [np.int8, np.uint8, np.int64, np.uint64]:
            yield Case(f"{op}_{np.dtype(dtype)}", op,
                       [random.integers((40,), dtype),
                        random.integers((40,), dtype)], results=[bool],
                       reference="onnx")
    yield Case("Equal_bool", "Equal", [random.booleans((9,)),
                                       random.booleans((2, 1))])
    for i, shapes in enumerate([((3, 5), (3, 5), (5,)), ((), (4,), (3, 1)),
                                ((2, 1, 3), (4, 1), ()), ((0,), (1,), ())]):
        condition, x, y = shapes
        yield Case(f"Where_{i}", "Where",
                   [random.booleans(condition), random.floats(x),
                    random.floats(y)], results=[np.float32])
    yield Case("Where_int64", "Where",
               [random.booleans((7,)), random.integers((7,), np.int64),
                random.integers((1,), np.int64)], results=[np.int64])


def logic(random):
    for op in ["And", "Or", "Xor"]:
        for i, (left, right) in enumerate(random.pairs):
            yield Case(f"{op}_{i}", op, [random.booleans(left),
                                         random.booleans(right)])
    for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
        for dtype in [np.int8, np.uint32, np.int64]:
            yield Case(f"{op}_{np.dtype(dtype)}", op,
                       [random.integers((3, 5), dtype),
                        random.integers((5,), dtype)], opset=18)
    for direction in ["LEFT", "RIGHT"]:
        for dtype in [np.uint8, np.uint16, np.uint32, np.uint64]:
            bits = 8 * np.dtype(dtype).itemsize
            yield Case(f"BitShift_{direction}_{np.dtype(dtype)}", "BitShift",
                       [random.integers((5, 9), dtype),
                        random.integers((9,), dtype, 0, bits - 1)],
                       attributes={"direction": direction}, reference="onnx")
        yield Case(f"BitShift_{direction}_beyond", "BitShift",
                   [np.array([255, 1], np.uint8), np.array([8, 200],
                                                           np.uint8)],
                   attributes={"direction": direction},
                   reference=lambda x, y: np.zeros(2, np.uint8))


def variadic(random):
    for op in ["Max", "Min", "Sum", "Mean"]:
        for i, shapes in enumerate([[(3, 5)], [(3, 5), (5,), ()],
                                    [(2, 1, 3), (4, 1), (1,), (4, 3)],
                                    [(0, 3), (3,)]]):
            yield Case(f"{op}_{i}", op, [random.floats(s) for s in shapes])
    for op in ["Max", "Min"]:
        x = random.floats((3, 7), special=True)
        yield Case(f"{op}_nan", op, [x, random.floats((7,))],
                   reference="onnx")
        for dtype in [np.int8, np.uint8, np.int64, np.uint64]:
            yield Case(f"{op}_{np.dtype(dtype)}", op,
                       [random.integers((9,), dtype),
                        random.integers((2, 1), dtype)], reference="onnx")


def conversions(random):
    integers = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32,
                np.int64, np.uint64]
    floats = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
    numbers = {
        11: "float64", 1: "float32", 10: "float16", 16: "bfloat16", 9: "bool",
        3: "int8", 2: "uint8", 5: "int16", 4: "uint16", 6: "int32",
        12: "uint32", 7: "int64", 13: "uint64"}

    def cast(x, to, reference="onnx"):
        name = numbers[to]
        dtype = ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)
        return Case(f"Cast_{np.dtype(x.dtype)}_{name}", "Cast", [x],
                    attributes={"to": to}, results=[dtype],
                    reference=lambda x: x.astype(dtype))

    for source in floats:
        x = random.floats((3, 11), np.float32, 0, 100).astype(source)
        for to in numbers:
            yield cast(x, to)
    for source in integers:
        x = random.integers((3, 11), source)
        for to in numbers:
            if to != 10:  # Values beyond its range.
                yield cast(x, to)
    x = random.booleans((3, 11))
    for to in numbers:
        yield cast(x, to)
    # Out of range: the nearest value there is; NaN gives zero.
    x = np.array([np.nan, np.inf, -np.inf, 1e20, -1e20, -0.9], np.float32)
    yield Case("Cast_saturates", "Cast", [x], attributes={"to": 6},
               results=[np.int32],
               reference=lambda x: np.array(
                   [0, 2 ** 31 - 1, -2 ** 31, 2 ** 31 - 1, -2 ** 31, 0],
                   np.int32))
    yield Case("CastLike", "CastLike", [x[3:4] * 0, np.zeros(3, np.int64)],
               results=[np.int64], reference="onnx")
    yield Case("Identity", "Identity", [random.floats((0, 2))])
    yield Case("Dropout", "Dropout", [random.floats((3, 5))],
               results=[np.float32, bool])
