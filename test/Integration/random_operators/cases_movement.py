# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that move elements to places known at compile time."""

import numpy as np
from operator_case import Case


def cases(random):
    yield from views(random)
    yield from slices(random)
    yield from joins(random)
    yield from copies(random)
    yield from pads(random)
    yield from rearrangements(random)
    yield from constants(random)


def longs(*values):
    return np.array(values, np.int64)


def views(random):
    x = random.floats((3, 4, 5))
    for i, shape in enumerate([(60,), (5, -1), (0, 20), (-1, 0, 3),
                               (3, 2, 2, 5), (1, 3, 1, 4, 5), (4, 3, 5),
                               (2, 30), (0, 0, 0)]):
        yield Case(f"Reshape_{i}", "Reshape", [x, longs(*shape)],
                   constants=[1])
    yield Case("Reshape_empty", "Reshape",
               [random.floats((2, 0, 3)), longs(3, 0)],
               attributes={"allowzero": 1}, constants=[1])
    yield Case("Reshape_scalar", "Reshape",
               [random.floats((1, 1)), longs()], constants=[1])
    yield Case("Reshape_from_scalar", "Reshape",
               [random.floats(()), longs(1, -1)], constants=[1])
    for axis in [-3, -1, 0, 1, 3]:
        yield Case(f"Flatten_{axis}", "Flatten", [x],
                   attributes={"axis": axis})
    thin = random.floats((1, 3, 1, 5, 1))
    for i, axes in enumerate([(0,), (-1,), (2, 0), (-3, 4)]):
        yield Case(f"Squeeze_{i}", "Squeeze", [thin, longs(*axes)],
                   constants=[1])
        yield Case(f"Squeeze_{i}_attribute", "Squeeze", [thin],
                   attributes={"axes": axes}, opset=11)
    for i, axes in enumerate([(0,), (-1,), (2, 0), (-3, 5), (3, 1, -1)]):
        yield Case(f"Unsqueeze_{i}", "Unsqueeze", [thin, longs(*axes)],
                   constants=[1])
    yield Case("Squeeze_all", "Squeeze", [thin])


def slices(random):
    x = random.floats((5, 7, 4))
    last, first = 2 ** 63 - 1, -2 ** 63
    for i, (starts, ends, axes, steps) in enumerate([
            ((1,), (4,), None, None), ((1, 2), (4, -1), (0, 1), None),
            ((-3,), (last,), (1,), (2,)), ((last,), (first,), (1,), (-1,)),
            ((-1, 5), (first, 0), (0, 1), (-2, -3)),
            ((4,), (2,), (0,), (1,)), ((100,), (-100,), (-1,), (-1,)),
            ((0, 0, 0), (5, 7, 4), None, (1, 3, 1)),
            ((0,), (7,), (1,), (last,)), ((6,), (first,), (1,), (-last,)),
            # Some axes forwards, one element of them or more, one backwards.
            ((0, 5), (3, 0), (0, 1), (1, -2)),
            ((0, 2), (first, first), (0, 2), (-1, -1)),
            ((-1, 3, 3), (last, first, 0), (0, 1, 2), (1, -1, -1))]):
        inputs = [x, longs(*starts), longs(*ends),
                  None if axes is None else longs(*axes),
                  None if steps is None else longs(*steps)]
        while inputs[-1] is None:
            inputs.pop()
        yield Case(f"Slice_{i}", "Slice", inputs, constants=[1, 2, 3, 4])
    yield Case("Slice_attributes", "Slice", [x],
               attributes={"starts": [1, -3], "ends": [100, -1],
                           "axes": [0, 2]}, opset=9)
    for i, (sizes, axis) in enumerate([((2, 3), 0), ((1, 1, 5), 1),
                                       ((0, 4), -1)]):
        yield Case(f"Split_{i}", "Split", [x, longs(*sizes)],
                   attributes={"axis": axis}, constants=[1],
                   results=[np.float32] * len(sizes))
        yield Case(f"Split_{i}_attribute", "Split", [x],
                   attributes={"axis": axis, "split": sizes}, opset=11,
                   results=[np.float32] * len(sizes))
    yield Case("Split_equal", "Split", [x], attributes={"axis": 2},
               results=[np.float32] * 2)
    yield Case("Split_uneven", "Split", [x],
               attributes={"axis": 1, "num_outputs": 3}, opset=18,
               results=[np.float32] * 3)


def joins(random):
    for i, (shapes, axis) in enumerate([
            ([(2, 3), (4, 3)], 0), ([(2, 3), (2, 1), (2, 5)], -1),
            ([(2, 0, 3), (2, 4, 3)], 1), ([(5,)], 0),
            ([(0, 3), (0, 3)], 0)]):
        yield Case(f"Concat_{i}", "Concat",
                   [random.floats(shape) for shape in shapes],
                   attributes={"axis": axis})


