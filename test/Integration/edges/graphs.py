# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs that are legal and rare: forms of functions, tensors that several
names have, orders, types and tables that small tests do not meet."""

import numpy as np

RANDOM = np.random.default_rng(16)
OPSET = '<ir_version: 8, opset_import: ["" : 17]>\n'
CASES = []


def case(name, text, runs, header=OPSET):
    CASES.append((name, header + text, runs))


def f32(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def opset(version, ir=10, more=""):
    return f'<ir_version: {ir}, opset_import: ["" : {version}{more}]>\n'


# A tensor is input and output, a constant is an output, another is read by
# nobody, and so is an input.
case("outputs_of_all_kinds", """
g (float[3] x, float[2] unread) => (float[3] c, float[3] d, float[3] y)
<float[3] c = {1, 2, 3}> {
  d = Identity(c)
  dead = Exp(unread)
  y = Neg(x)
}
""", [{"x": f32(3), "unread": f32(2)}])
case("weights_with_defaults", """
g (float[3] x, float[3] w) => (float[3] y) <float[3] w = {1, 2, 3}> {
  y = Mul(x, w)
}
""", [{"x": f32(3)}])
case("outputs_left_out", """
g (float[4,1,3] x, float[1,20,3] w, float[1,20,5] r)
    => (float[1,1,5] h, float[n] u, int64[m] i) <int64[1] flat = {-1}> {
  "", h = LSTM<hidden_size = 5>(x, w, r)
  k = Reshape(x, flat)
  u, "", i = Unique(k)
}
""", [{"x": f32(4, 1, 3), "w": f32(1, 20, 3), "r": f32(1, 20, 5)}])

FUNCTIONS = opset(17, 9, ', "local" : 1')
case("functions_in_functions", """
g (float[3,4] x) => (float[3,4] y, float[3,4] z) {
  y = local.scaled<scale = 2.5>(x)
  z = local.outer<a = 0.1>(y)
}
<domain: "local", opset_import: ["" : 17]>
scaled<scale: float = 1.0, shift: float = 0.5>(x) => (y) {
  s = Constant<value_float: float = @scale>()
  t = Constant<value_float: float = @shift>()
  p = Mul(x, s)
  y = Add(p, t)
}
<domain: "local", opset_import: ["" : 17, "local" : 1]>
outer<a: float = 0.01>(x) => (y) {
  q = LeakyRelu<alpha: float = @a>(x)
  y = local.scaled<scale: float = @a>(q)
}
""", [{"x": f32(3, 4)}], FUNCTIONS)
case("function_with_branches", """
g (float[3] x, bool c) => (float[3] y, float[3] z) {
  y = local.chosen<by = 3.0>(x, c)
  n = Not(c)
  z = local.chosen(y, n)
}
<domain: "local", opset_import: ["" : 17]>
chosen<by: float = 2.0>(x, c) => (y) {
  b = Constant<value_float: float = @by>()
  y = If(c) <
    then_branch = t () => (a) { a = Add(x, b) },
    else_branch = e () => (a) { h = Mul(x, b) a = Relu(h) }>
}
""", [{"x": f32(3), "c": np.array(c)} for c in (True, False)], FUNCTIONS)
# A scope's names are its own, and it sees those around it.
case("names_of_scopes", """
g (float[3] x, bool c) => (float[3] y, float[3] z) <float two = {2}> {
  h = Mul(x, two)
  y = If(c) <
    then_branch = t () => (float[3] a) {
      k = Add(h, x)
      a = Exp(k)
    },
    else_branch = e () => (float[3] a) {
      k = Sub(h, x)
      a = Neg(k)
    }>
  k = Add(y, h)
  z = Tanh(k)
}
""".replace("  k = Add(y, h)\n  z = Tanh(k)", "  last = Add(y, h)\n"
            "  z = Tanh(last)"),
     [{"x": f32(3), "c": np.array(c)} for c in (True, False)])

# Without elements, without dimensions.
case("no_elements", """
g (float[0,3] x, float[2,3] z)
    => (float[2,3] a, float[3] b, float[0] c, float[0,4] d, float[3] e,
        float[0] s) <float[3,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                     int64[1] rows = {0}, int64[1] flat = {-1}> {
  a = Concat<axis = 0>(x, z)
  b = ReduceSum<keepdims = 0>(x, rows)
  c = ReduceMax<axes = [1], keepdims = 0>(x)
  d = MatMul(x, w)
  e = ReduceProd<axes = [0], keepdims = 0>(x)
  s = Reshape(x, flat)
}
""", [{"x": f32(0, 3), "z": f32(2, 3)}])

# A scalar is unique, and may be left out.
case("one_element", """
g (float v, float[1] u, bool[1] c)
    => (float[n] a, int64[n] i, float[m] b, float[k] d)
<bool[1] yes = {1}> {
  a, "", i = Unique(v)
  b = Compress(u, yes)
  d = Compress(u, c)
}
""",
     [{"v": np.array(3, np.float32), "u": f32(1), "c": np.array([c])}
      for c in (True, False)])

# Tables that are too large to stand beside an operation; scales of eight, so that
# places between elements are exact.
case("large_tables", """
g (float[1,1,40,60] x, float[200,200] z, float[1,1,300] v)
    => (float[1,1,320,480] y, float[200] d, float[1,1,151] p, float[150] k) {
  y = Resize<mode = "linear">(x, , , s)
  q = ConstantOfShape<value = int64[1] {1}>(square)
  i = NonZero(q)
  t = Transpose(i)
  f = GatherND(z, t)
  r = Reshape(f, square)
  d = ReduceMax<axes = [1], keepdims = 0>(r)
  p = AveragePool<kernel_shape = [3], strides = [2], pads = [1, 1],
    count_include_pad = 0>(v)
  c = Constant<value_floats = [FLOATS]>()
  k = Mul(c, c)
}
""".replace("FLOATS", ", ".join(str(i / 7) for i in range(300)))
     .replace("float[150] k", "float[300] k").replace("float[1,1,151]",
                                                      "float[1,1,150]")
     .replace("{\n  y", "<int64[4] s = {1, 1, 320, 480}, "
              "int64[2] square = {200, 200}> {\n  y", 1),
     [{"x": f32(1, 1, 40, 60), "z": f32(200, 200), "v": f32(1, 1, 300)}])

# Values of 8 bits and less between casts.
case("small_floats", """
g (float[40] x) => (float[40] a, float[40] b, float[40] c, float[40] d) {
  p = Cast<to = 17>(x)
  a = Cast<to = 1>(p)
  q = Cast<to = 18>(x)
  b = Cast<to = 1>(q)
  r = Cast<to = 19, saturate = 0>(x)
  c = Cast<to = 1>(r)
  s = Cast<to = 20>(x)
  d = Cast<to = 1>(s)
}
""", [{"x": np.concatenate([
    f32(30) * 10, [0, -0.0, np.inf, -np.inf, np.nan, 448, 449, 1e6, 2 ** -9,
                   57345]]).astype(np.float32)}], opset(21))
case("pads_of_all_kinds", """
g (float[5,6] x) => (float[1005,1506] a, float[5,12] b, float[5,16] c,
                     float[3,7] d, float[4,6] e)
<int64[4] far = {500, 700, 500, 800}, int64[4] round = {0, 2, 0, 4},
 int64[4] side = {0, 5, 0, 5}, int64[4] less = {-1, 2, -1, -1},
 int64[4] both = {-2, 1, 1, -1}, float v = {1.5}> {
  a = Pad(x, far, v)
  b = Pad<mode = "wrap">(x, round)
  c = Pad<mode = "edge">(x, side)
  d = Pad(x, less)
  e = Pad<mode = "reflect">(x, both)
}
""", [{"x": f32(5, 6)}], opset(19, 9))

# What is no tensor, as long as it is known which tensors it stands for.
case("sequences", """
g (float[2,3] x, float[1,3] z)
    => (float[5,3] y, int64 n, float[1,3] w, float[8,3] l, float[3,2,3] p)
<int64 one = {1}, int64 last = {-1}, int64 four = {4}, int64 two = {2}> {
  s = SequenceConstruct(x, z)
  t = SequenceInsert(s, x, one)
  n = SequenceLength(t)
  y = ConcatFromSequence<axis = 0>(t)
  w = SequenceAt(t, last)
  e = SequenceEmpty<dtype = 1>()
  m = Loop(four, , e) <
    body = b (int64 i, bool c, q) => (bool c, r) {
      f = Cast<to = 1>(i)
      v = Add(x, f)
      r = SequenceInsert(q, v)
    }>
  l = ConcatFromSequence<axis = 0>(m)
  u = SplitToSequence<axis = 0>(l, two)
  k = SequenceErase(u, one)
  p = ConcatFromSequence<axis = 0, new_axis = 1>(k)
}
""", [{"x": f32(2, 3), "z": f32(1, 3)}])
# A sequence that a loop makes, which counts by itself.
case("sequence_of_unknown_length", """
g (float[5,3] x) => (float[5,3] y)
<int64 zero = {0}, int64 one = {1}, int64 five = {5}, bool yes = {1},
 int64[1] first = {0}> {
  e = SequenceEmpty<dtype = 1>()
  n, s = Loop(, yes, zero, e) <
    body = b (int64 i, bool c, int64 k, q) => (bool go, int64 m, r) {
      row = Gather<axis = 0>(x, k)
      v = Exp(row)
      u = Unsqueeze(v, first)
      r = SequenceInsert(q, u)
      m = Add(k, one)
      go = Less(m, five)
    }>
  y = ConcatFromSequence<axis = 0>(s)
}
""", [{"x": f32(5, 3)}])
# Branches that make sequences of one length.
case("sequence_of_a_branch", """
g (float[2,3] x, float[1,3] z, bool c) => (float[n,3] y, int64 n) {
  s = If(c) <
    then_branch = t () => (a) { m = Neg(x) a = SequenceConstruct(m, z) },
    else_branch = e () => (a) { m = Exp(x) w = Neg(z) a = SequenceConstruct(m, w) }>
  y = ConcatFromSequence<axis = 0>(s)
  n = SequenceLength(s)
}
""".replace("float[n,3] y", "float[3,3] y"),
     [{"x": f32(2, 3), "z": f32(1, 3), "c": np.array(c)}
      for c in (True, False)])
case("sequences_mapped", """
g (float[2,3] x, float[1,3] z) => (float[3,3] y, float[2,3] w, bool h) {
  s = SequenceConstruct(x, z)
  m = SequenceMap(s, z) <
    body = b (float[p,3] v, float[1,3] u) => (float[p,3] a) { a = Mul(v, u) }>
  y = ConcatFromSequence<axis = 0>(m)
  o = Optional(x)
  h = OptionalHasElement(o)
  w = OptionalGetElement(o)
}
""", [{"x": f32(2, 3), "z": f32(1, 3)}], opset(18))

# What is taken of a tensor without elements has none, wherever it lies.
case("parts_of_nothing", """
g (float[2,0,3] past, float[2,3] k) => (y, z, u, v) <int64 i = {1},
    int64[1] one = {1}, int64[1] two = {2}, int64[1] zero = {0}> {
  k0 = Gather<axis = 0>(past, i)
  y = Concat<axis = 0>(k0, k)
  s = Slice(past, one, two, zero)
  z = Squeeze(s, zero)
  u, v = Split<axis = 2>(past, parts)
}
""".replace("zero = {0}>", "zero = {0}, int64[2] parts = {1, 2}>"),
     [{"past": np.zeros((2, 0, 3), np.float32), "k": f32(2, 3)}])

# Inside a model a tensor may have more dims than at its ends.
case("rank_of_twenty", """
g (float[6,4] x) => (float[6,4] y) <int64[20] many = {MANY},
    int64[2] two = {6, 4}> {
  t = Reshape(x, many)
  r = Tanh(t)
  s = ReduceSum<keepdims = 1>(r, two_of)
  u = Sub(r, s)
  y = Reshape(u, two)
}
""".replace("MANY", ", ".join(["1"] * 15 + ["2", "3", "1", "2", "2"])).replace(
    "two = {6, 4}>", "two = {6, 4}, int64[2] two_of = {3, -1}>"),
     [{"x": f32(6, 4)}])
