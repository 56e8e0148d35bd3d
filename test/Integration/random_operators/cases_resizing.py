# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resize and Upsample: every mode with every way to place the samples."""

import numpy as np
from operator_case import Case

TRANSFORMS = ["half_pixel", "pytorch_half_pixel", "align_corners",
              "asymmetric"]


def cases(random):
    yield from nearest(random)
    yield from interpolated(random)
    yield from cropped(random)
    yield from upsampled(random)


def resize(name, x, scales=None, sizes=None, opset=13, roi=None,
           reference="onnxruntime", **attributes):
    inputs = [x, roi,
              None if scales is None else np.array(scales, np.float32),
              None if sizes is None else np.array(sizes, np.int64)]
    while inputs[-1] is None:
        inputs.pop()
    return Case(f"Resize_{name}", "Resize", inputs, attributes=attributes,
                opset=opset, constants=[1, 2, 3], reference=reference)


def nearest(random):
    x = random.floats((1, 2, 5, 6))
    for transform in TRANSFORMS:
        for rounding in ["round_prefer_floor", "round_prefer_ceil", "floor",
                         "ceil"]:
            for i, scales in enumerate([(1, 1, 2, 4), (1, 1, 0.5, 1.5)]):
                # ONNX Runtime rounds the size before it aligns the corners.
                yield resize(f"nearest_{transform}_{rounding}_{i}", x, scales,
                             mode="nearest", nearest_mode=rounding,
                             reference="onnx"
                             if transform == "align_corners" and i == 1
                             else "onnxruntime",
                             coordinate_transformation_mode=transform)
    for i, sizes in enumerate([(1, 2, 5, 6), (1, 2, 10, 3), (1, 2, 1, 1),
                               (1, 4, 7, 13)]):
        yield resize(f"nearest_sizes_{i}", x, sizes=sizes, mode="nearest",
                     coordinate_transformation_mode="asymmetric",
                     nearest_mode="floor")
    yield resize("nearest_integers", random.integers((1, 1, 3, 3), np.int32),
                 (1, 1, 2, 2), mode="nearest")


def interpolated(random):
    x = random.floats((1, 2, 5, 6))
    for mode in ["linear", "cubic"]:
        for transform in TRANSFORMS:
            for i, sizes in enumerate([(1, 2, 10, 9), (1, 2, 3, 4),
                                       (1, 2, 7, 6)]):
                yield resize(f"{mode}_{transform}_{i}", x, sizes=sizes,
                             mode=mode,
                             coordinate_transformation_mode=transform)
            yield resize(f"{mode}_{transform}_scales", x, (1, 1, 2, 1.5),
                         mode=mode, coordinate_transformation_mode=transform)
    for outside in [0, 1]:
        yield resize(f"cubic_outside_{outside}", x, (1, 1, 1.8, 0.8),
                     mode="cubic", exclude_outside=outside,
                     cubic_coeff_a=-0.5)
    yield resize("line", random.floats((2, 3, 7)), (1, 1, 2.5), mode="linear")
    yield resize("axes", x, (2, 0.5), mode="linear", axes=[3, 2], opset=18)
    for policy in ["not_larger", "not_smaller"]:
        yield resize(f"aspect_{policy}", x, sizes=(8, 15), mode="linear",
                     axes=[2, 3], keep_aspect_ratio_policy=policy, opset=18)


def cropped(random):
    roi = np.array([0, 0, 0.2, -0.3, 1, 1, 0.8, 1.2], np.float32)
    yield resize("cropped", random.floats((1, 2, 5, 6)), sizes=(1, 2, 4, 7),
                 roi=roi, mode="linear", extrapolation_value=9.0,
                 coordinate_transformation_mode="tf_crop_and_resize")


def upsampled(random):
    x = random.floats((1, 2, 3, 4))
    for mode in ["nearest", "linear"]:
        yield Case(f"Upsample_{mode}", "Upsample",
                   [x, np.array([1, 1, 2, 3], np.float32)],
                   attributes={"mode": mode}, opset=9, constants=[1])
        yield Case(f"Upsample_{mode}_attribute", "Upsample", [x],
                   attributes={"mode": mode, "scales": [1.0, 1.0, 2.0, 3.0]},
                   opset=7)
        yield Case(f"Resize_10_{mode}", "Resize",
                   [x, np.array([1, 1, 2, 0.5], np.float32)],
                   attributes={"mode": mode}, opset=10, constants=[1])
