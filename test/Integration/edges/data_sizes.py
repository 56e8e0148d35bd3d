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


def i64(*values):
    return np.array(values, np.int64)


# Starts and ends that are computed: negative ones, those outside, backwards.
case("sliced", """
g (float[7,5] x, int64[2] b, int64[2] e) => (float[n,m] y, int64[2] s)
<int64[2] axes = {0, 1}, int64[2] steps = {2, -1}> {
  y = Slice(x, b, e, axes, steps)
  s = Shape(y)
}
""", [{"x": f32(7, 5), "b": b, "e": e} for b, e in
      [(i64(1, 3), i64(6, 0)), (i64(-9, -1), i64(99, -99)),
       (i64(5, 1), i64(2, 4)), (i64(0, 4), i64(-1, 1)),
       (i64(-2**63, 2**63 - 1), i64(2**63 - 1, -2**63))]])
case("sliced_until", """
g (float[2,9,3] x, int64[1] e) => (float[2,n] y, float[2,n,4] z)
<int64[1] zero = {0}, int64[1] axis = {1}, float[3,4] w = {1, 2, 3, 4, 5, 6,
 7, 8, 9, 10, 11, 12}, int64[1] last = {2}> {
  k = Slice(x, zero, e, axis)
  y = ReduceMax<axes = [2], keepdims = 0>(k)
  a = Softmax<axis = -1>(k)
  b, c = Split<axis = 2, num_outputs = 2>(a)
  d = Concat<axis = 2>(c, b)
  z = MatMul(d, w)
}
""".replace(", num_outputs = 2", "").replace("Split<axis = 2>(a)",
                                             "Split<axis = 2>(a, parts)")
     .replace("int64[1] last = {2}", "int64[2] parts = {1, 2}"),
     [{"x": f32(2, 9, 3), "e": i64(e)} for e in (0, 4, -2, 9, 50)])
case("compress_reshaped", """
g (float[6,4] x, bool[6] c) => (float[n,2] y, float[n,4] z, int64[n] a)
<int64[2] pairs = {-1, 2}, int64[1] one = {1}, int64[2] back = {-1, 4}> {
  k = Compress<axis = 0>(x, c)
  y = Reshape(k, pairs)
  u = Unsqueeze(k, one)
  f = Flatten(u)
  s = Squeeze(u, one)
  t = Add(f, s)
  r = Reshape(t, back)
  z = Tanh(r)
  a = ArgMax<axis = 1, keepdims = 0>(k)
}
""".replace("float[n,2] y", "float[m,2] y"),
     [{"x": f32(6, 4), "c": c} for c in
      (mask(6), mask(6), np.zeros(6, bool), np.ones(6, bool))])
case("compress_normalized", """
g (float[6,4] x, bool[6] c, float[4] s) => (float[n,4] y, float[n,2] v,
                                            int64[n,2] i)
<int64[1] two = {2}> {
  k = Compress<axis = 0>(x, c)
  y = LayerNormalization(k, s)
  v, i = TopK(y, two)
}
""", [{"x": f32(6, 4), "c": mask(6), "s": f32(4)} for _ in range(3)])


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
