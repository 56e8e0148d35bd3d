#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Open sizes of PyTorch's exports: a table of fourteen architectures.

Each is exported with random weights (architectures.py) and compiled with every
dim open that the exporter was let leave open. The table says whether that
compiles, in how many pieces, the largest error beside ONNX Runtime and the time
beside that of a compile for one size, both at five sizes of the ranges, the
file's bytes and the time of the compile. Needs an environment of its own:

  python3 -m venv torch
  torch/bin/pip install torch torchvision transformers onnx onnxscript onnxruntime \
      nanobind-backend
  torch/bin/python benchmarks/torch/open_sizes.py --build build
"""

import argparse
import pathlib
import re
import subprocess
import sys
import time
import warnings

import numpy as np
import onnxruntime

sys.path[:0] = map(str, pathlib.Path(__file__).resolve().parents[:2])
warnings.filterwarnings("ignore")

from architectures import ARCHITECTURES, write  # noqa: E402
from open_rows import compare_times, five_sizes, print_rows  # noqa: E402


def inputs_at(made, point, random):
    """Numbers for one value of each symbol."""
    values = {}
    for name, example in made.inputs.items():
        shape = list(example.shape)
        for axis, symbol in made.axes.get(name, {}).items():
            shape[axis] = point[symbol]
        values[name] = (random.integers(0, made.tokens, shape)
                        if example.dtype.is_floating_point is False
                        else random.standard_normal(shape, np.float32))
    return values


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True,
                          text=True)


def open_session(ashlar, module):
    return ashlar.Session(ashlar.load(str(module), allow_native_code=True),
                          threads=1)


def check(ashlar, build, work, made, model, module, times):
    """Largest error relative to the largest result, and open over static time,
    at each of the five sizes."""
    random = np.random.default_rng(1)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # others wait in time of the process
    session = onnxruntime.InferenceSession(str(model), options,
                                           providers=["CPUExecutionProvider"])
    errors, ratios = [], []
    opened = open_session(ashlar, module)
    for point in five_sizes(made.ranges):
        values = inputs_at(made, point, random)
        expected = session.run(None, values)
        arguments = []
        shapes = []
        for name, value in values.items():
            np.save(work / f"{name}.npy", value)
            arguments.append(f"--input={name}={work}/{name}.npy")
            shapes.append(f"--shape={name}=" + "x".join(map(str, value.shape)))
        done = run(build / "bin/ashlar-run", module, *arguments,
                   f"--output-dir={work}/out")
        if done.returncode:
            return f"at {point}: {done.stderr.strip()}", None
        for output, value in zip(session.get_outputs(), expected):
            found = np.load(work / "out" / (re.sub(r"[^\w.-]", "_", output.name)
                                            + ".npy"))
            if found.shape != value.shape:
                return f"at {point}: shape {found.shape}, not {value.shape}", None
            errors.append(float(np.abs(found - value).max()
                                / max(np.abs(value).max(), 1e-9)))
        if times:
            fixed = work / "fixed.ash"
            done = run(build / "bin/ashlar-compile", model, "-o", fixed, *shapes)
            if done.returncode:
                return f"static at {point}: {done.stderr}", None
            static = open_session(ashlar, fixed)
            opened_ms, static_ms = compare_times(
                [lambda: opened.run(values), lambda: static.run(values)])
            ratios.append(opened_ms / static_ms)
    return max(errors), ratios


def measure(ashlar, build, name, work, times):
    model, module = work / "model.onnx", work / "open.ash"
    made = write(name, model)
    dims = ",".join(f"{s}={a}..{b}" + (f":{c}" if c > 1 else "")
                    for s, (a, b, c) in made.ranges.items())
    begin = time.monotonic()
    done = run(build / "bin/ashlar-compile", model, "-o", module,
               f"--dim={dims}")
    taken = time.monotonic() - begin
    row = {"name": name, "dims": dims, "seconds": taken}
    if done.returncode:
        return row | {"why": done.stderr.strip() or f"it ends with {done.returncode}"}
    pieces = re.search(r"(\d+) programs do", done.stderr)
    row |= {"pieces": int(pieces[1]) if pieces else 1,
            "bytes": module.stat().st_size}
    error, ratios = check(ashlar, build, work, made, model, module, times)
    if isinstance(error, str):
        return row | {"why": error}
    return row | {"error": error, "ratios": ratios}


def line(row):
    if "why" in row:
        why = row["why"].splitlines()[0].replace("|", "/")
        return (f"| {row['name']} | {row['dims']} | no: {why[:160]} | | | | |"
                f" {row['seconds']:.1f} |")
    ratios = " ".join(f"{r:.2f}" for r in row["ratios"]) or "-"
    return (f"| {row['name']} | {row['dims']} | yes | {row['pieces']} |"
            f" {row['error']:.1e} | {ratios} | {row['bytes'] / 1024:.0f} |"
            f" {row['seconds']:.1f} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--no-times", action="store_true",
                        help="leave the times of calls out")
    parser.add_argument("names", nargs="*", help="default: all")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    sys.path.insert(0, str(build / "python" / "site"))
    import ashlar
    print("| model | open | compiles | pieces | error | open over static time |"
          " KiB | compile s |\n|---|---|---|---|---|---|---|---|")
    rows = print_rows(
        arguments.names or ARCHITECTURES,
        lambda name, work: measure(ashlar, build, name, work,
                                   not arguments.no_times), line)
    failed = any("why" in row or row["error"] > 1e-3 for row in rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
