# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases whose inputs and outputs travel with them: graphs at the edges, ONNX's
own operator tests, small models."""

import collections
import contextlib
import importlib
import itertools
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("scripts/check", "test/Integration"):
    sys.path.insert(0, str(ROOT / folder))

# |found - wanted| <= relative * |wanted| + absolute + largest * the largest
# |wanted|; or, of all of it, ||found - wanted|| <= norm * ||wanted||.
EDGE = {"largest": 1e-5}
OPERATOR = {"relative": 1e-3, "absolute": 1e-7}
# In bf16 a few probabilities at the edges of text are others, on every target.
MODEL = {"f32": {"largest": 1e-4}, "bf16": {"norm": 5e-2}}
MOST_BYTES = 200_000  # of an operator test's tensors
MODELS = ("digits", "hey_jarvis", "mobilenet_v2", "ppocr_cls", "ppocr_det")


def as_kept(array):
    """Elements as the library has them: 16 bits of bf16, a byte of smaller
    ones, floats by their codes."""
    array = np.asarray(array)
    name = array.dtype.name
    if name == "bfloat16":
        return array.view(np.uint16)
    if "int" in name and name.endswith(("int2", "int4")):
        return array.astype(np.int8).view(np.uint8)
    if name.startswith("float") and array.dtype.itemsize == 1:
        return array.view(np.uint8)
    return array


def edges(work):
    found = importlib.import_module("device_edges")
    for number, (name, node, feeds, expected, *more) in enumerate(
            found.cases()):
        path = work / f"edge-{number}.onnx"
        inputs = found.write(path, node, feeds, more[0] if more else None)
        yield {"part": "edges", "name": f"edge {name}", "rule": EDGE,
               "preset": True}, path, list(more[1:]), inputs, expected(*feeds)


class Untold(Exception):
    """A test with something else than tensors of numbers."""


def numbers(array):
    return array.astype(int) if array.dtype == bool else array


def is_random(node):
    return (node.op_type.startswith("Random")
            or node.op_type in ("Bernoulli", "Multinomial")
            or node.op_type == "Dropout" and len(node.input) > 2)


def open_shapes(values, feeds):
    """Flags that fix what a model leaves open to the sizes of its data."""
    flags = []
    for value in values:
        shape = value.type.tensor_type.shape
        dims = [d.dim_value if d.HasField("dim_value") else -1
                for d in shape.dim]
        found = feeds[value.name].shape
        if not value.type.tensor_type.HasField("shape") or -1 in dims:
            flags.append(f"--shape={value.name}=" + "x".join(map(str, found)))
        elif tuple(dims) != tuple(found):
            raise Untold  # the test contradicts itself
    return flags


def read_test(folder):
    """The model's graph, flags, inputs and outputs by name."""
    graph = onnx.load(folder / "model.onnx").graph
    if any(map(is_random, graph.node)):
        raise Untold
    constants = {t.name for t in graph.initializer}
    data = folder / "test_data_set_0"

    def read(side, values):
        found = {}
        for index, value in enumerate(values):
            file = data / f"{side}_{index}.pb"
            if not value.type.HasField("tensor_type") or not file.exists():
                raise Untold
            tensor = onnx.load_tensor(file)
            if tensor.data_type in (onnx.TensorProto.STRING,
                                    onnx.TensorProto.COMPLEX64,
                                    onnx.TensorProto.COMPLEX128):
                raise Untold
            found[value.name] = as_kept(numpy_helper.to_array(tensor))
        return found
    values = [i for i in graph.input if i.name not in constants]
    feeds = read("input", values)
    outputs = read("output", graph.output)
    return open_shapes(values, feeds), feeds, list(outputs.values())


def operator_sample(count):
    """(key, folder) of tests that pass on cpu, all kinds in turns."""
    operators = importlib.import_module("operators")
    sets = operators.find_sets(operators.DATA)
    by_kind = collections.defaultdict(list)
    for key in sorted(operators.read_list()):
        kind, name = key.split("/", 1)
        words = name.removeprefix("test_").split("_")
        by_kind[words[0].lower()].append((key, sets[kind] / name))
    # The middle of each list first, then its quarters and so on: neighbours
    # are alike.
    for tests in by_kind.values():
        order = sorted(range(len(tests)),
                       key=lambda i: (-((i + 1) & -(i + 1)), i))
        tests[:] = [tests[i] for i in order]
    turns = itertools.zip_longest(*by_kind.values())
    in_turns = (test for turn in turns for test in turn if test)
    return itertools.islice(in_turns, count)


def operator_tests(count):
    """So many as are chosen, less those that are left out."""
    for key, folder in operator_sample(count):
        try:
            flags, feeds, expected = read_test(folder)
        except (Untold, OSError, ValueError):
            continue
        size = sum(a.nbytes for a in [*feeds.values(), *expected])
        if size <= MOST_BYTES:
            yield {"part": "operators", "name": key, "rule": OPERATOR,
                   "preset": False}, folder / "model.onnx", flags, feeds, \
                expected


@contextlib.contextmanager
def model_of(name, work):
    """Its path, the flags that it needs, and inputs."""
    random = np.random.default_rng()
    if name == "digits":
        path = ROOT / "examples" / "digits" / "digits.onnx"
        graph = onnx.load(path).graph
        feeds = {i.name: random.random([
            d.dim_value or 3 for d in i.type.tensor_type.shape.dim],
            np.float32) for i in graph.input}
        yield path, [f"--shape={n}=" + "x".join(map(str, f.shape))
                     for n, f in feeds.items()], feeds
        return
    models = importlib.import_module("model_list")
    model, = [m for m in models.all_models() if m.name == name]
    with model.prepare(work) as path:
        feeds = model.cases(path)[0].feeds
        # Fresh: what nobody has seen, near what it meets.
        yield path, model.arguments(), {
            n: (f + 0.05 * random.standard_normal(f.shape)).astype(f.dtype)
            for n, f in feeds.items()}


def models(work, names=MODELS):
    compare = importlib.import_module("compare_models")
    for name in names:
        with model_of(name, work) as (path, flags, feeds):
            expected = compare.ort_session(path).run(None, feeds)
            for type_ in ("f32", "bf16"):
                more = [] if type_ == "f32" else ["--precision=bf16"]
                yield {"part": "models", "name": f"model {name} {type_}",
                       "arrays": f"model_{name}", "rule": MODEL[type_],
                       "preset": True}, path, [*flags, *more], feeds, \
                    expected
