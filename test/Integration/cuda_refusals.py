#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said where a GPU cannot run a module, on the driver double: no
driver, no device, a driver too old, a chip without a program, too little
memory, a kernel without an end. Each is refused with 1 and a message that says
what to do, and nothing hangs. Calls that fail one by one and kernels that fault are
runtime/test/CudaCodeTest.cpp's.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import device_run

# Name, target, environment (an absent LD_LIBRARY_PATH: no double), what is said.
CASES = [
    ("no driver", "cuda:sm_80", {"LD_LIBRARY_PATH": None},
     r"no device cuda:0; .*it takes NVIDIA's driver \(libcuda\.so\.1\).*"
     r": libcuda\.so\.1: cannot open shared object file"),
    ("a driver that fails", "cuda:sm_80", {"ASHLAR_CUDA_DOUBLE_LOST": "1"},
     r"no device cuda:0; .*: cuInit failed with CUDA_ERROR_\w+ \(code \d+\)"),
    ("a device lost as it is asked what it is", "cuda:sm_80",
     {"ASHLAR_CUDA_DOUBLE_LOST": "7"},
     r"cuDeviceGetAttribute failed with CUDA_ERROR_\w+.*the device is lost"),
    ("no device", "cuda:sm_80", {"ASHLAR_CUDA_DOUBLE_DEVICES": "0"},
     r"no device cuda:0; .*a GPU that it finds"),
    ("a second device", "cuda:sm_80", {"device": "cuda:1"},
     r"no device cuda:1; there are .*cuda:0"),
    ("a driver too old for PTX", "cuda:sm_90a",
     {"ASHLAR_CUDA_DOUBLE_DRIVER": "11040", "ASHLAR_CUDA_DOUBLE_CC": "9.0"},
     r"CUDA_ERROR_UNSUPPORTED_PTX_VERSION.*install a newer one"),
    ("no program for the chip", "cuda:sm_80,cuda:sm_90a",
     {"ASHLAR_CUDA_DOUBLE_CC": "7.5"},
     r"(?s)cuda:sm_80: not taken, .*lacks sm_80.*"
     r"cuda:sm_90a: not taken, .*lacks sm_90a"),
    ("too little memory for weights", "cuda:sm_80",
     {"ASHLAR_CUDA_DOUBLE_MEMORY": "5000"},
     r"no memory for 16384 bytes: cuda:0 .*run fewer sessions or a smaller"),
    ("too little memory for a session", "cuda:sm_80",
     {"ASHLAR_CUDA_DOUBLE_MEMORY": "21000"},
     r"(no memory for|it has no) \d+ bytes.*run fewer sessions or a smaller"),
    ("too little memory to be open", "cuda:sm_80",
     {"ASHLAR_CUDA_DOUBLE_MEMORY": "1000"},
     r"no memory for 4096 bytes: cuda:0 .*run fewer sessions or a smaller"),
    ("a kernel without an end", "cuda:sm_80",
     {"ASHLAR_CUDA_DOUBLE_HANGS": "1"},
     r"has not ended what it was given within 1000 ms.*device_wait_ns.*"
     r"under way: kernel \w+ \("),
]


def graph():
    weight = np.random.default_rng(3).standard_normal((64, 64))
    return helper.make_model(helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["p"]),
         helper.make_node("Softmax", ["p"], ["y"], axis=-1)], "refusals",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 64])],
        [helper.make_tensor("w", TensorProto.FLOAT, weight.shape,
                            weight.astype(np.float32).tobytes(), raw=True)]),
        ir_version=10, opset_imports=[helper.make_opsetid("", 17)])


def check(arguments, work, target, changes, expected):
    """What is wrong; empty: nothing."""
    module = work / f"{re.sub(r'[^a-z0-9]', '-', target)}.ash"
    if not module.exists():
        subprocess.run([arguments.bin / "ashlar-compile", "--quiet",
                        work / "m.onnx", f"--target={target}",
                        "--assembler=none", "-o", module], check=True)
    changes = dict(changes)
    device = changes.pop("device", "cuda:0")
    environment = {key: value for key, value in {**os.environ, **changes}.items()
                   if value is not None}
    try:
        done = subprocess.run(
            [arguments.bin / "ashlar-run", module, f"--device={device}",
             "--device-wait=1", "--input=x=random"], stdin=subprocess.DEVNULL, text=True,
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=60)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode != 1:
        return f"ended with {done.returncode}: {done.stdout.strip()[:300]}"
    return "" if re.search(expected, done.stdout) else \
        f"expected {expected}, found {done.stdout.strip()[:400]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    tally = device_run.Tally()
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        onnx.save(graph(), work / "m.onnx")
        for name, target, changes, expected in CASES:
            tally.add(name, check(arguments, work, target, changes, expected))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
