# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix instructions of 16x16 sums. Which lane has which element is read from
tinygrad's tables (tinygrad.codegen.opt.tc), which it runs on AMD's GPUs; not
from our own. Forms that it lacks are of the same family and named in
UNVERIFIED."""

import functools
import re

import numpy as np

from numbers_of_lanes import bf16_to_f32
from tinygrad.codegen.opt import tc

UNVERIFIED = {"V_MFMA_F32_16X16X4_F32": "lanes as of 16x16x16"}


def _axes(core, name):
    """For each bit of an axis of local, upcast and reduce, what it moves: rows
    (of M), columns (of N) or terms, by how much."""
    counts = {"0": 0, "1": 0}
    numbers = {"l": 0, "u": 0}
    found = {}
    for kind, dim in core.opts:
        found[f"{kind}{numbers[kind]}"] = (dim, 1 << counts[dim])
        numbers[kind] += 1
        counts[dim] += 1
    for i in range(len(core.get_reduce_axes())):
        found[f"r{i}"] = ("k", 1 << i)
    return found[name]


def _sum_places(core):
    """(row, column) of each lane's sums: [lane][element]."""
    counts = {"0": 0, "1": 0}
    lanes, elements = [], []
    for kind, dim in core.opts:
        step = 1 << counts[dim]
        counts[dim] += 1
        (lanes if kind == "l" else elements).append((dim, step))
    rows = np.zeros((core.threads, 1 << len(elements)), int)
    columns = rows.copy()
    for place, bits in ((np.arange(core.threads)[:, None], lanes),
                        (np.arange(1 << len(elements))[None, :], elements)):
        for i, (dim, step) in enumerate(bits):
            value = ((place >> i) & 1) * step
            if dim == "0":  # of N
                columns = columns + value
            else:
                rows = rows + value
    return rows, columns


def _operand_places(core, which):
    """(row or column, term) of what each lane brings of A (0) or B (1). The
    terms' order within an instruction is whatever both operands have alike:
    that is checked here, not assumed."""
    local, upcast, reduce = core.swizzle[which]
    own = "1" if which == 0 else "0"
    lane_bits = [_axes(core, name) if name[0] != "r" else _axes(core, name)
                 for name in local]
    size = core.elements_per_thread[which]
    names = [name for name in list(reduce) + list(upcast) if name[0] == "r"]
    element_bits = [("k", 1 << int(name[1:])) for name in sorted(
        names, key=lambda one: int(one[1:]))][:size.bit_length() - 1]
    side = np.zeros((core.threads, size), int)
    term = side.copy()
    for place, bits in ((np.arange(core.threads)[:, None], lane_bits),
                        (np.arange(size)[None, :], element_bits)):
        for i, (dim, step) in enumerate(bits):
            value = ((place >> i) & 1) * step
            if dim == own:
                side = side + value
            elif dim == "k":
                term = term + value
    return side, term


class Unit:
    def __init__(self, core, terms):
        self.rows, self.columns = _sum_places(core)
        self.a, self.b = _operand_places(core, 0), _operand_places(core, 1)
        self.terms = terms


@functools.lru_cache(maxsize=None)
def unit_of(architecture, terms):
    cores = {"cdna": tc.amd_cdna_161616, "rdna3": tc.amd_rdna3,
             "rdna4": tc.amd_rdna4}[architecture]
    return Unit(cores[0], terms)


def multiply(name, architecture, a, b, c):
    """`a`, `b`: [lane][word] of bits; `c`: [lane][element] of f32. The products
    are exact, sums are of f64 and rounded once."""
    match = re.search(r"_(\d+)X(\d+)X(\d+)_?(BF16|F16|F32)(?:_1K)?$",
                      name.replace("_1K", ""))
    if not match or match[1] != "16" or match[2] != "16":
        raise NotImplementedError(f"matrix instruction {name}")
    kind = match[4]
    if kind == "F32":
        return _multiply_f32(architecture, a, b, c)
    unit = unit_of(architecture, int(match[3]))
    left = _elements(a, kind)
    right = _elements(b, kind)
    matrix_a = np.zeros((16, 16), np.float64)
    matrix_b = np.zeros((16, 16), np.float64)
    matrix_a[unit.a[0], unit.a[1]] = left
    matrix_b[unit.b[1], unit.b[0]] = right
    sums = matrix_a @ matrix_b
    return (c.astype(np.float64)
            + sums[unit.rows, unit.columns]).astype(np.float32)


def _multiply_f32(architecture, a, b, c):
    if architecture != "cdna":
        raise NotImplementedError("f32 of this architecture")
    unit = unit_of("cdna", 4)
    lane = np.arange(64)
    matrix_a = np.zeros((16, 4), np.float64)
    matrix_b = np.zeros((4, 16), np.float64)
    matrix_a[lane % 16, lane // 16] = a[:, 0].view(np.float32)
    matrix_b[lane // 16, lane % 16] = b[:, 0].view(np.float32)
    sums = matrix_a @ matrix_b
    return (c.astype(np.float64)
            + sums[unit.rows, unit.columns]).astype(np.float32)


def _elements(words, kind):
    halves = np.ascontiguousarray(words).view(np.uint16)
    if kind == "BF16":
        return bf16_to_f32(halves).astype(np.float64)
    return halves.view(np.float16).astype(np.float64)
