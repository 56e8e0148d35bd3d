# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A code object: its segments, kernels and what is said of them.

LLVM's AMDGPUUsage, "Code Object", says what stands where. The notes are read by
llvm-readelf, the instructions' text comes from llvm-objdump.
"""

import re
import struct
import subprocess

import numpy as np


class Kernel:
    def __init__(self, name, descriptor):
        self.name = name
        self.lds, self.scratch, self.kernargs, self.entry_offset = \
            struct.unpack_from("<III4xq", descriptor)
        self.rsrc1, self.rsrc2, self.properties = struct.unpack_from(
            "<IIH", descriptor, 48)


class CodeObject:
    def __init__(self, path, memory, llvm="/usr/lib/llvm-22/bin"):
        raw = path.read_bytes()
        (phoff, shoff) = struct.unpack_from("<QQ", raw, 32)
        phnum, = struct.unpack_from("<H", raw, 56)
        segments, top = [], 0
        for i in range(phnum):
            kind, _, offset, address, _, filesz, memsz = struct.unpack_from(
                "<IIQQQQQ", raw, phoff + 56 * i)
            if kind == 1:
                segments.append((offset, address, filesz))
                top = max(top, address + memsz)
        self.image = np.zeros(top, np.uint8)
        for offset, address, filesz in segments:
            self.image[address:address + filesz] = np.frombuffer(
                raw, np.uint8, filesz, offset)
        self.base = memory.add(self.image, path.name, is_written=False)
        symbols = subprocess.run(
            [f"{llvm}/llvm-readelf", "--dyn-syms", "-W", path],
            capture_output=True, text=True, check=True).stdout
        self.kernels, self.entries = {}, {}
        for value, kind, name in re.findall(
                r"^\s*\d+: ([0-9a-f]+)\s+\d+ (\w+) .* (\S+)$", symbols, re.M):
            at = int(value, 16)
            if kind == "OBJECT" and name.endswith(".kd"):
                descriptor = self.image[at:at + 64].tobytes()
                kernel = Kernel(name[:-3], descriptor)
                kernel.entry = at + kernel.entry_offset
                self.kernels[kernel.name] = kernel
        self.text = self.disassemble(path, llvm)

    @staticmethod
    def disassemble(path, llvm):
        """By address: LLVM's text and how many bytes it is of."""
        said = subprocess.run(
            [f"{llvm}/llvm-objdump", "-d", path], capture_output=True,
            text=True, check=True).stdout
        found = {}
        for text, at, words in re.findall(
                r"^\t(.*?)\s*// ([0-9A-F]+): ((?:[0-9A-F]{8} ?)+)", said, re.M):
            found[int(at, 16)] = (text, 4 * len(words.split()))
        return found
