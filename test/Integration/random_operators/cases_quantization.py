# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps between floats and 8 or 16 bits. Results are compared exactly."""

import numpy as np
from operator_case import Case

RTOL, ATOL = 1e-6, 0


def cases(random):
    yield from quantize(random)
    yield from dequantize(random)
    for i, (low, high) in enumerate([(-3, 5), (1, 4), (-4, -1), (0, 0)]):
        yield Case(f"DynamicQuantizeLinear_{i}", "DynamicQuantizeLinear",
                   [random.floats((3, 7), low=low, high=high)],
                   results=[np.uint8, np.float32, np.uint8])


def quantize(random):
    for dtype in [np.uint8, np.int8]:
        for i, shape in enumerate(random.shapes):
            yield Case(f"QuantizeLinear_{i}_{np.dtype(dtype)}",
                       "QuantizeLinear",
                       [random.floats(shape, low=-60, high=60),
                        np.float32(0.25), dtype(7)], results=[dtype],
                       constants=[1, 2] if i % 2 else [])
        for axis in [0, 1, -1]:
            x = random.floats((3, 4, 5), low=-60, high=60)
            c = x.shape[axis]
            yield Case(f"QuantizeLinear_axis_{axis}_{np.dtype(dtype)}",
                       "QuantizeLinear",
                       [x, random.floats((c,), low=0.1, high=1),
                        random.integers((c,), dtype)], results=[dtype],
                       attributes={"axis": axis})
    yield Case("QuantizeLinear_no_zero", "QuantizeLinear",
               [random.floats((4, 5), low=-9, high=9), np.float32(0.1)],
               results=[np.uint8])
    # Halves go to the even neighbour; what is beyond saturates.
    yield Case("QuantizeLinear_halves", "QuantizeLinear",
               [np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e9, -1e9, np.inf,
                          -np.inf], np.float32), np.float32(1), np.int8(0)],
               results=[np.int8])
    for dtype in [np.int16, np.uint16]:
        yield Case(f"QuantizeLinear_{np.dtype(dtype)}", "QuantizeLinear",
                   [random.floats((4, 5), low=-9e3, high=9e3),
                    np.float32(0.2), dtype(100)], results=[dtype], opset=21)
    x = random.floats((4, 6), low=-60, high=60)
    yield Case("QuantizeLinear_blocked", "QuantizeLinear",
               [x, random.floats((4, 2), low=0.1, high=1),
                random.integers((4, 2), np.int8)], results=[np.int8], opset=21,
               attributes={"axis": 1, "block_size": 3})


def dequantize(random):
    for dtype in [np.uint8, np.int8, np.int32]:
        for i, shape in enumerate(random.shapes):
            yield Case(f"DequantizeLinear_{i}_{np.dtype(dtype)}",
                       "DequantizeLinear",
                       [random.integers(shape, dtype, 0, 100),
                        np.float32(0.25),
                        dtype(0 if dtype == np.int32 else 7)],
                       results=[np.float32])
    for axis in [0, 1, -1]:
        x = random.integers((3, 4, 5), np.int8)
        c = x.shape[axis]
        yield Case(f"DequantizeLinear_axis_{axis}", "DequantizeLinear",
                   [x, random.floats((c,)), random.integers((c,), np.int8)],
                   results=[np.float32], attributes={"axis": axis})
    yield Case("DequantizeLinear_no_zero", "DequantizeLinear",
               [random.integers((4, 5), np.uint8), np.float32(0.1)],
               results=[np.float32])
    yield Case("DequantizeLinear_blocked", "DequantizeLinear",
               [random.integers((6, 4), np.uint8), random.floats((2, 4)),
                random.integers((2, 4), np.uint8)], results=[np.float32],
               opset=21, attributes={"axis": 0, "block_size": 3})
