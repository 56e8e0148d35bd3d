#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules with states, through the C API.

  in_place.py RUNTIME.so MODULE MODEL.onnx STATE LENGTHS

runs a module again and again, each time with so many new rows as the next of
LENGTHS says (1,3,1), its state in one place that is allocated once, and
compares all outputs with ONNX's reference evaluator. Inputs of integers get the
places of the new rows: of each row, or of the first for each of a batch of two.
"""

import ctypes
import sys

import numpy as np

MAX_RANK = 16
TYPES = {"float32": 12, "int64": 5}


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_void_p),
                ("capacity", ctypes.c_uint64), ("type", ctypes.c_uint32),
                ("rank", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * MAX_RANK)]


class Info(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("shape_text", ctypes.c_char_p), ("type", ctypes.c_uint32),
                ("rank", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * MAX_RANK),
                ("maximum", ctypes.c_int64 * MAX_RANK),
                ("maximum_bytes", ctypes.c_uint64),
                ("state_input", ctypes.c_int64)]


class LoadOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("budget", ctypes.c_void_p),
                ("name", ctypes.c_char_p),
                ("allow_native_code", ctypes.c_uint32),
                ("verify_weights", ctypes.c_uint32)]


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char_p),
                ("place", ctypes.c_char_p)]


def aligned(shape):
    """Memory that holds no number where nothing was written."""
    count = int(np.prod(shape))
    memory = np.full(count + 16, np.nan, np.float32)
    first = -memory.ctypes.data % 64 // 4
    return memory[first:first + count].reshape(shape)


class InPlace:
    """A session whose states have one place each, allocated once."""

    def __init__(self, library, module):
        self.library = ctypes.CDLL(str(library))
        runtime, loaded, self.session, entry = (ctypes.c_void_p()
                                                for _ in range(4))
        options = LoadOptions(ctypes.sizeof(LoadOptions), None, None, 1, 0)
        self.call("runtime_create", None, ctypes.byref(runtime))
        self.call("module_load_file", runtime, str(module).encode(),
                  ctypes.byref(options), ctypes.byref(loaded))
        self.call("session_create", loaded, None, None,
                  ctypes.byref(self.session))
        self.call("module_entry_at", loaded, ctypes.c_size_t(0),
                  ctypes.byref(entry))
        self.inputs = self.describe(entry, "input")
        self.outputs = self.describe(entry, "output")
        self.states = {}  # input -> its place
        for info in self.outputs:
            if info.state_input >= 0:
                name = self.inputs[info.state_input].name.decode()
                self.states[name] = aligned(info.maximum[:info.rank])

    def call(self, name, *arguments):
        function = getattr(self.library, f"ashlar_{name}")
        function.restype = Status
        status = function(*arguments)
        if status.code:
            sys.exit(f"ashlar_{name}: {status.message.decode()} "
                     f"[{status.place.decode()}]")

    def describe(self, entry, kind):
        count = getattr(self.library, f"ashlar_entry_{kind}_count")
        count.restype = ctypes.c_size_t
        infos = []
        for i in range(count(entry)):
            info = Info(ctypes.sizeof(Info))
            self.call(f"entry_{kind}", entry, ctypes.c_size_t(i),
                      ctypes.byref(info))
            infos.append(info)
        return infos

    def bytes(self):
        return sum(place.nbytes for place in self.states.values())

    def run(self, values):
        """values: arrays by name; of a state, its shape. Returns outputs by
        name: arrays, those of states in their place."""
        given = (Tensor * len(self.inputs))()
        for tensor, info in zip(given, self.inputs):
            value = values[info.name.decode()]
            place = self.states.get(info.name.decode())
            shape = value if place is not None else value.shape
            held = np.ascontiguousarray(value) if place is None else place
            values[info.name.decode()] = held  # alive until it was read
            tensor.data, tensor.capacity = held.ctypes.data, held.nbytes
            tensor.type, tensor.rank = TYPES[str(held.dtype)], len(shape)
            tensor.shape[:len(shape)] = shape
        made = (Tensor * len(self.outputs))()
        self.call("session_run", self.session, b"main", given,
                  ctypes.c_size_t(len(given)), made, ctypes.c_size_t(len(made)))
        results = {}
        for tensor, info in zip(made, self.outputs):
            shape = tensor.shape[:tensor.rank]
            if info.state_input < 0:
                memory = ctypes.cast(tensor.data,
                                     ctypes.POINTER(ctypes.c_float))
                found = np.ctypeslib.as_array(memory, shape).copy()
            else:
                place = self.states[self.inputs[info.state_input].name.decode()]
                if tensor.data != place.ctypes.data:
                    sys.exit(f"{info.name.decode()} has moved")
                found = place[tuple(slice(0, d) for d in shape)]
            results[info.name.decode()] = found
        return results


def main():
    import onnx
    from onnx.reference import ReferenceEvaluator
    library, module, path, state, lengths = sys.argv[1:]
    model = onnx.load(path)
    place = InPlace(library, module)
    reference = ReferenceEvaluator(model)
    names = [output.name for output in model.graph.output]
    info, = [o for o in place.outputs if o.state_input >= 0]
    random = np.random.default_rng(1)
    first = int(lengths.split(",")[0])
    past = np.zeros([{"P": 0, "T": first, "B": 2}.get(d, d)
                     for d in dims(model, state)], np.float32)
    place.states[state][tuple(slice(0, d) for d in past.shape)] = past
    rows = 0
    for length in map(int, lengths.split(",")):
        values = {state: past}
        for other in model.graph.input:
            names_of = dims(model, other.name)
            shape = [{"T": length, "B": 2}.get(d, d) for d in names_of]
            if other.type.tensor_type.elem_type == onnx.TensorProto.INT64:
                values[other.name] = (np.arange(rows, rows + length)
                                      if "T" in names_of
                                      else np.full(shape, rows))
            elif other.name != state:
                values[other.name] = random.standard_normal(shape).astype(
                    np.float32)
        rows += length
        wanted = dict(zip(names, reference.run(None, values)))
        found = place.run(values | {state: past.shape})
        for name in names:
            np.testing.assert_allclose(found[name], wanted[name], 1e-5, 1e-6)
        past = wanted[info.name.decode()]
    print(f"{len(lengths.split(','))} runs, {past.shape} in "
          f"{place.bytes()} bytes")


def dims(model, name):
    value, = [i for i in model.graph.input if i.name == name]
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


if __name__ == "__main__":
    main()
