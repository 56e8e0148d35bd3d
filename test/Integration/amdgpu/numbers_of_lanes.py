# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of AMD's pseudocode, one for each lane: bits with a type."""

import numpy as np

FLOATS = {64: np.float64, 32: np.float32, 16: np.float16}
WORDS = {64: np.uint64, 32: np.uint32, 16: np.uint16, 8: np.uint8}
ONES = np.uint64(0xffffffffffffffff)


def mask(size):
    return ONES if size >= 64 else np.uint64((1 << size) - 1)


def bf16_to_f32(bits):
    return (np.asarray(bits, np.uint64).astype(np.uint32) << np.uint32(16)
            ).view(np.float32)


def f32_to_bf16(values):
    """To nearest, ties to even; NaNs stay."""
    words = np.asarray(values, np.float32).view(np.uint32)
    up = np.uint32(0x7fff) + ((words >> np.uint32(16)) & np.uint32(1))
    rounded = (words + up) >> np.uint32(16)
    quiet = (words >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(np.asarray(values, np.float32)), quiet,
                    rounded).astype(np.uint64)


class Number:
    """`kind`: "u", "i", "f", or "bf" of 16 bits, which is kept as f32; `size`
    in bits. Whole numbers are 64 bits, extended."""

    __slots__ = ("a", "kind", "size")

    def __init__(self, a, kind, size):
        self.a, self.kind, self.size = a, kind, size

    def bits(self):
        if self.kind == "f":
            return np.asarray(self.a, FLOATS[self.size]).view(
                WORDS[self.size]).astype(np.uint64)
        if self.kind == "bf":
            return f32_to_bf16(self.a)
        return np.asarray(self.a).astype(np.uint64) & mask(self.size)

    def typed(self, kind, size):
        """The same bits, or the lowest of them."""
        return from_bits(self.bits(), kind, size)

    def converted(self, kind, size):
        """The same value."""
        if kind == "f":
            return Number(np.asarray(self.a).astype(FLOATS[size]), "f", size)
        if self.kind in ("f", "bf"):
            with np.errstate(invalid="ignore"):
                whole = np.trunc(np.asarray(self.a, np.float64))
                return Number(whole.astype(np.int64).astype(np.uint64),
                              "u", 64).typed(kind, size)
        value = np.asarray(self.a)
        return Number(value.astype(np.uint64), "u", 64).typed(kind, size)


def from_bits(bits, kind, size):
    bits = np.asarray(bits, np.uint64) & mask(size)
    if kind == "f":
        return Number(bits.astype(WORDS[size]).view(FLOATS[size]), "f", size)
    if kind == "bf":
        return Number(bf16_to_f32(bits), "bf", 16)
    if kind == "i":
        if size < 64:
            sign = np.uint64(1 << (size - 1))
            bits = (bits ^ sign) - sign
        return Number(bits.astype(np.int64), "i", size)
    return Number(bits, "u", size)


def whole(value, size=64):
    return Number(np.asarray(value, np.int64), "i", size)


def to_odd(exact_high, error):
    """A sum of f64 rounded to odd, of which nothing is lost when it is rounded
    once more; `error`: what rounding to nearest left."""
    bits = exact_high.view(np.int64)
    is_even = (bits & 1) == 0
    away = (error > 0) == (exact_high > 0)
    moved = np.where(away, bits + 1, bits - 1).view(np.float64)
    ok = np.isfinite(exact_high) & (error != 0) & is_even & (exact_high != 0)
    return np.where(ok, moved, exact_high)


def fma(x, y, z):
    """Of f32 and f16, rounded once."""
    size = x.size
    if size == 64:
        product = np.asarray(x.a, np.longdouble) * np.asarray(y.a,
                                                              np.longdouble)
        return Number((product + np.asarray(z.a, np.longdouble)).astype(
            np.float64), "f", 64)
    with np.errstate(all="ignore"):
        p = np.asarray(x.a, np.float64) * np.asarray(y.a, np.float64)
        c = np.asarray(z.a, np.float64)
        s = np.atleast_1d(p + c)
        back = s - p
        error = (p - (s - back)) + (c - back)
        out = to_odd(s, np.atleast_1d(error)).astype(FLOATS[size])
    return Number(out.reshape(np.shape(p + c)), "f", size)
