# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of all kinds, pools and resizing."""

import numpy as np

from choose import between, chance, partner, pick, size, value
from graph import Refused
from ops_elementwise import epilogue
from ops_products import scaled_weight, summed


def image(graph, dtypes=("f32", "f16", "bf16", "f64")):
    """A value with axes that windows move over, made if there is none."""
    try:
        return value(graph, dtypes, ranks=(3, 4, 5), where=lambda v: (
            v.size <= 20000 and min(v.shape) > 0))
    except Refused:
        rank = pick(graph, [1, 2, 2, 2, 2, 3])
        most = {1: 65, 2: 24, 3: 9}[rank]
        dims = [pick(graph, [1, 1, 1, 2]), size(graph, 33)]
        dims += [size(graph, most) for _ in range(rank)]
        return graph.source(pick(graph, [v.dtype for v in graph.values
                                         if v.is_float] or ["f32"]), dims)


def window(graph, v, kernels=(1, 1, 2, 3, 3, 3, 4, 5, 7)):
    """Attributes that keep at least one place for the window."""
    spatial = v.shape[2:]
    kernel = [pick(graph, kernels) for _ in spatial]
    if chance(graph, 0.6):
        kernel = [kernel[0]] * len(spatial)
    strides = [pick(graph, [1, 1, 1, 2, 3]) for _ in spatial]
    if chance(graph, 0.6):
        strides = [strides[0]] * len(spatial)
    dilations = [pick(graph, [1, 1, 1, 1, 2]) for _ in spatial]
    attributes = {"kernel_shape": kernel,
                  "strides": strides if max(strides) > 1 else None,
                  "dilations": dilations if max(dilations) > 1 else None}
    auto = pick(graph, [None] * 5 + ["SAME_UPPER", "SAME_LOWER", "VALID"])
    pads = None
    if auto:
        attributes["auto_pad"] = auto
        if auto.startswith("SAME") and max(dilations) > 1:
            attributes["dilations"], dilations = None, [1] * len(spatial)
    elif chance(graph, 0.7):
        if chance(graph, 0.7):
            pads = [(k - 1) * d // 2 for k, d in zip(kernel, dilations)] * 2
        else:
            pads = [between(graph, 0, k - 1) for k in kernel * 2]
        attributes["pads"] = pads if any(pads) else None
    before = pads or [0] * 2 * len(spatial)
    if not (auto and auto.startswith("SAME")):
        for i, s in enumerate(spatial):
            if s + before[i] + before[i + len(spatial)] < (
                    (kernel[i] - 1) * dilations[i] + 1):
                raise Refused("the window is larger than the image")
    elif any((-(-s // step) - 1) * step + k < s
             for s, k, step in zip(spatial, kernel, strides)):
        raise Refused("ONNX does not say where windows without padding start")
    return kernel, attributes


def bias_of(graph, v, channels):
    return graph.source(v.dtype, (channels,), constant=chance(graph, 0.85))


def batch_norm(graph, v):
    c = v.shape[1]
    stats = [graph.weight(v.dtype, (c,), *ends) for ends in
             ((0.5, 1.5), (-1, 1), (-1, 1), (0.3, 2.0))]
    high = v.magnitude * 3 + 5
    return graph.node("BatchNormalization", [v, *stats], -high, high)


def conv(graph):
    v = image(graph)
    kernel, attributes = window(graph, v)
    channels = v.shape[1]
    kind = graph.random.random()
    out, groups = size(graph, 48), 1
    if kind < 0.2:
        groups, out = channels, channels * pick(graph, [1, 1, 2])
    elif kind < 0.35:
        groups = pick(graph, [g for g in (1, 2, 3, 4) if channels % g == 0])
        out = groups * between(graph, 1, 9)
    terms = channels // groups * int(np.prod(kernel))
    w = scaled_weight(graph, v, (out, channels // groups, *kernel), terms)
    operands = [v, w]
    if chance(graph, 0.6):
        operands.append(bias_of(graph, v, out))
    low, high = summed(v.magnitude, w.magnitude, terms)
    y = graph.node("Conv", operands, low - 2, high + 2,
                   group=groups if groups > 1 else None, **attributes)
    if chance(graph, 0.3):
        y = batch_norm(graph, y)
    if chance(graph, 0.25) and y.shape == v.shape and y.dtype == v.dtype:
        y = graph.node("Add", [y, v], y.low + v.low, y.high + v.high)
    return epilogue(graph, y)


def padded_conv(graph):
    """An explicit Pad in front of a convolution without pads."""
    v = image(graph, ("f32", "f16", "bf16"))
    rank = v.rank - 2
    pads = [0, 0] + [between(graph, 0, 2) for _ in range(rank)]
    pads += [0, 0] + [between(graph, 0, 2) for _ in range(rank)]
    v = graph.node("Pad", [v, graph.integers(pads)], min(v.low, 0),
                   max(v.high, 0), v.exact)
    kernel = [pick(graph, [1, 2, 3]) for _ in range(rank)]
    if any(s < k for s, k in zip(v.shape[2:], kernel)):
        raise Refused("the window is larger than the image")
    out, channels = size(graph, 33), v.shape[1]
    terms = channels * int(np.prod(kernel))
    w = scaled_weight(graph, v, (out, channels, *kernel), terms)
    low, high = summed(v.magnitude, w.magnitude, terms)
    y = graph.node("Conv", [v, w], low, high, strides=pick(
        graph, [None, [2] * rank]))
    return epilogue(graph, y)


def conv_transpose(graph):
    v = image(graph, ("f32", "f16", "f64"))
    rank, channels = v.rank - 2, v.shape[1]
    kernel = [pick(graph, [1, 2, 3, 4]) for _ in range(rank)]
    strides = [pick(graph, [1, 2, 2, 3]) for _ in range(rank)]
    groups = pick(graph, [1, 1, 1] + [g for g in (2, channels)
                                      if channels % g == 0])
    out = between(graph, 1, 9)
    terms = channels // groups * int(np.prod(kernel))
    w = scaled_weight(graph, v, (channels, out, *kernel), terms)
    operands = [v, w]
    if chance(graph, 0.5):
        operands.append(bias_of(graph, v, out * groups))
    attributes = {"strides": strides, "group": groups if groups > 1 else None}
    if chance(graph, 0.4):
        pads = [between(graph, 0, k // 2) for k in kernel * 2]
        extra = [between(graph, 0, s - 1) for s in strides]
        if any(s * (d - 1) + k + e - pads[i] - pads[i + rank] < 1
               for i, (s, d, k, e) in enumerate(
                   zip(strides, v.shape[2:], kernel, extra))):
            raise Refused("nothing is left")
        attributes.update(pads=pads, output_padding=extra)
    if chance(graph, 0.3):
        attributes["dilations"] = [pick(graph, [1, 2]) for _ in range(rank)]
    low, high = summed(v.magnitude, w.magnitude, terms)
    return epilogue(graph, graph.node("ConvTranspose", operands, low - 2,
                                      high + 2, **attributes))


def pool(graph):
    v = image(graph)
    op = pick(graph, ["MaxPool", "AveragePool", "LpPool"])
    kernel, attributes = window(graph, v, (1, 2, 2, 3, 3, 5))
    if attributes.get("pads"):
        n = len(kernel)
        if any(p >= k for p, k in zip(attributes["pads"], kernel * 2)):
            raise Refused("pads as large as the window")
        assert n
        if op == "AveragePool" and attributes.get("dilations"):
            raise Refused("the mean of no element at all")
    if not attributes.get("auto_pad") and chance(graph, 0.25):
        attributes["ceil_mode"] = 1
    if op == "AveragePool" and chance(graph, 0.4):
        attributes["count_include_pad"] = 1
    low, high, exact = v.low, v.high, op == "MaxPool" and v.exact
    if op == "LpPool":
        attributes["p"] = pick(graph, [1, 2])
        low, high = 0, v.magnitude * np.prod(kernel)
    elif op == "AveragePool":
        low, high = min(low, 0), max(high, 0)
    return graph.node(op, [v], low, high, exact, **attributes)


def global_pool(graph):
    v = image(graph)
    op = pick(graph, ["GlobalAveragePool", "GlobalMaxPool"])
    return graph.node(op, [v], v.low, v.high, op == "GlobalMaxPool" and v.exact)


def squeeze_excite(graph):
    """x * sigmoid(W2 relu(W1 mean(x)))."""
    v = image(graph)
    if v.shape[1] > 64:
        raise Refused("too many channels")
    c, rank = v.shape[1], v.rank - 2
    small = between(graph, 1, 8)
    x = graph.node("GlobalAveragePool", [v], v.low, v.high)
    for k, n, f in ((c, small, "Relu"), (small, c, "HardSigmoid")):
        w = scaled_weight(graph, v, (n, k, *[1] * rank), k)
        low, high = summed(x.magnitude, w.magnitude, k)
        x = graph.node("Conv", [x, w, bias_of(graph, v, n)], low - 2, high + 2)
        x = graph.node(f, [x], 0, 1 if f == "HardSigmoid" else x.high)
    high = v.magnitude
    return epilogue(graph, graph.node("Mul", [v, x], -high, high))


def resize(graph):
    v = value(graph, ("f32", "f16"), ranks=(4,), where=lambda v: v.size < 8000)
    mode = pick(graph, ["nearest", "linear", "linear"])
    factors = [1, 1] + [pick(graph, [1.0, 2.0, 2.0, 3.0, 0.5, 1.5])
                        for _ in range(2)]
    if any(int(d * f) < 1 for d, f in zip(v.shape, factors)):
        raise Refused("nothing is left")
    coordinates = pick(graph, ["half_pixel", "asymmetric", "align_corners",
                               "pytorch_half_pixel"])
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attributes["nearest_mode"] = pick(graph, ["floor",
                                                  "round_prefer_floor"])
    scales = graph.constant(np.array(factors, np.float32))
    return graph.node("Resize", [v, None, scales], v.low, v.high,
                      mode == "nearest" and v.exact, **attributes)


def lateral(graph):
    """An image enlarged and added to another: what detectors have."""
    v = value(graph, ("f32", "f16"), ranks=(4,), where=lambda v: v.size < 6000)
    scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
    y = graph.node("Resize", [v, None, scales], v.low, v.high, v.exact,
                   mode="nearest", nearest_mode="floor",
                   coordinate_transformation_mode="asymmetric")
    other = partner(graph, y)
    return epilogue(graph, graph.node("Add", [y, other], y.low + other.low,
                                      y.high + other.high))


MAKERS = [(conv, 9), (padded_conv, 1), (conv_transpose, 2), (pool, 3),
          (global_pool, 1), (squeeze_excite, 1), (resize, 1), (lateral, 1)]
