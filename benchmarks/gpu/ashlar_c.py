# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's C library (api.h) through ctypes: what runs on a machine that
has nothing of ours but the library. Tensors may lie in a device's memory."""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t
from ctypes import c_uint32, c_uint64, c_void_p

import numpy as np

# By ashlar_element_type_t: name, and what NumPy keeps an element in.
TYPES = {1: ("bool", np.bool_), 2: ("i8", np.int8), 3: ("i16", np.int16),
         4: ("i32", np.int32), 5: ("i64", np.int64), 6: ("u8", np.uint8),
         7: ("u16", np.uint16), 8: ("u32", np.uint32), 9: ("u64", np.uint64),
         10: ("f16", np.float16), 11: ("bf16", np.uint16),
         12: ("f32", np.float32), 13: ("f64", np.float64),
         **{code: ("byte", np.uint8) for code in range(14, 24)}}
# Floats of a byte with several codes for NaN, and which those are.
NAN_OF_BYTES = {14: lambda x: (x & 0x7F) == 0x7F,   # F8E4M3FN
                16: lambda x: (x & 0x7F) > 0x7C}    # F8E5M2


class Status(ctypes.Structure):
    _fields_ = [("code", c_int32), ("message", c_char_p), ("place", c_char_p)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device", c_void_p),
                ("capacity", c_uint64), ("type", c_uint32), ("rank", c_uint32),
                ("shape", c_int64 * 16)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p),
                ("shape_text", c_char_p), ("type", c_uint32),
                ("rank", c_uint32), ("shape", c_int64 * 16),
                ("maximum", c_int64 * 16), ("maximum_bytes", c_uint64),
                ("state_input", c_int64)]


class LoadOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("budget", c_void_p), ("name", c_char_p),
                ("allow_native_code", c_uint32), ("verify_weights", c_uint32),
                ("devices", POINTER(c_char_p)), ("device_count", c_size_t),
                ("placement", c_uint32), ("reserved", c_uint32),
                ("share_content", c_uint32), ("reserved2", c_uint32)]


class SessionStatistics(ctypes.Structure):
    _fields_ = [("size", c_size_t), *((name, c_uint64) for name in (
        "runs", "failures", "staged_tensors", "staged_bytes", "arena_bytes",
        "scratch_bytes", "last_run_ns")), ("threads", c_uint32),
        ("reserved", c_uint32)]


class Refused(Exception):
    """The library's own words; `code` is an ashlar_status_code_t."""

    def __init__(self, status):
        words = [(text or b"").decode(errors="replace")
                 for text in (status.message, status.place)]
        super().__init__(f"{words[0]} [{words[1]}]")
        self.code = status.code


def aligned(bytes_):
    """Host memory that is used in place."""
    memory = np.empty(bytes_ + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    return memory[begin:begin + bytes_]


class Runtime:
    def __init__(self, library, device):
        self.library = ctypes.CDLL(str(library))
        self.name = device.encode()
        self.handle = self.made("ashlar_runtime_create", None)
        self.device = self.made("ashlar_device_open", self.handle, self.name)

    def call(self, function, *arguments):
        function = getattr(self.library, function)
        function.restype = Status
        status = function(*arguments)
        if status.code:
            raise Refused(status)

    def made(self, function, *arguments):
        """What the function gives in its last argument."""
        handle = c_void_p()
        self.call(function, *arguments, byref(handle))
        return handle

    def released(self, kind, handle):
        function = getattr(self.library, f"ashlar_{kind}_release")
        function.restype = None
        function(handle)

    def trace_start(self, path):
        self.call("ashlar_trace_start", self.handle, str(path).encode())

    def trace_stop(self):
        self.call("ashlar_trace_stop", self.handle)


class Session:
    """A module of bytes, its first entry, and a session of it."""

    def __init__(self, runtime, name, data):
        self.runtime = runtime
        self.image = aligned(len(data))
        self.image[:] = np.frombuffer(data, np.uint8)
        options = LoadOptions(ctypes.sizeof(LoadOptions), None, name.encode(),
                              1, 0, (c_char_p * 1)(runtime.name), 1)
        self.module = self.session = self.bindings = None
        self.module = runtime.made(
            "ashlar_module_load_memory", runtime.handle,
            c_void_p(self.image.ctypes.data), c_size_t(len(data)),
            byref(options))
        self.entry = runtime.made("ashlar_module_entry_at", self.module,
                                  c_size_t(0))
        self.session = runtime.made("ashlar_session_create", self.module,
                                    None, None)
        self.inputs = self.infos("input")
        self.outputs = self.infos("output")

    def infos(self, side):
        count = getattr(self.runtime.library, f"ashlar_entry_{side}_count")
        count.restype = c_size_t
        found = []
        for index in range(count(self.entry)):
            info = TensorInfo(ctypes.sizeof(TensorInfo))
            self.runtime.call(f"ashlar_entry_{side}", self.entry,
                              c_size_t(index), byref(info))
            found.append(info)
        return found

    def bind(self, inputs, outputs):
        """(address, bytes, shape, whether on the device) of each; an input
        that has no elements needs an address as well."""
        def tensors(infos, given):
            all_ = (Tensor * max(len(infos), 1))()
            for tensor, info, (data, size, shape, on_device) in zip(
                    all_, infos, given):
                tensor.data, tensor.capacity = data, size
                tensor.device = self.runtime.device if on_device else None
                tensor.type, tensor.rank = info.type, len(shape)
                tensor.shape[:len(shape)] = shape
            return all_
        self.bound = tensors(self.inputs, inputs), tensors(
            self.outputs, outputs)
        self.bindings = self.runtime.made(
            "ashlar_bindings_create", self.session, self.entry, self.bound[0],
            c_size_t(len(self.inputs)), self.bound[1],
            c_size_t(len(self.outputs)))

    def run(self):
        self.runtime.call("ashlar_bindings_run", self.bindings)

    def output_shape(self, index):
        shape = (c_int64 * 16)()
        self.runtime.call("ashlar_bindings_output_shape", self.bindings,
                          c_size_t(index), shape)
        return list(shape[:self.outputs[index].rank])

    def statistics(self):
        found = SessionStatistics(ctypes.sizeof(SessionStatistics))
        self.runtime.call("ashlar_session_query", self.session, byref(found))
        return found

    def run_on_host(self, arrays):
        """Runs with arrays of the host's memory; gives the outputs, likewise,
        of elements as the library has them."""
        kept, given, made = [], [], []
        for array in arrays:
            memory = aligned(max(array.nbytes, 64))
            memory[:array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)
            kept.append(memory)
            given.append((memory.ctypes.data, array.nbytes, array.shape,
                          False))
        results = [aligned(max(info.maximum_bytes, 64))
                   for info in self.outputs]
        for info, memory in zip(self.outputs, results):
            memory[:] = 0xFF  # what nobody writes is NaN
            made.append((memory.ctypes.data, info.maximum_bytes,
                         info.maximum[:info.rank], False))
        self.bind(given, made)
        self.run()
        found = []
        for index, (info, memory) in enumerate(zip(self.outputs, results)):
            shape = self.output_shape(index)
            kept_as = np.dtype(TYPES[info.type][1])
            count = int(np.prod(shape, dtype=np.int64))
            found.append(memory[:count * kept_as.itemsize].view(
                kept_as).reshape(shape))
        return found

    def close(self):
        for kind in ("bindings", "session", "module"):
            if getattr(self, kind):
                self.runtime.released(kind, getattr(self, kind))
                setattr(self, kind, None)
