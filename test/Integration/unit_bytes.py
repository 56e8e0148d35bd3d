# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of bytes for device_units.py: random models beside whole numbers.

A kind is the types of both operands. What comes out is exact; what is quantized
again has scales that are powers of two, so that it is exact as well.
"""

import numpy as np
from onnx import helper, numpy_helper

TYPES = {"s8": np.int8, "u8": np.uint8}


def numbers(random, kind, *shape):
    limits = np.iinfo(TYPES[kind])
    return random.integers(limits.min, limits.max + 1, shape).astype(
        TYPES[kind])


def constant(name, value):
    return numpy_helper.from_array(np.asarray(value), name)


def product(random, kind, sides=(1, 7, 16, 33, 64, 96, 130)):
    """MatMulInteger of computed or constant weights, of open or no zero points,
    which may be one for each column."""
    left, right = kind
    m, n, k = (int(random.choice(sides)) for _ in range(3))
    lead = [int(b) for b in random.choice([0, 0, 2], 1) if b]
    x, w = numbers(random, left, *lead, m, k), numbers(random, right, *lead, k,
                                                       n)
    feeds, constants = {"x": x}, []
    with_weights = not lead and bool(random.integers(2))
    if with_weights:
        constants.append(constant("w", w))
    else:
        feeds["w"] = w
    inputs = ["x", "w"]
    wanted_x, wanted_w = x.astype(np.int64), w.astype(np.int64)
    if random.integers(2):
        zero = numbers(random, left)
        zeros = numbers(random, right, *([n] if with_weights and
                                         random.integers(2) else []))
        constants += [constant("zx", zero), constant("zw", zeros)]
        inputs += ["zx", "zw"]
        wanted_x, wanted_w = wanted_x - int(zero), wanted_w - zeros.astype(
            np.int64)
    node = helper.make_node("MatMulInteger", inputs, ["y"])
    name = f"{lead + [m, n, k]}{' weights' * with_weights}" \
           f"{' zero points' * (len(inputs) > 2)}"
    return name, [node], feeds, constants, (wanted_x @ wanted_w).astype(
        np.int32)


def boxes(random, kind):
    """What an engine takes whose rows begin at multiples of 16 bytes."""
    return product(random, kind, (16, 48, 80, 144, 272, 400))


def quantized(total, scale, zero, kind):
    """Rounded to the nearest, ties to even, as QuantizeLinear says."""
    limits = np.iinfo(TYPES[kind])
    return np.clip(np.rint(total * scale) + int(zero), limits.min,
                   limits.max).astype(TYPES[kind])


def quantized_product(random, kind):
    """QLinearMatMul, its result of the first operand's type."""
    left, right = kind
    m, n, k = (int(random.choice([1, 16, 33, 64, 130])) for _ in range(3))
    x, w = numbers(random, left, m, k), numbers(random, right, k, n)
    zx, zw, zy = numbers(random, left), numbers(random, right), numbers(
        random, left)
    scales = {"sx": 2.0 ** -6, "sw": 2.0 ** -7, "sy": 2.0 ** -3}
    constants = [constant("w", w), constant("zx", zx), constant("zw", zw),
                 constant("zy", zy)] + [
        constant(name, np.float32(scale)) for name, scale in scales.items()]
    node = helper.make_node("QLinearMatMul", ["x", "sx", "zx", "w", "sw", "zw",
                                              "sy", "zy"], ["y"])
    total = (x.astype(np.int64) - int(zx)) @ (w.astype(np.int64) - int(zw))
    return f"quantized {[m, n, k]}", [node], {"x": x}, constants, quantized(
        total, scales["sx"] * scales["sw"] / scales["sy"], zy, left)


def sums(x, w, stride):
    """Of windows; pads are there already."""
    side = w.shape[-1]
    windows = np.lib.stride_tricks.sliding_window_view(
        x, (side, side), axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwij,ocij->nohw", windows, w)


def turn_channels(nodes, feeds):
    """Lets a convolution have its input with channels last."""
    feeds["x"] = np.ascontiguousarray(feeds["x"].transpose(0, 2, 3, 1))
    nodes[0].input[0] = "t"
    nodes.insert(0, helper.make_node("Transpose", ["x"], ["t"],
                                     perm=[0, 3, 1, 2]))


def convolution(random, kind):
    """ConvInteger, whose pads are zero points, or QLinearConv with a bias; half
    of them with channels last and zeros around, as an engine of boxes has
    them."""
    left, right = kind
    n, c, o, h = (int(random.choice(each)) for each in (
        [1, 2], [3, 32, 40], [8, 20, 32], [7, 9, 12]))
    side, stride = int(random.choice([1, 3])), int(random.choice([1, 2]))
    pad = int(random.integers(0, side // 2 + 1))
    is_boxes = bool(random.integers(2))
    if is_boxes:
        c, side, pad = 32, 3, 1
    x, w = numbers(random, left, n, c, h, h), numbers(random, right, o, c,
                                                      side, side)
    zx, zw = numbers(random, left), np.zeros([], TYPES[right])
    if is_boxes:
        zx = np.zeros([], TYPES[left])
    constants = [constant("w", w), constant("zx", zx), constant("zw", zw)]
    around = np.pad(x.astype(np.int64) - int(zx),
                    ((0, 0), (0, 0), (pad,) * 2, (pad,) * 2))
    total = sums(around, w.astype(np.int64), stride)
    where = {"strides": [stride] * 2, "pads": [pad] * 4}
    name = f"convolution {[n, c, o, h, side]} by {stride}"
    feeds = {"x": x}
    if random.integers(2):
        nodes = [helper.make_node("ConvInteger", ["x", "w", "zx", "zw"], ["y"],
                                  **where)]
        if is_boxes:
            turn_channels(nodes, feeds)
        return name, nodes, feeds, constants, total.astype(np.int32)
    zy, bias = numbers(random, left), random.integers(-999, 999, o).astype(
        np.int32)
    scales = {"sx": 2.0 ** -6, "sw": 2.0 ** -7, "sy": 2.0 ** -4}
    constants += [constant("zy", zy), constant("bias", bias)] + [
        constant(each, np.float32(scale)) for each, scale in scales.items()]
    total = total + bias[:, None, None]
    nodes = [helper.make_node(
        "QLinearConv", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "bias"],
        ["y"], **where)]
    if is_boxes:
        turn_channels(nodes, feeds)
    return f"quantized {name}", nodes, feeds, constants, quantized(
        total, scales["sx"] * scales["sw"] / scales["sy"], zy, left)


MODELS = [product, quantized_product, convolution]
BOXES = [boxes, convolution]


def why_differs(_, __, found, wanted):
    """Empty: it does not."""
    different = np.flatnonzero(found.reshape(-1) != wanted.reshape(-1))
    return "" if not different.size else \
        f"{different.size} of {wanted.size} differ, the first one is " \
        f"{found.reshape(-1)[different[0]]}, not " \
        f"{wanted.reshape(-1)[different[0]]}"
