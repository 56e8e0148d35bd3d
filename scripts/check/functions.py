#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the error of exp, log, tanh, erf and the like against f64.

The bounds are those of the table in docs/numerics.md. The sample has every
exponent of f32, more of those where the functions bend, and what surrounds the
places where their code changes its mind; --exhaustive takes all 2^32 arguments
(hours). Infinities, NaN and the signs of zeros must be exact. Functions that
only machines without a C library have are double_functions.py's.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import scipy.special

import double_functions
import on_device

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXACT = {"exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log,
         "log1p": np.log1p, "tanh": np.tanh, "erf": scipy.special.erf}
TARGETS = ["cpu:x86-64", "cpu:x86-64-v3", "cpu:x86-64-v4", "opencl:generic",
           "opencl:subgroups"]
# Of a machine without the instructions or the device.
LACKING = re.compile(r"\[(UNSUPPORTED|NOT_FOUND)\]")
# Where results or the way to them change: overflow, the first and the last
# denormal result, the ends of polynomials, poles, saturation.
TURNS = [0, 2.0 ** -126, 88.72284, 128, 87.33655, 103.97208, 126, 149, 150, 1,
         0.6, 0.9275, 2 / 3, 4 / 3, 1 / 3, 17.32868, 3.919206, 9.010913,
         0.3465736, 1.0397208, np.inf]


def stated_bounds():
    """Largest error in ulp of each function, by docs/numerics.md."""
    text = (ROOT / "docs" / "numerics.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \|$", text, re.MULTILINE)
    return {name: float(bound) for name, bound in rows}


def sample():
    random = np.random.default_rng(2)
    bits = []
    for exponent in range(256):
        count = 1 << 14 if 113 <= exponent <= 134 else 1 << 10
        mantissas = random.integers(0, 1 << 23, count)
        mantissas[:4] = 0, 1, (1 << 22), (1 << 23) - 1
        bits.append((exponent << 23) + mantissas)
    for turn in np.array(TURNS, np.float32).view(np.uint32).astype(np.int64):
        bits.append(np.clip(turn + np.arange(-1024, 1025), 0, 0x7fffffff))
    bits = np.concatenate(bits)
    bits = np.concatenate([bits, bits + (1 << 31), [0]])  # an odd number
    return bits.astype(np.uint32).view(np.float32)


def model(element, count):
    """One function of the input for each of EXACT, as linalg."""
    tensor = f"tensor<{count}x{element}>"
    lines = [f"func.func @main(%x: {tensor}) -> ("
             + ", ".join([tensor] * len(EXACT)) + ") {",
             f"  %e = tensor.empty() : {tensor}"]
    for name in EXACT:
        lines += [
            f"  %{name} = linalg.generic {{indexing_maps = [affine_map<(d0) -> "
            "(d0)>, affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]}"
            f" ins(%x : {tensor}) outs(%e : {tensor}) {{",
            f"  ^bb0(%a: {element}, %b: {element}):",
            f"    %c = math.{name} %a : {element}",
            f"    linalg.yield %c : {element}",
            f"  }} -> {tensor}"]
    lines += ["  return " + ", ".join(f"%{name}" for name in EXACT) + " : "
              + ", ".join([tensor] * len(EXACT)), "}"]
    return "\n".join(lines) + "\n"


class Computed:
    """The functions as a module of one target computes them."""

    def __init__(self, bin_folder, work, target, element, count):
        self.bin, self.work = bin_folder, work
        self.device = f"{target.split(':')[0]}:0"
        self.module = work / f"{element}.ash"
        source = work / f"{element}.mlir"
        source.write_text(model(element, count))
        subprocess.run([self.bin / "ashlar-compile", source, "-o", self.module,
                        f"--target={target}", "--quiet"], check=True)

    def __call__(self, x):
        np.save(self.work / "x.npy", x)
        result = subprocess.run(
            [self.bin / "ashlar-run", self.module, f"--device={self.device}",
             f"--input=arg0={self.work / 'x.npy'}", "--threads=1",
             f"--output-dir={self.work}"], text=True, capture_output=True)
        if result.returncode:
            raise RuntimeError(result.stderr.strip())
        return {name: np.load(self.work / f"out{k}.npy")
                for k, name in enumerate(EXACT)}


