#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which program and which form of its code a GPU is given, and that all compute
the same.

One module with programs for sm_80, sm_90a and sm_100a, each as machine code and
as PTX, on the driver double with chips from 7.5 to 12.0: with a driver that
takes machine code, and with one that is too old for it and is given PTX.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import device_run

# The program, and whether machine code of it runs there; none: no program does.
PRESETS = ("sm_80", "sm_90a", "sm_100a")
CHIPS = {
    "7.5": None,
    "8.0": ("sm_80", True),
    "8.6": ("sm_80", True),
    "8.9": ("sm_80", True),
    "9.0": ("sm_90a", True),
    "10.0": ("sm_100a", True),
    "10.3": ("sm_80", False),
    "12.0": ("sm_80", False),
}


def graph():
    random = np.random.default_rng(3)
    weight = random.standard_normal((24, 40)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]),
             helper.make_node("Softmax", ["p"], ["y"], axis=-1)]
    return helper.make_model(helper.make_graph(
        nodes, "forms",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [10, 24])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [10, 40])],
        [helper.make_tensor("w", TensorProto.FLOAT, weight.shape,
                            weight.tobytes(), raw=True)]),
        ir_version=10, opset_imports=[helper.make_opsetid("", 17)])


def run(command, **environment):
    return subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL, text=True,
        env={**os.environ, **environment}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, errors="replace")


def on_chip(arguments, work, chip, source):
    """What is wrong on a chip whose driver runs `source` in place of machine
    code, or takes none if it is null; empty: nothing."""
    expected = CHIPS[chip]
    environment = {"ASHLAR_CUDA_DOUBLE_CC": chip}
    if float(chip) >= 10:  # no driver before CUDA 12.8 knows it
        environment["ASHLAR_CUDA_DOUBLE_DRIVER"] = "12080"
    if source:
        environment["ASHLAR_CUDA_DOUBLE_PTX"] = str(source)
    done = run([arguments.bin / "ashlar-run", work / "both.ash",
                f"--input=x={work / 'x.npy'}", f"--output=y={work / 'y.npy'}",
                # With a cache the runner says what the runtime warns of.
                f"--driver-cache={work}", "--device=cuda:0"], **environment)
    if not expected:
        lists = all(f"cuda:{preset}: not taken" in done.stdout
                    for preset in PRESETS)
        return "" if done.returncode == 1 and lists else \
            f"expected a refusal that lists all programs, found {done.stdout}"
    preset, has_code = expected
    if done.returncode:
        return done.stdout.strip()[:400]
    chosen = run([arguments.bin / "ashlar-inspect", work / "both.ash"],
                 **environment).stdout
    if f"program cuda:{preset}: taken" not in chosen:
        return f"expected the program of {preset}, found {chosen}"
    fell_back = f"cubin-{preset}: not taken" in done.stdout
    if fell_back != (has_code and not source):
        return f"{'gave up' if fell_back else 'took'} machine code: " \
            f"{done.stdout}"
    wanted = np.load(work / "wanted.npy")
    found = np.load(work / "y.npy")
    return "" if np.allclose(found, wanted, rtol=1e-5, atol=1e-6) else \
        f"differs by {np.abs(found - wanted).max()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    tally = device_run.Tally()
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        onnx.save(graph(), work / "m.onnx")
        np.save(work / "x.npy", np.random.default_rng(4).standard_normal(
            (10, 24)).astype(np.float32))
        for command in (
                [arguments.bin / "ashlar-compile", "--quiet", work / "m.onnx",
                 "-o", work / "both.ash",
                 "--target=" + ",".join(f"cuda:{each}" for each in PRESETS),
                 f"--assembler={arguments.ptxas.resolve()}",
                 f"--save-temps={work / 'temps'}"],
                [arguments.bin / "ashlar-compile", "--quiet", work / "m.onnx",
                 "-o", work / "cpu.ash"],
                [arguments.bin / "ashlar-run", work / "cpu.ash",
                 f"--input=x={work / 'x.npy'}",
                 f"--output=y={work / 'wanted.npy'}"]):
            done = run(command)
            if done.returncode:
                tally.add(command[0].name, done.stdout.strip()[:400] or
                          f"ended with {done.returncode}")
                return tally.end()
        for chip, expected in CHIPS.items():
            sources = {"an older driver": None}
            if expected:
                sources["a driver"] = (work / "temps" / f"cuda-{expected[0]}" /
                                       "kernels.ptx")
            for driver, source in sources.items():
                tally.add(f"{chip} with {driver}",
                          on_chip(arguments, work, chip, source))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
