# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests on a device: a graph compiled and run, and the count of cases."""

import os
import pathlib
import signal
import subprocess
import sys

import numpy as np

# What a driver that compiles kernels as a module is loaded is told in turn, in
# front of what ends it or keeps it for so many seconds. Intel's for processors
# (2026.22.10) computes values anew behind barriers, and in kernels of many
# blocks uses a table that has grown meanwhile (docs/gpu.md).
TRIES = [{}, *({"CL_CONFIG_LLVM_OPTIONS":
                f"-sycl-barrier-copy-instruction-threshold={most}"}
               for most in (4, 3))]
MOST_SECONDS = 100


def compiles_anew(device):
    """Whether the driver compiles kernels as a module is loaded."""
    return device.startswith(("opencl", "level-zero"))


def call(command, seconds, **variables):
    """How it ended, and what it said; null seconds: it may take any time."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, text=True, timeout=seconds,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, **variables})
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return -signal.SIGKILL, f"not done after {late.timeout} s"


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
        tries, seconds = (TRIES, MOST_SECONDS) if compiles_anew(
            arguments.device) else ([{}], None)
        for variables in tries:
            code, said = call(command, seconds, **variables)
            if code >= 0:
                break
        if code:
            return f"{command[0].name} ended with {code}: " + (
                said.strip().split("\n")[0][:300]), None
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
