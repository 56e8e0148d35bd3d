#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of SPIR-V through Intel's compiler for GPUs, ocloc, without a GPU.

It takes each module for the GPUs named, and says of no kernel of those that
must not that it spilled registers.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# One with 8 KiB of registers a thread, one with half, and an integrated one.
DEVICES = ("pvc", "dg2", "tgllp")
# As the runtime's device says it.
OPTIONS = "-cl-fp32-correctly-rounded-divide-sqrt"
SPILLED = re.compile(r"kernel (\S+) .*spilled around (\d+)")


MISSING = ("it is not there (Debian: intel-opencl-icd); ASHLAR_OCLOC may name "
           "it")


def find_ocloc():
    """The compiler: ASHLAR_OCLOC, or that of the path; None: there is none, or
    none is wanted."""
    found = os.environ.get("ASHLAR_OCLOC") or shutil.which("ocloc")
    return None if found == "none" else found


def options_for(module, device):
    """Those of the runtime's device; with matrix units twice the registers,
    where there are so many."""
    has_matrices = b"_matrix_mad_k" in pathlib.Path(module).read_bytes()
    return OPTIONS + " -ze-opt-large-register-file" * (
        has_matrices and device in ("pvc", "dg2"))


def compile_module(ocloc, module, device):
    """Why the compiler does not take it, or ""; registers spilled by kernel."""
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [ocloc, "compile", "-file", module, "-spirv_input", "-device",
             device, "-out_dir", out, "-options",
             options_for(module, device)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode:
        why = [line for line in lines if "rror" in line] or lines
        return f"ocloc ended with {done.returncode}: {why[:1]}", {}
    return "", {name: int(count) for name, count in
                SPILLED.findall(done.stdout)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("module", nargs="+", type=pathlib.Path)
    parser.add_argument("--device", action="append", help="repeatable; "
                        + ", ".join(DEVICES))
    parser.add_argument("--no-spills", action="store_true",
                        help="a kernel that spills has failed")
    arguments = parser.parse_args()
    ocloc = find_ocloc()
    if not ocloc:
        print(f"SKIP ocloc: {MISSING}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = 0
    for module in arguments.module:
        for device in arguments.device or DEVICES:
            why, spilled = compile_module(ocloc, module, device)
            if spilled:
                said = ", ".join(f"{name} {count}"
                                 for name, count in sorted(spilled.items()))
                print(f"NOTE {module} for {device}: registers spilled: {said}")
                if arguments.no_spills:
                    why = why or "kernels spill"
            if why:
                print(f"FAIL {module} for {device}: {why}")
                failed += 1
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
