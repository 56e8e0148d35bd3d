# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of SPIR-V through spirv-val."""

import shutil
import subprocess

import numpy as np

MISSING = "there is no spirv-val (Debian: spirv-tools)"


def find_validator():
    return shutil.which("spirv-val")


def environment_of(module):
    """OpenCL 2.2, whose SPIR-V is 1.2; it has neither subgroups that shuffle,
    which take 1.3, nor numbers of 16 bits, which are an extension's."""
    words = np.fromfile(module, np.uint32)
    minor = int(words[1]) >> 8 & 255
    at, capabilities = 5, set()
    while words[at] & 0xFFFF == 17:
        capabilities.add(int(words[at + 1]))
        at += int(words[at]) >> 16
    float16 = 9
    return "opencl2.2" if minor <= 2 and float16 not in capabilities else \
        f"spv1.{minor}"


def why_invalid(module):
    """What spirv-val says against a module; or ""."""
    done = subprocess.run(
        [find_validator(), "--target-env", environment_of(module), module],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace")
    said = done.stdout.strip().splitlines() or ["without a word"]
    return f"spirv-val: {said[0][:300]}" if done.returncode else ""
