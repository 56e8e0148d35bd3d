# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that a model computes from its inputs, within bounds that are known."""

import numpy as np

RANDOM = np.random.default_rng(15)
OPSET = '<ir_version: 8, opset_import: ["" : 17]>\n'
CASES = []


def case(name, text, runs):
    CASES.append((name, OPSET + text, runs))


def f32(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def mask(*shape):
    return RANDOM.random(shape) < 0.5


def i64(value):
    return np.array(value, np.int64)


for axis, spelt in ((-1, "3,4,n"), (0, "n,3,4"), (1, "3,n,4")):
    case(f"one_hot_{axis}", f"""
g (int64[3,4] x, int64[3] d) => (float[{spelt}] y)
<float[2] v = {{2, 5}}, int64 nine = {{9}}> {{
  m = ReduceMax<keepdims = 0>(d)
  k = Min(m, nine)
  y = OneHot<axis = {axis}>(x, k, v)
}}
""", [{"x": RANDOM.integers(-3, 9, (3, 4)), "d": i64([1, d, 2])}
      for d in (4, 7, 20)])

case("split_computed", """
g (float[3,8] x, int64 a) => (float[3,m] y, float[3,n] z, float s)
<int64 eight = {8}, int64 zero = {0}, int64[1] first = {0}> {
  b = Min(a, eight)
  c = Max(b, zero)
  r = Sub(eight, c)
  c1 = Unsqueeze(c, first)
  r1 = Unsqueeze(r, first)
  sizes = Concat<axis = 0>(c1, r1)
  y, z = Split<axis = 1>(x, sizes)
  s = ReduceSum<keepdims = 0>(z)
}
""", [{"x": f32(3, 8), "a": i64(a)} for a in (0, 3, 8)])
case("split_sized", """
g (float[8,3] x, bool[8] c) => (float[m,3] y, float[n,3] z, float[k,2] s) {
  p = Compress<axis = 0>(x, c)
  d = Concat<axis = 0>(p, p)
  y, z = Split<axis = 0>(d)
  s, t = Split<axis = 1>(p, sizes)
}
""".replace("{\n  p", "<int64[2] sizes = {2, 1}> {\n  p", 1),
     [{"x": f32(8, 3), "c": c} for c in
      (mask(8), np.zeros(8, bool), np.ones(8, bool))])

SIDE = """
<int64[2] head = {1, 2}, int64[1] first = {0}, int64 top = {12},
 int64 one = {1}> {
  h0 = Min(k, top)
  h1 = Max(h0, one)
  h = Unsqueeze(h1, first)
  s = Concat<axis = 0>(head, h, h)
"""
for mode, transform, more in [
        ("linear", "half_pixel", ""),
        ("linear", "pytorch_half_pixel", ""),
        ("linear", "align_corners", ""),
        ("cubic", "half_pixel", ", cubic_coeff_a = -0.5, exclude_outside = 1"),
        ("cubic", "asymmetric", ""),
        ("nearest", "half_pixel", ', nearest_mode = "round_prefer_ceil"'),
        ("nearest", "asymmetric", ', nearest_mode = "floor"'),
        ("nearest", "align_corners", ', nearest_mode = "ceil"')]:
    case(f"resize_{mode}_{transform}", """
g (float[1,2,4,6] x, int64 k) => (float[1,2,m,n] y) """ + SIDE + f"""
  y = Resize<mode = "{mode}",
    coordinate_transformation_mode = "{transform}"{more}>(x, , , s)
}}
""", [{"x": f32(1, 2, 4, 6), "k": i64(k)} for k in (1, 5, 12)])
case("resize_by_scales", """
g (float[1,1,4,6] x, float k) => (float[1,1,m,n] y)
<float[2] head = {1, 1}, int64[1] first = {0}, float top = {3},
 float half = {0.5}> {
  h0 = Min(k, top)
  h1 = Max(h0, half)
  h = Unsqueeze(h1, first)
  s = Concat<axis = 0>(head, h, h)
  y = Resize<mode = "linear">(x, , s)
}
""", [{"x": f32(1, 1, 4, 6), "k": np.array(k, np.float32)}
      for k in (0.5, 1.7, 3)])
# To the size of something else, whose own size depends on data.
case("resize_like", """
g (float[1,2,4,6] x, float[1,2,9,6] z, bool[9] c) => (float[1,2,m,6] y) {
  p = Compress<axis = 2>(z, c)
  s = Shape(p)
  r = Resize<mode = "linear">(x, , , s)
  y = Add(r, p)
}
""", [{"x": f32(1, 2, 4, 6), "z": f32(1, 2, 9, 6), "c": c} for c in
      (mask(9), np.ones(9, bool))])
case("resize_what_was_found", """
g (float[1,1,8,6] x, bool[8] c)
    => (float[1,1,m,12] y, float[1,1,10,4] z, float[1,1,k,6] w)
<float[4] twice = {1, 1, 2, 2}, int64[4] s = {1, 1, 10, 4}> {
  p = Compress<axis = 2>(x, c)
  y = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric",
    nearest_mode = "floor">(p, , twice)
  z = Resize<mode = "linear">(p, , , s)
  d = Compress<axis = 0>(x, yes)
  w = Resize<mode = "linear">(p, , same)
}
""".replace("int64[4] s =", "bool[1] yes = {1}, float[4] same = {1, 1, 1, 1},"
            " int64[4] s ="),
     [{"x": f32(1, 1, 8, 6), "c": c} for c in
      (np.array([1, 0, 1, 1, 0, 1, 1, 0], bool), np.ones(8, bool))])

# What is written into, or read from, has as many rows as the data say.
case("scatter_into_found", """
g (float[8,2] x, bool[8] c, float[2,2] u, float[2] v)
    => (float[m,2] y, float[m,2] z, float[m,2] w, float[2,2] r)
<int64[2,1] rows = {0, -1}, int64[2,2] at = {0, -1, 2, -2},
 int64[2,2] places = {0, 1, -1, 0}> {
  p = Compress<axis = 0>(x, c)
  y = ScatterND(p, rows, u)
  z = ScatterElements<axis = 0, reduction = "add">(p, at, u)
  w = ScatterND(p, places, v)
  r = GatherElements<axis = 0>(p, at)
}
""", [{"x": f32(8, 2), "c": c, "u": f32(2, 2), "v": f32(2)} for c in
      (np.array([1, 0, 1, 1, 0, 1, 0, 1], bool), np.ones(8, bool))])
case("scatter_rows_of_found_size", """
g (float[4,6] x, bool[6] c, float[2,6] u) => (float[4,m] y)
<int64[2,1] rows = {3, -4}> {
  p = Compress<axis = 1>(x, c)
  q = Compress<axis = 1>(u, c)
  y = ScatterND<reduction = "mul">(p, rows, q)
}
""", [{"x": f32(4, 6), "c": mask(6), "u": f32(2, 6)} for _ in range(3)])
case("compress_again", """
g (float[9,4] x, bool[9] c, bool[4] d)
    => (float[m,4] y, float[m,n] z, float[k] f) <float zero = {0}> {
  p = Compress<axis = 0>(x, c)
  s = ReduceSum<keepdims = 0>(p, one)
  q = Greater(s, zero)
  y = Compress<axis = 0>(p, q)
  z = Compress<axis = 1>(y, d)
  g1 = Greater(z, zero)
  gf = Reshape(g1, flat)
  f = Compress(z, gf)
}
""".replace("float zero = {0}", "float zero = {0}, int64[1] one = {1}, "
            "int64[1] flat = {-1}"),
     [{"x": f32(9, 4), "c": c, "d": d} for c, d in
      ((mask(9), mask(4)), (np.ones(9, bool), np.ones(4, bool)),
       (np.zeros(9, bool), mask(4)))])
case("unique_of_found", """
g (float[12] x, bool[12] c)
    => (float[n] y, int64[n] f, int64[k] i, int64[n] t, float[m,1] r) {
  p = Compress<axis = 0>(x, c)
  y, f, i, t = Unique(p)
  q = Unsqueeze(p, one)
  r = Unique<axis = 0, sorted = 0>(q)
}
""".replace("{\n  p", "<int64[1] one = {1}> {\n  p", 1),
     [{"x": RANDOM.integers(-2, 3, 12).astype(np.float32), "c": c}
      for c in (mask(12), np.ones(12, bool), mask(12))])
case("regions_found", """
g (float[1,2,9,9] x, float[5,4] r, float[5] s, float[8,3] w, float least)
    => (float[n,3] y) <int64[1] zero = {0}> {
  b = Greater(s, least)
  p = Compress<axis = 0>(r, b)
  n = Shape<end = 1>(p)
  i = ConstantOfShape<value = int64[1] {0}>(n)
  a = RoiAlign<output_height = 2, output_width = 2, sampling_ratio = 2>(x, p, i)
  f = Flatten(a)
  y = Gemm(f, w)
}
""", [{"x": f32(1, 2, 9, 9), "r": np.sort(RANDOM.random((5, 2, 2)) * 8, 1)
       .reshape(5, 4).astype(np.float32),
       "s": RANDOM.random(5).astype(np.float32), "w": f32(8, 3),
       "least": np.array(v, np.float32)} for v in (0.3, 0.6, -1)])
case("quantized_found", """
g (float[7,3] x, bool[7] c) => (uint8[n,3] q, float[n,3] y, float[n,3] t)
<float s = {0.05}, uint8 z = {120}, float[3] each = {0.05, 0.1, 0.02},
 uint8[3] zeros = {100, 120, 140}> {
  p = Compress<axis = 0>(x, c)
  q = QuantizeLinear(p, s, z)
  y = DequantizeLinear(q, s, z)
  u = QuantizeLinear<axis = 1>(p, each, zeros)
  v = DequantizeLinear<axis = 1>(u, each, zeros)
  t = Trilu(v)
}
""", [{"x": f32(7, 3), "c": c} for c in (mask(7), np.ones(7, bool))])
