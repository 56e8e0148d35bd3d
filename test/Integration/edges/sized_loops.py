# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that carry, walk or collect what has a size that depends on data."""

import numpy as np

RANDOM = np.random.default_rng(14)
OPSET = '<ir_version: 8, opset_import: ["" : 17]>\n'
CASES = []


def case(name, text, runs):
    CASES.append((name, OPSET + text, runs))


def f32(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def mask(*shape):
    return RANDOM.random(shape) < 0.5


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


# A size that stays; how often is an input, so the steps are not written out.
case("loop_keeps_size", """
g (float[6] x, int64 n) => (float[m] y) <float zero = {0}, float one = {1}> {
  c = Greater(x, zero)
  p = Compress<axis = 0>(x, c)
  y = Loop(n, , p) <
    body = b (int64 i, bool k, float[m] v) => (bool k, float[m] w) {
      w = Add(v, one)
    }>
}
""", [{"x": f32(6), "n": scalar(n, np.int64)} for n in (0, 3)])

# It grows until the data say that it is enough.
case("loop_grows_until", """
g (float[1] x, float bound) => (float[m] y) <int64 most = {10}> {
  y = Loop(most, , x) <
    body = b (int64 i, bool k, float[q] v) => (bool go, float[r] w) {
      s = ReduceSum<keepdims = 1>(v)
      a = Abs(s)
      w = Concat<axis = 0>(v, a)
      t = ReduceSum<keepdims = 0>(w)
      go = Less(t, bound)
    }>
}
""", [{"x": np.array([0.5], np.float32), "bound": scalar(b)}
      for b in (0, 3, 50, 1e9)])

# One word after the other, each from the last, until there is an end.
case("loop_of_words", """
g (int64[1,1] first, float[11,11] table, float[11,4] e)
    => (int64[1,m] y, float[1,m,4] z, float[r,1] best)
<int64 most = {8}, int64 end = {3}, int64[1] one = {1}, int64[1] last = {-1},
 int64[1] far = {100}> {
  y, best = Loop(most, , first) <
    body = b (int64 i, bool k, int64[1,q] v)
        => (bool go, int64[1,r] w, float[1] b) {
      word = Slice(v, last, far, one)
      row = Gather(table, word)
      b3 = ReduceMax<axes = [-1], keepdims = 0>(row)
      b = Squeeze(b3, one)
      next = ArgMax<axis = -1, keepdims = 0>(row)
      w = Concat<axis = 1>(v, next)
      f = Equal(next, end)
      d = Squeeze(f)
      go = Not(d)
    }>
  z = Gather(e, y)
}
""".replace("ReduceMax<axes = [-1], keepdims = 0>",
            "ReduceMax<keepdims = 0, axes = [-1]>"),
     [{"first": np.array([[t]]), "table": f32(11, 11), "e": f32(11, 4)}
      for t in (0, 5, 7)])

# It shrinks, and the steps are written out; then as the data say.
case("loop_keeps_the_best", """
g (float[9] x, int64 n) => (float[m] y, float[k] z) <int64 three = {3}> {
  y = Loop(three, , x) <
    body = b (int64 i, bool k, float[q] v) => (bool k, float[r] w) {
      mean = ReduceMean<keepdims = 1>(v)
      c = GreaterOrEqual(v, mean)
      w = Compress<axis = 0>(v, c)
    }>
  z = Loop(n, , x) <
    body = d (int64 j, bool l, float[s] u) => (bool l, float[t] o) {
      least = ReduceMin<keepdims = 1>(u)
      p = GreaterOrEqual(u, least)
      o = Compress<axis = 0>(u, p)
    }>
}
""", [{"x": f32(9), "n": scalar(n, np.int64)} for n in (0, 2, 5)])

# Two values: one grows by the other, which is as it was the step before.
case("loop_two_sizes", """
g (float[2,3] x, float[1,3] s, float bound) => (float[m,3] y, float[n,3] z)
<int64 five = {5}> {
  y, z = Loop(five, , x, s) <
    body = b (int64 i, bool k, float[p,3] v, float[q,3] u)
        => (bool go, float[r,3] w, float[t,3] o) {
      w = Concat<axis = 0>(v, s)
      o = Identity(v)
      t = ReduceSum<keepdims = 0>(w)
      go = Less(t, bound)
    }>
}
""", [{"x": np.abs(f32(2, 3)), "s": np.abs(f32(1, 3)), "bound": scalar(b)}
      for b in (0, 9, 1e6)])

# The rows that are collected have a size of their own.
case("loop_collects_sized", """
g (float[7] x, int64 n) => (float[3,m] y, float[k,m] z)
<int64 three = {3}, int64 six = {6}, bool yes = {1}, float zero = {0}> {
  c = Greater(x, zero)
  p = Compress<axis = 0>(x, c)
  y = Loop(three, yes) <
    body = b (int64 i, bool k) => (bool k, float[q] w) {
      t = Cast<to = 1>(i)
      w = Add(p, t)
    }>
  most = Min(n, six)
  z = Loop(most, yes) <
    body = d (int64 j, bool l) => (bool l, float[r] o) {
      f = Cast<to = 1>(j)
      o = Mul(p, f)
    }>
}
""", [{"x": f32(7), "n": scalar(n, np.int64)} for n in (1, 4, 9)])

# As many steps as there are places.
case("loop_over_places", """
g (float[7] x) => (float[m] y) <bool yes = {1}, int64[1] zero = {0}> {
  nz = NonZero(x)
  s = Shape<start = 1>(nz)
  n = Squeeze(s)
  y = Loop(n, yes) <
    body = b (int64 i, bool k) => (bool k, float w) {
      p = Gather<axis = 1>(nz, i)
      w = GatherND(x, p)
    }>
}
""", [{"x": np.array(v, np.float32)} for v in
      ([0, 1, 2, 0, 3, 0, 4], [0] * 7, [1] * 7)])

case("loop_over_boxes", """
g (float[2,6,4] boxes, float[2,1,6] scores, bool[6] c) => (float[m] y)
<int64 most = {4}, float share = {0.5}, float least = {0.2}, bool yes = {1}> {
  kept = Compress<axis = 1>(boxes, c)
  rest = Compress<axis = 2>(scores, c)
  found = NonMaxSuppression(kept, rest, most, share, least)
  s = Shape<start = 0, end = 1>(found)
  n = Squeeze(s)
  y = Loop(n, yes) <
    body = b (int64 i, bool k) => (bool k, float a) {
      row = Gather(found, i)
      zero = Constant<value_int = 0>()
      two = Constant<value_int = 2>()
      batch = Gather(row, zero)
      number = Gather(row, two)
      of = Gather(kept, batch)
      box = Gather(of, number)
      a = ReduceSum<keepdims = 0>(box)
    }>
}
""", [{"boxes": np.sort(RANDOM.random((2, 6, 2, 2)), 2).reshape(2, 6, 4)
       .astype(np.float32),
       "scores": RANDOM.random((2, 1, 6)).astype(np.float32), "c": c}
      for c in (mask(6), np.ones(6, bool), mask(6))])

# Scans of as many rows as the data say.
case("scan_of_found_rows", """
g (float[7,3] x, bool[7] c, float[3] s) => (float[3] t, float[m,3] y) {
  p = Compress<axis = 0>(x, c)
  t, y = Scan(s, p) <num_scan_inputs = 1,
    body = b (float[3] a, float[3] r) => (float[3] q, float[3] o) {
      q = Add(a, r)
      o = Neg(q)
    }>
}
""", [{"x": f32(7, 3), "c": np.array(c, bool), "s": f32(3)}
      for c in ([1, 0, 1, 1, 0, 0, 1], [0, 0, 0, 0, 0, 1, 0], [1] * 7)])
case("scan_backwards", """
g (float[3,7] x, bool[7] c, float[3] s) => (float[3] t, float[3,m] y) {
  p = Compress<axis = 1>(x, c)
  t, y = Scan(s, p) <num_scan_inputs = 1, scan_input_axes = [1],
    scan_input_directions = [1], scan_output_axes = [1],
    scan_output_directions = [1],
    body = b (float[3] a, float[3] r) => (float[3] q, float[3] o) {
      h = Mul(a, r)
      q = Add(h, r)
      o = Identity(q)
    }>
}
""", [{"x": f32(3, 7), "c": np.array(c, bool), "s": f32(3)}
      for c in ([1, 0, 1, 1, 0, 0, 1], [0, 0, 0, 0, 0, 1, 0], [1] * 7)])
# Rows that have a size of their own.
case("scan_sized_rows", """
g (float[4,7] x, bool[7] c) => (float t, float[4,m] y) <float zero = {0}> {
  p = Compress<axis = 1>(x, c)
  t, y = Scan(zero, p) <num_scan_inputs = 1,
    body = b (float a, float[k] r) => (float q, float[k] o) {
      sum = ReduceSum<keepdims = 0>(r)
      q = Add(a, sum)
      o = Sub(r, a)
    }>
}
""", [{"x": f32(4, 7), "c": mask(7)} for _ in range(3)])
