# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways from one type to another: the text of a kernel's body, and what NumPy
says of the same."""

import re

import numpy as np

SIZES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "bf16": 2,
         "f32": 4, "f64": 8}
INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64,
         **{f"i{n}": np.dtype(f"i{n // 8}") for n in (8, 16, 32, 64)}}


def to_bf16(values):
    """The bits of doubles rounded once to bf16, to nearest, ties to even."""
    mantissa, exponent = np.frexp(values)
    near = np.ldexp(np.rint(mantissa * 256), exponent - 8).astype(np.float32)
    return (near.view(np.uint32) >> 16).astype(np.uint16)


def read_floats(kind, array):
    if kind == "bf16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


def store_floats(kind, values):
    return to_bf16(values) if kind == "bf16" else values.astype(NUMPY[kind])


def bits_of(kind):
    return 8 * SIZES[kind]


# Ways from one type to another: the body's text, in which %x is what is read
# and %y what is stored, and the result of NumPy's arrays. None where there is no
# such way.

def same(a, b):
    """Both types are one: what is stored was not narrowed."""
    if a != b:
        return None
    if a in INTEGERS:
        return f"%y = arith.addi %x, %x : {a}", lambda x: x + x
    return f"%y = arith.negf %x : {a}", lambda x: x ^ 0x8000 \
        if a == "bf16" else -x


def cut(a, b):
    """The last bits of integers."""
    if a not in INTEGERS or b not in INTEGERS or SIZES[a] <= SIZES[b]:
        return None
    return (f"%y = arith.trunci %x : {a} to {b}",
            lambda x: x.astype(NUMPY[b]))


def shifted(a, b):
    """Bits from the middle of integers."""
    if not cut(a, b):
        return None
    return (f"%c = arith.constant {bits_of(b)} : {a}\n"
            f"%z = arith.shrui %x, %c : {a}\n"
            f"%y = arith.trunci %z : {a} to {b}",
            lambda x: (x >> bits_of(b)).astype(NUMPY[b]))


def bounded(a, b):
    """Integers that end at the other type's least and largest."""
    if not cut(a, b):
        return None
    least, most = -(1 << (bits_of(b) - 1)), (1 << (bits_of(b) - 1)) - 1
    return (f"%m = arith.constant {most} : {a}\n"
            f"%l = arith.constant {least} : {a}\n"
            f"%k = arith.minsi %x, %m : {a}\n"
            f"%z = arith.maxsi %k, %l : {a}\n"
            f"%y = arith.trunci %z : {a} to {b}",
            lambda x: np.clip(x, least, most).astype(NUMPY[b]))


def unsigned(a, b):
    """Integers that end at zero and the other type's largest, without sign."""
    if not cut(a, b):
        return None
    most = (1 << bits_of(b)) - 1
    return (f"%m = arith.constant {most} : {a}\n"
            f"%l = arith.constant 0 : {a}\n"
            f"%k = arith.minsi %x, %m : {a}\n"
            f"%z = arith.maxsi %k, %l : {a}\n"
            f"%y = arith.trunci %z : {a} to {b}",
            lambda x: np.clip(x, 0, most).astype(NUMPY[b]))


def longer(a, b):
    """Integers in a wider type."""
    if not cut(b, a):
        return None
    return f"%y = arith.extsi %x : {a} to {b}", lambda x: x.astype(NUMPY[b])


def rounded(a, b):
    """Floats in another type."""
    if a not in FLOATS or b not in FLOATS or SIZES[a] == SIZES[b]:
        return None
    op = "truncf" if SIZES[a] > SIZES[b] else "extf"
    return (f"%y = arith.{op} %x : {a} to {b}",
            lambda x: store_floats(b, read_floats(a, x)))


def whole(a, b):
    """Floats cut off to integers."""
    if a not in ("f32", "f64") or b not in INTEGERS:
        return None
    return (f"%y = arith.fptosi %x : {a} to {b}",
            lambda x: np.trunc(x).astype(NUMPY[b]))


def quantized(a, b):
    """Floats cut off to integers of 32 bits, and those to fewer."""
    if a != "f32" or b not in ("i8", "i16"):
        return None
    return (f"%z = arith.fptosi %x : {a} to i32\n"
            f"%y = arith.trunci %z : i32 to {b}",
            lambda x: np.trunc(x).astype(NUMPY[b]))


def counted(a, b):
    """Integers as floats."""
    if a not in INTEGERS or b not in ("f32", "f64"):
        return None
    return (f"%y = arith.sitofp %x : {a} to {b}",
            lambda x: x.astype(NUMPY[b]))


def truth(a, b):
    """What a comparison says, in a byte or more."""
    if b not in INTEGERS:
        return None
    zero = f"%c = arith.constant {'0' if a in INTEGERS else '0.0'} : {a}\n"
    compare = "cmpi slt" if a in INTEGERS else "cmpf olt"
    return (zero + f"%z = arith.{compare}, %x, %c : {a}\n"
            f"%y = arith.extui %z : i1 to {b}",
            lambda x: ((x if a in INTEGERS else read_floats(a, x)) < 0)
            .astype(NUMPY[b]))


def truth_alone(a, b):
    """What a comparison says, as it is."""
    if b != "i1":
        return None
    text, value = truth(a, "i8")
    return text.split("%y")[0].replace("%z", "%y").strip(), value


WAYS = (same, cut, shifted, bounded, unsigned, longer, rounded, whole,
        quantized, counted, truth, truth_alone)


def widest(a, b, text):
    """Bytes of the widest number of a body."""
    return max(SIZES[t] for t in re.findall(r"\b(?:bf|f|i)\d+\b", text)
               + [a, b] if t in SIZES)
