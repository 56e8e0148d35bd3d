#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the target rocm, without a GPU.

Code objects are read, instruction by instruction, by an emulator of the tests
(test/Integration/amdgpu): products, convolutions and attentions of each matrix
unit, rows and functions agree with NumPy and ONNX Runtime, the network for
digits with the target cpu; the emulator sees waits and barriers that are taken
out. Loops of large products have the instructions that they should. On the
double of AMD's driver launches are emulated, too: the network for digits by
ashlar-run on hip:0. In the mode quick this is a sample, in the mode full more
cases, and the conformance suite of devices on the emulator.
"""

import argparse
import pathlib
import sys

from on_device import Counts, call, count_said, why_not_built

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "test/Integration/amdgpu"
RUN = {"plain": ["--every=7"],
       "quick": ["--presets=gfx942", "--quick", "--every=7"],
       "full": ["--full", "--cases=6"]}
LAUNCHES = {"plain": ["--chips=gfx942,gfx1100"], "quick": ["--chips=gfx942"],
            "full": ["--conformance"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    mode = arguments.mode if arguments.mode in RUN else "plain"
    tools = arguments.build / "bin"
    counts = Counts()
    why = why_not_built(tools)
    if why:
        counts.skip("rocm", why)
    else:
        for name, program, flags in (
                ("pseudocode", "check_pseudocode.py", []),
                ("hot loops", "hot_loops.py", ["--bin", tools]),
                ("emulator", "run_kernels.py", ["--bin", tools, *RUN[mode]]),
                ("launches", "run_launches.py", [
                    "--build", arguments.build, *LAUNCHES[mode]])):
            count_said(counts, name, call(sys.executable, HERE / program,
                                          *flags)[1])
    print(f"{counts.passed} passed, {counts.failed} failed, "
          f"{counts.skipped} skipped")
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
