# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose sizes depend on data: name, text, and inputs for each run."""

import numpy as np

RANDOM = np.random.default_rng(9)
OPSET = '<ir_version: 8, opset_import: ["" : 17]>\n'
CASES = []


def case(name, text, runs):
    CASES.append((name, OPSET + text, runs))


def sparse(*shape, share=0.4):
    values = RANDOM.standard_normal(shape).astype(np.float32)
    return np.where(RANDOM.random(shape) < share, values, 0).astype(np.float32)


def f32(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def mask(*shape):
    return RANDOM.random(shape) < 0.5


# The size is not the outermost one, so the result is put together.
case("nonzero", "g (float[3,4,5] x) => (int64[3,n] y) { y = NonZero(x) }",
     [{"x": sparse(3, 4, 5, share=s)} for s in (0.0, 0.1, 0.5, 1.0)])
case("nonzero_bool", "g (bool[7] x) => (int64[1,n] y) { y = NonZero(x) }",
     [{"x": mask(7)} for _ in range(3)])
case("nonzero_transposed",
     "g (float[4,6] x) => (int64[n,2] y) { a = NonZero(x) y = Transpose(a) }",
     [{"x": sparse(4, 6)} for _ in range(3)])
case("nonzero_values", """
g (float[4,6] x) => (float[n] y, int64[2] s) {
  a = NonZero(x)
  p = Transpose(a)
  v = GatherND(x, p)
  y = Exp(v)
  s = Shape(p)
}
""", [{"x": sparse(4, 6)} for _ in range(3)])
case("compress", """
g (float[5,3] x, bool[5] c) => (float[n,3] y) { y = Compress<axis = 0>(x, c) }
""", [{"x": f32(5, 3), "c": c} for c in
      (mask(5), np.zeros(5, bool), np.ones(5, bool))])
case("compress_inner", """
g (float[4,6] x, bool[5] c) => (float[4,n] y) {
  k = Compress<axis = 1>(x, c)
  y = Neg(k)
}
""", [{"x": f32(4, 6), "c": mask(5)} for _ in range(3)])
case("compress_flat", """
g (float[4,6] x, bool[20] c) => (float[n] y, float[n] z) {
  y = Compress(x, c)
  w = Mul(y, y)
  z = Add(w, y)
}
""", [{"x": f32(4, 6), "c": mask(20)} for _ in range(3)])
case("gathered", """
g (float[9,2] x, bool[9] c, int64[9] i) => (float[n,2] y) {
  k = Compress<axis = 0>(i, c)
  y = Gather(x, k)
}
""", [{"x": f32(9, 2), "c": mask(9), "i": RANDOM.integers(-9, 9, 9)}
      for _ in range(3)])


def few(*shape):
    """Of few values, so that some are equal."""
    return RANDOM.integers(-2, 3, shape).astype(np.float32)


case("unique", """
g (float[17] x) => (float[n] y, int64[n] f, int64[17] i, int64[n] c) {
  y, f, i, c = Unique(x)
}
""", [{"x": x} for x in (few(17), few(17), np.zeros(17, np.float32), f32(17))])
case("unique_unsorted", """
g (float[3,5] x) => (float[n] y, int64[n] f, int64[15] i, int64[n] c) {
  y, f, i, c = Unique<sorted = 0>(x)
}
""", [{"x": few(3, 5)} for _ in range(3)])
for axis in (0, 1, -1):
    case(f"unique_slices_{axis}", f"""
g (float[4,5,2] x) => (float y, int64[n] f, int64[k] i, int64[n] c) {{
  y, f, i, c = Unique<axis = {axis}>(x)
}}
""".replace("float y", ["float[n,5,2] y", "float[4,n,2] y",
                        "float[4,5,n] y"][axis]),
         [{"x": few(4, 5, 2) // 2} for _ in range(3)])
case("unique_gathered", """
g (int64[9] i, float[6,2] x) => (float[n,2] y) {
  k = Unique(i)
  y = Gather(x, k)
}
""", [{"i": RANDOM.integers(0, 6, 9), "x": f32(6, 2)} for _ in range(3)])


def boxes(batches, count):
    low = RANDOM.random((batches, count, 2)) * 3
    return np.concatenate(
        [low, low + RANDOM.random((batches, count, 2)) * 2],
        axis=2).astype(np.float32)


def scores(batches, classes, count):
    return RANDOM.random((batches, classes, count)).astype(np.float32)


case("boxes", """
g (float[2,20,4] x, float[2,3,20] s) => (int64[n,3] y)
<int64[1] most = {5}, float[1] overlap = {0.3}, float[1] least = {0.4}> {
  y = NonMaxSuppression(x, s, most, overlap, least)
}
""", [{"x": boxes(2, 20), "s": scores(2, 3, 20)} for _ in range(4)])
case("boxes_by_center", """
g (float[1,30,4] x, float[1,2,30] s, int64 most, float overlap)
    => (int64[n] y) <int64 two = {2}> {
  k = NonMaxSuppression<center_point_box = 1>(x, s, most, overlap)
  y = Gather<axis = 1>(k, two)
}
""", [{"x": boxes(1, 30), "s": scores(1, 2, 30), "most": np.array(m),
       "overlap": np.array(o, np.float32)}
      for m, o in ((0, 0.5), (3, 0.5), (100, 0.2), (100, 1.0))])
