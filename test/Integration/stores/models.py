#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose rows end one element behind a whole vector, beside ONNX Runtime.

What is written behind a row is seen where the next row was there before: it is
another thread's, or the host's part of a program for a systolic machine writes
its rows in another order.

  models.py --build build
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROWS = 60000
RUNS = 4  # with threads, a fault may not show in each


def constant(name, value, kind):
    return numpy_helper.from_array(np.array(value, kind), name)


def described(name, array):
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def model(nodes, x, y, constants):
    graph = helper.make_graph(
        nodes, "rows", [described("x", x)],
        [helper.make_tensor_value_info("y", y, None)], constants)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), x


def relu(columns, kind):
    """Bytes in, bytes out."""
    bounds = np.iinfo(kind)
    x = np.random.default_rng(columns).integers(
        bounds.min, bounds.max + 1, (ROWS, columns)).astype(kind)
    zero = 0 if bounds.min else 128
    return model(
        [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["d"]),
         helper.make_node("Relu", ["d"], ["e"]),
         helper.make_node("QuantizeLinear", ["e", "s", "z"], ["y"])],
        x, helper.np_dtype_to_tensor_dtype(x.dtype),
        [constant("s", 0.5, np.float32), constant("z", zero, kind)])


def cast(columns, source, kind):
    """From a wider type."""
    x = np.random.default_rng(columns).integers(
        0, 127, (ROWS, columns)).astype(source)
    to = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    return model([helper.make_node("Cast", ["x"], ["y"], to=to)], x, to, [])


def positive(columns):
    """Truths, of one byte each."""
    x = np.random.default_rng(columns).standard_normal(
        (ROWS, columns)).astype(np.float32)
    return model([helper.make_node("Greater", ["x", "c"], ["y"])], x,
                 TensorProto.BOOL, [constant("c", 0, np.float32)])


def convolution(filters, then):
    """Bytes that a systolic machine leaves with one filter beside the others,
    which the host goes on with."""
    numbers = np.random.default_rng(filters)
    x = numbers.integers(-128, 128, (1, 2, 17, 4)).astype(np.int8)
    w = numbers.integers(-128, 128, (filters, 2, 1, 1)).astype(np.int8)
    nodes = [helper.make_node(
        "QLinearConv", ["x", "xs", "z", "w", "ws", "z", "ys", "z"], ["c"])]
    kind = TensorProto.INT8
    if then == "relu":
        nodes += [helper.make_node("DequantizeLinear", ["c", "ys", "z"], ["d"]),
                  helper.make_node("Relu", ["d"], ["e"]),
                  helper.make_node("QuantizeLinear", ["e", "ys", "z"], ["y"])]
    elif then == "truth":
        nodes += [helper.make_node("DequantizeLinear", ["c", "ys", "z"], ["d"]),
                  helper.make_node("Cast", ["d"], ["y"], to=TensorProto.BOOL)]
        kind = TensorProto.BOOL
    else:
        nodes += [helper.make_node("DequantizeLinear", ["c", "ys", "z"], ["d"]),
                  helper.make_node("Abs", ["d"], ["e"]),
                  helper.make_node("QuantizeLinear", ["e", "ys", "u"], ["y"])]
        kind = TensorProto.UINT8
    unsigned = [constant("u", 0, np.uint8)] if then == "abs" else []
    return model(nodes, x, kind, [
        constant("xs", 0.125, np.float32), constant("ws", 2**-6, np.float32),
        constant("ys", 0.5, np.float32), constant("z", 0, np.int8), *unsigned,
        numpy_helper.from_array(w, "w")])


def all_cases():
    """Names, targets, and what makes the model."""
    for columns in (17, 33):
        for kind in (np.int8, np.uint8):
            yield (f"relu-{columns}-{kind.__name__}", "cpu",
                   lambda c=columns, k=kind: relu(c, k))
        for source, kind in ((np.float32, np.uint8), (np.int32, np.int16),
                             (np.int64, np.int32), (np.float64, np.int8)):
            yield (f"cast-{columns}-{source.__name__}-{kind.__name__}", "cpu",
                   lambda c=columns, s=source, k=kind: cast(c, s, k))
        yield f"positive-{columns}", "cpu", lambda c=columns: positive(c)
        for then in ("relu", "abs", "truth"):
            yield (f"convolution-{columns}-{then}", "systolic:gemmini",
                   lambda c=columns, t=then: convolution(c, t))


def run(program, *arguments):
    done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        raise RuntimeError(f"{program.name} ended with {done.returncode}: "
                           f"{done.stdout.strip()[-500:]}")


def check(tools, target, made, folder):
    """What is wrong; empty: nothing."""
    proto, x = made
    onnx.save(proto, folder / "model.onnx")
    np.save(folder / "x.npy", x)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"])
    expected, = session.run(None, {"x": x})
    try:
        run(tools / "ashlar-compile", folder / "model.onnx", "--quiet",
            f"--target={target}", "-o", folder / "model.ash")
        for _ in range(RUNS if target == "cpu" else 1):
            run(tools / "ashlar-run", folder / "model.ash", "--threads=2",
                f"--device={target.split(':')[0]}:0",
                f"--input=x={folder / 'x.npy'}", f"--output-dir={folder}")
            found = np.load(folder / "y.npy")
            wrong = np.count_nonzero(found != expected)
            if found.dtype != expected.dtype or wrong:
                return f"{wrong} of {expected.size} elements differ"
    except RuntimeError as error:
        return str(error)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="models whose name begins so")
    parser.add_argument("--keep", type=pathlib.Path,
                        help="a folder that the last model stays in")
    arguments = parser.parse_args()
    tools = arguments.build.resolve() / "bin"
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name, target, make in all_cases():
            if not name.startswith(arguments.only):
                continue
            wrong = check(tools, target, make(), folder)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"FAIL rows of {name} on {target}: {wrong}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
