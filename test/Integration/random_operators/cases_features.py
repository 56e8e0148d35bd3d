# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of ai.onnx.ml on tensors of numbers, beside ONNX Runtime."""

import numpy as np
from operator_case import Case


def case(name, op, inputs, **options):
    return Case(name, op, inputs, domain="ai.onnx.ml", **options)


def cases(random):
    yield from places(random)
    yield from per_feature(random)
    yield from linear(random)


def places(random):
    for i, shape in enumerate([(4, 5), (2, 3, 5), (5,)]):
        for dtype in (np.float32, np.int64):
            x = random.floats(shape, low=-9, high=9).astype(dtype)
            yield case(f"ArrayFeatureExtractor_{i}_{np.dtype(dtype)}",
                       "ArrayFeatureExtractor",
                       [x, np.array([3, 0, 1], np.int64)])
    for categories in ([3], [0, 5, -2]):
        x = random.integers((4, 2), np.int64, -2, 5)
        yield case(f"OneHotEncoder_{len(categories)}", "OneHotEncoder", [x],
                   attributes={"cats_int64s": categories, "zeros": 1},
                   results=[np.float32])


def per_feature(random):
    x = random.floats((4, 3))
    n = random.integers((4, 3), np.int64, -3, 3)
    for threshold in (0.0, 0.75):
        yield case(f"Binarizer_{threshold}", "Binarizer", [x],
                   attributes={"threshold": threshold})
    for i, count in enumerate((1, 3)):
        attributes = {"offset": [0.5, -1.0, 2.0][:count],
                      "scale": [0.3, 2.0, 1.5][:count]}
        for value in (x, n):
            yield case(f"Scaler_{count}_{value.dtype}", "Scaler", [value],
                       attributes=attributes, results=[np.float32])
        yield case(f"Imputer_{count}", "Imputer",
                   [np.where(x > 1, np.float32(np.nan), x)],
                   attributes={"imputed_value_floats": [4.0, 5.0, 6.0][:count],
                               "replaced_value_float": float("nan")})
        yield case(f"Imputer_ints_{count}", "Imputer", [n],
                   attributes={"imputed_value_int64s": [40, 50, 60][:count],
                               "replaced_value_int64": 1})
    zero = x.copy()
    zero[1] = 0
    for norm in ("MAX", "L1", "L2"):
        yield case(f"Normalizer_{norm}", "Normalizer", [zero],
                   attributes={"norm": norm}, results=[np.float32])


def linear(random):
    x = random.floats((5, 3))
    weights = [float(v) for v in random.floats((12,))]
    for transform in ("NONE", "SOFTMAX", "LOGISTIC"):
        yield case(f"LinearClassifier_{transform}", "LinearClassifier", [x],
                   attributes={"coefficients": weights,
                               "intercepts": [0.1, -0.2, 0.3, 0.4],
                               "classlabels_ints": [7, -1, 3, 2],
                               "multi_class": 1, "post_transform": transform},
                   results=[np.int64, np.float32])
    for targets in (1, 4):
        yield case(f"LinearRegressor_{targets}", "LinearRegressor", [x],
                   attributes={"coefficients": weights[:3 * targets],
                               "intercepts": [0.5, 1.0, -1.0, 2.0][:targets],
                               "targets": targets})
