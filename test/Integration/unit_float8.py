# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of floats of a byte for device_units.py: random models beside NumPy
in f64.

A kind is the types of both operands. Inputs are f32, quantized to the first
one: scales are powers of two, so that the numbers multiplied are known.
"""

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

import unit_bytes

TYPES = {"f8e4m3": (ml_dtypes.float8_e4m3fn, TensorProto.FLOAT8E4M3FN),
         "f8e5m2": (ml_dtypes.float8_e5m2, TensorProto.FLOAT8E5M2),
         "f8e4m3fnuz": (ml_dtypes.float8_e4m3fnuz,
                        TensorProto.FLOAT8E4M3FNUZ),
         "f8e5m2fnuz": (ml_dtypes.float8_e5m2fnuz,
                        TensorProto.FLOAT8E5M2FNUZ)}
# ||found - wanted|| / ||wanted||: products are exact, sums of f32.
MOST = 2 ** -20


def numbers(random, kind, *shape):
    """Normal ones, some of them subnormal in the type, and what they are."""
    numpy, _ = TYPES[kind]
    large = random.standard_normal(shape) * random.choice([1, 0.01], shape)
    codes = large.astype(np.float32).astype(numpy)
    return codes, codes.astype(np.float64)


def constant(name, kind, codes):
    return helper.make_tensor(name, TYPES[kind][1], codes.shape,
                              codes.tobytes(), raw=True)


def scaled(random, shape):
    return (2.0 ** random.integers(-6, 3, shape)).astype(np.float32)


def operands(random, kind, shape_x, shape_w, axis):
    """Nodes that make x and w of f32, inputs, constants, both operands' numbers.
    Weights have one scale, or one for each of `axis`."""
    left, right = kind
    codes_x, x = numbers(random, left, *shape_x)
    codes_w, w = numbers(random, right, *shape_w)
    sx = scaled(random, ())
    each = bool(random.integers(2))
    sw = scaled(random, shape_w[axis] if each else ())
    along = [1] * w.ndim
    along[axis] = -1
    x, w = x * sx, w * (sw.reshape(along) if each else sw)
    constants = [constant("wq", right, codes_w), constant(
        "zx", left, np.zeros((), TYPES[left][0])),
        unit_bytes.constant("sx", sx), unit_bytes.constant("sw", sw)]
    nodes = [helper.make_node("QuantizeLinear", ["x", "sx", "zx"], ["xq"]),
             helper.make_node("DequantizeLinear", ["xq", "sx"], ["xd"]),
             helper.make_node("DequantizeLinear", ["wq", "sw"], ["wd"],
                              axis=axis)]
    return nodes, {"x": x.astype(np.float32)}, constants, x, w


def product(random, kind, sides=(1, 7, 16, 33, 64, 96, 130, 300)):
    """MatMul, perhaps with a bias and another product's operand behind it."""
    m, n, k = (int(random.choice(sides)) for _ in range(3))
    nodes, feeds, constants, x, w = operands(random, kind, [m, k], [k, n], 1)
    with_bias = bool(random.integers(2))
    nodes.append(helper.make_node("MatMul", ["xd", "wd"],
                                  ["p" if with_bias else "y"]))
    wanted = x @ w
    if with_bias:
        feeds["v"] = random.standard_normal(n).astype(np.float32)
        nodes.append(helper.make_node("Add", ["p", "v"], ["y"]))
        wanted = wanted + feeds["v"]
    return f"{[m, n, k]}{' bias' * with_bias}", nodes, feeds, constants, \
        wanted.astype(np.float32)


def boxes(random, kind):
    """What an engine takes whose rows begin at multiples of 16 bytes."""
    return product(random, kind, (16, 48, 80, 144, 272, 400))


def convolution(random, kind):
    n, c, o, h = (int(random.choice(each)) for each in (
        [1, 2], [3, 16, 40], [8, 20, 32], [7, 9, 12]))
    side, stride = int(random.choice([1, 3])), int(random.choice([1, 2]))
    pad = int(random.integers(0, side // 2 + 1))
    nodes, feeds, constants, x, w = operands(
        random, kind, [n, c, h, h], [o, c, side, side], 0)
    nodes.append(helper.make_node("Conv", ["xd", "wd"], ["y"],
                                  strides=[stride] * 2, pads=[pad] * 4))
    around = np.pad(x, ((0, 0), (0, 0), (pad,) * 2, (pad,) * 2))
    return f"convolution {[n, c, o, h, side]} by {stride}", nodes, feeds, \
        constants, unit_bytes.sums(around, w, stride).astype(np.float32)


MODELS = [product, convolution]
BOXES = [boxes, convolution]


def why_differs(_, __, found, wanted):
    """Empty: it does not."""
    norm = np.linalg.norm(found.astype(np.float64) - wanted) / max(
        np.linalg.norm(wanted), 1e-30)
    # NaN is in no range.
    return "" if norm <= MOST else f"differs by {norm:.2e} in norm"
