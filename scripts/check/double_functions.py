# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the functions that machines without a C library have.

They are computed as the target cuda writes them, by the interpreter of PTX that
the driver double of runtime/test/cuda is. functions.py calls this.
"""

import os
import re
import subprocess
import tempfile

import numpy as np

ONE = {"log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos,
       "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
       "sinh": np.sinh, "cosh": np.cosh, "asinh": np.arcsinh,
       "acosh": np.arccosh, "atanh": np.arctanh}
TWO = {"powf": np.power, "atan2": np.arctan2, "remf": np.fmod}
C_NAMES = {"powf": "pow", "remf": "fmod"}
# Of f64, beside 80 bits.
WIDE = {"exp": np.exp, "log": np.log}
# Where results or the way to them change.
TURNS = [2.0 ** -126, 2.0 ** -149, 2.0 ** -10, 2.0 ** -8, 0.25, 0.41421356, 0.5,
         np.pi / 4, 1, np.pi / 2, 2.4142135, np.pi, 2 ** 25, 89.41598, 103.97,
         2.0 ** 64, 3.4028235e38]
# Every two of them.
SPECIAL = [0, 1e-45, 1.1754944e-38, 0.5, 1, 1.5, 2, 3, 4, 8388607.5, 8388609,
           16777215, 16777216, 3e38, np.inf, np.nan]


def singles(count, low, high, seed):
    """So many random numbers of each exponent and sign."""
    random = np.random.default_rng(seed)
    exponents = np.repeat(np.arange(low, high), count)
    bits = (exponents << 23) + random.integers(0, 1 << 23, len(exponents))
    bits += random.integers(0, 2, len(bits)) << 31
    return bits.astype(np.uint32).view(np.float32)


def arguments(scale):
    """For functions of one: all exponents, more where they bend, turns, and
    what is nearest to multiples of pi/2."""
    near = []
    for turn in np.array(TURNS, np.float32).view(np.uint32).astype(np.int64):
        near.append(np.clip(turn + np.arange(-16, 17), 0, 0x7f800000))
    near = np.concatenate(near).astype(np.uint32).view(np.float32)
    multiples = (np.arange(1, 200) * (np.pi / 2)).astype(np.float32)
    # Those f32 that are nearest to multiples of pi/2, the first of all.
    hard = np.ldexp(np.float32([16367173, 10741887, 16573937, 10057457,
                                11617958, 9012376, 14173733]),
                    [72, 11, -16, 62, 17, 53, 88]).astype(np.float32)
    x = np.concatenate([near, multiples, hard, np.array(SPECIAL, np.float32)])
    return np.concatenate([singles(10 * scale, 0, 255, 3),
                           singles(100 * scale, 117, 135, 4), x, -x])


def pairs(scale):
    special = np.array(SPECIAL, np.float32)
    special = np.concatenate([special, -special])
    x, y = (side.ravel() for side in np.meshgrid(special, special))
    random = np.random.default_rng(5)
    count = 1000 * scale
    base = np.exp(random.uniform(-20, 20, count))
    power = random.uniform(-100, 100, count) / np.log(base)
    whole = random.integers(-40, 41, count)
    x = np.concatenate([x, singles(4 * scale, 0, 255, 6), base,
                        random.uniform(-9, 9, count)])
    y = np.concatenate([y, random.permutation(singles(4 * scale, 0, 255, 7)),
                        power, whole])
    return x.astype(np.float32), y.astype(np.float32)


def model(names, element, inputs, count):
    tensor = f"tensor<{count}x{element}>"
    operands = ["%x", "%y"][:inputs]
    lines = ["func.func @main(" + ", ".join(f"{x}: {tensor}" for x in operands)
             + ") -> (" + ", ".join([tensor] * len(names)) + ") {",
             f"  %e = tensor.empty() : {tensor}"]
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * (inputs + 1))
    for name in names:
        dialect = "arith" if name == "remf" else "math"
        lines += [
            f"  %{name} = linalg.generic {{indexing_maps = [{maps}], "
            f"iterator_types = [\"parallel\"]}} ins({', '.join(operands)} : "
            f"{', '.join([tensor] * inputs)}) outs(%e : {tensor}) {{",
            "  ^bb0(" + ", ".join(f"%a{k}: {element}"
                                  for k in range(inputs + 1)) + "):",
            f"    %c = {dialect}.{name} "
            + ", ".join(f"%a{k}" for k in range(inputs)) + f" : {element}",
            f"    linalg.yield %c : {element}", f"  }} -> {tensor}"]
    lines += ["  return " + ", ".join(f"%{name}" for name in names) + " : "
              + ", ".join([tensor] * len(names)), "}"]
    return "\n".join(lines) + "\n"


def compute(build, names, values):
    """What the double computes: name -> array."""
    element = f"f{8 * values[0].itemsize}"
    double = build / "runtime/test/cuda/double"
    environment = dict(os.environ, LD_LIBRARY_PATH=str(double))
    with tempfile.TemporaryDirectory() as work:
        with open(f"{work}/x.mlir", "w") as file:
            file.write(model(names, element, len(values), len(values[0])))
        command = [build / "bin/ashlar-compile", f"{work}/x.mlir", "-o",
                   f"{work}/x.ash", "--target=cuda:sm_80", "--quiet"]
        subprocess.run(command, check=True)
        command = [build / "bin/ashlar-run", f"{work}/x.ash",
                   "--device=cuda:0", f"--output-dir={work}"]
        for k, value in enumerate(values):
            np.save(f"{work}/{k}.npy", value)
            command.append(f"--input=arg{k}={work}/{k}.npy")
        done = subprocess.run(command, env=environment, text=True,
                              capture_output=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return {name: np.load(f"{work}/out{k}.npy")
                for k, name in enumerate(names)}


def wide_errors(exact, found):
    """As functions.errors, of f64 beside 80 bits."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float64)
        finite = np.isfinite(rounded) & np.isfinite(found)
        step = np.spacing(np.abs(np.where(finite, rounded, 1)))
        error = np.abs(np.where(finite, found - exact, 0)) / step
    wrong = np.isnan(rounded) != np.isnan(found)
    wrong |= ~finite & ~np.isnan(rounded) & (rounded != found)
    wrong |= (rounded == 0) & (np.signbit(rounded) != np.signbit(found))
    return np.where(wrong, np.inf, error).astype(np.float64)


