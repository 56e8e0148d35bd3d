# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A wave's registers, and what operands of instructions mean."""

import numpy as np

from numbers_of_lanes import from_bits

FLOATS = {240: 0.5, 241: -0.5, 242: 1.0, 243: -1.0, 244: 2.0, 245: -2.0,
          246: 4.0, 247: -4.0, 248: 0.15915494309189532}
VCC, EXEC, LITERAL, VECTOR = 106, 126, 255, 256
ACCUMULATORS = 256 + 256  # behind the others, in numbers of ours


def float_bits(value, size):
    kind = {16: np.float16, 32: np.float32, 64: np.float64}[size]
    word = {16: np.uint16, 32: np.uint32, 64: np.uint64}[size]
    return int(np.array(value, kind).view(word))


class Registers:
    def __init__(self, lanes):
        self.lanes = lanes
        self.scalar = np.zeros(256, np.uint32)
        self.vector = np.zeros((512, lanes), np.uint32)
        self.scc = 0
        self.known = (-1, None)  # lanes that are on, of a mask

    def scalar_bits(self, at, size):
        if size <= 32:
            return int(self.scalar[at]) & ((1 << size) - 1)
        return int(self.scalar[at]) | int(self.scalar[at + 1]) << 32

    def set_scalar(self, at, bits, size):
        bits = int(bits)
        for i in range(max(1, size // 32)):
            self.scalar[at + i] = (bits >> 32 * i) & 0xffffffff

    @property
    def exec(self):
        return self.scalar_bits(EXEC, self.lanes)

    def active(self):
        """A truth for each lane."""
        now = self.exec
        if self.known[0] != now:
            bits = np.uint64(now) >> np.arange(self.lanes, dtype=np.uint64)
            self.known = (now, bits & np.uint64(1) != 0)
        return self.known[1]

    def all_on(self):
        return self.exec == (1 << self.lanes) - 1

    def bits(self, reg, size, is_float=False, literal=0):
        """Of a source operand, as uint64: one for each lane, or one for all.
        Constants are of the operand's type."""
        at = reg.offset
        if at >= VECTOR:
            row = self.vector[at - VECTOR].astype(np.uint64)
            if size > 32:
                row = row | self.vector[at - VECTOR + 1].astype(
                    np.uint64) << np.uint64(32)
            return row
        return np.uint64(self.constant(at, size, is_float, literal)
                         & (1 << max(size, 32)) - 1)

    def constant(self, at, size, is_float, literal):
        if 128 <= at <= 192:
            return at - 128
        if 193 <= at <= 208:
            return 192 - at
        if at in FLOATS:
            return float_bits(FLOATS[at], size if is_float else 32)
        if at == LITERAL:
            return literal << 32 if size == 64 and is_float else literal
        if at in (251, 252, 253):
            return {251: self.scalar_bits(VCC, self.lanes) == 0,
                    252: self.exec == 0, 253: self.scc}[at] + 0
        if at in (235, 236, 237, 238):
            raise NotImplementedError(f"operand {at}")
        return self.scalar_bits(at, size)

    def words(self, reg, count):
        """[lane][word] of a vector operand."""
        first = reg - VECTOR
        return np.ascontiguousarray(self.vector[first:first + count].T)

    def set_words(self, reg, words, lanes):
        first = reg - VECTOR
        for i in range(words.shape[1]):
            self.vector[first + i, lanes] = words[lanes, i]

    def set_vector(self, reg, bits, size, lanes):
        """`bits` of each lane, or of all."""
        bits = np.broadcast_to(np.asarray(bits, np.uint64), self.lanes)
        first = reg - VECTOR
        self.vector[first, lanes] = bits.astype(np.uint32)[lanes]
        if size > 32:
            self.vector[first + 1, lanes] = (
                bits >> np.uint64(32)).astype(np.uint32)[lanes]

    def lane_mask(self, bits):
        """What is 1 in lanes of a mask, as a number."""
        return int(np.sum(np.where(bits, np.uint64(1), np.uint64(0))
                          << np.arange(self.lanes, dtype=np.uint64)))


def number(bits, kind, size):
    return from_bits(bits, kind, size)
