#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a module's program for an AMD GPU on an emulator of its code object.

  emulate.py m.ash --program=rocm:gfx942 --input=x=x.npy --output=y=y.npy

It takes programs of one entry and of one form for all sizes, whose commands are
kernels, copies and barriers.
"""

import argparse
import pathlib
import sys
import tempfile

import ml_dtypes
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from code_object import CodeObject  # noqa: E402
from launch import Program, run_kernel  # noqa: E402
from memory import Fault, Memory  # noqa: E402
from module_file import Module  # noqa: E402

# ElementType of the schema, those that NumPy has.
TYPES = {1: np.bool_, 2: np.int8, 3: np.int16, 4: np.int32, 5: np.int64,
         6: np.uint8, 7: np.uint16, 8: np.uint32, 9: np.uint64, 10: np.float16,
         11: ml_dtypes.bfloat16, 12: np.float32, 13: np.float64,
         14: ml_dtypes.float8_e4m3fn, 15: ml_dtypes.float8_e4m3fnuz,
         16: ml_dtypes.float8_e5m2, 17: ml_dtypes.float8_e5m2fnuz}
INPUT, OUTPUT, WEIGHTS, ARENA = range(4)
# SizeOpcode of the schema, behind Constant and Symbol.
ARITHMETIC = [lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x // y,
              lambda x, y: -(-x // y), lambda x, y: x % y, max, min]


def architecture_of(preset):
    return ("rdna4" if preset.startswith("gfx12") else
            "rdna3" if preset.startswith("gfx11") else "cdna")


class Session:
    def __init__(self, module, program, work):
        self.module, self.program = module, program
        self.memory = Memory()
        [executable] = program.executables
        path = work / "kernels.hsaco"
        path.write_bytes(module.section(executable.section))
        self.code = Program(CodeObject(path, self.memory),
                            architecture_of(program.preset))
        self.entry = program.entries[0]
        self.weights = [self.memory.add(np.frombuffer(
            module.section(one.section), np.uint8)[
                one.offset:one.offset + one.size], one.name or f"weight {i}",
            is_written=False) for i, one in enumerate(module.index.weights)]
        arena = self.entry.contract.arena_bytes
        # What nobody wrote is no number.
        self.arena = self.memory.add(np.full(arena, 0xff, np.uint8), "arena")
        self.scratch = {}
        self.steps = {}
        self.symbols = {}

    def run(self, feeds):
        described = self.module.index.entries[self.entry.entry]
        self.bind(described.inputs, feeds)
        self.inputs, self.outputs, found = [], [], {}
        for one in described.inputs:
            data = np.ascontiguousarray(feeds[one.name])
            wanted = np.dtype(TYPES[one.type])
            if data.dtype.itemsize != wanted.itemsize:
                raise ValueError(f"input {one.name}: expected {wanted}, found "
                                 f"{data.dtype}")
            self.inputs.append(self.memory.add(
                data.view(np.uint8).reshape(-1), one.name, is_written=False))
        for one in described.outputs:
            shape = [self.size(size) for size in one.shape]
            data = np.full(int(np.prod(shape)), 0, TYPES[one.type])
            found[one.name] = data.reshape(shape)
            self.outputs.append(self.memory.add(data.view(np.uint8),
                                                one.name))
        for command in self.entry.commands:
            self.command(command)
        return found

    def bind(self, inputs, feeds):
        """Symbols that are a dim of an input."""
        if self.program.pieces:
            raise NotImplementedError("several forms")
        for one in inputs:
            for size, dim in zip(one.shape, feeds[one.name].shape):
                if len(size.code) == 1:
                    [(_, symbol)] = size.code
                    self.symbols[symbol] = dim

    def size(self, expression):
        if not expression.code:
            return expression.constant
        stack = []
        for opcode, value in expression.code:
            if opcode == 0:
                stack.append(value)
            elif opcode == 1:
                stack.append(self.symbols[value])
            else:
                right, left = stack.pop(), stack.pop()
                stack.append(ARITHMETIC[opcode - 2](left, right))
        return stack.pop()

    def command(self, one):
        kind = one.kind()
        if kind == "Dispatch":
            self.dispatch(one)
        elif kind == "Copy":
            bytes = self.bytes_at(one.source)
            self.bytes_at(one.target)[:] = bytes
        elif kind != "Barrier":
            raise NotImplementedError(f"command {kind}")

    def address(self, binding):
        base = {INPUT: self.inputs, OUTPUT: self.outputs,
                WEIGHTS: self.weights}.get(binding.storage)
        at = base[binding.index] if base is not None else self.arena
        return at + (self.size(binding.offset) if binding.offset else 0)

    def bytes_at(self, binding):
        length = self.size(binding.length)
        data, at = self.memory.find(
            np.array([self.address(binding)], np.uint64), length, False)
        return data[int(at[0]):int(at[0]) + length]

    def dispatch(self, one):
        """ashlar/runtime/gpu_abi.h."""
        kernel = self.program.kernels[one.kernel]
        groups = self.size(one.groups)
        if groups == 0:
            return
        [threads] = kernel.block or [1]
        scratch = kernel.scratch_bytes or 0
        room = self.memory.add(np.full(max(64, scratch * groups), 0xff,
                                       np.uint8), "scratch")
        status = np.zeros(8, np.uint8)
        fault = self.memory.add(status, "status")
        words = [self.address(b) for b in one.bindings]
        words += [self.size(p) & (1 << 64) - 1 for p in one.parameters]
        words += [room, scratch, groups, fault]
        arguments = np.array(words, np.uint64).tobytes() + bytes(8)
        steps = run_kernel(self.code, kernel.symbol, self.memory, groups,
                           threads, arguments)
        self.steps[kernel.symbol] = self.steps.get(kernel.symbol, 0) + steps
        self.memory.remove(room)
        self.memory.remove(fault)
        if status.any():
            raise Fault(f"kernel {kernel.symbol} says that it failed")


def emulate(path, target, feeds):
    """Outputs by name, and instructions of each kernel."""
    module = Module(path)
    with tempfile.TemporaryDirectory() as work:
        session = Session(module, module.program(*target.split(":")),
                          pathlib.Path(work))
        with np.errstate(all="ignore"):
            return session.run(feeds), session.steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("module", type=pathlib.Path)
    parser.add_argument("--program", default="rocm:gfx942")
    parser.add_argument("--input", action="append", default=[],
                        metavar="NAME=FILE")
    parser.add_argument("--output", action="append", default=[],
                        metavar="NAME=FILE")
    arguments = parser.parse_args()
    feeds = {name: np.load(path) for name, path in
             (one.split("=", 1) for one in arguments.input)}
    try:
        found, steps = emulate(arguments.module, arguments.program, feeds)
    except (Fault, KeyError, NotImplementedError) as error:
        print(f"emulate.py: {error}")
        return 1
    for name, path in (one.split("=", 1) for one in arguments.output):
        np.save(path, found[name])
    for name, count in steps.items():
        print(f"{name}: {count} instructions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
