#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that operators of random numbers make the distributions they should.

No two libraries make the same numbers, so what is compared is how they lie:
the largest distance between the share of numbers up to a value and what it
should be (Kolmogorov and Smirnov's), how often each number follows another one,
and that a seed says which numbers they are. Exits with 1 when one is wrong.

  distributions.py build/bin
"""

import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

COUNT = 40000
# A sound generator is farther off once in about a million times.
LIMIT = 2.7 / math.sqrt(COUNT)


def uniform(low, high):
    return lambda v: np.clip((v - low) / (high - low), 0, 1)


def normal(mean, deviation):
    return lambda v: 0.5 * (1 + np.vectorize(math.erf)(
        (v - mean) / (deviation * math.sqrt(2))))


def continuous(values, share):
    values = np.sort(values.astype(np.float64).ravel())
    should = share(values)
    ranks = np.arange(values.size + 1) / values.size
    return max(np.abs(should - ranks[1:]).max(),
               np.abs(should - ranks[:-1]).max())


def independent(values):
    """How much a number says about the next one."""
    values = values.astype(np.float64).ravel()
    return abs(np.corrcoef(values[:-1], values[1:])[0, 1])


def cases():
    """(name, operator, inputs, attributes, distance)."""
    shape = [COUNT // 40, 40]
    for kind, number in (("f32", TensorProto.FLOAT),
                         ("f64", TensorProto.DOUBLE)):
        yield (f"uniform_{kind}", "RandomUniform", {},
               {"shape": shape, "low": -2.0, "high": 5.0, "dtype": number},
               lambda v, x: continuous(v, uniform(-2, 5)))
        yield (f"normal_{kind}", "RandomNormal", {},
               {"shape": shape, "mean": 3.0, "scale": 0.5, "dtype": number},
               lambda v, x: continuous(v, normal(3, 0.5)))
    like = {"x": np.zeros(shape, np.float32)}
    yield ("uniform_like", "RandomUniformLike", like, {"high": 2.0},
           lambda v, x: continuous(v, uniform(0, 2)))
    yield ("normal_like", "RandomNormalLike", like, {},
           lambda v, x: continuous(v, normal(0, 1)))
    chances = np.tile(np.linspace(0, 1, 40, dtype=np.float32),
                      (COUNT // 40, 1))
    yield ("bernoulli", "Bernoulli", {"x": chances}, {},
           lambda v, x: np.abs(v.mean(0) - x["x"][0]).max() / 5)
    logits = np.log(np.array([[0.1, 0.2, 0.3, 0.4]], np.float32))
    yield ("multinomial", "Multinomial", {"x": logits},
           {"sample_size": COUNT, "dtype": TensorProto.INT32},
           lambda v, x: np.abs(np.bincount(v.ravel(), minlength=4) / v.size
                               - np.exp(x["x"][0])).max())
    yield ("dropout", "Dropout",
           {"x": np.ones(shape, np.float32),
            "ratio": np.float32(0.3), "training": np.bool_(True)}, {},
           lambda v, x: abs((v == 0).mean() - 0.3)
           + np.abs(v[v != 0] - 1 / 0.7).max())


def make_numbers(tools, folder, name, op, inputs, attributes):
    """What the compiled model gives, and gives again."""
    values = [helper.make_tensor_value_info(
        n, helper.np_dtype_to_tensor_dtype(np.asarray(x).dtype), np.shape(x))
        for n, x in inputs.items() if n == "x"]
    known = [onnx.numpy_helper.from_array(np.asarray(x), n)
             for n, x in inputs.items() if n != "x"]
    node = helper.make_node(op, list(inputs), ["y"], name, **attributes)
    graph = helper.make_graph([node], name, values,
                              [onnx.ValueInfoProto(name="y")], known)
    model = helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 17)])
    folder.mkdir()
    onnx.save(model, folder / "model.onnx")
    module = folder / "model.ash"
    subprocess.run([tools / "ashlar-compile", folder / "model.onnx", "-o",
                    module], check=True, stdin=subprocess.DEVNULL)
    command = [tools / "ashlar-run", module]
    if "x" in inputs:
        np.save(folder / "x.npy", inputs["x"])
        command.append(f"--input=x={folder / 'x.npy'}")
    made = []
    for i in range(2):
        target = folder / f"y{i}.npy"
        subprocess.run([*command, f"--output=y={target}"], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        made.append(np.load(target))
    return made


def check(tools, work, name, op, inputs, attributes, measure):
    """What is wrong, or nothing."""
    seeds = [{"seed": s if op == "Dropout" else float(s)} for s in (3, 4)]
    first, again = make_numbers(tools, work / f"{name}-3", name, op, inputs,
                                {**attributes, **seeds[0]})
    other, _ = make_numbers(tools, work / f"{name}-4", name, op, inputs,
                            {**attributes, **seeds[1]})
    if not np.array_equal(first, again):
        return "two runs give other numbers"
    if np.array_equal(first, other):
        return "two seeds give the same numbers"
    for values in (first, other):
        distance = measure(values, inputs)
        if distance > LIMIT:
            return f"is {distance:.4f} from what it should be, over {LIMIT:.4f}"
        if op != "Bernoulli" and independent(values) > 2 * LIMIT:
            return (f"a number and the next one correlate by "
                    f"{independent(values):.4f}")
    return ""


def run(tools, report=print):
    """How many are right, and how many are not."""
    right = wrong = 0
    with tempfile.TemporaryDirectory() as work:
        for name, *case in cases():
            why = check(tools, pathlib.Path(work), name, *case)
            right, wrong = right + (not why), wrong + bool(why)
            if why:
                report(f"FAIL distribution {name}: {why}")
    return right, wrong


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    right, wrong = run(parser.parse_args().bin)
    print(f"{right} passed, {wrong} failed, 0 skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
