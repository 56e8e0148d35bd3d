# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and pools: strides, dilations, groups and every way to pad."""

import numpy as np
from operator_case import Case


def cases(random):
    yield from convolutions(random)
    yield from transposed_convolutions(random)
    yield from quantized_convolutions(random)
    yield from pools(random)
    yield from global_pools(random)
    yield from unpools(random)


# Input, weight, attributes.
CONVOLUTIONS = {
    "pointwise": ((2, 5, 7, 3), (4, 5, 1, 1), {}),
    "pointwise_strided": ((1, 5, 7, 9), (4, 5, 1, 1), {"strides": [2, 3]}),
    "pointwise_padded": ((1, 3, 4, 5), (2, 3, 1, 1), {"pads": [1, 0, 0, 2]}),
    "same_size": ((1, 3, 9, 11), (5, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
    "uneven": ((2, 3, 9, 11), (5, 3, 3, 2), {"pads": [2, 0, 1, 3],
                                             "strides": [2, 1]}),
    "dilated": ((1, 2, 13, 11), (3, 2, 3, 3), {"dilations": [2, 3],
                                               "pads": [1, 2, 3, 0]}),
    "grouped": ((2, 6, 8, 7), (9, 2, 3, 3), {"group": 3}),
    "depthwise": ((2, 5, 9, 9), (5, 1, 3, 3), {"group": 5,
                                               "pads": [1, 1, 1, 1]}),
    "depthwise_strided": ((1, 5, 9, 9), (5, 1, 5, 5),
                          {"group": 5, "pads": [2] * 4, "strides": [2, 2]}),
    "multiplier": ((1, 3, 7, 7), (6, 1, 3, 3), {"group": 3}),
    "line": ((2, 3, 17), (4, 3, 5), {"strides": [3], "pads": [2, 1]}),
    "line_kernel_one": ((2, 3, 17), (4, 3, 1), {}),
    "volume": ((1, 2, 5, 6, 7), (3, 2, 3, 1, 2), {"strides": [1, 2, 1]}),
    "volume_grouped": ((1, 4, 5, 4, 3), (4, 2, 2, 2, 2),
                       {"group": 2, "dilations": [2, 1, 1]}),
    "flat_kernel": ((1, 3, 6, 8), (2, 3, 1, 4), {}),
    "tall_kernel": ((1, 3, 6, 8), (2, 3, 6, 1), {}),
    "whole": ((1, 3, 4, 5), (7, 3, 4, 5), {}),
    "one": ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    "one_channel": ((1, 1, 8, 8), (4, 1, 3, 3), {}),
    "same_upper": ((1, 2, 7, 8), (3, 2, 4, 3), {"auto_pad": "SAME_UPPER",
                                                "strides": [2, 3]}),
    "same_lower": ((1, 2, 7, 8), (3, 2, 4, 2), {"auto_pad": "SAME_LOWER",
                                                "strides": [2, 1]}),
    "valid": ((1, 2, 7, 8), (3, 2, 4, 3), {"auto_pad": "VALID"}),
    "rest": ((1, 2, 8, 8), (3, 2, 3, 3), {"strides": [3, 3],
                                          "pads": [0, 0, 1, 1]}),
    "no_batch": ((0, 2, 8, 8), (3, 2, 3, 3), {}),
}


def convolutions(random):
    for name, (x, w, attributes) in CONVOLUTIONS.items():
        inputs = [random.floats(x), random.floats(w)]
        for bias in [False, True]:
            yield Case(f"Conv_{name}" + ("_bias" if bias else ""), "Conv",
                       inputs + [random.floats(w[:1])] * bias,
                       attributes=attributes,
                       constants=[1] if bias else [],
                       reference=empty_result((0, 3, 6, 6)) if 0 in x
                       else "onnxruntime")


def empty_result(shape):
    return lambda *inputs: np.zeros(shape, np.float32)


TRANSPOSED = {
    "plain": ((1, 2, 3, 4), (2, 3, 3, 3), {}),
    "disjoint": ((2, 3, 3, 4), (3, 2, 2, 2), {"strides": [2, 2]}),
    "disjoint_cropped": ((1, 3, 3, 4), (3, 2, 2, 3),
                         {"strides": [2, 3], "pads": [1, 0, 1, 2]}),
    "disjoint_extended": ((1, 3, 3, 4), (3, 2, 2, 2),
                          {"strides": [2, 2], "output_padding": [1, 1]}),
    "pointwise": ((2, 3, 3, 4), (3, 5, 1, 1), {}),
    "strided": ((1, 2, 4, 5), (2, 3, 3, 4), {"strides": [2, 3],
                                             "pads": [1, 0, 2, 1]}),
    "gaps": ((1, 2, 4, 5), (2, 3, 2, 1), {"strides": [3, 2]}),
    "padded": ((1, 2, 4, 5), (2, 3, 3, 3), {"strides": [2, 2],
                                            "pads": [1, 1, 1, 1],
                                            "output_padding": [1, 0]}),
    "dilated": ((1, 2, 5, 4), (2, 2, 3, 2), {"dilations": [2, 3],
                                             "strides": [1, 2]}),
    "grouped": ((2, 4, 5, 4), (4, 3, 3, 3), {"group": 2, "strides": [2, 1]}),
    "grouped_disjoint": ((1, 4, 2, 3), (4, 1, 2, 2),
                         {"group": 2, "strides": [2, 2]}),
    "depthwise": ((1, 3, 5, 4), (3, 1, 3, 3), {"group": 3,
                                               "strides": [2, 2],
                                               "pads": [1, 1, 1, 1]}),
    "shaped": ((1, 2, 4, 4), (2, 3, 3, 3), {"strides": [2, 2],
                                            "output_shape": [8, 7]}),
    "shaped_upper": ((1, 2, 4, 4), (2, 3, 3, 3),
                     {"strides": [2, 2], "output_shape": [8, 8],
                      "auto_pad": "SAME_UPPER"}),
    "line": ((2, 3, 7), (3, 2, 4), {"strides": [2], "pads": [1, 2]}),
    "volume": ((1, 2, 3, 2, 3), (2, 2, 2, 3, 2), {"strides": [2, 1, 2]}),
}


def transposed_convolutions(random):
    for name, (x, w, attributes) in TRANSPOSED.items():
        channels = w[1] * attributes.get("group", 1)
        yield Case(f"ConvTranspose_{name}", "ConvTranspose",
                   [random.floats(x), random.floats(w)],
                   attributes=attributes)
        yield Case(f"ConvTranspose_{name}_bias", "ConvTranspose",
                   [random.floats(x), random.floats(w),
                    random.floats((channels,))],
                   attributes=attributes, constants=[1])


def quantized_convolutions(random):
    x = random.integers((2, 3, 7, 6), np.uint8)
    for dtype in [np.uint8, np.int8]:
        w = random.integers((4, 3, 3, 2), dtype)
        name = f"ConvInteger_{np.dtype(dtype)}"
        zero = np.array(3, dtype)
        yield Case(name, "ConvInteger", [x, w], results=[np.int32])
        yield Case(f"{name}_zero_points", "ConvInteger",
                   [x, w, np.array(130, np.uint8), zero],
                   attributes={"pads": [1, 0, 1, 2]}, results=[np.int32],
                   constants=[3])
        scales = random.floats((4,), low=0.001, high=0.01)
        for per_channel in [False, True]:
            zeros = np.zeros(4, dtype) if per_channel else np.zeros((), dtype)
            yield Case(
                f"QLinearConv_{np.dtype(dtype)}_{int(per_channel)}",
                "QLinearConv",
                [x, np.float32(0.02), np.array(121, np.uint8), w,
                 scales if per_channel else scales[0], zeros,
                 np.float32(0.3), np.array(17, np.uint8),
                 random.integers((4,), np.int32, -3000, 3000)],
                attributes={"strides": [2, 1], "pads": [1, 1, 0, 0]},
                results=[np.uint8], constants=[1, 2, 3, 4, 5, 6, 7])


POOLS = {
    "plain": ((2, 3, 9, 7), {"kernel_shape": [2, 3]}),
    "strided": ((1, 3, 9, 7), {"kernel_shape": [3, 3], "strides": [2, 2]}),
    "padded": ((1, 3, 9, 7), {"kernel_shape": [3, 3], "strides": [2, 2],
                              "pads": [1, 1, 1, 1]}),
    "uneven": ((1, 3, 9, 7), {"kernel_shape": [4, 3], "pads": [3, 0, 1, 2]}),
    "ceil": ((1, 3, 8, 9), {"kernel_shape": [3, 3], "strides": [2, 3],
                            "ceil_mode": 1}),
    "ceil_padded": ((1, 2, 7, 7), {"kernel_shape": [2, 2], "strides": [3, 3],
                                   "pads": [1, 1, 1, 1], "ceil_mode": 1}),
    "same_upper": ((1, 2, 7, 8), {"kernel_shape": [3, 4], "strides": [2, 2],
                                  "auto_pad": "SAME_UPPER"}),
    "same_lower": ((1, 2, 7, 8), {"kernel_shape": [2, 4],
                                  "auto_pad": "SAME_LOWER"}),
    "valid": ((1, 2, 7, 8), {"kernel_shape": [2, 4], "auto_pad": "VALID"}),
    "line": ((2, 3, 11), {"kernel_shape": [3], "strides": [2]}),
    "volume": ((1, 2, 5, 4, 6), {"kernel_shape": [2, 2, 3],
                                 "pads": [1, 0, 1, 0, 1, 0]}),
    "kernel_one": ((1, 2, 5, 6), {"kernel_shape": [1, 1],
                                  "strides": [2, 2]}),
    "whole": ((1, 2, 5, 6), {"kernel_shape": [5, 6]}),
    "one": ((1, 1, 1, 1), {"kernel_shape": [1, 1]}),
}


def pools(random):
    for name, (shape, attributes) in POOLS.items():
        x = random.floats(shape)
        yield Case(f"MaxPool_{name}", "MaxPool", [x], attributes=attributes)
        yield Case(f"MaxPool_{name}_indices", "MaxPool", [x],
                   attributes=attributes, results=[np.float32, np.int64])
        for padding in [0, 1]:
            if padding and "ceil" in name:
                continue  # ONNX Runtime divides by more than the definition.
            yield Case(f"AveragePool_{name}_{padding}", "AveragePool", [x],
                       attributes=dict(attributes,
                                       count_include_pad=padding))
        if "ceil_mode" not in attributes:
            for p in [1, 2, 3]:
                yield Case(f"LpPool_{name}_{p}", "LpPool", [x],
                           attributes=dict(attributes, p=p))
    dilated = {"kernel_shape": [3, 2], "dilations": [2, 3],
               "strides": [1, 2], "pads": [2, 1, 1, 1]}
    x = random.floats((1, 2, 9, 8))
    yield Case("MaxPool_dilated", "MaxPool", [x], attributes=dilated,
               results=[np.float32, np.int64])
    yield Case("AveragePool_dilated", "AveragePool", [x], attributes=dilated,
               opset=19)
    yield Case("MaxPool_column_major", "MaxPool", [x],
               attributes={"kernel_shape": [2, 2], "storage_order": 1},
               results=[np.float32, np.int64])
    for dtype in [np.uint8, np.int8]:
        yield Case(f"MaxPool_{np.dtype(dtype)}", "MaxPool",
                   [random.integers((1, 2, 6, 7), dtype)],
                   attributes={"kernel_shape": [3, 3],
                               "pads": [1, 1, 1, 1]})


def global_pools(random):
    for op in ["GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"]:
        for i, shape in enumerate([(2, 3, 5, 7), (1, 4, 9), (1, 1, 1, 1),
                                   (1, 2, 3, 2, 5)]):
            yield Case(f"{op}_{i}", op, [random.floats(shape)])


def unpools(random):
    x = random.floats((1, 2, 2, 3))
    places = np.stack([
        np.sort(random.generator.permutation(24)[:6]) + 24 * channel
        for channel in range(2)]).reshape(x.shape).astype(np.int64)
    yield Case("MaxUnpool", "MaxUnpool", [x, places],
               attributes={"kernel_shape": [2, 2], "strides": [2, 2]})
