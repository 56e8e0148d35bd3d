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


def known(*values):
    return np.array(values, np.int64)


# Shapes that are computed from sizes that depend on data.
case("ranged", """
g (bool[9] c, float[9] x) => (int64[n] y, float[n] z, int32[m] d)
<int64 zero = {0}, int64 one = {1}, int64[1] ones = {1}, int32 last = {-3},
 int32 down = {-2}> {
  k = Compress(x, c)
  s = Shape(k)
  n = Squeeze(s, ones_none)
  y = Range(zero, n, one)
  f = Cast<to = 1>(y)
  z = Add(f, k)
  m = Cast<to = 6>(n)
  d = Range(m, last, down)
}
""".replace("Squeeze(s, ones_none)", "Squeeze(s)"),
     [{"c": c, "x": f32(9)} for c in
      (mask(9), mask(9), np.zeros(9, bool), np.ones(9, bool))])
case("ranged_floats", """
g (bool[9] c) => (float[n] y, double[m] z)
<float zero = {0}, float half = {0.5}, double start = {1}, double step = {2.5},
 int64[1] axis = {0}> {
  i = Cast<to = 7>(c)
  s = ReduceSum<keepdims = 0>(i, axis)
  f = Cast<to = 1>(s)
  y = Range(zero, f, half)
  d = Cast<to = 11>(s)
  z = Range(start, d, step)
}
""", [{"c": c} for c in (mask(9), np.zeros(9, bool), np.ones(9, bool))])
case("filled", """
g (bool[6] c, float[6,3] x) => (float[n,3] y, int64[2,n] z)
<int64[1] zero = {0}, int64[1] two = {2}> {
  k = Compress<axis = 0>(x, c)
  s = Shape(k)
  o = ConstantOfShape<value = float[1] {2.5}>(s)
  y = Mul(o, k)
  n = Slice(s, zero, one_end)
  t = Concat<axis = 0>(two, n)
  z = ConstantOfShape<value = int64[1] {-7}>(t)
}
""".replace("one_end", "one").replace("int64[1] two", "int64[1] one = {1}, int64[1] two"),
     [{"c": c, "x": f32(6, 3)} for c in (mask(6), np.zeros(6, bool), mask(6))])
case("expanded", """
g (bool[6] c, float[1,3] x, float[6] w, float[4,1] v)
    => (float[n,3] y, float[n,3] z, float[4,n] u)
<int64[1] zero = {0}, int64[1] three = {3}, int64[1] four = {4},
 int64[2] column = {-1, 1}> {
  k = Compress(w, c)
  n = Shape(k)
  s = Concat<axis = 0>(n, three)
  y = Expand(x, s)
  r = Reshape(k, column)
  z = Expand(r, s)
  t = Concat<axis = 0>(four, n)
  e = Expand(v, t)
  u = Mul(e, k)
}
""", [{"c": c, "x": f32(1, 3), "w": f32(6), "v": f32(4, 1)}
      for c in (mask(6), np.ones(6, bool), mask(6))])
case("tiled", """
g (bool[5] c, float[2,3] x, float[5,2] w) => (float y, float[m,4] z)
<int64[1] two = {2}, int64[2] twice = {3, 2}, int64[1] zero = {0}> {
  k = Compress<axis = 0>(w, c)
  s = Shape<end = 1>(k)
  r = Concat<axis = 0>(two, s)
  y = Tile(x, r)
  z = Tile(k, twice)
}
""".replace("float y", "float[4,m] y"),
     [{"c": c, "x": f32(2, 3), "w": f32(5, 2)}
      for c in (mask(5), np.ones(5, bool), mask(5))])