def errors(exact, found):
    """In ulp of `found`'s type; infinite where an error has no measure."""
    info = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(found.dtype)
        # Infinity stands where the next exponent would begin.
        limit = 2.0 ** info.maxexp
        distance = np.abs(np.clip(found.astype(np.float64), -limit, limit)
                          - np.clip(exact, -limit, limit))
        exponent = np.frexp(np.abs(exact))[1]
        exponent = np.clip(exponent, info.minexp + 1, info.maxexp)
        error = distance / np.exp2((exponent - info.nmant - 1).astype(float))
    wrong = np.isnan(rounded) != np.isnan(found)
    both_zero = (rounded == 0) & (found == 0)
    wrong |= both_zero & (np.signbit(rounded) != np.signbit(found))
    wrong |= np.isinf(exact) & (found != exact)
    error[np.isnan(rounded)] = 0
    error[wrong] = np.inf
    return error


def measure(functions, x, worst):
    """Updates worst: name -> (error, argument, result)."""
    with np.errstate(all="ignore"):  # signalling NaN among them
        wide = x.astype(np.float64)
    for name, found in functions(x).items():
        with np.errstate(all="ignore"):
            error = errors(EXACT[name](wide), found)
        k = int(np.argmax(error))
        if name not in worst or error[k] > worst[name][0]:
            worst[name] = error[k], x[k], found[k]


def arguments_of(element, exhaustive):
    if element == "f16":
        yield np.arange(1 << 16).astype(np.uint16).view(np.float16)
    elif exhaustive:
        for first in range(0, 1 << 32, 1 << 22):
            chunk = np.arange(first, first + (1 << 22), dtype=np.uint64)
            yield chunk.astype(np.uint32).view(np.float32)
    else:
        yield sample()


def check(bin_folder, target, element, bounds, exhaustive):
    """Passed, failed, skipped."""
    worst = {}
    with tempfile.TemporaryDirectory() as work:
        functions = None
        for x in arguments_of(element, exhaustive):
            functions = functions or Computed(
                bin_folder, pathlib.Path(work), target, element, len(x))
            try:
                measure(functions, x, worst)
            except RuntimeError as error:
                is_lacking = LACKING.search(str(error))
                print(f"{'SKIP' if is_lacking else 'FAIL'} functions {target}: "
                      f"{error}")
                return 0, not is_lacking, bool(is_lacking)
    failed = 0
    for name, (error, x, found) in worst.items():
        # Halves are rounded once more, from a result as good as f32's.
        bound = bounds[name] if element == "f32" else 0.51
        print(f"{target} {element} {name}: {error:.3f} ulp at {x!r}")
        if not error <= bound:
            print(f"FAIL functions {name} of {element} on {target}: expected "
                  f"an error of at most {bound} ulp, found {error:.3f}: "
                  f"{name}({x!r}) is {found!r}, not "
                  f"{EXACT[name](np.float64(x))!r}")
            failed += 1
    return len(worst) - failed, failed, 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    parser.add_argument("--exhaustive", action="store_true")
    parser.add_argument("--target", action="append", choices=TARGETS)
    arguments = parser.parse_args()
    bin_folder = arguments.build.resolve() / "bin"
    on_device.find_driver()
    for program in ["ashlar-compile", "ashlar-run"]:
        if not (bin_folder / program).exists():
            print(f"SKIP functions: {program} is not built")
            print("0 passed, 0 failed, 1 skipped")
            return 0
    bounds = stated_bounds()
    if set(bounds) != set(EXACT):
        print("FAIL functions: docs/numerics.md states bounds of "
              f"{sorted(bounds)}, expected of {sorted(EXACT)}")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    counts = np.zeros(3, int)
    for target in arguments.target or TARGETS:
        # On cpu:x86-64, halves are converted by operations on integers.
        for element in ["f32", "f16"]:
            counts += check(bin_folder, target, element, bounds,
                            arguments.exhaustive)
    if not arguments.target:
        counts += double_functions.check(
            arguments.build.resolve(), (ROOT / "docs/numerics.md").read_text(),
            errors, 400 if arguments.exhaustive else 20)
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if counts[1] else 0


if __name__ == "__main__":
    sys.exit(main())
