# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, extremes' places, running sums and softmax."""

import numpy as np
from operator_case import Case

REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin",
              "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
              "ReduceLogSumExp", "ReduceSumSquare"]
# Shapes and axes, None for all.
EXTENTS = [((3, 5, 7), [1]), ((3, 5, 7), [0, 2]), ((3, 5, 7), [-1]),
           ((3, 5, 7), None), ((1, 4, 1), [0, -1]), ((9,), [0]), ((), None),
           ((2, 0, 3), [0]), ((130, 3), [0])]


def cumulative_product(x, axis, exclusive, reverse):
    if reverse:
        x = np.flip(x, axis)
    result = np.cumprod(x, axis, dtype=x.dtype)
    if exclusive:
        result = np.roll(result, 1, axis)
        np.moveaxis(result, axis, 0)[0] = 1
    return np.flip(result, axis) if reverse else result


def cumulative_cases(random):
    for exclusive in (0, 1):
        for reverse in (0, 1):
            for dtype in (np.float32, np.int64):
                for shape, axis in [((3, 5, 7), 1), ((9,), -1), ((4, 1), 0)]:
                    x = random.integers(shape, dtype, -3, 3) if dtype \
                        is np.int64 else random.floats(shape, dtype)
                    yield Case(
                        f"CumProd_{np.dtype(dtype)}_{len(shape)}"
                        f"_{exclusive}{reverse}", "CumProd",
                        [x, np.array(axis, np.int64)], constants=[1],
                        attributes={"exclusive": exclusive,
                                    "reverse": reverse}, opset=26,
                        reference=lambda x, axis, e=exclusive, r=reverse:
                        cumulative_product(x, int(axis), e, r))


def cases(random):
    yield from cumulative_cases(random)
    for op in REDUCTIONS:
        yield from reductions(random, op)
    yield from places(random)
    yield from running(random)
    yield from softmaxes(random)


def reductions(random, op):
    low = 0.5 if "Log" in op and "Exp" not in op else -2
    for i, (shape, axes) in enumerate(EXTENTS):
        x = random.floats(shape, low=low, high=2)
        for keep in [0, 1]:
            # The axes became an operand: at 13 for the sum, at 18 for others.
            attributes = {"keepdims": keep}
            opset = 18
            inputs, constants = [x], []
            if (i + keep) % 2 and op != "ReduceSum":
                opset = 13
                if axes:
                    attributes["axes"] = axes
            elif axes:
                inputs.append(np.array(axes, np.int64))
                constants = [1]
            yield Case(f"{op}_{i}_{keep}", op, inputs, opset=opset,
                       attributes=attributes, constants=constants)
    x = random.floats((3, 5), low=0.5)
    yield Case(f"{op}_noop", op, [x, np.array([], np.int64)], opset=18,
               attributes={"noop_with_empty_axes": 1}, constants=[1],
               reference=noop(op))
    for dtype in [np.int32, np.int64]:
        yield Case(f"{op}_{np.dtype(dtype)}", op,
                   [random.integers((4, 6), dtype, 1, 9)], opset=13,
                   attributes={"axes": [1]} if op != "ReduceSum" else {},
                   reference=integers(op))
    # Sums of narrow floats are kept in a wider type.
    if op in ["ReduceSum", "ReduceMean"]:
        x = random.floats((2, 3000), np.float16, 0, 1)
        wide = np.sum if op == "ReduceSum" else np.mean
        yield Case(f"{op}_float16", op, [x, np.array([1], np.int64)], opset=18,
                   constants=[1], reference=lambda x, _: wide(
                       x.astype(np.float64), 1, keepdims=True
                   ).astype(np.float16))
    if op in ["ReduceMax", "ReduceMin"]:
        extreme = np.max if op == "ReduceMax" else np.min
        x = random.floats((3, 7))
        x[1, 3] = np.nan
        yield Case(f"{op}_nan", op, [x], opset=13, attributes={"axes": [1]},
                   reference=lambda x: extreme(x, 1, keepdims=True))
        for dtype in [np.int8, np.uint8]:
            yield Case(f"{op}_{np.dtype(dtype)}", op,
                       [random.integers((5, 9), dtype)], opset=13,
                       attributes={"axes": [0]},
                       reference=lambda x: extreme(x, 0, keepdims=True))
        yield Case(f"{op}_bool", op, [random.booleans((5, 2))], opset=20,
                   attributes={"keepdims": 0},
                   reference=lambda x: np.asarray(extreme(x)))
        worst = -np.inf if op == "ReduceMax" else np.inf
        yield Case(f"{op}_empty", op, [random.floats((2, 0)),
                                       np.array([1], np.int64)], opset=20,
                   constants=[1], reference=lambda x, _: np.full(
                       (2, 1), worst, np.float32))
    if op == "ReduceLogSumExp":
        yield Case(f"{op}_large", op,
                   [np.array([[900, 901], [-900, -901], [-np.inf, -np.inf],
                              [np.inf, 0]], np.float32)], opset=13,
                   attributes={"axes": [1], "keepdims": 0},
                   reference=lambda x: np.logaddexp(x[:, 0], x[:, 1]))


