#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bits flipped in compiled streams of the systolic machines.

Small models that between them have products, convolutions read in place and
put together, epilogues with the vector unit, batches, depthwise convolutions
and loops, for each preset; flip-streams flips the bits and runs what comes out.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

BF16 = ["tpu-128", "tpu-v5e"]
BYTES = ["tpu-256", "gemmini"]


class Model:
    def __init__(self, shape, kind):
        self.random = np.random.default_rng(5)
        self.nodes, self.weights, self.count = [], [], 0
        self.inputs = [helper.make_tensor_value_info("x", kind, shape)]

    def constant(self, array):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def floats(self, *shape):
        return self.constant(
            self.random.standard_normal(shape).astype(np.float32))

    def bytes(self, *shape):
        return self.constant(self.random.integers(-127, 128, shape, np.int8))

    def add(self, op, *inputs, **attributes):
        self.count += 1
        self.nodes.append(helper.make_node(op, inputs, [f"v{self.count}"],
                                           **attributes))
        return f"v{self.count}"

    def save(self, path, result, kind):
        graph = helper.make_graph(
            self.nodes, "streams", self.inputs,
            [helper.make_tensor_value_info(result, kind, None)], self.weights)
        onnx.save(helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9),
            path)


def write_floats(path):
    m = Model([1, 3, 40, 36], onnx.TensorProto.FLOAT)
    y = m.add("Conv", "x", m.floats(24, 3, 7, 7), m.floats(24), strides=[2, 2])
    y = m.add("Relu", y)
    y = m.add("Conv", y, m.floats(24, 1, 3, 3), m.floats(24), group=24,
              pads=[1] * 4)
    z = m.add("Conv", y, m.floats(24, 24, 3, 3), m.floats(24), pads=[1] * 4)
    y = m.add("Add", m.add("Tanh", z), y)
    y = m.add("Conv", y, m.floats(200, 24, 1, 1), m.floats(200))
    y = m.add("Reshape", m.add("Sigmoid", y), m.constant(np.array([2, 100, -1])))
    y = m.add("MatMul", m.add("Transpose", y, perm=[0, 2, 1]), y)
    y = m.add("MatMul", m.add("Gelu", y), m.floats(255, 140))
    m.save(path, y, onnx.TensorProto.FLOAT)


def write_bytes(path):
    m = Model([1, 5, 60, 41], onnx.TensorProto.INT8)
    unit, zero = m.constant(np.float32(2**-5)), m.constant(np.int8(0))
    step = m.constant(np.float32(2**-8))

    def conv(x, channels, filters, kernel, **attributes):
        bias = m.constant(m.random.integers(-999, 999, filters, np.int32))
        return m.add("QLinearConv", x, unit, zero,
                     m.bytes(filters, channels, kernel, kernel), step, zero,
                     unit, zero, bias, **attributes)

    y = conv("x", 5, 40, 3, strides=[2, 2])
    y = conv(y, 40, 64, 3, pads=[1] * 4)
    y = conv(y, 64, 48, 1)
    y = m.add("Reshape", y, m.constant(np.array([48, -1])))
    y = m.add("MatMulInteger", y, m.bytes(580, 90))
    m.save(path, y, onnx.TensorProto.INT32)


def run(tools, count, seed=1, report=print):
    """(how many streams with flipped bits were run, faults)."""
    total, faults = 0, []
    flip = tools.parent / "unittests" / "flip-streams"
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        write_floats(work / "floats.onnx")
        write_bytes(work / "bytes.onnx")
        for preset in BF16 + BYTES:
            model = "floats" if preset in BF16 else "bytes"
            module = work / "model.ash"
            subprocess.run(
                [tools / "ashlar-compile", work / f"{model}.onnx", "-o", module,
                 f"--target=systolic:{preset}", "--quiet",
                 *(["--precision=bf16"] if preset in BF16 else [])], check=True)
            done = subprocess.run([flip, module, str(count), str(seed)],
                                  text=True, capture_output=True)
            report(f"{preset}: {done.stdout.strip()}")
            total += sum(map(int, re.findall(r"(\d+) (?:stopped|ran|cut)",
                                             done.stdout)))
            if done.returncode:
                faults.append(f"{preset}, --seed={seed}: exit code "
                              f"{done.returncode}: {done.stderr.strip()}")
                report("FAIL " + faults[-1])
    return total, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=50,
                        help="of each kernel of each preset")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    total, faults = run(arguments.bin.resolve(), arguments.count,
                        arguments.seed)
    print(f"{total} streams with flipped bits, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
