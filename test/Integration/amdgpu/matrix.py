# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix instructions of 16x16 sums. Which lane has which element is read from
tinygrad's tables (tinygrad.codegen.opt.tc), which it runs on AMD's GPUs; not
from our own. For mfma that it lacks, AMD's manual has formulas (Mfma); other
forms that it lacks are of the same family and named in UNVERIFIED."""

import functools
import re

import ml_dtypes
import numpy as np

from numbers_of_lanes import bf16_to_f32
from tinygrad.codegen.opt import tc

UNVERIFIED = {"V_MFMA_F32_16X16X8_XF32": "factors are cut, not rounded, to 10 "
                                         "bits",
              "V_WMMA_I32_16X16X16_IU8 of RDNA 4": "lanes as of f16's",
              "V_WMMA_F32_16X16X16_FP8_FP8 of RDNA 4, and with BF8":
                  "lanes as of f16's"}


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
    def __init__(self, core):
        self.rows, self.columns = _sum_places(core)
        self.a, self.b = _operand_places(core, 0), _operand_places(core, 1)


class Mfma:
    """The formulas of AMD's "CDNA4 ISA", 7.1.4, for one block of 16x16:
    `together` rows of sums, four but of f64, are one lane's."""

    def __init__(self, terms, together):
        lane, of_lane = np.arange(64)[:, None], terms // 4
        own = np.broadcast_to(lane % 16, (64, of_lane))
        self.a = self.b = (own, of_lane * (lane // 16) + np.arange(of_lane))
        item = np.arange(4)
        self.rows = (item % together + together * (lane // 16)
                     + 4 * together * (item // together))
        self.columns = np.broadcast_to(lane % 16, (64, 4))


@functools.lru_cache(maxsize=None)
def unit_of(architecture, terms, kind):
    if architecture == "cdna" and (kind.endswith(("F32", "F64"))
                                   or (kind, terms) == ("I8", 16)):
        return Mfma(terms, 1 if kind == "F64" else 4)
    cores = {("cdna", 16): tc.amd_cdna_161616, ("cdna", 32): tc.amd_cdna_161632,
             ("rdna3", 16): tc.amd_rdna3, ("rdna4", 16): tc.amd_rdna4}
    return Unit(cores[architecture, terms][0])


def multiply(name, architecture, a, b, c, signs=0):
    """`a`, `b`, `c`: [lane][word] of bits; bits of sums. Products of floats are
    exact, sums are of f64 and rounded once; those of integers wrap. `signs`:
    of RDNA's bytes, which of a and b are signed; CDNA's are."""
    match = re.search(
        r"_(\d+)X(\d+)X(\d+)_?(BF16|F16|XF32|F32|F64|I8|IU8|"
        r"(?:FP8|BF8)_(?:FP8|BF8))$", name.replace("_1K", ""))
    if not match or match[1] != "16" or match[2] != "16":
        raise NotImplementedError(f"matrix instruction {name}")
    kind, terms = match[4], int(match[3])
    unit = unit_of(architecture, terms, kind)
    of_a, _, of_b = kind.partition("_") # two names of floats of a byte
    number = np.int64 if kind in ("I8", "IU8") else np.float64
    matrix_a = np.zeros((16, terms), number)
    matrix_b = np.zeros((terms, 16), number)
    if architecture == "cdna":
        signs = 3
    matrix_a[unit.a] = _elements(a, of_a, signs & 1, architecture)
    matrix_b[unit.b[1], unit.b[0]] = _elements(b, of_b or of_a, signs & 2,
                                               architecture)
    own = (matrix_a @ matrix_b)[unit.rows, unit.columns]
    if kind == "F64":
        return (c.view(np.float64) + own).view(np.uint32)
    if number == np.int64:
        return c + own.astype(np.uint32)
    return (c.view(np.float32).astype(np.float64) + own).astype(
        np.float32).view(np.uint32)


# Of the "CDNA3 ISA", 2.7, the floats of a byte have one zero and no infinity;
# those of the "RDNA4 ISA" are OCP's.
FLOATS = {("cdna", "FP8"): ml_dtypes.float8_e4m3fnuz,
          ("cdna", "BF8"): ml_dtypes.float8_e5m2fnuz,
          ("rdna4", "FP8"): ml_dtypes.float8_e4m3fn,
          ("rdna4", "BF8"): ml_dtypes.float8_e5m2}


def _elements(words, kind, is_signed, architecture):
    words = np.ascontiguousarray(words)
    if (architecture, kind) in FLOATS:
        return words.view(FLOATS[architecture, kind]).astype(np.float64)
    if kind.endswith("8"):
        return words.view(np.int8 if is_signed else np.uint8).astype(np.int64)
    if kind == "F64":
        return words.view(np.float64)
    if kind == "XF32":  # which has 10 bits of the fraction
        words = words & np.uint32(0xffffe000)
    if kind.endswith("32"):
        return words.view(np.float32).astype(np.float64)
    halves = words.view(np.uint16)
    if kind == "BF16":
        return bf16_to_f32(halves).astype(np.float64)
    return halves.view(np.float16).astype(np.float64)
