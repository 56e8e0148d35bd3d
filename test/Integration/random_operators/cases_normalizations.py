# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalizations and losses."""

import numpy as np
from operator_case import Case


def cases(random):
    yield from by_channel(random)
    yield from by_axis(random)
    yield from losses(random)


def by_channel(random):
    for i, shape in enumerate([(2, 3, 5, 7), (1, 4, 9), (3, 5), (2, 1, 4),
                               (0, 3, 2), (2, 3, 2, 2, 3)]):
        c = shape[1]
        yield Case(f"BatchNormalization_{i}", "BatchNormalization",
                   [random.floats(shape), random.floats((c,)),
                    random.floats((c,)), random.floats((c,)),
                    random.floats((c,), low=0.1)],
                   opset=[9, 14, 15][i % 3],
                   attributes={"epsilon": 1e-3} if i % 2 else {})
        if len(shape) < 3 or 0 in shape:
            continue
        yield Case(f"InstanceNormalization_{i}", "InstanceNormalization",
                   [random.floats(shape), random.floats((c,)),
                    random.floats((c,))])
        yield Case(f"LRN_{i}", "LRN", [random.floats(shape)],
                   attributes={"size": [3, 4, 1, 9][i % 4], "alpha": 0.3,
                               "beta": 0.6, "bias": 1.5},
                   reference=lambda x, size=[3, 4, 1, 9][i % 4]: lrn(x, size))
    for i, (shape, groups) in enumerate([((2, 6, 3, 5), 3), ((1, 4, 7), 1),
                                         ((3, 4, 19), 4)]):
        c = shape[1]
        yield Case(f"GroupNormalization_{i}", "GroupNormalization",
                   [random.floats(shape), random.floats((c,)),
                    random.floats((c,))], opset=21,
                   attributes={"num_groups": groups})
        yield Case(f"GroupNormalization_old_{i}", "GroupNormalization",
                   [random.floats(shape), random.floats((groups,)),
                    random.floats((groups,))], opset=18,
                   attributes={"num_groups": groups})


def lrn(x, size):
    """The reference of the onnx package mistakes the batch for channels."""
    squares = np.zeros_like(x)
    for c in range(x.shape[1]):
        first = max(0, c - (size - 1) // 2)
        squares[:, c] = np.sum(x[:, first:c + size // 2 + 1] ** 2, axis=1)
    return x / (1.5 + 0.3 / size * squares) ** 0.6


def by_axis(random):
    for i, (shape, axis) in enumerate([((2, 3, 7), -1), ((2, 3, 7), 1),
                                       ((5, 33), 0), ((4, 1), 1),
                                       ((2, 3, 4, 5), -2), ((0, 4), -1)]):
        tail = shape[axis:]
        x = random.floats(shape, low=9, high=12)
        yield Case(f"LayerNormalization_{i}", "LayerNormalization",
                   [x, random.floats(tail)] +
                   ([random.floats(tail)] if i % 2 else []),
                   attributes={"axis": axis})
        if 0 not in shape:
            yield Case(f"LayerNormalization_all_{i}", "LayerNormalization",
                       [random.floats(shape), random.floats(tail),
                        random.floats(tail)], attributes={"axis": axis},
                       results=[np.float32] * 3)
        yield Case(f"RMSNormalization_{i}", "RMSNormalization",
                   [random.floats(shape), random.floats(tail)], opset=23,
                   attributes={"axis": axis}, reference="onnx")
        for p in [1, 2]:
            x = random.floats(shape)
            x[..., 0] = 0
            yield Case(f"LpNormalization_{i}_{p}", "LpNormalization", [x],
                       attributes={"axis": axis, "p": p},
                       reference=lambda x, a=axis, p=p: lp(x, a, p))
    x = random.floats((2, 3, 4, 5))
    yield Case("MeanVarianceNormalization", "MeanVarianceNormalization", [x],
               reference="onnx")
    yield Case("MeanVarianceNormalization_axes", "MeanVarianceNormalization",
               [x], attributes={"axes": [1, -1]}, reference="onnx")


def lp(x, axis, p):
    norm = (np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p)
    return np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm)
                    ).astype(x.dtype)


def losses(random):
    n = 0
    for op in ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"]:
        for shape in [(5, 4), (2, 3, 5), (2, 3, 2, 4)]:
            for reduction in ["none", "sum", "mean"]:
                for weighted in [False, True]:
                    ignore = {"ignore_index": [-1, 1, 77][n % 3]} if n % 2 \
                        else {}
                    label_shape = shape[:1] + shape[2:]
                    labels = random.integers(label_shape, np.int64, 0,
                                             shape[1] - 1)
                    if ignore:
                        labels.reshape(-1)[0] = ignore["ignore_index"]
                    inputs = [random.floats(shape), labels]
                    if weighted:
                        inputs.append(random.floats((shape[1],), low=0.1))
                    if n % 3 == 0:
                        inputs[1] = labels.astype(np.int32)
                    yield Case(f"{op}_{n}", op, inputs,
                               attributes={"reduction": reduction, **ignore})
                    n += 1
    yield Case("SoftmaxCrossEntropyLoss_both", "SoftmaxCrossEntropyLoss",
               [random.floats((3, 4)), np.array([1, 0, 3], np.int64)],
               results=[np.float32] * 2)
