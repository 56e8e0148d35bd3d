# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that read and write at places computed while the model runs."""

import numpy as np
from operator_case import Case


def cases(random):
    yield from gathers(random)
    yield from scatters(random)
    yield from selections(random)
    yield from grids(random)
    yield from regions(random)


def gathers(random):
    x = random.floats((4, 5, 6))
    for axis in [0, 1, -1]:
        dim = x.shape[axis]
        for i, shape in enumerate([(3,), (2, 3), (), (0,), (1,)]):
            places = random.integers(shape, np.int64, -dim, dim - 1)
            yield Case(f"Gather_{axis}_{i}", "Gather", [x, places],
                       attributes={"axis": axis})
            yield Case(f"Gather_{axis}_{i}_known", "Gather", [x, places],
                       attributes={"axis": axis}, constants=[1])
        places = random.integers((3, 2, 6), np.int32, -dim, dim - 1)
        yield Case(f"GatherElements_{axis}", "GatherElements", [x, places],
                   attributes={"axis": axis})
    for depth in [1, 2, 3]:
        places = np.stack([random.integers((3, 2), np.int64, -d, d - 1)
                           for d in x.shape[:depth]], axis=-1)
        yield Case(f"GatherND_{depth}", "GatherND", [x, places])
    places = random.integers((4, 3, 1), np.int64, -5, 4)
    yield Case("GatherND_batch", "GatherND", [x, places],
               attributes={"batch_dims": 1})


def scatters(random):
    x = random.floats((4, 5, 6))
    for axis in [0, 1, -1]:
        dim = x.shape[axis]
        shape = [2, 3, 4]
        order = random.generator.permutation(dim)[:shape[axis]]
        along = [1, 1, 1]
        along[axis] = shape[axis]
        places = np.broadcast_to(order.reshape(along), shape)
        places = (places - dim * (places % 2)).astype(np.int64)
        inputs = [x, places, random.floats(shape)]
        yield Case(f"ScatterElements_{axis}", "ScatterElements", inputs,
                   attributes={"axis": axis})
        yield Case(f"Scatter_{axis}", "Scatter", inputs,
                   attributes={"axis": axis}, opset=9)
        places = random.integers(shape, np.int64, -dim, dim - 1)
        for how in ["add", "mul", "max", "min"]:
            yield Case(f"ScatterElements_{how}_{axis}", "ScatterElements",
                       [x, places, random.floats(shape)],
                       attributes={"axis": axis, "reduction": how}, opset=18)
    for depth in [1, 2, 3]:
        updates = (3,) + x.shape[depth:]
        places = np.stack([random.generator.permutation(d)[:3]
                           for d in x.shape[:depth]], axis=-1)
        yield Case(f"ScatterND_{depth}", "ScatterND",
                   [x, places, random.floats(updates)])
        places = np.stack([random.integers((3,), np.int64, -d, d - 1)
                           for d in x.shape[:depth]], axis=-1)
        for how in ["add", "mul", "max", "min"]:
            yield Case(f"ScatterND_{how}_{depth}", "ScatterND",
                       [x, places, random.floats(updates)],
                       attributes={"reduction": how}, opset=18,
                       reference="onnx")
    yield Case("ScatterND_integers", "ScatterND",
               [random.integers((5,), np.int32), np.array([[1], [-1]]),
                random.integers((2,), np.int32)])


def selections(random):
    for name, x in {"floats": random.floats((3, 7, 2)),
                    "ties": np.round(random.floats((3, 7, 2))),
                    "int64": random.integers((3, 7, 2), np.int64),
                    "int32": random.integers((3, 7, 2), np.int32, -3, 3)
                    }.items():
        for axis in [0, 1, -1]:
            for largest in [0, 1]:
                yield Case(f"TopK_{name}_{axis}_{largest}", "TopK",
                           [x, np.array([2], np.int64)],
                           attributes={"axis": axis, "largest": largest},
                           results=[x.dtype, np.int64], constants=[1])
    x = random.floats((5, 33))
    for k in [0, 1, 33]:
        yield Case(f"TopK_count_{k}", "TopK", [x, np.array([k], np.int64)],
                   results=[np.float32, np.int64], constants=[1])
    # Longer than a vector, and many that are equal.
    for k in [3, 83]:
        x = np.round(random.floats((4, 83)))
        yield Case(f"TopK_long_{k}", "TopK", [x, np.array([k], np.int64)],
                   results=[np.float32, np.int64], constants=[1])
    yield Case("TopK_infinite", "TopK",
               [np.array([1, -np.inf, np.inf, -0.0, 0.0, 3], np.float32),
                np.array([6], np.int64)],
               results=[np.float32, np.int64], constants=[1])


def grids(random):
    x = random.floats((2, 3, 5, 4))
    grid = random.floats((2, 3, 6, 2), low=-1.6, high=1.6)
    for mode in ["bilinear", "nearest", "bicubic"]:
        for padding in ["zeros", "border", "reflection"]:
            for corners in [0, 1]:
                yield Case(f"GridSample_{mode}_{padding}_{corners}",
                           "GridSample", [x, grid],
                           attributes={"mode": mode, "padding_mode": padding,
                                       "align_corners": corners})
    volume = random.floats((1, 2, 3, 4, 5))
    grid = random.floats((1, 2, 3, 2, 3), low=-1.6, high=1.6)
    for padding in ["zeros", "border", "reflection"]:
        yield Case(f"GridSample_volume_{padding}", "GridSample",
                   [volume, grid], attributes={"padding_mode": padding},
                   opset=20)
    for corners in [0, 1]:
        yield Case(f"AffineGrid_{corners}", "AffineGrid",
                   [random.floats((2, 2, 3)),
                    np.array([2, 3, 4, 5], np.int64)],
                   attributes={"align_corners": corners}, constants=[1],
                   opset=20)
        yield Case(f"AffineGrid_volume_{corners}", "AffineGrid",
                   [random.floats((1, 3, 4)),
                    np.array([1, 3, 2, 4, 5], np.int64)],
                   attributes={"align_corners": corners}, constants=[1],
                   opset=20)


def regions(random):
    x = random.floats((2, 3, 9, 7))
    corners = np.sort(random.floats((5, 2, 2), low=-4, high=30), axis=1)
    corners = corners.reshape(5, 4)
    batch = random.integers((5,), np.int64, 0, 1)
    for mode in ["avg", "max"]:
        for transform in ["half_pixel", "output_half_pixel"]:
            for ratio in [0, 2]:
                yield Case(f"RoiAlign_{mode}_{transform}_{ratio}", "RoiAlign",
                           [x, corners, batch], opset=16,
                           attributes={
                               "mode": mode, "sampling_ratio": ratio,
                               "spatial_scale": 0.3, "output_height": 3,
                               "output_width": 2,
                               "coordinate_transformation_mode": transform})
