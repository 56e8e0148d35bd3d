# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where tensors lie: in a GPU's memory, through PyTorch or, where there is
none, through the driver."""

import ctypes

import numpy as np

import kinds


class Driver:
    """The driver's memory, by its own functions; the context is the primary
    one, as the runtime's."""

    def __init__(self, device):
        self.library = ctypes.CDLL("libcuda.so.1")
        number, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(number), device)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context),
                  number)
        self.call("cuCtxPushCurrent_v2", self.context)

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise OSError(f"{name} failed with {code}")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address),
                  ctypes.c_size_t(max(size, 64)))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def copy_in(self, address, array):
        self.copy("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address),
                  array.ctypes.data_as(ctypes.c_void_p), array.nbytes)

    def copy_out(self, array, address):
        self.copy("cuMemcpyDtoHAsync_v2",
                  array.ctypes.data_as(ctypes.c_void_p),
                  ctypes.c_uint64(address), array.nbytes)

    def copy(self, name, to, source, size):
        self.call(name, to, source, ctypes.c_size_t(size), None)
        self.call("cuStreamSynchronize", None)


def to_bf16(x):
    """Rounded to nearest, ties to even; no NaN."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def to_f64(array, type_):
    if type_ == "bf16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)


class NumPyPlace:
    """NumPy's arrays, and copies of them in the device's memory."""
    math = kinds.NumPyMath
    has_peers = False

    def __init__(self, device, seed):
        self.random = np.random.default_rng(seed)
        self.driver = Driver(device)

    def normal(self, shape, type_, scale):
        array = (self.random.standard_normal(shape, np.float32)
                 * np.float32(scale))
        array = to_bf16(array) if type_ == "bf16" else array
        address = self.driver.allocate(array.nbytes)
        self.driver.copy_in(address, array)
        return array, address

    def unwritten(self, shape, type_):
        """All NaN, so that what nobody writes is found."""
        array = np.empty(shape, np.uint16 if type_ == "bf16" else np.float32)
        array.view(np.uint8)[...] = 0xFF
        address = self.driver.allocate(array.nbytes)
        self.driver.copy_in(address, array)
        return array, address

    def bytes_of(self, array):
        """A copy of any array, as bytes."""
        array = np.frombuffer(array.tobytes(), np.uint8)
        address = self.driver.allocate(array.nbytes)
        self.driver.copy_in(address, array)
        return array, address

    def place(self, tensor, shape=None):
        array, address = tensor
        return (address, array.nbytes,
                array.shape if shape is None else shape, True)

    def f64(self, tensor, type_):
        return to_f64(tensor[0], type_)

    def result(self, tensor, type_):
        array, address = tensor
        self.driver.copy_out(array, address)
        return to_f64(array, type_)

    def free(self, tensors):
        for _, address in tensors:
            self.driver.free(address)

    def synchronize(self):
        pass

    @staticmethod
    def errors(found, wanted):
        return errors(np, found, wanted)


class TorchPlace:
    has_peers = True

    def __init__(self, torch, device, seed):
        self.torch, self.device = torch, device
        self.math = kinds.TorchMath(torch)
        self.generator = torch.Generator(device)
        self.generator.manual_seed(seed)
        # What is compared is exact f32.
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        self.types = {"bf16": torch.bfloat16, "f32": torch.float32}

    def normal(self, shape, type_, scale):
        return (self.torch.randn(shape, generator=self.generator,
                                 device=self.device) * scale).to(
                                     self.types[type_])

    def unwritten(self, shape, type_):
        return self.torch.full(shape, float("nan"), dtype=self.types[type_],
                               device=self.device)

    def bytes_of(self, array):
        """A copy of any array, as bytes."""
        return self.torch.frombuffer(
            bytearray(array.tobytes()) or bytearray(64),
            dtype=self.torch.uint8).to(self.device)

    def place(self, tensor, shape=None):
        return (tensor.data_ptr(), tensor.numel() * tensor.element_size(),
                tuple(tensor.shape if shape is None else shape), True)

    def f64(self, tensor, type_):
        return tensor.double()

    def result(self, tensor, type_):
        self.synchronize()
        found = tensor.double()
        self.synchronize()  # the next run's stream does not wait for that
        return found

    def free(self, tensors):
        tensors.clear()
        self.torch.cuda.empty_cache()  # other processes use this GPU as well

    def synchronize(self):
        self.torch.cuda.synchronize()

    def errors(self, found, wanted):
        return errors(self.torch, found, wanted)


def errors(library, found, wanted):
    """(relative norm, largest by largest); NaN where there is any."""
    differing = library.abs(found - wanted)
    scale = float(library.abs(wanted).max())
    norm = float((differing * differing).sum()) ** 0.5
    return (norm / (float((wanted * wanted).sum()) ** 0.5 or 1.0),
            float(differing.max()) / (scale or 1.0))


def find_place(device, seed):
    """PyTorch's where it has the GPU, else the driver's."""
    number = int(device.partition(":")[2] or 0)
    try:
        import torch
        if torch.cuda.is_available():
            torch.cuda.set_device(number)
            return TorchPlace(torch, f"cuda:{number}", seed)
    except ImportError:
        pass
    return NumPyPlace(number, seed)

