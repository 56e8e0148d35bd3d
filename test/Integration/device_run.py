# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests on a device: a graph compiled and run, and the count of cases."""

import pathlib
import subprocess
import sys

import numpy as np


def run(arguments, work, feeds, *flags, output="y"):
    """Compiles m.onnx of `work` with the flags and runs it with the inputs by
    name: what was said where it failed, else "", and then the output. The
    device "emulator:TARGET:PRESET" is no device of the runtime's, but
    amdgpu/emulate.py."""
    emulated = arguments.device.removeprefix("emulator:")
    if emulated == arguments.device:
        emulated = ""
    commands = [[arguments.bin / "ashlar-compile", "--quiet", work / "m.onnx",
                 *flags, "-o", work / "m.ash"],
                [arguments.bin / "ashlar-run", work / "m.ash",
                 f"--device={arguments.device}", "--placement=strict",
                 f"--output={output}={work / 'y.npy'}"]]
    for name, feed in feeds.items():
        np.save(work / f"{name}.npy", feed)
        commands[1].append(f"--input={name}={work / name}.npy")
    for command in commands[:1] if emulated else commands:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            return f"{command[0].name} ended with {done.returncode}: " + (
                done.stdout.strip().split("\n")[0][:300]), None
    return emulate(work / "m.ash", emulated, feeds, output) if emulated else (
        "", np.load(work / "y.npy"))


def emulate(module, target, feeds, output):
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "amdgpu"))
    import emulate as emulator  # what it needs is not every test's
    try:
        return "", emulator.emulate(module, target, feeds)[0][output]
    except (emulator.Fault, NotImplementedError) as error:
        return str(error), None


class Tally:
    """Counts cases, and says at once what is wrong with one."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, name, why):
        """`why` is empty where nothing is wrong."""
        self.passed, self.failed = (self.passed + (not why),
                                    self.failed + bool(why))
        if why:
            print(f"FAIL {name}: {why}")

    def skip(self, name, why):
        self.skipped += 1
        print(f"SKIP {name}: {why}")

    def end(self):
        """The closing line; the exit status."""
        print(f"{self.passed} passed, {self.failed} failed, "
              f"{self.skipped} skipped")
        return 1 if self.failed else 0
