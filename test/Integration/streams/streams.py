#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random networks on systolic machines beside the processor, both in bf16.

Contractions in succession are one stream there; the simulator refuses what is
read before it is written, or while it may be, and numbers tell the rest. They
differ by the order of sums alone, and by what that makes of roundings to bf16:
at most 3e-2 of an output's range.
"""

import argparse
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import networks  # noqa: E402

BOUND = 3e-2
MACHINES = ["tpu-128", "tpu-v5e"]
FOUND = [1015, 2040]  # that once failed, beside the first ones


def outputs(tools, folder, seed, target, device):
    module, results = folder / f"{device}.ash", folder / device
    for command in (
            ["ashlar-compile", folder / "model.onnx", f"--target={target}",
             "--precision=bf16", "--quiet", "-o", module],
            ["ashlar-run", module, f"--device={device}:0",
             f"--input=x=random:{seed}", f"--output-dir={results}"]):
        done = subprocess.run([tools / command[0], *command[1:]],
                              stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
    return {p.stem: np.load(p) for p in results.iterdir()}


def check(tools, folder, seed):
    """What is wrong; empty: nothing."""
    machine = MACHINES[seed % len(MACHINES)]
    own = folder / str(seed)
    own.mkdir(parents=True)
    onnx.save(networks.Network(seed).model(), own / "model.onnx")
    try:
        ours = outputs(tools, own, seed, f"systolic:{machine}", "systolic")
        other = outputs(tools, own, seed, "cpu:host", "cpu")
    except RuntimeError as error:
        return f"{machine}: {error}"
    for name, expected in other.items():
        error = (np.abs(ours[name] - expected).max()
                 / max(np.abs(expected).max(), 1e-9))
        if not error <= BOUND:
            return f"{machine}: {name} is off by {error:.2g} of its range"
    shutil.rmtree(own)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--first", type=int, default=0, help="seed")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--keep", type=pathlib.Path,
                        help="a folder for those that fail")
    arguments = parser.parse_args()
    folder = arguments.keep or pathlib.Path(tempfile.mkdtemp())
    tools = arguments.build.resolve() / "bin"
    seeds = list(range(arguments.first, arguments.first + arguments.count))
    if arguments.first == 0:
        seeds += FOUND
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda seed: check(tools, folder, seed), seeds)
        for seed, wrong in zip(seeds, results):
            if wrong:
                failed += 1
                print(f"FAIL network {seed}: {wrong}")
    if not arguments.keep:
        shutil.rmtree(folder)
    print(f"{len(seeds) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
