#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A prompt, then 128 tokens one at a time, through one module whose cache
grows from nothing: the tokens are ONNX Runtime's.

With --in-place the cache is a state (ashlar-compile --state): its memory is
allocated once, in its largest size, and each call puts what is new behind what
is there. The calls go through the C API.

Needs the environment of open_sizes.py:

  torch/bin/python benchmarks/torch/growing_cache.py --build build
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "test" / "Driver" / "Inputs")]
warnings.filterwarnings("ignore")

from architectures import write  # noqa: E402
from in_place import InPlace  # noqa: E402

PROMPT, STEPS = 8, 128


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True,
                          text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stderr


def call(build, module, work, values, outputs):
    arguments = []
    for name, value in values.items():
        np.save(work / f"{name}.npy", value)
        arguments.append(f"--input={name}={work}/{name}.npy")
    run(build / "bin/ashlar-run", module, *arguments, f"--output-dir={work}/out")
    return [np.load(work / "out" / (re.sub(r"[^\w.-]", "_", name) + ".npy"))
            for name in outputs]


def decode(names, compute, empty):
    """The tokens that `compute` finds likeliest, each after all before it, and
    what it said of each."""
    tokens = np.arange(PROMPT, dtype=np.int64)[None]
    cache = {name: empty for name in names}
    found, logits = [], []
    for _ in range(STEPS + 1):
        scores, *kept = compute({"tokens": tokens, **cache})
        cache = dict(zip(names, kept))
        logits.append(scores[0, -1])
        found.append(int(scores[0, -1].argmax()))
        tokens = np.array([[found[-1]]], np.int64)
    return found, np.array(logits)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--in-place", action="store_true",
                        help="the cache stays in one place")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        model, module = work / "model.onnx", work / "open.ash"
        made = write("GPT with a cache", model)
        names = [name for name in made.inputs if name != "tokens"]
        empty = np.zeros((1, 4, 0, 16), np.float32)
        session = onnxruntime.InferenceSession(
            str(model), providers=["CPUExecutionProvider"])
        outputs = [output.name for output in session.get_outputs()]
        states = [f"--state={a}={b}" for a, b in zip(names, outputs[1:])
                  if arguments.in_place]
        print(run(build / "bin/ashlar-compile", model, "-o", module, *states,
                  f"--dim=B=1..1,T=1..{PROMPT},P=0..{PROMPT + STEPS - 1}"),
              end="")
        if arguments.in_place:
            place = InPlace(build / "lib" / "libashlar_runtime.so", module)
            print(f"{len(place.states)} states in {place.bytes()} bytes, "
                  "allocated once")

            def step(values):
                found = place.run({name: value.shape if name in names else value
                                   for name, value in values.items()})
                return [found[name] for name in outputs]
            ours, near = decode(names, step, empty)
        else:
            ours, near = decode(names, lambda values: call(
                build, module, work, values, outputs), empty)
        theirs, exact = decode(names, lambda values: session.run(
            None, values), empty)
    error = np.abs(near - exact).max() / np.abs(exact).max()
    same = sum(a == b for a, b in zip(ours, theirs))
    print(f"{same} of {len(theirs)} tokens are equal, of which "
          f"{len(set(theirs))} differ; error {error:.1e}")
    return 0 if ours == theirs else 1


if __name__ == "__main__":
    sys.exit(main())
