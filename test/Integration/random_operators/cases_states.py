# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What decoding keeps, deformed convolutions, columns to images and types of
less than a byte, beside the onnx package's reference."""

import ml_dtypes
import numpy as np
from operator_case import Case

RTOL, ATOL = 1e-4, 1e-5
SMALL = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
         "float4_e2m1fn", "int4", "uint4", "int2", "uint2"]
TYPES = dict(zip(SMALL, [17, 18, 19, 20, 23, 22, 21, 26, 25]))


def cases(random):
    yield from states(random)
    yield from casts(random)
    for pads, strides, groups in (([0] * 4, [1, 1], 1),
                                  ([1, 0, 2, 1], [2, 1], 2)):
        x, w = random.floats((2, 4, 7, 6)), random.floats((6, 4 // groups, 3, 2))
        out = [(7 + pads[0] + pads[2] - 3) // strides[0] + 1,
               (6 + pads[1] + pads[3] - 2) // strides[1] + 1]
        offset = random.floats((2, 2 * 2 * 6, *out))
        yield Case(f"DeformConv_{groups}", "DeformConv",
                   [x, w, offset, random.floats((6,)),
                    random.floats((2, 2 * 6, *out))], opset=19,
                   reference="onnx",
                   attributes={"pads": pads, "strides": strides,
                               "group": groups, "offset_group": 2,
                               "kernel_shape": [3, 2]})
    yield Case("Col2Im", "Col2Im",
               [random.floats((2, 3 * 6, 6 * 3)), np.array([7, 6]),
                np.array([3, 2])], opset=18, constants=[1, 2],
               reference="onnx",
               attributes={"pads": [1, 0, 2, 1], "strides": [1, 2],
                           "dilations": [2, 1]})


def states(random):
    for rule in ("linear", "gated", "delta", "gated_delta"):
        inputs = [random.floats((2, 5, 4 * 3)), random.floats((2, 5, 2 * 3)),
                  random.floats((2, 5, 2 * 4)), random.floats((2, 2, 3, 4)),
                  random.floats((2, 5, 2), low=-1, high=0)
                  if "gated" in rule else None,
                  random.floats((2, 5, 2), low=0, high=0.2)
                  if "delta" in rule else None]
        yield Case(f"LinearAttention_{rule}", "LinearAttention", inputs,
                   opset=27, reference="onnx", results=[np.float32] * 2,
                   attributes={"q_num_heads": 4, "kv_num_heads": 2,
                               "update_rule": rule})
    for k, state in ((1, False), (4, False), (4, True)):
        yield Case(f"CausalConvWithState_{k}_{state}", "CausalConvWithState",
                   [random.floats((2, 3, 5)), random.floats((3, 1, k)),
                    random.floats((3,)),
                    random.floats((2, 3, k - 1)) if state else None],
                   opset=27, reference="onnx", results=[np.float32] * 2,
                   attributes={"activation": "silu"})
    for mode, starts in (("linear", [2, 0]), ("circular", [5, 3])):
        yield Case(f"TensorScatter_{mode}", "TensorScatter",
                   [random.floats((2, 3, 6, 4)), random.floats((2, 3, 3, 4)),
                    np.array(starts)], opset=24, reference="onnx",
                   attributes={"mode": mode})


def casts(random):
    for name in SMALL:
        small = np.dtype(getattr(ml_dtypes, name))
        x = random.floats((65,), low=-9, high=9)
        if "float" in name:
            x = np.concatenate([x, x * 0.01, x * 1e-4, x * 100,
                                [np.nan, 0.0, -0.0]]).astype(np.float32)
        yield Case(f"Cast_to_{name}", "Cast", [x], opset=25, reference="onnx",
                   attributes={"to": TYPES[name]}, results=[small])
        codes = random.integers((40,), np.uint8)
        value = (codes.view(small) if "float8" in name
                 else random.floats((40,), low=-6, high=6).astype(small))
        yield Case(f"Cast_from_{name}", "Cast", [value], opset=25,
                   reference="onnx", attributes={"to": 1},
                   results=[np.float32])
        # A weight, packed as files pack it: of odd size.
        yield Case(f"Constant_{name}", "Cast", [value[:33]], opset=25,
                   constants=[0], reference="onnx", attributes={"to": 1},
                   results=[np.float32])