def noop(op):
    maps = {"ReduceSumSquare": np.square, "ReduceLogSum": np.log,
            "ReduceL1": np.abs, "ReduceL2": np.abs}
    return lambda x, _: maps.get(op, np.asarray)(x)


def integers(op):
    axis = None if op == "ReduceSum" else 1
    functions = {
        "ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max,
        "ReduceMin": np.min, "ReduceProd": np.prod, "ReduceL1": np.sum,
        "ReduceL2": lambda x, a, keepdims: np.sqrt(
            np.sum(x * x, a, keepdims=keepdims)),
        "ReduceLogSum": lambda x, a, keepdims: np.log(
            np.sum(x, a, keepdims=keepdims)),
        "ReduceLogSumExp": lambda x, a, keepdims: np.log(
            np.sum(np.exp(x), a, keepdims=keepdims)),
        "ReduceSumSquare": lambda x, a, keepdims: np.sum(
            x * x, a, keepdims=keepdims)}
    return lambda x: functions[op](x, axis, keepdims=True).astype(x.dtype)


def places(random):
    for op in ["ArgMax", "ArgMin"]:
        for i, (shape, axis) in enumerate([((3, 5, 7), 1), ((3, 5, 7), -1),
                                           ((9,), 0), ((1, 4), 0),
                                           ((0, 4), 1)]):
            for last in [0, 1]:
                # Rounded, so that there are equal elements.
                x = np.round(random.floats(shape))
                yield Case(f"{op}_{i}_{last}", op, [x], results=[np.int64],
                           attributes={"axis": axis, "keepdims": i % 2,
                                       "select_last_index": last},
                           reference="onnx")
        # Longer than a vector, with an end that is part of one. Zeros are
        # equal, and NaNs, of either sign, are more extreme than infinity.
        for axis in [0, 1]:
            x = np.round(random.floats((41, 83)))
            x[x == 0] *= random.generator.choice([-1, 1], (x == 0).sum())
            x[3, 5] = x[40, 82] = -np.inf if op == "ArgMin" else np.inf
            x[7, 9], x[7, 70], x[30, 9] = -np.nan, np.nan, np.nan
            for last in [0, 1]:
                yield Case(f"{op}_nan_{axis}_{last}", op, [x],
                           results=[np.int64], reference="onnx",
                           attributes={"axis": axis,
                                       "select_last_index": last})
        for dtype in [np.int8, np.uint8, np.int32, np.uint32, np.int64,
                      np.uint64]:
            yield Case(f"{op}_{np.dtype(dtype)}", op,
                       [random.integers((5, 9), dtype)], results=[np.int64],
                       attributes={"axis": 1}, reference="onnx")
        yield Case(f"{op}_nan", op,
                   [np.array([[1, np.nan, 3, np.nan], [4, 3, 2, 1],
                              [-np.inf] * 4, [np.inf] * 4], np.float32)],
                   results=[np.int64], attributes={"axis": 1},
                   reference="onnx")


def running(random):
    n = 0
    for reverse in [0, 1]:
        for exclusive in [0, 1]:
            for shape, axis in [((3, 5, 7), 1), ((33,), 0), ((2, 1), -1),
                                ((0, 3), 0), ((3, 0), 0)]:
                x = random.floats(shape)
                yield Case(f"CumSum_{n}", "CumSum",
                           [x, np.array(axis, np.int64)], constants=[1],
                           attributes={"reverse": reverse,
                                       "exclusive": exclusive})
                n += 1
    yield Case("CumSum_int32", "CumSum",
               [random.integers((4, 9), np.int32), np.array(1, np.int32)],
               constants=[1])


def softmaxes(random):
    for op in ["Softmax", "LogSoftmax", "Hardmax"]:
        n = 0
        for opset in [11, 13]:
            for shape, axis in [((3, 5, 7), 1), ((3, 5, 7), -1), ((9,), 0),
                                ((3, 5, 7), 0), ((2, 1), 1), ((0, 3), 1)]:
                yield Case(f"{op}_{n}", op, [random.floats(shape)],
                           opset=opset, attributes={"axis": axis})
                n += 1
        yield Case(f"{op}_default_11", op, [random.floats((2, 3, 4))],
                   opset=11)
        yield Case(f"{op}_default_13", op, [random.floats((2, 3, 4))],
                   opset=13)
        yield Case(f"{op}_large", op,
                   [random.floats((3, 7), low=-1e4, high=1e4)])
        ties = np.array([[1, 1, 0], [0, 2, 2]], np.float32)
        yield Case(f"{op}_ties", op, [ties])
