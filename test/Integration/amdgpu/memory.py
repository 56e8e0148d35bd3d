# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kernels read and write: the device's allocations and a workgroup's LDS.

Each access is checked: it lies in one allocation, nobody writes what is
constant, what is read in the LDS has been written, and no two waves meet in a
byte of it without a barrier in between.
"""

import numpy as np


class Fault(Exception):
    """What a kernel must not do."""


class Memory:
    """Allocations at addresses of their own, with nothing between them."""

    def __init__(self):
        self.all = []  # (begin, bytes, name, is written)
        self.next = 0x10000000

    def add(self, data, name, is_written=True):
        """The address of `data`, an array of bytes that is written in place."""
        begin = self.next
        self.all.append((begin, data, name, is_written))
        self.next = (begin + len(data) + 0x20000) & ~0xffff
        return begin

    def remove(self, begin):
        self.all = [one for one in self.all if one[0] != begin]

    def find(self, addresses, size, is_store):
        low, high = int(addresses.min()), int(addresses.max()) + size
        for begin, data, name, is_written in self.all:
            if begin <= low and high <= begin + len(data):
                if is_store and not is_written:
                    raise Fault(f"store to {name}, which is constant")
                return data, (addresses - np.uint64(begin)).astype(np.int64)
            # LLVM may read behind an array in the line of its last byte,
            # where nothing faults.
            end = begin + len(data)
            if not is_store and begin <= low < end and high <= -(-end // 16) * 16:
                return np.concatenate([data, np.full(16, 0xff, np.uint8)]), (
                    addresses - np.uint64(begin)).astype(np.int64)
        around = ["%s [%#x, %#x)" % (name, begin, begin + len(data))
                  for begin, data, name, _ in self.all
                  if begin <= low < begin + len(data) + 0x10000]
        raise Fault(f"access of [{low:#x}, {high:#x}), outside of any "
                    f"allocation; near {', '.join(around) or 'none'}")

    def load(self, addresses, size):
        """Rows of bytes, one for each address."""
        data, at = self.find(addresses, size, False)
        return data[at[:, None] + np.arange(size)]

    def store(self, addresses, rows):
        data, at = self.find(addresses, rows.shape[1], True)
        data[at[:, None] + np.arange(rows.shape[1])] = rows


class Lds:
    """Of one workgroup; `barriers`: how many it has passed."""

    NOBODY, SEVERAL = -1, -2

    def __init__(self, size):
        self.data = np.zeros(size, np.uint8)
        self.barriers = 0
        self.writer = np.full(size, self.NOBODY, np.int16)
        self.written = np.full(size, -1, np.int32)
        self.reader = np.full(size, self.NOBODY, np.int16)
        self.read = np.full(size, -1, np.int32)
        self.expected = np.zeros(size, bool)  # under way from global memory

    def places(self, addresses, size):
        at = addresses.astype(np.int64)[:, None] + np.arange(size)
        if at.size and (at.min() < 0 or at.max() >= len(self.data)):
            raise Fault(f"access of the LDS at {int(at.max())}, of "
                        f"{len(self.data)} bytes")
        return at

    def load(self, wave, addresses, size):
        at = self.places(addresses, size)
        if np.any(self.expected[at]):
            raise Fault("read of bytes of the LDS in front of the counter of "
                        "loads that bring them")
        if np.any(self.written[at] < 0):
            raise Fault("read of bytes of the LDS that nobody wrote")
        now = self.written[at] == self.barriers
        if np.any(now & (self.writer[at] != wave)):
            raise Fault("read of bytes of the LDS that another wave wrote "
                        "since the last barrier")
        mine = (self.read[at] < self.barriers) | (self.reader[at] == wave)
        self.reader[at] = np.where(mine, wave, self.SEVERAL)
        self.read[at] = self.barriers
        return self.data[at]

    def expect(self, wave, addresses, rows):
        """What a load brings here by itself; a function that stores it."""
        at = self.places(addresses, rows.shape[1])
        self.check_store(wave, at)
        self.expected[at] = True

        def arrive():
            self.expected[at] = False
            self.store(wave, addresses, rows)
        return arrive

    def store(self, wave, addresses, rows):
        at = self.places(addresses, rows.shape[1])
        self.check_store(wave, at)
        self.writer[at], self.written[at] = wave, self.barriers
        self.data[at] = rows

    def check_store(self, wave, at):
        if np.any(self.expected[at]):
            raise Fault("store to bytes of the LDS that a load brings")
        if np.any((self.written[at] == self.barriers)
                  & (self.writer[at] != wave)):
            raise Fault("store to bytes of the LDS that another wave wrote "
                        "since the last barrier")
        if np.any((self.read[at] == self.barriers)
                  & (self.reader[at] != wave)):
            raise Fault("store to bytes of the LDS that another wave read "
                        "since the last barrier")
