#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results are equal at every level of --fuse.

Random graphs, and real models named on the command line, are compiled with
--fuse=none, basic and all and run on the same inputs. Integers must be
equal to the bit, floats within 1e-4 of the largest. The graphs of integers are
also computed by ONNX Runtime, so that three equal wrong answers show.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import model_list

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]
                       / "scripts"))
import limit_cpu  # noqa: E402

LEVELS = ["none", "basic", "all"]
TOLERANCE = 1e-4


class Failure(Exception):
    pass


class RandomGraph:
    """A graph that grows by one node at a time from what it has."""

    def __init__(self, seed, integers):
        self.random = np.random.default_rng(seed)
        self.integers = integers
        self.dtype = np.int32 if integers else np.float32
        self.nodes, self.weights, self.shapes = [], [], {}
        size = int(self.random.integers(5, 12))
        self.input_shape = (1, int(self.random.integers(2, 20)), size, size + 1)
        self.shapes["x"] = self.input_shape
        self.read = set()

    def pick(self):
        """Recent values more often, so that chains and forks both occur."""
        names = list(self.shapes)
        return names[-1] if self.random.random() < 0.5 else \
            names[int(self.random.integers(len(names)))]

    def weight(self, *shape):
        values = (self.random.integers(-5, 6, shape) if self.integers
                  else self.random.standard_normal(shape) / np.sqrt(
                      max(1, np.prod(shape[1:]))))
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(
            np.asarray(values, self.dtype), name))
        return name

    def constant(self, values, dtype):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(
            np.asarray(values, dtype), name))
        return name

    def emit(self, op, inputs, shape, **attributes):
        name = f"t{len(self.nodes)}"
        self.read.update(inputs)
        self.nodes.append(helper.make_node(op, inputs, [name], f"n_{name}",
                                           **attributes))
        self.shapes[name] = tuple(int(d) for d in shape)

    def step(self):
        kinds = [self.unary, self.binary, self.binary, self.broadcast,
                 self.transpose, self.reduce, self.concat, self.slice,
                 self.pad]
        if not self.integers:
            kinds += [self.convolution] * 4 + [self.product, self.product,
                                               self.softmax, self.pool]
        kinds[int(self.random.integers(len(kinds)))]()

    def unary(self):
        x = self.pick()
        ops = ["Neg", "Abs", "Sign"] if self.integers else \
            ["Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Erf", "HardSwish"]
        self.emit(str(self.random.choice(ops)), [x], self.shapes[x])

    def binary(self):
        x = self.pick()
        others = [n for n, s in self.shapes.items() if s == self.shapes[x]]
        y = str(self.random.choice(others))
        self.emit(str(self.random.choice(["Add", "Sub", "Max", "Mul"])),
                  [x, y], self.shapes[x])
        if not self.integers:
            return
        # Products of products would leave 32 bits; what wraps is another test.
        last = list(self.shapes)[-1]
        self.emit("Mod", [last, self.constant([97], np.int32)],
                  self.shapes[last])

    def broadcast(self):
        x = self.pick()
        shape = [d if self.random.random() < 0.6 else 1
                 for d in self.shapes[x]]
        self.emit("Add", [x, self.weight(*shape)], self.shapes[x])

    def transpose(self):
        x = self.pick()
        order = [int(d) for d in self.random.permutation(4)]
        self.emit("Transpose", [x], [self.shapes[x][d] for d in order],
                  perm=order)

    def reduce(self):
        x = self.pick()
        axis = int(self.random.integers(4))
        shape = list(self.shapes[x])
        shape[axis] = 1
        axes = self.constant([axis], np.int64)
        self.emit("ReduceSum" if self.integers else "ReduceMean", [x, axes],
                  shape, keepdims=1)
        small = list(self.shapes)[-1]
        self.emit("Sub", [x, small], self.shapes[x])
        if self.integers:
            self.emit("Mod", [list(self.shapes)[-1],
                              self.constant([89], np.int32)], self.shapes[x])

    def concat(self):
        x = self.pick()
        axis = int(self.random.integers(4))
        shape = list(self.shapes[x])
        if np.prod(shape) > 20000:
            return
        shape[axis] *= 2
        self.emit("Concat", [x, x], shape, axis=axis)

    def slice(self):
        x = self.pick()
        axis = int(self.random.integers(4))
        shape = list(self.shapes[x])
        if shape[axis] < 3:
            return
        start = int(self.random.integers(shape[axis] - 1))
        shape[axis] -= start
        self.emit("Slice", [x, self.constant([start], np.int64),
                            self.constant([1 << 30], np.int64),
                            self.constant([axis], np.int64)], shape)

    def pad(self):
        x = self.pick()
        pads = self.random.integers(0, 2, 8)
        if np.prod(self.shapes[x]) > 20000:
            return
        shape = [d + a + b for d, a, b in
                 zip(self.shapes[x], pads[:4], pads[4:])]
        self.emit("Pad", [x, self.constant(pads, np.int64)], shape)

    def convolution(self):
        x = self.pick()
        n, c, h, w = self.shapes[x]
        kernel = int(self.random.choice([1, 3]))
        padding = int(self.random.integers(2)) if kernel == 3 else 0
        stride = int(self.random.integers(1, 3))
        if min(h, w) + 2 * padding < kernel or c > 200:
            return
        groups = c if self.random.random() < 0.25 else 1
        out = c if groups > 1 else int(self.random.choice([3, 8, 16, 33]))
        shape = (n, out, (h + 2 * padding - kernel) // stride + 1,
                 (w + 2 * padding - kernel) // stride + 1)
        self.emit("Conv", [x, self.weight(out, c // groups, kernel, kernel),
                           self.weight(out)], shape, group=groups,
                  pads=[padding] * 4, strides=[stride] * 2)

    def product(self):
        x = self.pick()
        k = int(self.random.choice([1, 5, 16, 40]))
        self.emit("MatMul", [x, self.weight(self.shapes[x][-1], k)],
                  self.shapes[x][:-1] + (k,))

    def softmax(self):
        x = self.pick()
        self.emit("Softmax", [x], self.shapes[x],
                  axis=int(self.random.integers(4)))

    def pool(self):
        x = self.pick()
        n, c, h, w = self.shapes[x]
        if min(h, w) < 3:
            return
        self.emit(str(self.random.choice(["MaxPool", "AveragePool"])), [x],
                  (n, c, (h - 3) // 2 + 1, (w - 3) // 2 + 1),
                  kernel_shape=[3, 3], strides=[2, 2])

    def model(self):
        steps = int(self.random.integers(6, 18))
        while len(self.nodes) < steps:
            self.step()
        kind = TensorProto.INT32 if self.integers else TensorProto.FLOAT
        ends = [n for n in self.shapes if n not in self.read and n != "x"]
        value = helper.make_tensor_value_info
        return helper.make_model(
            helper.make_graph(
                self.nodes, "random",
                [value("x", kind, self.input_shape)],
                [value(n, kind, self.shapes[n]) for n in ends],
                self.weights),
            opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def run(*command):
    result = limit_cpu.run(command, seconds=600)
    if result.returncode:
        raise Failure(f"{' '.join(map(str, command))} ended with "
                      f"{result.returncode}: {result.stderr.strip()[:400]}")
    return result.stdout


def check_provenance(tools, module, level):
    flags = json.loads(run(tools / "ashlar-inspect", module,
                           "--json"))["provenance"]["flags"]
    expected = [] if level == "all" else [f"--fuse={level}"]
    found = [flag for flag in flags if flag.startswith("--fuse")]
    if found != expected:
        raise Failure(f"provenance says {found}, expected {expected}")


def compare(name, ours, expected, what):
    if ours.shape != expected.shape or ours.dtype != expected.dtype:
        raise Failure(f"{name}: {what}: other shape or type")
    if np.issubdtype(ours.dtype, np.floating):
        error = np.abs(ours.astype(np.float64) - expected).max(initial=0)
        largest = np.abs(expected).max(initial=0) or 1.0
        if not error <= TOLERANCE * largest:
            raise Failure(f"{name}: {what}: differs by {error / largest:.2e}")
    elif not np.array_equal(ours, expected):
        raise Failure(f"{name}: {what}: integers differ at "
                      f"{np.argwhere(ours != expected)[0].tolist()}")


def check(tools, path, feeds, work, expected=None, flags=()):
    """The number of kernels at each level."""
    model = onnx.load(path, load_external_data=False)
    names = [output.name for output in model.graph.output]
    results, kernels = {}, []
    for i, (name, values) in enumerate(feeds.items()):
        np.save(work / f"in-{i}.npy", values)
    for level in LEVELS:
        module = work / f"{level}.ash"
        run(tools / "ashlar-compile", path, "-o", module, f"--fuse={level}",
            *flags)
        check_provenance(tools, module, level)
        command = [tools / "ashlar-run", module]
        command += [f"--input={name}={work / f'in-{i}.npy'}"
                    for i, name in enumerate(feeds)]
        command += [f"--output={name}={work / f'out-{i}.npy'}"
                    for i, name in enumerate(names)]
        run(*command)
        results[level] = [np.load(work / f"out-{i}.npy")
                          for i in range(len(names))]
        program = json.loads(run(tools / "ashlar-inspect", module,
                                 "--json"))["programs"][0]
        kernels.append(sum(k["launches"] for k in program["kernels"]))
        check_nodes(model, program)
        module.unlink()
    reference = expected or results["none"]
    for level in LEVELS:
        for name, ours, theirs in zip(names, results[level], reference):
            compare(name, ours, theirs, f"--fuse={level}")
    return kernels


def check_nodes(model, program):
    """Every node is in a kernel, or is told to be in none."""
    listed = {node["name"] for node in program["nodes"]}
    for node in model.graph.node:
        name = node.name or f"{node.op_type}:" + next(filter(None, node.output))
        if name not in listed:
            raise Failure(f"node {name} is missing from the map of kernels")
    for node in program["nodes"]:
        if bool(node["kernels"]) != (node["fate"] == "kernel"):
            raise Failure(f"node {node['name']}: {node}")


def random_feeds(path, seed):
    random = np.random.default_rng(seed)
    feeds = {}
    for value in onnx.load(path).graph.input:
        dims = [d.dim_value for d in value.type.tensor_type.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(
            value.type.tensor_type.elem_type)
        feeds[value.name] = (
            random.standard_normal(dims).astype(dtype)
            if np.issubdtype(dtype, np.floating)
            else random.integers(-50, 50, dims).astype(dtype))
    return feeds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--graphs", type=int, default=40,
                        help="random graphs, every third of integers")
    parser.add_argument("--seed", type=int, default=1, help="of the first one")
    parser.add_argument("models", nargs="*", metavar="NAME",
                        help="of model_list.py")
    arguments = parser.parse_args()
    tools = arguments.bin.resolve()
    onnxruntime.set_default_logger_severity(3)
    passed = failed = 0

    def attempt(name, again, body):
        nonlocal passed, failed
        try:
            kernels = body()
            passed += 1
            print(f"{name}: kernels {kernels}", flush=True)
        except (Failure, subprocess.TimeoutExpired) as failure:
            failed += 1
            print(f"FAIL {name}: {failure}\n     again: {sys.argv[0]} --bin "
                  f"{arguments.bin} {again}", flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)

        def one_graph(seed):
            graph = RandomGraph(seed, seed % 3 == 0)
            path = work / "random.onnx"
            onnx.save(graph.model(), path)
            feeds = random_feeds(path, seed)
            session = onnxruntime.InferenceSession(
                str(path), providers=["CPUExecutionProvider"])
            expected = session.run(None, feeds) if graph.integers else None
            return check(tools, path, feeds, work, expected)

        for seed in range(arguments.seed, arguments.seed + arguments.graphs):
            attempt(f"random graph {seed}", f"--graphs 1 --seed {seed}",
                    lambda: one_graph(seed))
        models = {model.name: model for model in model_list.all_models()}

        def one_model(model):
            with model.prepare(work) as path:
                return check(tools, path, model.cases(path)[0].feeds, work,
                             flags=model.arguments())

        for name in arguments.models:
            attempt(name, f"--graphs 0 {name}",
                    lambda: one_model(models[name]))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