for mode in ("constant", "edge", "reflect"):
    case(f"padded_{mode}", f"""
g (bool[5] c, float[7,8] x, float[5,4] w) => (float[n,m] y, float[k,6] z)
<int64[1] one = {{1}}, int64[4] p = {{2, 1, 0, 1}}, int64[1] zero = {{0}}> {{
  k = Compress<axis = 0>(w, c)
  s = Shape<end = 1>(k)
  r = Concat<axis = 0>(s, one, zero, s)
  y = Pad<mode = "{mode}">(x, r)
  z = Pad<mode = "{mode}">(k, p)
}}
""", [{"c": c, "x": f32(7, 8), "w": f32(5, 4)}
      for c in (np.array([1, 0, 1, 0, 1], bool), np.ones(5, bool),
                np.array([0, 1, 1, 1, 0], bool))])
case("reshaped", """
g (bool[6] c, float[6,4] x, float[4,2,6] v)
    => (float[n,2,2] y, float[4,n] z, float[8,n] u, float[m] a, float[2,n] b)
<int64[1] zero = {0}, int64[2] two = {2, 2}, int64[2] t = {4, -1},
 int64[2] rows = {-1, 0}, int64[1] all = {-1}, int64[2] pair = {2, -1},
 int64[1] last = {2}> {
  k = Compress<axis = 0>(x, c)
  n = Shape<end = 1>(k)
  s = Concat<axis = 0>(n, two)
  y = Reshape(k, s)
  z = Reshape(k, t)
  w = Compress<axis = 2>(v, c)
  e = Shape<start = 2>(w)
  q = Concat<axis = 0>(all, e)
  u = Reshape(w, q)
  a = Flatten<axis = 0>(w)
  b0 = Reshape(k, pair)
  b = Neg(b0)
}
""".replace("float[m] a", "float[1,m] a"),
     [{"c": c, "x": f32(6, 4), "v": f32(4, 2, 6)}
      for c in (mask(6), np.ones(6, bool), mask(6))])
case("computed_slices", """
g (bool[8] c, float[8,3] x) => (float[n,3] y, float[m,3] z, float[3] last)
<int64[1] zero = {0}, int64[1] one = {1}, int64[1] minus = {-1},
 int64[1] big = {9223372036854775807}, int64[1] low = {-9223372036854775807},
 int64 end = {-1}, int64[1] two = {2}> {
  k = Compress<axis = 0>(x, c)
  y = Slice(k, one, big, zero)
  z = Slice(k, minus, low, zero, minus)
  last = Gather(k, end)
}
""", [{"c": c, "x": f32(8, 3)} for c in
      (np.array([1, 0, 1, 0, 1, 1, 0, 0], bool), np.ones(8, bool),
       np.array([0, 1, 0, 0, 0, 0, 0, 0], bool))])
case("reduced", """
g (bool[7] c, float[7,3] x) => (float[3] s, float[3] m, float[1,3] a, float[3] p,
   float[3] l, float[3] q, int64[3] i, int64[3] j, float h, float e)
<int64[1] zero = {0}> {
  k = Compress<axis = 0>(x, c)
  s = ReduceSum<keepdims = 0>(k, zero)
  m = ReduceMax<axes = [0], keepdims = 0>(k)
  a = ReduceMean<axes = [0]>(k)
  p = ReduceProd<axes = [0], keepdims = 0>(k)
  l = ReduceMin<axes = [0], keepdims = 0>(k)
  q = ReduceL2<axes = [0], keepdims = 0>(k)
  i = ArgMax<axis = 0, keepdims = 0>(k)
  j = ArgMin<axis = 0, keepdims = 0>(k)
  h = ReduceMean<keepdims = 0>(k)
  e = ReduceLogSumExp<keepdims = 0>(k)
}
""", [{"c": c, "x": f32(7, 3)} for c in
      (np.array([1, 0, 1, 0, 1, 1, 0], bool), np.ones(7, bool),
       np.array([0, 1, 0, 0, 0, 0, 0], bool))])
