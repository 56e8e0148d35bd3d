# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that convert rows: their text, their operands and their results.

The rows of a result lie in a wider array, so that what is written beside them
is seen. The operand's last row ends where its array does; its elements lie side
by side or, to be gathered, apart. A row is as long as is known, or as the call
says.
"""

import dataclasses
import zlib

import numpy as np

from conversions import (FLOATS, INTEGERS, NUMPY, SIZES, WAYS, same, cut,
                         rounded, store_floats, widest)

ROWS, BEFORE, BEHIND = 2, 3, 67
UNTOUCHED = 0x5A
OPEN = "#exec.size<affine_map<()[s0] -> (s0)>, largest = 4096>"
GATHERED = (same, cut, rounded)


@dataclasses.dataclass(frozen=True)
class Case:
    """One kernel, named by all that it is."""
    way: str
    a: str
    b: str
    columns: int
    known: bool
    apart: bool

    @property
    def name(self):
        return (f"{self.way}_{self.a}_{self.b}_{self.columns}"
                f"{'' if self.known else '_open'}"
                f"{'_apart' if self.apart else ''}")

    def body(self):
        return next(w for w in WAYS if w.__name__ == self.way)(self.a, self.b)

    def lanes(self, vector_bytes):
        return vector_bytes // widest(self.a, self.b, self.body()[0])

    def operand_length(self):
        """Elements of a row, such that all end at 64 bytes."""
        return length_of_rows(self.columns, self.a)

    def result_length(self):
        return length_of_rows(BEFORE + self.columns + BEHIND, self.b)


def length_of_rows(length, kind):
    while length * ROWS * SIZES[kind] % 64:
        length += 1
    return length


def all_cases(vector_bytes):
    cases = []
    for way in WAYS:
        for a in INTEGERS + FLOATS:
            for b in ("i1", *INTEGERS, *FLOATS):
                made = way(a, b)
                if not made:
                    continue
                lanes = vector_bytes // widest(a, b, made[0])
                cases += [Case(way.__name__, a, b, columns, known, apart)
                          for columns in range(1, 2 * lanes)
                          for known in (True, False)
                          for apart in (False, True)
                          if not apart or way in GATHERED]
    return cases


def mlir(case):
    """The function of a case."""
    text = "".join(f"    {line}\n" for line in case.body()[0].splitlines())
    size = "%n" if not case.known else case.columns
    columns = "?" if not case.known else case.columns

    def rows(kind, length, at, turned=False):
        """Types of the array and of the rows in it, and where they are."""
        def both(row, column):
            return (column, row) if turned else (row, column)
        sizes = "x".join(map(str, both(ROWS, length)))
        array = f"memref<{sizes}x{kind}>"
        sizes = "x".join(map(str, both(ROWS, columns)))
        stride = ROWS if turned else length
        part = (f"memref<{sizes}x{kind}, strided<[{stride}, 1], "
                f"offset: {at * ROWS if turned else at}>>")
        begin, end = both(0, at), both(ROWS, size)
        return array, part, (f"[{begin[0]}, {begin[1]}] "
                             f"[{end[0]}, {end[1]}] [1, 1]")
    a, a_rows, a_at = rows(case.a, case.operand_length(),
                           case.operand_length() - case.columns, case.apart)
    b, b_rows, b_at = rows(case.b, case.result_length(), BEFORE)
    return (
        f"exec.kernel @{case.name} calls @{case.name}_body : ({a}) -> {b}"
        f"{'' if case.known else ' {parameters = [' + OPEN + ']}'}\n"
        f"func.func private @{case.name}_body(%a: {a}, %b: {b}"
        f"{'' if case.known else ', %n: index {exec.size = ' + OPEN + '}'}) {{\n"
        f"  %u = memref.subview %a{a_at} : {a} to {a_rows}\n"
        f"  %v = memref.subview %b{b_at} : {b} to {b_rows}\n"
        "  linalg.generic {indexing_maps = [affine_map<(m, n) -> "
        f"({'n, m' if case.apart else 'm, n'})>, "
        "affine_map<(m, n) -> (m, n)>], "
        'iterator_types = ["parallel", "parallel"]}\n'
        f"      ins(%u : {a_rows}) outs(%v : {b_rows}) {{\n"
        f"  ^bb0(%x: {case.a}, %o: {case.b}):\n{text}"
        f"    linalg.yield %y : {case.b}\n  }}\n  return\n}}\n")


def operand(case, numbers):
    """Any bits of integers, or floats that all integers can hold."""
    shape = (ROWS, case.operand_length())
    if case.a in INTEGERS:
        return numbers.integers(0, 256, (*shape, SIZES[case.a]),
                                np.uint8).view(NUMPY[case.a])[..., 0]
    return store_floats(case.a, numbers.uniform(-120, 120, shape))


def data(case, seed):
    """The operand and the result expected, as bytes."""
    numbers = np.random.default_rng([seed, zlib.crc32(case.name.encode())])
    array = operand(case, numbers)
    with np.errstate(over="ignore"):
        result = case.body()[1](array[:, array.shape[1] - case.columns:])
    size = SIZES[case.b]
    out = np.full((ROWS, case.result_length() * size), UNTOUCHED, np.uint8)
    out[:, BEFORE * size:(BEFORE + case.columns) * size] = \
        np.ascontiguousarray(result).view(np.uint8).reshape(ROWS, -1)
    return (array.T if case.apart else array).tobytes(), out.tobytes()
