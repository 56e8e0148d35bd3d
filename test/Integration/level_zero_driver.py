#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules through Intel's own Level Zero driver, without a GPU.

The driver can be told that there is hardware which computes nothing, and the
loader that it checks every call. Outputs are of no meaning then: what is
checked is that the driver builds all kernels and that neither it nor the
loader's validation has anything to say.
"""

import argparse
import ctypes.util
import os
import pathlib
import subprocess
import sys

# Of which chip, and how many slices, subslices and units of it there are.
WITHOUT_HARDWARE = {
    "NEOReadDebugKeys": "1", "SetCommandStreamReceiver": "1",
    "ProductFamilyOverride": "pvc", "HardwareInfoOverride": "1x4x8"}
VALIDATION = {"ZE_ENABLE_VALIDATION_LAYER": "1",
              "ZE_ENABLE_PARAMETER_VALIDATION": "1"}
LIBRARIES = ("ze_loader", "ze_intel_gpu", "ze_validation_layer")


def environment():
    """That of a run; None: the driver is not there."""
    found = dict(os.environ, **WITHOUT_HARDWARE, **VALIDATION)
    folder = os.environ.get("ASHLAR_LEVEL_ZERO")
    if folder:
        found["LD_LIBRARY_PATH"] = folder
    elif not all(map(ctypes.util.find_library, LIBRARIES)):
        return None
    return found


def why_not_run(tools, module, work):
    """Why a module does not run without a word of the driver's; or \"\"."""
    # It leaves what it would give the hardware where it stands.
    done = subprocess.run(
        [tools / "ashlar-bench", module.resolve(), "--device=level-zero:0",
         "--min-time=0", "--warmup=2"], cwd=work, env=environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, errors="replace")
    said = [line for line in done.stderr.splitlines() if line.strip()]
    if done.returncode or said:
        return f"ended with {done.returncode}: {said[:1]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("module", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    if environment() is None:
        print("SKIP Level Zero's driver: it is not there (Debian: libze1, "
              "intel-opencl-icd); ASHLAR_LEVEL_ZERO may name its folder")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    failed = 0
    for module in arguments.module:
        why = why_not_run(arguments.bin.resolve(), module, arguments.work)
        if why:
            print(f"FAIL {module}: {why}")
            failed += 1
    print(f"{len(arguments.module) - failed} passed, {failed} failed, "
          "0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