case("softmax_and_products", """
g (bool[7] c, float[2,7] x, float[7,3] w, float[4,3] q)
    => (float[2,n] s, float[2,3] y, float[4,3] a, float[4,3] g, float[2,n] l)
<int64[1] zero = {0}> {
  k = Compress<axis = 1>(x, c)
  v = Compress<axis = 0>(w, c)
  s = Softmax<axis = 1>(k)
  l = LogSoftmax<axis = 1>(k)
  y = MatMul(s, v)
  t = Transpose(v)
  r = MatMul(q, t)
  p = Softmax<axis = 1>(r)
  a = MatMul(p, v)
  g = Gemm<transB = 1>(r, t)
}
""", [{"c": c, "x": f32(2, 7), "w": f32(7, 3), "q": f32(4, 3)} for c in
      (np.array([1, 0, 1, 0, 1, 1, 0], bool), np.ones(7, bool),
       np.array([0, 1, 0, 0, 0, 0, 0], bool))])
case("joined", """
g (bool[5] c, float[5,2] x, float[3,2] w, bool[3] d)
    => (float[n,2] y, float[m,2] z, float[k,4] s) {
  k = Compress<axis = 0>(x, c)
  l = Compress<axis = 0>(w, d)
  y = Concat<axis = 0>(w, k)
  z = Concat<axis = 0>(k, w, l, k)
  n = Neg(k)
  s = Concat<axis = 1>(k, n)
}
""", [{"c": c, "x": f32(5, 2), "w": f32(3, 2), "d": mask(3)} for c in
      (mask(5), np.ones(5, bool), np.zeros(5, bool))])
case("most", """
g (bool[9] c, float[2,9] x, int64[1] k)
    => (float[2,n] v, int64[2,n] i, float[2,2] a, int64[2,2] b)
<int64[1] two = {2}> {
  v, i = TopK(x, k)
  l = Compress<axis = 1>(x, c)
  a, b = TopK<largest = 0>(l, two)
}
""", [{"c": c, "x": f32(2, 9), "k": known(k)} for c, k in
      ((np.array([1, 0, 1, 0, 1, 1, 0, 1, 1], bool), 4),
       (np.ones(9, bool), 0), (np.array([0] * 7 + [1, 1], bool), 9))])
# One of the two has one element, or both have as many: it shows when it runs.
case("broadcast", """
g (bool[5] c, bool[5] d, float[5] x, float[5,5] w)
    => (float[n] y, float[5,m] z) {
  k = Compress(x, c)
  l = Compress(x, d)
  y = Add(k, l)
  m = Compress<axis = 1>(w, d)
  z = Mul(m, k)
}
""", [{"c": c, "d": d, "x": f32(5), "w": f32(5, 5)} for c, d in
      ((np.array([1, 0, 1, 0, 1], bool), np.array([0, 1, 1, 1, 0], bool)),
       (np.array([0, 0, 1, 0, 0], bool), np.array([1, 1, 1, 1, 0], bool)),
       (np.ones(5, bool), np.array([0, 0, 0, 0, 1], bool)))])
case("summed_up", """
g (bool[6] c, float[6,2] x) => (float[n,2] y, float[n,2] z) <int64 zero = {0}> {
  k = Compress<axis = 0>(x, c)
  y = CumSum(k, zero)
  z = CumSum<reverse = 1, exclusive = 1>(k, zero)
}
""", [{"c": c, "x": f32(6, 2)} for c in (mask(6), np.ones(6, bool), mask(6))])
case("batch_of_regions", """
g (bool[4] c, float[4,2,6,6] x, float[3,2,3,3] w, float[3] s, float[3] o)
    => (float[n,3,2,2] y, float[n,3] z) <int64[2] rows = {0, -1}> {
  k = Compress<axis = 0>(x, c)
  a = Conv<pads = [1, 1, 1, 1]>(k, w)
  b = BatchNormalization(a, s, o, s, w0)
  y = MaxPool<kernel_shape = [3, 3], strides = [3, 3]>(b)
  g = GlobalAveragePool(y)
  z = Reshape(g, rows)
}
""".replace(", w0)", ", v)").replace("float[3] o)", "float[3] o, float[3] v)"),
     [{"c": c, "x": f32(4, 2, 6, 6), "w": f32(3, 2, 3, 3), "s": f32(3),
       "o": f32(3), "v": np.abs(f32(3)) + 1}
      for c in (np.array([1, 0, 1, 0], bool), np.ones(4, bool),
                np.array([0, 1, 0, 0], bool))])
