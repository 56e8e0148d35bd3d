# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches: workgroups one after the other, their waves from barrier to
barrier."""

import struct

import numpy as np

import decode
from memory import Fault, Lds
from registers import EXEC
from wave import BARRIER, END, Wave
from waits import Counters


NOWHERE = 0xbad00000bad00000bad00000bad00000


class Scratch:
    """Each lane's own memory."""

    def __init__(self, lanes, size):
        self.data = np.zeros((lanes, size), np.uint8)

    def at(self, addresses, size):
        at = addresses.astype(np.int64)[:, None] + np.arange(size)
        if at.size and (at.min() < 0 or at.max() >= self.data.shape[1]):
            raise Fault(f"access of scratch at {int(at.max())}, of "
                        f"{self.data.shape[1]} bytes")
        return at

    def load(self, lanes, addresses, size):
        return self.data[lanes[:, None], self.at(addresses, size)]

    def store(self, lanes, addresses, rows):
        self.data[lanes[:, None], self.at(addresses, rows.shape[1])] = rows


class Program:
    """A code object's decoded instructions."""

    def __init__(self, code, architecture):
        self.code, self.architecture = code, architecture
        self.pseudocode = decode.load_pseudocode(architecture)
        self.decoded = {}

    def instruction(self, address):
        found = self.decoded.get(address)
        if found is None:
            at = address - self.code.base
            if at not in self.code.text:
                raise Fault(f"jump to {at:#x}, where no instruction begins")
            text, size = self.code.text[at]
            raw = self.code.image[at:at + 16].tobytes()
            found = decode.decode(raw, self.architecture, text, size)
            self.decoded[address] = found
        return found


class Group:
    """One workgroup."""

    def __init__(self, program, kernel, memory, number, threads, launch):
        self.program, self.kernel, self.memory = program, kernel, memory
        self.number, self.threads = number, threads
        self.architecture = program.architecture
        self.pseudocode = program.pseudocode
        self.base = program.code.base
        self.lds = Lds(kernel.lds)
        lanes = 64 if self.architecture == "cdna" else 32
        self.waves = []
        for first in range(0, threads, lanes):
            wave = Wave(self, first // lanes, lanes,
                        Counters(self.architecture))
            self.start(wave, first, launch)
            self.waves.append(wave)

    def instruction(self, address):
        return self.program.instruction(address)

    def start(self, wave, first, launch):
        """AMDGPUUsage, "Initial Kernel Execution State"."""
        r, kernel = wave.r, self.kernel
        wave.pc = self.base + kernel.entry
        count = min(wave.lanes, self.threads - first)
        r.set_scalar(EXEC, (1 << count) - 1, wave.lanes)
        r.vector[0] = np.arange(first, first + wave.lanes)
        wave.scratch = Scratch(wave.lanes, kernel.scratch)
        at = 0
        for bit, size, value in (
                (0, 128, None), (1, 64, launch.packet), (2, 64, None),
                (3, 64, launch.arguments), (4, 64, None), (5, 64, None),
                (6, 32, None)):
            if not kernel.properties >> bit & 1:
                continue
            # What we never give it is no address.
            r.set_scalar(at, NOWHERE if value is None else value, size)
            at += size // 32
        if self.architecture == "rdna4":
            r.scalar[108 + 9] = self.number
        else:
            # User registers are as many as the descriptor says.
            at = max(at, kernel.rsrc2 >> 1 & 31)
            if kernel.rsrc2 >> 7 & 1:
                r.scalar[at] = self.number

    def run(self):
        alive = list(self.waves)
        while alive:
            said = [wave.run() for wave in alive]
            alive = [w for w, one in zip(alive, said) if one == BARRIER]
            if alive and len(alive) != len(said):
                raise Fault(f"a barrier that {len(alive)} of {len(said)} waves "
                            f"of workgroup {self.number} reach")
            self.lds.barriers += 1
        return sum(wave.steps for wave in self.waves)


class Launch:
    """What a kernel is given: the packet and its arguments, in memory."""

    def __init__(self, memory, groups, threads, arguments):
        packet = struct.pack("<HHHHHHIIIIIQQQQ", 0, 1, threads, 1, 1, 0,
                             groups * threads, 1, 1, 0, 0, 0, 0, 0, 0)
        self.memory = memory
        self.packet = memory.add(np.frombuffer(packet, np.uint8), "packet",
                                 is_written=False)
        self.arguments = memory.add(np.frombuffer(arguments, np.uint8),
                                    "arguments", is_written=False)

    def close(self):
        self.memory.remove(self.packet)
        self.memory.remove(self.arguments)


def run_kernel(program, name, memory, groups, threads, arguments):
    """Instructions of all waves together."""
    kernel = program.code.kernels[name]
    launch = Launch(memory, groups, threads, arguments)
    steps = 0
    for number in range(groups):
        try:
            steps += Group(program, kernel, memory, number, threads,
                           launch).run()
        except Fault as error:
            raise Fault(f"kernel {name}: {error}") from error
    launch.close()
    return steps
