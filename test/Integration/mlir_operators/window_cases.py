# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""linalg's named convolutions and poolings in every layout, beside NumPy.

The letters of an operator's name say how its operands lie: n the batch, g
groups, c channels, f filters, m multipliers, and d, h, w the places.
"""

import numpy as np

SIZES = {"n": 2, "g": 2, "c": 3, "f": 4, "m": 2, "d": 5, "h": 7, "w": 6}
KERNEL = {"d": 2, "h": 3, "w": 2}
PLACES = "dhw"

# Operator: letters of the input, the filter and the result.
CONVOLUTIONS = {
    "conv_1d": "w w w", "conv_2d": "hw hw hw", "conv_3d": "dhw dhw dhw",
    "conv_1d_nwc_wcf": "nwc wcf nwf", "conv_1d_ncw_fcw": "ncw fcw nfw",
    "conv_2d_nhwc_hwcf": "nhwc hwcf nhwf",
    "conv_2d_nhwc_fhwc": "nhwc fhwc nhwf",
    "conv_2d_nchw_fchw": "nchw fchw nfhw",
    "conv_2d_ngchw_fgchw": "ngchw fgchw ngfhw",
    "conv_2d_ngchw_gfchw": "ngchw gfchw ngfhw",
    "conv_2d_nhwgc_gfhwc": "nhwgc gfhwc nhwgf",
    "conv_3d_ndhwc_dhwcf": "ndhwc dhwcf ndhwf",
    "conv_3d_ncdhw_fcdhw": "ncdhw fcdhw nfdhw",
    "depthwise_conv_1d_nwc_wc": "nwc wc nwc",
    "depthwise_conv_1d_ncw_cw": "ncw cw ncw",
    "depthwise_conv_1d_nwc_wcm": "nwc wcm nwcm",
    "depthwise_conv_2d_nhwc_hwc": "nhwc hwc nhwc",
    "depthwise_conv_2d_nchw_chw": "nchw chw nchw",
    "depthwise_conv_2d_nhwc_hwcm": "nhwc hwcm nhwcm",
    "depthwise_conv_3d_ndhwc_dhwc": "ndhwc dhwc ndhwc",
    "depthwise_conv_3d_ncdhw_cdhw": "ncdhw cdhw ncdhw",
    "depthwise_conv_3d_ndhwc_dhwcm": "ndhwc dhwcm ndhwcm",
}
# With zero points of both operands behind them, on 8 bits.
QUANTIZED = {
    "conv_2d_nhwc_hwcf_q": "nhwc hwcf nhwf",
    "conv_2d_nhwc_fhwc_q": "nhwc fhwc nhwf",
    "conv_2d_nchw_fchw_q": "nchw fchw nfhw",
    "conv_2d_nhwgc_gfhwc_q": "nhwgc gfhwc nhwgf",
    "conv_2d_ngchw_gfchw_q": "ngchw gfchw ngfhw",
    "conv_3d_ndhwc_dhwcf_q": "ndhwc dhwcf ndhwf",
    "depthwise_conv_2d_nhwc_hwc_q": "nhwc hwc nhwc",
    "depthwise_conv_2d_nhwc_hwcm_q": "nhwc hwcm nhwcm",
}
POOLINGS = {"sum": ["nhwc", "nchw", "nwc", "ncw", "ndhwc"],
            "max": ["nhwc", "nchw", "nwc", "ncw", "ndhwc"],
            "min": ["nhwc", "nwc", "ndhwc"],
            "max_unsigned": ["nhwc", "nwc"], "min_unsigned": ["nhwc", "nwc"]}


def shape(letters, places):
    return tuple(places.get(k) or SIZES[k] for k in letters)


def attributes(letters, op):
    count = sum(k in PLACES for k in letters)
    if op in ("conv_1d", "conv_2d", "conv_3d"):
        return ""
    one = f"dense<1> : tensor<{count}xi64>"
    return f"{{dilations = {one}, strides = {one}}}"


def windows(x, letters):
    """The places of a result, and what of the input each sees."""
    axes = [k for k in letters if k in PLACES]
    counts = [x.shape[letters.index(k)] - KERNEL[k] + 1 for k in axes]
    for at in np.ndindex(*counts):
        cut = [slice(None)] * x.ndim
        for k, start in zip(axes, at):
            cut[letters.index(k)] = slice(start, start + KERNEL[k])
        yield dict(zip(axes, at)), x[tuple(cut)]


def at_places(letters, places):
    return tuple(places.get(k, slice(None)) for k in letters)


def convolve(x, w, forms):
    given, filters, made = forms.split()
    sizes = {k: SIZES[k] - KERNEL[k] + 1 for k in made if k in PLACES}
    rest = "".join(k for k in made if k not in PLACES)
    result = np.zeros(shape(made, sizes), np.float64)
    for places, part in windows(x.astype(np.float64), given):
        result[at_places(made, places)] = np.einsum(
            f"{given},{filters}->{rest}", part, w.astype(np.float64))
    return result


def cases(random):
    """(name, operator, inputs, attributes, expected, start of the result)."""
    real = lambda *s: random.uniform(-2, 2, s).astype(  # noqa: E731
        np.float32)
    for op, forms in CONVOLUTIONS.items():
        given, filters, _ = forms.split()
        x, w = real(*shape(given, {})), real(*shape(filters, KERNEL))
        yield (op, op, [x, w], attributes(given, op),
               convolve(x, w, forms).astype(np.float32), 0.0)
    for op, forms in QUANTIZED.items():
        given, filters, _ = forms.split()
        x, w = (random.integers(-128, 128, s).astype(np.int8)
                for s in (shape(given, {}), shape(filters, KERNEL)))
        y = convolve(x.astype(np.int32) - 3, w.astype(np.int32) + 4, forms)
        yield (op, op, [x, w, np.int32(3), np.int32(-4)],
               attributes(given, op), y.astype(np.int32), 0)
    for kind, layouts in POOLINGS.items():
        for letters in layouts:
            op = f"pooling_{letters}_{kind}"
            x = real(*shape(letters, {}))
            if "unsigned" in kind:
                x = random.integers(-128, 128, x.shape).astype(np.int8)
            yield pooling(op, kind, x, letters)


def pooling(op, kind, x, letters):
    fold = {"sum": np.sum, "max": np.max, "min": np.min}[kind[:3]]
    axes = tuple(i for i, k in enumerate(letters) if k in PLACES)
    counted = x.view(np.uint8) if x.dtype == np.int8 else x
    sizes = {k: SIZES[k] - KERNEL[k] + 1 for k in letters if k in PLACES}
    result = np.zeros(shape(letters, sizes), counted.dtype)
    for places, part in windows(counted, letters):
        result[at_places(letters, places)] = fold(part, axes)
    start = {"sum": 0.0, "max": -3e38, "min": 3e38}[kind[:3]]
    if x.dtype == np.int8:
        result, start = result.view(np.int8), {"max": 0, "min": -1}[kind[:3]]
    window = np.zeros([KERNEL[letters[i]] for i in axes], x.dtype)
    return op, op, [x, window], attributes(letters, op), result, start
