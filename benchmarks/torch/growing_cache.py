#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A prompt, then 128 tokens one at a time, through one module whose cache
grows from nothing: the tokens are ONNX Runtime's.

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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
warnings.filterwarnings("ignore")

from architectures import write  # noqa: E402

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


def decode(names, compute):
    """The tokens that `compute` finds likeliest, each after all before it, and
    what it said of each."""
    tokens = np.arange(PROMPT, dtype=np.int64)[None]
    cache = {name: np.zeros((1, 4, 0, 16), np.float32) for name in names}
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
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        model, module = work / "model.onnx", work / "open.ash"
        made = write("GPT with a cache", model)
        names = [name for name in made.inputs if name != "tokens"]
        print(run(build / "bin/ashlar-compile", model, "-o", module,
                  f"--dim=B=1..1,T=1..{PROMPT},P=0..{PROMPT + STEPS - 1}"),
              end="")
        session = onnxruntime.InferenceSession(
            str(model), providers=["CPUExecutionProvider"])
        outputs = [output.name for output in session.get_outputs()]
        ours, near = decode(names, lambda values: call(
            build, module, work, values, outputs))
        theirs, exact = decode(names,
                               lambda values: session.run(None, values))
    error = np.abs(near - exact).max() / np.abs(exact).max()
    same = sum(a == b for a, b in zip(ours, theirs))
    print(f"{same} of {len(theirs)} tokens are equal, of which "
          f"{len(set(theirs))} differ; error {error:.1e}")
    return 0 if ours == theirs else 1


if __name__ == "__main__":
    sys.exit(main())