case("found_again", """
g (bool[6] c, float[3,6] x, bool[6] d) => (int64[2,n] y, int64[n] s) {
  k = Compress<axis = 1>(x, c)
  l = Compress<axis = 1>(x, d)
  r = Relu(k)
  y = NonZero(r)
  s = Size(l)
}
""".replace("int64[n] s", "int64 s"),
     [{"c": mask(6), "x": f32(3, 6), "d": mask(6)} for _ in range(3)])
# Branches that make tensors of other sizes.
case("branches", """
g (bool b, bool[5] c, float[5,2] x, float[3,2] w)
    => (float[n,2] y, float[m,2] z, float[2] s) <int64[1] zero = {0}> {
  y, z = If(b) <
    then_branch = t () => (ty, tz) {
      ty = Compress<axis = 0>(x, c)
      tz = Identity(w)
    },
    else_branch = e () => (ey, ez) {
      ey = Neg(x)
      ez = Concat<axis = 0>(w, x)
    }>
  s = ReduceSum<keepdims = 0>(z, zero)
}
""", [{"b": np.array(b), "c": mask(5), "x": f32(5, 2), "w": f32(3, 2)}
      for b in (True, False, True)])
# As many places are written, or read, as the data say.
case("scattered", """
g (bool[5] c, float[7,3] x, float[5,3] u, int64[5,1] i, float[5] v,
   int64[5] e, float[9] w) => (float[7,3] y, float[7,3] z, float[9] s) {
  k = Compress<axis = 0>(i, c)
  r = Compress<axis = 0>(u, c)
  y = ScatterND(x, k, r)
  z = ScatterND<reduction = "max">(x, k, r)
  l = Compress(e, c)
  p = Compress(v, c)
  s = ScatterElements<axis = 0>(w, l, p)
}
""", [{"c": c, "x": f32(7, 3), "u": f32(5, 3),
       "i": (RANDOM.permutation(7)[:5] - 7 * mask(5))[:, None], "v": f32(5),
       "e": RANDOM.permutation(9)[:5], "w": f32(9)}
      for c in (mask(5), np.ones(5, bool), np.zeros(5, bool))])
case("masked_elements", """
g (float[4,5] x, float[20] u) => (float[4,5] y)
<int64[1] zero = {0}, float half = {0.5}> {
  m = Greater(x, half)
  n = NonZero(m)
  p = Transpose(n)
  s = Shape<end = 1>(p)
  v = Slice(u, zero, s, zero)
  y = ScatterND(x, p, v)
}
""", [{"x": f32(4, 5), "u": f32(20)} for _ in range(3)])
case("gathered_places", """
g (bool[6] c, float[6,3,2] x, int64[4,1] i, int64[4,2] j)
    => (float[4,3,2] y, float[4,2] z, float[4,n] t) {
  k = Compress<axis = 0>(x, c)
  y = GatherND(k, i)
  z = GatherND(k, j)
  q = Transpose<perm = [1, 2, 0]>(k)
  t = GatherND(q, j)
}
""", [{"c": c, "x": f32(6, 3, 2), "i": RANDOM.integers(-2, 2, (4, 1)),
       "j": RANDOM.integers(-2, 2, (4, 2))}
      for c in (np.array([1, 0, 1, 0, 1, 1], bool), np.ones(6, bool),
                np.array([0, 1, 0, 1, 0, 0], bool))])
