#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small graphs at the edges of what a device computes, beside NumPy in f64.

Odd sizes and types that other tests of a device sample: products of every type,
transposed and with open sizes, largest and least values with NaN, long rows,
attention with some and with all keys at a time, chains of norms.
"""

import argparse
import pathlib
import tempfile

import numpy as np
import onnx
from onnx import helper

import device_run

RANDOM = np.random.default_rng(20)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def with_nan(x):
    x[2, x.shape[1] // 2] = x[4, 0] = np.nan
    return x


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def bytes_of(*shape):
    return RANDOM.integers(0, 256, shape).astype(np.uint8)


def product(x, w):
    return [x.astype(np.float64) @ w.astype(np.float64)]


def attention(heads, rows, keys, width, of_values, masked=False):
    """Queries, keys and values of `heads`; masked: some rows see one key."""
    feeds = [floats(heads, rows, width), floats(heads, width, keys),
             floats(heads, keys, of_values)]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["scores"]),
             helper.make_node("Softmax", ["scores"], ["weights"], axis=-1),
             helper.make_node("MatMul", ["weights", "v"], ["y"])]
    hidden = np.zeros((rows, keys), np.float32)
    if masked:
        hidden[np.arange(keys) > np.arange(rows)[:, None]] = -np.inf
        feeds.append(hidden)
        nodes[0] = helper.make_node("MatMul", ["x", "w"], ["products"])
        nodes.insert(1, helper.make_node("Add", ["products", "u"], ["scores"]))

    def find(x, w, v, *rest):
        x, w, v = (each.astype(np.float64) for each in (x, w, v))
        return [softmax(x @ w + hidden) @ v]
    return nodes, feeds, find


def norms(rows, width, count):
    """A chain of them, in one kernel."""
    feeds = [floats(rows, width), floats(width), floats(width)]
    nodes, name = [], "x"
    for i in range(count):
        to = "y" if i == count - 1 else f"t{i}"
        nodes.append(helper.make_node("LayerNormalization", [name, "w", "v"],
                                      [to], axis=-1))
        name = to

    def find(x, w, v):
        x = x.astype(np.float64)
        for _ in range(count):
            x = x - x.mean(axis=-1, keepdims=True)
            x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5)
            x = x * w + v
        return [x]
    return nodes, feeds, find


def cases():
    """NAME, node or nodes, feeds, what NumPy says, [dims that are open, flag]."""
    matmul = helper.make_node("MatMul", ["x", "w"], ["y"])
    yield "f64", matmul, (floats(33, 40).astype(np.float64),
                          floats(40, 50).astype(np.float64)), product
    yield "f32", matmul, (floats(33, 41), floats(41, 53)), product
    yield "bytes", helper.make_node("MatMulInteger", ["x", "w"], ["y"]), (
        bytes_of(33, 40), bytes_of(40, 50)), product
    yield "transposed", helper.make_node(
        "Gemm", ["x", "w"], ["y"], transA=1, transB=1), (
            floats(30, 45).astype(np.float64),
            floats(37, 30).astype(np.float64)), lambda x, w: [x.T @ w.T]
    for name, x, w in (("columns", (48, 64), (64, "n")),
                       ("rows", ("n", 64), (64, 48))):
        sizes = [[130 if d == "n" else d for d in shape] for shape in (x, w)]
        yield f"open {name}", matmul, [floats(*s) for s in sizes], product, (
            x, w), "--dim=n=1..20000" if name == "rows" else "--dim=n=1..200"
    # Strides are sizes, too, of what lies inside two loops.
    yield "open channels", helper.make_node(
        "ReduceMean", ["x"], ["y"], axes=[1, 2], keepdims=0), (
            floats(1, 40, 33, 70),), lambda x: [x.mean(
                axis=(1, 2), dtype=np.float64)], (
                    (1, 40, 33, "n"),), "--dim=n=1..200"
    for n in (16, 37, 100):
        for op, find in (("ReduceMax", np.max), ("ReduceMin", np.min)):
            yield f"{op} of {n} with NaN", helper.make_node(
                op, ["x"], ["y"], axes=[1], keepdims=0), (
                    with_nan(floats(6, n)),), lambda x, f=find: [f(x, axis=1)]
    yield "long rows", helper.make_node("Softmax", ["x"], ["y"], axis=1), (
        floats(5, 3001),), lambda x: [softmax(x.astype(np.float64))]
    # Of few results: parts of what is reduced are workgroups', and a second
    # kernel combines them, with what no part has.
    for name, shape, axes in (("a row", (1, 40001), [1]),
                              ("rows", (3, 30011), [1]),
                              ("columns", (3001, 37), [0]),
                              ("channels", (6, 5, 24, 56), [0, 2, 3]),
                              ("all", (30000,), [0])):
        yield f"mean of {name}, shared out", helper.make_node(
            "ReduceMean", ["x"], ["y"], axes=axes, keepdims=0), (
                1 + floats(*shape),), lambda x, a=tuple(axes): [np.asarray(
                    x.mean(axis=a, dtype=np.float64))]
    for rows, width in ((2, 30011), (1, 70000)):
        yield f"softmax of {rows} x {width}, shared out", helper.make_node(
            "Softmax", ["x"], ["y"], axis=1), (floats(rows, width),), \
            lambda x: [softmax(x.astype(np.float64))]
    yield "attention, all keys", *attention(3, 32, 32, 16, 16)
    yield "attention, some keys", *attention(2, 64, 256, 32, 32)
    yield "attention, an end of keys", *attention(2, 48, 200, 24, 40)
    yield "attention, odd", *attention(1, 33, 77, 19, 21)
    yield "attention, causal", *attention(2, 128, 128, 32, 32, masked=True)
    yield "norms", *norms(37, 200, 6)
    yield "wide norms", *norms(5, 3000, 3)


def write(path, node, feeds, shapes=None):
    """The graph of a case; its inputs by name."""
    names = ["x", "w", "v", "u"][:len(feeds)]
    inputs = [helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(feed.dtype), shape)
        for name, feed, shape in zip(names, feeds,
                                     shapes or [f.shape for f in feeds])]
    kind = feeds[0].dtype if feeds[0].dtype != np.uint8 else np.dtype(np.int32)
    output = helper.make_tensor_value_info(
        "y", helper.np_dtype_to_tensor_dtype(kind), None)
    onnx.save(helper.make_model(
        helper.make_graph(node if isinstance(node, list) else [node], "edge",
                          inputs, [output]), ir_version=8,
        opset_imports=[helper.make_opsetid("", 17)]), path)
    return dict(zip(names, feeds))


def run(arguments, work, node, feeds, expected, shapes=None, *flags):
    """Why it is wrong; empty: it is not."""
    inputs = write(work / "m.onnx", node, feeds, shapes)
    why, found = device_run.run(arguments, work, inputs,
                                f"--target={arguments.target}", *flags)
    if why:
        return why
    found = found.astype(np.float64)
    [wanted] = expected(*feeds)
    if found.shape != wanted.shape:
        return f"expected the shape {wanted.shape}, found {found.shape}"
    slack = 1e-5 * np.nanmax(np.abs(wanted))
    if not np.allclose(found, wanted, rtol=0, atol=slack, equal_nan=True):
        return f"differs by {np.nanmax(np.abs(found - wanted)):.2e}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--device", required=True)
    arguments = parser.parse_args()
    tally = device_run.Tally()
    for name, *case in cases():
        with tempfile.TemporaryDirectory() as work:
            why = run(arguments, pathlib.Path(work), *case)
        tally.add(f"{name} on {arguments.target}", why)
    return tally.end()


if __name__ == "__main__":
    raise SystemExit(main())