def copies(random):
    for i, (shape, to) in enumerate([
            ((3, 1), (2, 1, 6)), ((1,), (4, 5)), ((), (2, 3)),
            ((3, 4), (1, 1)), ((2, 1, 3), (0, 3)), ((1, 5), (3, 1))]):
        yield Case(f"Expand_{i}", "Expand", [random.floats(shape), longs(*to)],
                   constants=[1])
    for i, (shape, repeats) in enumerate([
            ((2, 3), (2, 2)), ((3,), (1,)), ((1, 4, 2), (3, 1, 2)),
            ((2, 3), (0, 2)), ((5,), (7,))]):
        yield Case(f"Tile_{i}", "Tile", [random.floats(shape),
                                         longs(*repeats)], constants=[1])
    x = random.floats((2, 3, 4, 5))
    for i, order in enumerate([(0, 2, 3, 1), (3, 2, 1, 0), (1, 0, 2, 3),
                               (0, 1, 3, 2), (0, 1, 2, 3)]):
        yield Case(f"Transpose_{i}", "Transpose", [x],
                   attributes={"perm": order})
    yield Case("Transpose", "Transpose", [x])
    yield Case("Transpose_empty", "Transpose", [random.floats((2, 0, 3))])


def pads(random):
    x = random.floats((3, 4, 5))
    amounts = {"around": (1, 0, 2, 0, 3, 1), "cropped": (-1, 1, 0, 1, -2, 2),
               "far": (0, 2, 3, 0, 3, 4)}
    for name, pad in amounts.items():
        for mode in ["constant", "edge", "reflect", "wrap"]:
            if mode == "wrap" and name == "cropped":
                continue
            yield Case(f"Pad_{mode}_{name}", "Pad",
                       [x, longs(*pad)] + [np.float32(2.5)] *
                       (mode == "constant"),
                       attributes={"mode": mode}, constants=[1],
                       opset=19 if mode == "wrap" else 13)
    yield Case("Pad_axes", "Pad",
               [x, longs(1, 2, 0, 1), np.float32(-1), longs(-1, 0)],
               constants=[1, 3], opset=18)
    yield Case("Pad_attributes", "Pad", [x],
               attributes={"pads": [0, 1, 0, 2, 0, 1], "value": 1.5},
               opset=10)
    yield Case("Pad_integers", "Pad",
               [random.integers((3, 2), np.int32), longs(1, 0, 0, 2)],
               constants=[1])
    for i, (shape, axes) in enumerate([((5, 2, 5), None), ((3, 7), (1, 2)),
                                       ((1, 9), (-1, 0))]):
        attributes = {} if axes is None else {"axes": axes}
        yield Case(f"CenterCropPad_{i}", "CenterCropPad", [x, longs(*shape)],
                   attributes=attributes, constants=[1], opset=18,
                   reference="onnx")


def rearrangements(random):
    x = random.floats((2, 12, 3, 5))
    for mode in ["DCR", "CRD"]:
        yield Case(f"DepthToSpace_{mode}", "DepthToSpace", [x],
                   attributes={"blocksize": 2, "mode": mode})
    yield Case("SpaceToDepth", "SpaceToDepth", [random.floats((2, 3, 4, 6))],
               attributes={"blocksize": 2})
    lengths = longs(3, 1, 4)
    yield Case("ReverseSequence_time", "ReverseSequence",
               [random.floats((4, 3, 2)), lengths])
    yield Case("ReverseSequence_batch", "ReverseSequence",
               [random.floats((3, 4)), lengths],
               attributes={"batch_axis": 0, "time_axis": 1})
    for upper in [0, 1]:
        for k in [None, 0, 2, -1, -9, 9, 2 ** 63 - 1]:
            inputs = [random.floats((2, 4, 5))]
            if k is not None:
                inputs.append(np.array(k, np.int64))
            yield Case(f"Trilu_{upper}_{k}", "Trilu", inputs,
                       attributes={"upper": upper},
                       reference="onnx" if k and abs(k) > 100 else
                       "onnxruntime")
    values = random.floats((2,))
    for axis in [-1, 0, 1]:
        yield Case(f"OneHot_{axis}", "OneHot",
                   [np.array([[0, -1, 3], [7, -5, 2]], np.int64),
                    np.array(5, np.int64), values],
                   attributes={"axis": axis}, results=[np.float32],
                   constants=[1])


def constants(random):
    x = random.floats((3, 4))
    for k in [0, 1, -2, 7]:
        yield Case(f"EyeLike_{k}", "EyeLike", [x], attributes={"k": k})
    for i, (start, end) in enumerate([(0, 2), (1, None), (-1, 9), (-9, -1),
                                      (2, 1)]):
        attributes = {"start": start}
        if end is not None:
            attributes["end"] = end
        yield Case(f"Shape_{i}", "Shape", [random.floats((3, 0, 5))],
                   attributes=attributes, results=[np.int64])
    yield Case("Size", "Size", [x], results=[np.int64])
    for i, (start, limit, delta) in enumerate([(0, 7, 2), (5, -4, -3),
                                               (3, 3, 1), (2, 1, 1)]):
        for dtype in [np.int32, np.int64, np.float32]:
            yield Case(f"Range_{i}_{np.dtype(dtype)}", "Range",
                       [dtype(start), dtype(limit), dtype(delta)],
                       constants=[0, 1, 2])
    flags = random.booleans((4,))
    yield Case("Compress", "Compress", [x, flags], attributes={"axis": 1},
               constants=[1])
    yield Case("Compress_flat", "Compress", [x, random.booleans((9,))],
               constants=[1])
