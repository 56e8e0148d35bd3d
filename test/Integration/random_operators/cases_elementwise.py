# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise functions of one number and activations."""

import numpy as np
from operator_case import Case, element_type

# The range in which a function is defined, beyond which it gives NaN.
UNARY = {
    "Abs": (-3, 3), "Neg": (-3, 3), "Ceil": (-3, 3), "Floor": (-3, 3),
    "Round": (-9, 9), "Sqrt": (-1, 9), "Exp": (-5, 5), "Log": (-1, 9),
    "Reciprocal": (-3, 3), "Sin": (-9, 9), "Cos": (-9, 9), "Tan": (-1.4, 1.4),
    "Asin": (-1.2, 1.2), "Acos": (-1.2, 1.2), "Atan": (-9, 9),
    "Sinh": (-5, 5), "Cosh": (-5, 5), "Asinh": (-9, 9), "Acosh": (0, 9),
    "Atanh": (-1.2, 1.2), "Tanh": (-5, 5), "Erf": (-3, 3), "Sign": (-3, 3),
}
ACTIVATIONS = [
    ("Relu", {}), ("LeakyRelu", {}), ("LeakyRelu", {"alpha": 0.3}),
    ("Elu", {}), ("Elu", {"alpha": 1.7}), ("Selu", {}),
    ("Selu", {"alpha": 1.2, "gamma": 2.0}), ("Celu", {"alpha": 1.5}),
    ("ThresholdedRelu", {"alpha": 0.7}), ("Sigmoid", {}), ("HardSigmoid", {}),
    ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}), ("HardSwish", {}),
    ("Softplus", {}), ("Softsign", {}), ("Shrink", {}),
    ("Shrink", {"bias": 0.3, "lambd": 1.2}),
]


def cases(random):
    for op, (low, high) in UNARY.items():
        for i, shape in enumerate(random.shapes):
            x = random.floats(shape, low=low, high=high, special=True)
            yield Case(f"{op}_{i}", op, [x], reference="onnx")
    for n, (op, attributes) in enumerate(ACTIVATIONS):
        for i, shape in enumerate(random.shapes):
            x = random.floats(shape, low=-6, high=6)
            yield Case(f"{op}_{n}_{i}", op, [x], attributes=attributes)
    for op, attributes, opset in [("Gelu", {}, 20),
                                  ("Gelu", {"approximate": "tanh"}, 20),
                                  ("Mish", {}, 18)]:
        x = random.floats((3, 37), low=-9, high=9)
        kind = attributes.get("approximate", "plain")
        yield Case(f"{op}_{kind}", op, [x], attributes=attributes, opset=opset)
    for i, alpha in enumerate([{}, {"alpha": 1.7}]):
        x, y = (random.floats((3, 37), low=-9, high=9) for _ in range(2))
        slope = alpha.get("alpha", 1)
        yield Case(f"Swish_{i}", "Swish", [x], attributes=alpha, opset=24,
                   reference=lambda x, a=slope: x / (1 + np.exp(-a * x)))
        yield Case(f"SwiGLU_{i}", "SwiGLU", [x, y], attributes=alpha, opset=28,
                   reference=lambda x, y, a=slope:
                   x / (1 + np.exp(-a * x)) * y)
    for source, to in [(np.float32, np.int32), (np.int64, np.float64),
                       (np.uint16, np.float16), (np.float64, np.uint64),
                       (np.int8, np.uint8)]:
        bits = random.integers((5, 7), np.dtype(f"i{source().itemsize}"))
        # Not a number is of many kinds; these are left as they are.
        x = np.where(np.isnan(bits.view(source).astype(float)), 0,
                     bits).astype(bits.dtype).view(source)
        x = np.where(np.isnan(x.view(to).astype(float)), source(1), x)
        yield Case(f"BitCast_{np.dtype(source)}_{np.dtype(to)}", "BitCast",
                   [x], attributes={"to": element_type(to)}, opset=26,
                   results=[to], reference=lambda x, to=to: x.view(to))
    # Large arguments must not overflow on the way.
    for op in ["Sigmoid", "Softplus", "Tanh", "Softsign", "Relu"]:
        x = np.array([-1e4, -200, -90, 90, 200, 1e4, np.inf, -np.inf],
                     np.float32)
        if op == "Softsign":
            x = x[:6]
        yield Case(f"{op}_large", op, [x])
    for op in ["Abs", "Neg", "Sign"]:
        for dtype in [np.int8, np.int32, np.int64]:
            x = random.integers((3, 11), dtype)
            x[0, :3] = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0]
            yield Case(f"{op}_{np.dtype(dtype)}", op, [x], reference="onnx")
    for dtype in [np.uint8, np.uint32]:
        yield Case(f"Sign_{np.dtype(dtype)}", "Sign",
                   [random.integers((5, 3), dtype)], reference="onnx")
    for op in ["IsNaN", "IsInf"]:
        x = random.floats((3, 7), special=True)
        yield Case(op, op, [x], results=[bool])
    for positive, negative in [(0, 1), (1, 0), (0, 0)]:
        yield Case(f"IsInf_{positive}{negative}", "IsInf",
                   [random.floats((3, 7), special=True)], results=[bool],
                   attributes={"detect_positive": positive,
                               "detect_negative": negative})
    yield Case("Not", "Not", [random.booleans((3, 5))])
    for dtype in [np.int8, np.uint16, np.int64]:
        yield Case(f"BitwiseNot_{np.dtype(dtype)}", "BitwiseNot",
                   [random.integers((3, 5), dtype)], opset=18)
    yield from clip_cases(random)
    yield from prelu_cases(random)


def clip_cases(random):
    x = random.floats((3, 7), special=True)
    low, high = np.float32(-0.5), np.float32(1.25)
    yield Case("Clip_both", "Clip", [x, low, high])
    yield Case("Clip_constant", "Clip", [x, low, high], constants=[1, 2])
    yield Case("Clip_low", "Clip", [x, low], reference="onnx")
    yield Case("Clip_high", "Clip", [x, None, high], reference="onnx",
               constants=[2])
    yield Case("Clip_none", "Clip", [random.floats((2, 3))])
    yield Case("Clip_crossed", "Clip", [random.floats((4, 5)), high, low],
               opset=13)
    yield Case("Clip_attributes", "Clip", [random.floats((4, 5))], opset=10,
               attributes={"min": -1.0, "max": 0.5})
    for dtype in [np.int8, np.uint8, np.int32, np.uint64]:
        yield Case(f"Clip_{np.dtype(dtype)}", "Clip",
                   [random.integers((5, 9), dtype), dtype(3), dtype(90)])


def prelu_cases(random):
    for i, slope in enumerate([(3, 5, 7), (7,), (5, 1), (1,)]):
        yield Case(f"PRelu_{i}", "PRelu",
                   [random.floats((3, 5, 7)), random.floats(slope)])
