#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device hip with launches that are emulated: the tools run programs for
AMD's GPUs on the double of AMD's driver, which hands code objects to
serve_launches.py. The network for digits answers as on cpu, for each chip; a
program that suits no device is refused; the conformance suite of devices runs
the code objects of the tests' own kernels.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import device_run  # noqa: E402

ROOT = HERE.parents[2]
CHIPS = {"gfx942": "9.4", "gfx90a": "9.0", "gfx1100": "11.0", "gfx1201": "12.0"}


def environment(build, chip):
    return {**os.environ,
            "LD_LIBRARY_PATH": str(build / "runtime/test/hip/double"),
            "ASHLAR_DOUBLE_DEVICES": "2",
            "ASHLAR_HIP_DOUBLE_CC": CHIPS[chip],
            "ASHLAR_HIP_DOUBLE_EMULATOR":
                f"'{sys.executable}' '{HERE / 'serve_launches.py'}'"}


def run(build, chip, *command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment(build, chip))
    return done.returncode, done.stdout


def check_digits(arguments, chips, tally):
    tools = arguments.build / "bin"
    images = np.load(ROOT / "examples/digits/test_images.npy")[:2].astype(
        np.float32).reshape(2, 1, 8, 8)
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        np.save(work / "x.npy", images)
        targets = ",".join(["cpu", *(f"rocm:{chip}" for chip in chips)])
        code, said = run(arguments.build, chips[0], tools / "ashlar-compile",
                         ROOT / "examples/digits/digits.onnx", "--quiet",
                         f"--target={targets}", "--shape=image=2x1x8x8", "-o",
                         work / "m.ash")
        if code:
            return tally.add("digits", said[:300])
        found = {}
        for chip in ("cpu", *chips):
            device = "cpu:0" if chip == "cpu" else "hip:0"
            code, said = run(arguments.build,
                             chips[0] if chip == "cpu" else chip,
                             tools / "ashlar-run", work / "m.ash",
                             f"--device={device}", "--placement=strict",
                             f"--input=image={work / 'x.npy'}",
                             f"--output=probabilities={work / 'y.npy'}")
            if code:
                tally.add(f"digits on {device}, {chip}", said[:300])
                continue
            found[chip] = np.load(work / "y.npy")
            error = np.abs(found[chip] - found["cpu"]).max()
            tally.add(f"digits on {device}, {chip}", "" if error <= 2e-6 else
                      f"differs from cpu by {error:.2e}")
        others = [chip for chip in CHIPS if chip not in chips]
        if others:
            code, said = run(arguments.build, others[0], tools / "ashlar-run",
                             work / "m.ash", "--device=hip:0",
                             "--placement=strict",
                             f"--input=image={work / 'x.npy'}")
            tally.add(f"a module without code for {others[0]}",
                      "" if code and others[0] not in targets and
                      "error" in said else f"ended with {code}: {said[:200]}")


def check_conformance(arguments, tally):
    """Its kernels are those of KernelsGpu.c, compiled for gfx942."""
    suite = arguments.build / "bin/AshlarDeviceConformance"
    _, said = run(arguments.build, "gfx942", suite, "--gtest_filter=*/hip*")
    for name in re.findall(r"^\[       OK \] (\S+)", said, re.M):
        tally.add(name, "")
    for name in sorted(set(re.findall(r"^\[  FAILED  \] (\S+/hip\S*),?", said,
                                      re.M))):
        tally.add(name, "see the suite's own words")
    if not re.search(r"^\[  PASSED  \] [1-9]", said, re.M):
        tally.add("conformance", said[-300:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--chips", default=",".join(CHIPS))
    parser.add_argument("--conformance", action="store_true")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    tally = device_run.Tally()
    check_digits(arguments, arguments.chips.split(","), tally)
    if arguments.conformance:
        check_conformance(arguments, tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