def stated_bounds(text):
    """Largest error in ulp by function and type."""
    rows = re.findall(r"^\| `(\w+)`( of f64)? \| ([\d.]+) \| [\d,]+ \|$",
                      text, re.MULTILINE)
    return {(name, "f64" if wide else "f32"): float(bound)
            for name, wide, bound in rows}


def check(build, numerics, errors, scale):
    """Passed, failed, skipped. `errors`: of exact and found results, in ulp."""
    if not (build / "runtime/test/cuda/double/libcuda.so.1").exists():
        print("SKIP functions without a C library: the driver double is not "
              "built (ASHLAR_RUNTIME_TESTS)")
        return 0, 0, 1
    bounds = stated_bounds(numerics)
    x = arguments(scale)
    wide = np.concatenate([
        np.random.default_rng(8).uniform(-750, 712, 1000 * scale),
        np.exp(np.random.default_rng(9).uniform(-744, 709, 1000 * scale)),
        1 + np.random.default_rng(10).uniform(-0.5, 0.5, 1000 * scale),
        [0, -0.0, 1, -1, 5e-324, 2.0 ** -1022, 1.7976931348623157e308, np.inf,
         -np.inf, np.nan]])
    failed = passed = 0
    with np.errstate(all="ignore"):
        halves = np.arange(1 << 16).astype(np.uint16).view(np.float16)  # all
        half_pairs = [side.astype(np.float16) for side in pairs(scale)]
    for exact, values, wider in [
            (ONE, [x], np.float64), (ONE, [halves], np.float64),
            (TWO, list(pairs(scale)), np.float64),
            (TWO, half_pairs, np.float64), (WIDE, [wide], np.longdouble)]:
        measure = wide_errors if wider is np.longdouble else errors
        element = f"f{8 * values[0].itemsize}"
        found = compute(build, list(exact), values)
        for name, function in exact.items():
            with np.errstate(all="ignore"):
                error = measure(function(*(v.astype(wider) for v in values)),
                                found[name])
            k = int(np.argmax(error))
            at = ", ".join(repr(v[k]) for v in values)
            print(f"cuda {element} {name}: {error[k]:.4f} ulp at {at}, of "
                  f"{len(error):,}")
            # Halves are rounded once more, from f32.
            bound = 0.51 if element == "f16" else bounds.get(
                (C_NAMES.get(name, name), element))
            if bound is not None and error[k] <= bound:
                passed += 1
                continue
            failed += 1
            print(f"FAIL functions {name} of {element} on cuda: expected an "
                  f"error of at most {bound} ulp, which docs/numerics.md "
                  f"states, found {error[k]:.4f}: {name}({at}) is "
                  f"{found[name][k]!r}")
    return passed, failed, 0
