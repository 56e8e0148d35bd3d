# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products for device_units.py one of whose operands is computed in front: from
fewer bytes than it has, so that who copies it to the unit may compute it, or
from a table, which stays a kernel's own.
"""

import numpy as np
from onnx import TensorProto, helper

import unit_bytes


def of_booleans(random, kind, dtype, rows, columns):
    x = random.random([rows, columns]) < 0.5
    return [helper.make_node("Cast", ["x"], ["a"], to=kind)], {"x": x}, [], x


def of_bytes(random, kind, dtype, rows, columns):
    x = random.integers(-9, 9, [rows, columns], dtype=np.int8)
    return [helper.make_node("Cast", ["x"], ["a"], to=kind)], {"x": x}, [], x


def table(random, kind, dtype, *shape):
    """The constant t, and its numbers."""
    numbers = random.standard_normal(shape).astype(dtype)
    return helper.make_tensor("t", kind, shape, numbers.tobytes(),
                              raw=True), numbers


def of_words(random, kind, dtype, rows, columns):
    """A row of a table for each number."""
    x = random.integers(0, 9, [rows])
    constant, numbers = table(random, kind, dtype, 9, columns)
    return [helper.make_node("Gather", ["t", "x"], ["a"])], {"x": x}, [
        constant], numbers[x]


def of_codes(random, kind, dtype, rows, columns):
    """An element of a table for each byte."""
    x = random.integers(0, 9, [rows, columns], dtype=np.uint8)
    constant, numbers = table(random, kind, dtype, 9)
    return [helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT32),
            helper.make_node("Gather", ["t", "i"], ["a"])], {"x": x}, [constant], \
        numbers[x]


def of_one_column(random, kind, dtype, rows, columns):
    # Held by all types, since one that is rounded is so in each term.
    x = random.integers(-9, 9, [rows, 1]).astype(dtype)
    return [helper.make_node("Expand", ["x", "shape"], ["a"])], {"x": x}, [
        unit_bytes.constant("shape", np.array([rows, columns]))], np.repeat(
            x, columns, axis=1)


def product(random, kind, dtype):
    """Of a generator of its own: others' models stay what they are."""
    random = random.spawn(1)[0]
    m, n, k = (int(random.choice(each)) for each in (
        [5, 16, 40], [24, 33, 64], [40, 64, 136]))
    make = random.choice([of_booleans, of_bytes, of_words, of_codes,
                          of_one_column])
    is_left = bool(random.integers(2))
    nodes, feeds, constants, operand = make(
        random, kind, dtype, *((m, k) if is_left else (n, k)))
    other = random.standard_normal([n, k] if is_left else [m, k]).astype(dtype)
    names = ["a", "o"] if is_left else ["o", "a"]
    nodes += [helper.make_node("Transpose", [names[1]], ["turned"]),
              helper.make_node("MatMul", [names[0], "turned"], ["y"])]
    sides = [x.astype(np.float64) for x in (operand, other)]
    left, right = sides if is_left else sides[::-1]
    return (f"{[m, n, k]}, the {'left' if is_left else 'right'} operand "
            f"{make.__name__}"), nodes, {**feeds, "o": other}, constants, \
        left @ right.T
