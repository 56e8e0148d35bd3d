# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph in the making: well-typed nodes, and what is known of their values.

Beside type and shape, a value carries the interval that its elements are
likely to lie in, so that exponentials do not overflow and divisors are not
zero, and whether it is exact: the same on every target to the last bit. Only
exact values are rounded to integers, compared or sorted, since where one side
of a jump differs from the other by a last place, nothing can be compared.
"""

import dataclasses
import math

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 22
IR_VERSION = 10
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16,
          "bf16": ml_dtypes.bfloat16, "i8": np.int8, "u8": np.uint8,
          "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
          "i64": np.int64, "u64": np.uint64, "bool": np.bool_}
FLOATS = ("f32", "f64", "f16", "bf16")
INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
# Half the distance from one to the next number.
ROUNDING = {"f64": 2.0 ** -53, "f32": 2.0 ** -24, "f16": 2.0 ** -11,
            "bf16": 2.0 ** -8}
# More elements take more time and find nothing else.
MOST_ELEMENTS = 60_000


class Refused(Exception):
    """An operator has no use for what it was given."""


def proto_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[dtype]))


def dtype_of(proto):
    array_type = np.dtype(helper.tensor_dtype_to_np_dtype(proto))
    for name, dtype in DTYPES.items():
        if np.dtype(dtype) == array_type:
            return name
    raise Refused(f"type {proto}")


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    dtype: str
    shape: tuple
    low: float
    high: float
    exact: bool = False

    @property
    def rank(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def is_float(self):
        return self.dtype in FLOATS

    @property
    def magnitude(self):
        return max(abs(self.low), abs(self.high))


def type_proto(value):
    return helper.make_tensor_type_proto(proto_type(value.dtype), value.shape)


class Graph:
    def __init__(self, random):
        self.random = random
        self.nodes = []
        self.inputs = {}        # name -> array
        self.initializers = {}  # name -> array
        self.values = []        # what operators may take, in order
        self.used = set()
        self.count = 0

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    # Sources

    def numbers(self, dtype, shape, low, high):
        """Random elements with structure: each place along the last axis has a
        level of its own, so that what is misplaced is seen."""
        if dtype == "bool":
            return self.random.integers(0, 2, shape).astype(np.bool_)
        if dtype in INTEGERS:
            return np.asarray(self.random.integers(
                int(low), int(high), shape, endpoint=True)).astype(
                    DTYPES[dtype])
        values = self.random.uniform(low, high, shape)
        if len(shape) and shape[-1] > 1:
            level = self.random.uniform(low, high, shape[-1])
            values = 0.7 * values + 0.3 * level
        return np.asarray(values).astype(DTYPES[dtype])

    def source(self, dtype, shape, low=-2.0, high=2.0, constant=False):
        if dtype in INTEGERS:
            info = np.iinfo(DTYPES[dtype])
            # NumPy draws from what fits into 64 bits with a sign.
            low = max(low, info.min, -2 ** 62)
            high = min(high, info.max, 2 ** 62)
        elif dtype == "bool":
            low, high = 0, 1
        array = self.numbers(dtype, shape, low, high)
        name = self.fresh("w" if constant else "x")
        (self.initializers if constant else self.inputs)[name] = array
        value = Value(name, dtype, tuple(shape), low, high, exact=True)
        if not constant:
            self.values.append(value)
        return value

    def weight(self, dtype, shape, low=-1.0, high=1.0):
        return self.source(dtype, shape, low, high, constant=True)

    def constant(self, array):
        array = np.asarray(array)
        name = self.fresh("c")
        self.initializers[name] = array
        return Value(name, dtype_of(helper.np_dtype_to_tensor_dtype(
            array.dtype)), array.shape, 0, 0, exact=True)

    def integers(self, numbers):
        return self.constant(np.array(numbers, np.int64))

    # Nodes

    def node(self, op, inputs, low, high, exact=False, outputs=1, **attributes):
        """Adds a node; shapes are what ONNX infers. Intervals and exactness
        are those of the first result unless lists are given."""
        names = [v.name if v is not None else "" for v in inputs]
        attributes = {k: v for k, v in attributes.items() if v is not None}
        results = [self.fresh("v") for _ in range(outputs)]
        node = helper.make_node(op, names, results,
                                name=f"{op}_{self.count}", **attributes)
        known = {v.name: v for v in inputs if v is not None}
        data = {n: numpy_helper.from_array(self.initializers[n], n)
                for n in known if n in self.initializers
                and self.initializers[n].dtype == np.int64}
        schema = onnx.defs.get_schema(op, OPSET, "")
        try:
            types = onnx.shape_inference.infer_node_outputs(
                schema, node, {n: type_proto(v) for n, v in known.items()},
                data, opset_imports=[helper.make_opsetid("", OPSET)])
        except Exception as error:
            raise Refused(f"{op}: {error}") from None
        made = []
        for name in results:
            tensor = types[name].tensor_type if name in types else None
            if tensor is None or not tensor.HasField("shape"):
                raise Refused(f"{op}: no shape is inferred")
            dims = [d.dim_value if d.HasField("dim_value") else -1
                    for d in tensor.shape.dim]
            if any(d < 0 for d in dims) or math.prod(dims) > MOST_ELEMENTS:
                raise Refused(f"{op}: shape {dims}")
            dtype = dtype_of(tensor.elem_type)
            exactly = exact or dtype not in FLOATS
            made.append(Value(name, dtype, tuple(dims), float(low),
                              float(high), exactly))
        for value in made:
            # Overflows say nothing; in f16 they come soon.
            limit = 1e3 if value.dtype == "f16" else 1e5
            if value.is_float and not value.magnitude <= limit:
                raise Refused(f"{op}: up to {value.magnitude}")
        self.nodes.append(node)
        self.used.update(known)
        self.values.extend(made)
        return made[0] if outputs == 1 else made

    # The model

    def outputs(self):
        """What nothing reads, and now and then something that is read."""
        inner = [v for v in self.values if v.name not in self.inputs]
        ends = [v for v in inner if v.name not in self.used]
        read = [v for v in inner if v.name in self.used]
        chosen = [v for v in read if self.random.random() < 0.1]
        return ends + chosen


def make_model(nodes, inputs, initializers, outputs, opened=None):
    """inputs, initializers: name -> array; outputs: values; opened: sizes that
    a call chooses."""
    read = {name for node in nodes for name in node.input}
    read |= {v.name for v in outputs}
    graph = helper.make_graph(
        nodes, "fuzz",
        [helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype),
            opened.dims(name, array) if opened else array.shape)
         for name, array in inputs.items()],
        [helper.make_tensor_value_info(v.name, proto_type(v.dtype),
                                       None if opened else v.shape)
         for v in outputs],
        [numpy_helper.from_array(array, name)
         for name, array in initializers.items() if name in read])
    return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[
        helper.make_opsetid("", OPSET)])


def write_test(folder, model, inputs, outputs=()):
    """Lays it out as ONNX's own tests are."""
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, array in enumerate(arrays):
            (data / f"{kind}_{i}.pb").write_bytes(
                numpy_helper.from_array(np.asarray(array)).SerializeToString())
