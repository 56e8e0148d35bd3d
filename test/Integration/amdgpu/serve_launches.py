#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs launches of the double of AMD's driver, which starts it
(ASHLAR_HIP_DOUBLE_EMULATOR): runtime/test/hip/HipEmulator.cpp says what comes
in and goes out. Memory stays the double's: an allocation is fetched when a
kernel first reads or writes it, and bytes that it changed go back."""

import os
import pathlib
import struct
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from code_object import CodeObject  # noqa: E402
from launch import Program, run_kernel  # noqa: E402
from memory import Fault, Memory  # noqa: E402

# EF_AMDGPU_MACH.
ARCHITECTURES = {0x3f: "cdna", 0x4c: "cdna", 0x41: "rdna3", 0x4e: "rdna4"}


class Line:
    def __init__(self):
        # What is printed by chance is no answer.
        self.output = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self.input = os.fdopen(0, "rb")

    def get(self, size):
        data = self.input.read(size)
        if len(data) != size:
            sys.exit(0)  # the double's process has ended
        return data

    def number(self):
        return struct.unpack("<Q", self.get(8))[0]

    def bytes(self):
        return self.get(self.number())

    def say(self, what, *numbers, data=b""):
        self.output.write(what + struct.pack(f"<{len(numbers)}Q", *numbers)
                          + data)

    def flush(self):
        self.output.flush()


class FarMemory(Memory):
    """The double's allocations, fetched where they are used, and what the
    emulator itself adds."""

    def __init__(self, line):
        super().__init__()
        self.line = line
        self.far = []  # (begin, size, is written)
        self.fetched = {}  # by begin: bytes, and as they came

    def find(self, addresses, size, is_store):
        low = int(addresses.min())
        for begin, count, is_written in self.far:
            if begin <= low < begin + count and begin not in self.fetched:
                self.fetch(begin, count, is_written)
        return super().find(addresses, size, is_store)

    def fetch(self, begin, count, is_written):
        self.line.say(b"r", begin, count)
        self.line.flush()
        data = np.frombuffer(bytearray(self.line.get(count)), np.uint8)
        self.fetched[begin] = data, data.copy()
        self.all.append((begin, data, f"memory at {begin:#x}", is_written))

    def give_back(self):
        for begin, (data, before) in self.fetched.items():
            # Others may write what this kernel does not.
            changed = np.flatnonzero(data != before)
            for run in np.split(changed, np.flatnonzero(
                    np.diff(changed) != 1) + 1):
                if run.size:
                    self.line.say(b"w", begin + int(run[0]), run.size,
                                  data=data[run[0]:run[-1] + 1].tobytes())
            self.remove(begin)
        self.fetched = {}


class Programs:
    """Code objects by the double's numbers. Each load of a module sends its
    own: equal ones, to which nobody writes, are decoded once."""

    def __init__(self, memory, folder):
        self.memory, self.path = memory, pathlib.Path(folder) / "kernels.hsaco"
        self.decoded, self.by_number = {}, {}

    def add(self, number, image, chip):
        if chip not in ARCHITECTURES:
            raise Fault(f"no emulation of the chip {chip:#x}")
        if (image, chip) not in self.decoded:
            self.path.write_bytes(image)
            self.decoded[image, chip] = Program(
                CodeObject(self.path, self.memory), ARCHITECTURES[chip])
        self.by_number[number] = self.decoded[image, chip]


def serve(line, folder):
    memory = FarMemory(line)
    programs = Programs(memory, folder)
    while True:
        number, image, chip = line.number(), line.bytes(), line.number()
        name = line.bytes().decode()
        shape = [line.number() for _ in range(6)]
        arguments = line.bytes()
        memory.far = [tuple(line.number() for _ in range(3))
                      for _ in range(line.number())]
        memory.far = [(begin, size, not constant)
                      for begin, size, constant in memory.far]
        groups, threads = shape[0], shape[3]
        try:
            if image:
                programs.add(number, image, chip)
            if shape[1:3] + shape[4:6] != [1] * 4:
                raise Fault("a grid or a block of several dimensions")
            with np.errstate(all="ignore"):
                steps = run_kernel(programs.by_number[number], name, memory,
                                   groups, threads, arguments)
            memory.give_back()
            line.say(b"d", steps)
        except (Fault, KeyError, NotImplementedError) as error:
            text = str(error).encode()
            memory.give_back()
            line.say(b"a" if b"outside of any allocation" in text else b"f",
                     len(text), data=text)
        line.flush()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        serve(Line(), temporary)
