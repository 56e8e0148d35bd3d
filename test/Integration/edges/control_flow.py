# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models with control flow: name, text, and a list of inputs for each run."""

import numpy as np

RANDOM = np.random.default_rng(8)


def f32(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def boolean(value):
    return np.array(value)


def i64(value):
    return np.array(value, np.int64)


OPSET = '<ir_version: 8, opset_import: ["" : 17]>\n'
CASES = []


def case(name, text, runs):
    CASES.append((name, OPSET + text, runs))


X = f32(3, 5)

# Both branches, what they read from outside, and what they only pass on.
case("if_two_branches", """
g (bool c, float[3,5] x, float[5] w) => (float[3,5] y, float[3] z) {
  h = Exp(x)
  y, z = If(c) <
    then_branch = t () => (float[3,5] a, float[3] b) {
      a = Add(h, w)
      b = ReduceSum<keepdims = 0>(a, one)
    },
    else_branch = e () => (float[3,5] a, float[3] b) {
      a = Mul(x, w)
      k = Constant<value = float[3] {1, 2, 3}>()
      b = Identity(k)
    }>
}
""".replace("{\n  h", "<int64[1] one = {1}> {\n  h", 1),
     [{"c": boolean(c), "x": f32(3, 5), "w": f32(5)} for c in (True, False)])

# A branch that passes an outer value on; the result is an output and is read.
case("if_passes_on", """
g (bool[1] c, float[4] x) => (float[4] y, float[4] s) {
  y = If(c) <
    then_branch = t () => (float[4] a) { a = Identity(x) },
    else_branch = e () => (float[4] a) { a = Neg(x) }>
  s = Add(y, x)
}
""", [{"c": boolean([c]), "x": f32(4)} for c in (True, False)])

# Conditions inside conditions.
case("if_nested", """
g (bool c, bool d, float[2,3] x) => (float[2,3] y) {
  y = If(c) <
    then_branch = t () => (float[2,3] a) {
      u = Sqrt(x)
      a = If(d) <
        then_branch = tt () => (float[2,3] p) { p = Add(u, x) },
        else_branch = te () => (float[2,3] p) { p = Sub(u, x) }>
    },
    else_branch = e () => (float[2,3] a) { a = Exp(x) }>
}
""", [{"c": boolean(c), "d": boolean(d), "x": np.abs(f32(2, 3))}
      for c in (True, False) for d in (True, False)])

# The condition is known; the branches could not have one type.
case("if_known", """
g (float[1,6] x) => (y) <int64[1] zero = {0}> {
  shape = Shape(x)
  one = Constant<value_int = 1>()
  first = Gather(shape, zero)
  c = Equal(first, one)
  y = If(c) <
    then_branch = t () => (a) { a = Squeeze(x, zero) },
    else_branch = e () => (a) { a = Identity(x) }>
}
""", [{"x": f32(1, 6)}])

# Contractions in a branch.
case("if_convolution", """
g (bool c, float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) {
  y = If(c) <
    then_branch = t () => (float[1,4,6,6] a) {
      u = Conv(x, w)
      a = Relu(u)
    },
    else_branch = e () => (float[1,4,6,6] a) {
      v = Abs(w)
      u = Conv(x, v)
      s = Sigmoid(u)
      a = Mul(u, s)
    }>
}
""", [{"c": boolean(c), "x": f32(1, 3, 8, 8), "w": f32(4, 3, 3, 3)}
      for c in (True, False)])

# As often as is known, with rows collected and the step's number used.
case("loop_counted", """
g (float[3] x) => (float[3] y, float[7,3] rows)
<int64 seven = {7}, bool go = {1}> {
  y, rows = Loop(seven, go, x) <
    body = b (int64 i, bool c, float[3] v) => (bool d, float[3] w, float[3] r) {
      d = Identity(c)
      f = Cast<to = 1>(i)
      t = Add(v, f)
      w = Tanh(t)
      r = Mul(w, x)
    }>
}
""", [{"x": f32(3)}])

# Two values that change places in each step.
case("loop_swaps", """
g (float[3] x, float[3] y) => (float[3] p, float[3] q, float[5,3] rows)
<int64 five = {5}> {
  p, q, rows = Loop(five, , x, y) <
    body = b (int64 i, bool c, float[3] v, float[3] w)
        => (bool c, float[3] w, float[3] v, float[3] r) {
      r = Sub(v, w)
    }>
}
""", [{"x": f32(3), "y": f32(3)}])

# How often depends on an input.
case("loop_while", """
g (float x) => (float y, int64 n) <float limit = {100}, int64 zero = {0}> {
  c0 = Less(x, limit)
  y, n = Loop(, c0, x, zero) <
    body = b (int64 i, bool c, float v, int64 m)
        => (bool d, float w, int64 k) {
      w = Add(v, v)
      d = Less(w, limit)
      one = Constant<value_int = 1>()
      k = Add(i, one)
    }>
}
""", [{"x": np.array(x, np.float32)} for x in (1.5, 99, 100, 1000)])

# An input says how often; the body may end before.
case("loop_limited", """
g (int64 n, float[2,2] x) => (float[2,2] y) <float big = {50}> {
  y = Loop(n, , x) <
    body = b (int64 i, bool c, float[2,2] v) => (bool d, float[2,2] w) {
      w = MatMul(v, x)
      s = ReduceMax<keepdims = 0>(w)
      d = Less(s, big)
    }>
}
""", [{"n": i64(n), "x": np.abs(f32(2, 2)) + np.float32(1)}
      for n in (0, 1, 3, 40)])

# Loops in loops and conditions in loops.
case("loop_nested", """
g (float[2] x) => (float[2] y, float[3,4,2] rows)
<int64 three = {3}, int64 four = {4}, float zero = {0}> {
  y, rows = Loop(three, , x) <
    body = b (int64 i, bool c, float[2] v)
        => (bool c, float[2] w, float[4,2] r) {
      u, r = Loop(four, , v) <
        body = bb (int64 j, bool cc, float[2] p)
            => (bool cc, float[2] q, float[2] s) {
          ij = Add(i, j)
          f = Cast<to = 1>(ij)
          q = Sub(p, f)
          s = Mul(q, v)
        }>
      m = ReduceSum<keepdims = 0>(u)
      k = Greater(m, zero)
      w = If(k) <
        then_branch = t () => (float[2] a) { a = Neg(u) },
        else_branch = e () => (float[2] a) { a = Add(u, x) }>
    }>
}
""", [{"x": f32(2)}])

# What is carried grows, so the steps are written out.
case("loop_grows", """
g (float[1,2] x) => (y) <int64 three = {3}> {
  y = Loop(three, , x) <
    body = b (int64 i, bool c, v) => (bool c, w) {
      u = Neg(v)
      w = Concat<axis = 0>(v, u)
    }>
}
""", [{"x": f32(1, 2)}])

# The value a loop starts from is needed afterwards.
case("loop_keeps_start", """
g (float[3] x) => (float[3] y, float[3] z) <int64 four = {4}> {
  a = Exp(x)
  y = Loop(four, , a) <
    body = b (int64 i, bool c, float[3] v) => (bool c, float[3] w) {
      w = Sqrt(v)
    }>
  z = Add(a, y)
}
""", [{"x": f32(3)}])

# Scan: a running sum, backwards, along another axis.
case("scan_sum", """
g (float[2] s, float[5,2] x) => (float[2] t, float[5,2] y) {
  t, y = Scan(s, x) <num_scan_inputs = 1,
    body = b (float[2] p, float[2] r) => (float[2] q, float[2] o) {
      q = Add(p, r)
      o = Identity(q)
    }>
}
""", [{"s": f32(2), "x": f32(5, 2)}])

case("scan_axes", """
g (float[2] s, float[2,5] x, float[5,3] z) => (float[2] t, y, w) {
  t, y, w = Scan(s, x, z) <num_scan_inputs = 2, scan_input_axes = [1, 0],
    scan_input_directions = [1, 0], scan_output_axes = [1, -1],
    scan_output_directions = [0, 1],
    body = b (float[2] p, float[2] r, float[3] u)
        => (float[2] q, float[2] o, float[3] e) {
      q = Mul(p, r)
      o = Sub(q, r)
      m = ReduceSum<keepdims = 1>(q)
      e = Add(u, m)
    }>
}
""", [{"s": f32(2), "x": f32(2, 5), "z": f32(5, 3)}])

# A recurrent network by hand: contractions in every step.
case("scan_recurrent", """
g (float[1,16] h, float[9,1,8] x, float[8,16] w, float[16,16] r)
    => (float[1,16] t, float[9,1,16] y) {
  t, y = Scan(h, x) <num_scan_inputs = 1,
    body = b (float[1,16] p, float[1,8] s) => (float[1,16] q, float[1,16] o) {
      a = MatMul(s, w)
      c = MatMul(p, r)
      d = Add(a, c)
      q = Tanh(d)
      o = Identity(q)
    }>
}
""", [{"h": f32(1, 16), "x": f32(9, 1, 8), "w": f32(8, 16) / 4,
       "r": f32(16, 16) / 4}])

# A recurrent operator in a branch of a loop.
case("lstm_in_branch", """
g (bool c, float[3,1,4] x, float[1,32,4] w, float[1,32,8] r)
    => (float[3,1,1,8] y) {
  y = If(c) <
    then_branch = t () => (float[3,1,1,8] a) {
      a, p, q = LSTM<hidden_size = 8>(x, w, r)
    },
    else_branch = e () => (float[3,1,1,8] a) {
      n = Neg(x)
      a, p, q = LSTM<hidden_size = 8>(n, w, r)
    }>
}
""", [{"c": boolean(c), "x": f32(3, 1, 4), "w": f32(1, 32, 4),
       "r": f32(1, 32, 8)} for c in (True, False)])

# Nothing is computed in either branch.
case("if_selects", """
g (bool c, float[3] x, float[3] z) => (float[3] y) {
  y = If(c) <
    then_branch = t () => (float[3] a) { a = Identity(x) },
    else_branch = e () => (float[3] a) { a = Identity(z) }>
}
""", [{"c": boolean(c), "x": f32(3), "z": f32(3)} for c in (True, False)])

# The condition is computed, and the branches depend on nothing.
case("if_constants", """
g (float x) => (int64[2] y) <float zero = {0}> {
  c = Less(x, zero)
  y = If(c) <
    then_branch = t () => (int64[2] a) {
      a = Constant<value = int64[2] {1, 2}>()
    },
    else_branch = e () => (int64[2] a) {
      a = Constant<value = int64[2] {3, 4}>()
    }>
}
""", [{"x": np.array(x, np.float32)} for x in (-1, 1)])

for steps in (0, 1, 2):
    case(f"loop_of_{steps}", """
g (float[3] x) => (float[3] y, float[N,3] rows) <int64 n = {N}> {
  y, rows = Loop(n, , x) <
    body = b (int64 i, bool c, float[3] v) => (bool c, float[3] w, float[3] r) {
      f = Cast<to = 1>(i)
      w = Add(v, f)
      r = Mul(w, x)
    }>
}
""".replace("N", str(steps)), [{"x": f32(3)}])

# Large enough that several workers share each step.
case("loop_large", """
g (float[64,96] x, float[96,96] w) => (float[64,96] y, float[5,64,96] rows)
<int64 five = {5}> {
  y, rows = Loop(five, , x) <
    body = b (int64 i, bool c, float[64,96] v)
        => (bool c, float[64,96] u, float[64,96] r) {
      p = MatMul(v, w)
      u = Tanh(p)
      r = Neg(u)
    }>
}
""", [{"x": f32(64, 96), "w": f32(96, 96) / 8}])

# A body that decides when to end and collects rows: as many as there were
# steps, and no more than the limit.
case("loop_collects_until", """
g (float[3] x, float bound) => (float[3] y, float[n,3] z)
<int64 most = {6}, bool yes = {1}> {
  y, z = Loop(most, yes, x) <
    body = b (int64 i, bool c, float[3] v)
        => (bool go, float[3] w, float[3] row) {
      w = Add(v, v)
      m = ReduceMax<keepdims = 0>(w)
      go = Less(m, bound)
      row = Neg(v)
    }>
}
""", [{"x": np.abs(f32(3)) + 0.5, "bound": np.array(b, np.float32)}
      for b in (0, 5, 1000)])

# The same with rows that are scalars, and a limit of the model's.
case("loop_collects_scalars", """
g (float x) => (float y, float[n] z) <int64 most = {5}, bool yes = {1}> {
  y, z = Loop(most, yes, x) <
    body = b (int64 i, bool c, float v) => (bool go, float w, float row) {
      w = Mul(v, v)
      go = Greater(w, v)
      row = Identity(w)
    }>
}
""", [{"x": np.array(x, np.float32)} for x in (0.5, 1.5)])

# A loop over time as exporters of TensorFlow write it: it counts by itself.
case("loop_counts_by_itself", """
g (float[7,3] x, float[3] s) => (float[3] y, float[7,3] z)
<int32 zero = {0}, int32 most = {7}, int32 one = {1}, bool yes = {1}> {
  n, m, y, z = Loop(, yes, zero, most, s) <
    body = b (int64 i, bool c, int32 time, int32 end, float[3] v)
        => (bool go, int32 next, int32 last, float[3] w, float[3] row) {
      next = Add(time, one)
      last = Identity(end)
      go = Less(next, end)
      r = Gather(x, time)
      a = Add(v, r)
      w = Tanh(a)
      row = Neg(w)
    }>
}
""", [{"x": f32(7, 3), "s": f32(3)}])

# The form of opset 8: everything has a batch, one input is walked backwards.
CASES.append(("scan_batched", """<ir_version: 3, opset_import: ["" : 8]>
g (float[2,3] s, float[2,4,3] x, float[2,4,3] z)
    => (float[2,3] t, float[2,4,3] y) {
  t, y = Scan(, s, x, z) < num_scan_inputs = 2, directions = [0, 1],
    body = b (float[3] p, float[3] r, float[3] u)
        => (float[3] q, float[3] o) {
      a = Mul(p, r)
      q = Add(a, u)
      o = Neg(q)
    }>
}
""", [{"s": f32(2, 3), "x": f32(2, 4, 3), "z": f32(2, 4, 3)}]))

# Products before control flow, of sizes that leave edges: rows of one are
# taken, branches and steps read all of it.
case("scan_rows_of_product", """
g (float[3,7] x, float[2] s, float[7,2] w) => (float[2] y, float[3,2] z) {
  t = MatMul(x, w)
  y, z = Scan(s, t) <num_scan_inputs = 1,
    body = b (float[2] a, float[2] e) => (float[2] o, float[2] r) {
      o = Add(a, e)
      r = Mul(o, e)
    }>
}
""", [{"x": f32(3, 7), "s": f32(2), "w": f32(7, 2)}])

case("loop_reads_product", """
g (float[3,7] x, float[7,5] w, float[5,5] v) => (float[3,5] y)
<int64 four = {4}> {
  t = MatMul(x, w)
  y = Loop(four, , t) <
    body = b (int64 i, bool c, float[3,5] a) => (bool c, float[3,5] o) {
      m = MatMul(a, v)
      n = Tanh(m)
      o = Add(n, t)
    }>
}
""", [{"x": f32(3, 7), "w": f32(7, 5), "v": f32(5, 5)}])

case("if_reads_product", """
g (bool c, float[5,7] x, float[7,3] w) => (float[5,3] y, float[5,3] z) {
  t = MatMul(x, w)
  y, z = If(c) <
    then_branch = t1 () => (float[5,3] a, float[5,3] b) {
      a = Relu(t)
      b = Softmax<axis = 1>(t)
    },
    else_branch = e () => (float[5,3] a, float[5,3] b) {
      a = Identity(t)
      b = Neg(t)
    }>
}
""", [{"c": boolean(c), "x": f32(5, 7), "w": f32(7, 3)} for c in (True, False)])

case("if_reads_convolution", """
g (bool c, float[1,3,5,5] x, float[5,3,3,3] w, float[7,5,1,1] v)
    => (float[1,7,3,3] y) {
  t = Conv(x, w)
  y = If(c) <
    then_branch = t1 () => (float[1,7,3,3] a) { a = Conv(t, v) },
    else_branch = e () => (float[1,7,3,3] a) {
      n = Neg(t)
      a = Conv(n, v)
    }>
}
""", [{"c": boolean(c), "x": f32(1, 3, 5, 5), "w": f32(5, 3, 3, 3),
       "v": f32(7, 5, 1, 1)} for c in (True, False)])

# The same with sums along rows, and a loop in a branch.
case("loop_in_branch_reads_product", """
g (bool c, float[5,9] x, float[9,3] w) => (float[3] y) <int64 three = {3}> {
  t = MatMul(x, w)
  m = ReduceMean<axes = [0], keepdims = 0>(t)
  y = If(c) <
    then_branch = t1 () => (float[3] a) {
      a = Loop(three, , m) <
        body = b (int64 i, bool d, float[3] u) => (bool d, float[3] o) {
          r = Gather(t, i)
          o = Add(u, r)
        }>
    },
    else_branch = e () => (float[3] a) { a = Scan(m, t) <num_scan_inputs = 1,
        body = b (float[3] u, float[3] r) => (float[3] o) { o = Max(u, r) }>
    }>
}
""", [{"c": boolean(c), "x": f32(5, 9), "w": f32(9, 3)} for c in (True, False)])

# One condition for several: inside its own branches, where one of theirs
# cannot be computed, beside each other, and in a loop.
case("if_same_inside", """
g (float[4] x, bool c, float[n] w) => (float[4] y) {
  y = If(c) <
    then_branch = t1 () => (float[4] z) {
      z = If(c) <
        then_branch = t2 () => (float[4] a) { a = Relu(x) },
        else_branch = e2 () => (float[4] a) { a = Add(x, w) }>
    },
    else_branch = e1 () => (float[4] z) {
      n = Not(c)
      z = If(n) <
        then_branch = t3 () => (float[4] a) { a = Exp(x) },
        else_branch = e3 () => (float[4] a) { a = Add(x, w) }>
    }>
}
""", [{"x": f32(4), "c": boolean(c), "w": f32(3)} for c in (True, False)])

case("if_same_inside_taken", """
g (float[4] x, bool c, float[n] w) => (float[4] y) {
  y = If(c) <
    then_branch = t1 () => (float[4] z) {
      z = If(c) <
        then_branch = t2 () => (float[4] a) { a = Relu(x) },
        else_branch = e2 () => (float[4] a) { a = Add(x, w) }>
    },
    else_branch = e1 () => (float[4] z) {
      z = If(c) <
        then_branch = t3 () => (float[4] a) { a = Relu(x) },
        else_branch = e3 () => (float[4] a) { a = Add(x, w) }>
    }>
}
""", [{"x": f32(4), "c": boolean(True), "w": f32(3)}])

case("if_same_beside", """
g (float[4] x, bool c) => (float[4] y, float[4] z) {
  y = If(c) <
    then_branch = t1 () => (float[4] a) { a = Exp(x) },
    else_branch = e1 () => (float[4] a) { a = Neg(x) }>
  s = Add(y, x)
  z = If(c) <
    then_branch = t2 () => (float[4] a) {
      a = If(c) <
        then_branch = t3 () => (float[4] b) { b = Mul(s, y) },
        else_branch = e3 () => (float[4] b) { b = Identity(s) }>
    },
    else_branch = e2 () => (float[4] a) { a = Sqrt(s) }>
}
""", [{"x": np.abs(f32(4)), "c": boolean(c)} for c in (True, False)])

case("if_same_in_loop", """
g (float[4] x, bool c) => (float[4] y) <int64 three = {3}> {
  y = If(c) <
    then_branch = t1 () => (float[4] z) {
      z = Loop(three, c, x) <
        body = b (int64 i, bool d, float[4] u) => (bool e, float[4] o) {
          e = Identity(c)
          o = If(c) <
            then_branch = t2 () => (float[4] a) { a = Tanh(u) },
            else_branch = e2 () => (float[4] a) { a = Neg(u) }>
        }>
    },
    else_branch = e1 () => (float[4] z) {
      z = Loop(three, c, x) <
        body = b (int64 i, bool d, float[4] u) => (bool e, float[4] o) {
          e = Identity(c)
          o = Neg(u)
        }>
    }>
}
""", [{"x": f32(4), "c": boolean(c)} for c in (True, False)])

# A condition of constants, which is known later than the nodes are read.
case("if_of_constants", """
g (float[4] x, float[n] w) => (float[4] y, float[4] z)
<float[2] p = {1, 5}, float[2] q = {2, 3}> {
  h = Mul(p, q)
  s = ReduceSum<keepdims = 0>(h)
  l = ReduceMax<keepdims = 0>(h)
  c = Greater(s, l)
  y = If(c) <
    then_branch = t1 () => (float[4] a) { a = Relu(x) },
    else_branch = e1 () => (float[4] a) { a = Neg(x) }>
  z = If(c) <
    then_branch = t2 () => (float[4] a) { a = Exp(x) },
    else_branch = e2 () => (float[4] a) { a = Add(x, w) }>
}
""", [{"x": f32(4), "w": f32(3)}])

# Branches that turn out to make nothing: of two values that are there, one or
# both are selected.
case("if_selects_late", """
g (bool c, float[5,3] x) => (float[5,3] y, float[5,3] z, float[5,3] u) {
  h = Exp(x)
  k = Neg(x)
  y = If(c) <
    then_branch = t1 () => (float[5,3] a) { a = Max(h, h) },
    else_branch = e1 () => (float[5,3] a) { a = Min(k, k) }>
  z, u = If(c) <
    then_branch = t2 () => (float[5,3] a, float[5,3] b) {
      a = Max(k, k)
      b = Tanh(h)
    },
    else_branch = e2 () => (float[5,3] a, float[5,3] b) {
      a = Max(h, h)
      b = Min(k, k)
    }>
}
""", [{"c": boolean(c), "x": f32(5, 3)} for c in (True, False)])
