# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators at their edges: odd sizes, size one, size zero, scalars, negative
axes, broadcasting, NaN, infinities, ties, every way to pad.

ONNX's own tests have few of these. A case is (name, operator, inputs,
attributes, opset, known): `known` are the inputs that are part of the model,
since an axis or a shape must be known when a model is compiled.
"""

import itertools
import zlib

import numpy as np

F32, F64, I32, I64, U8 = (np.float32, np.float64, np.int32, np.int64,
                          np.uint8)
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 88.5, -88.5, 1e30,
           -1e30, 0.5, -0.5, 1.5, 2.5]


def random(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def floats(name, shape, kind=F32):
    return random(name).standard_normal(shape).astype(kind)


def integers(name, shape, kind, low=1, high=50):
    return random(name).integers(low, high, shape).astype(kind)


def case(name, op, inputs, opset=17, known=(), **attributes):
    return name, op, inputs, attributes, opset, known


def sizes(shape):
    return "x".join(map(str, shape)) or "scalar"


def elementwise():
    unary = ["Abs", "Neg", "Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt",
             "Erf", "Floor", "Ceil", "Round", "Reciprocal", "Softplus",
             "Softsign", "HardSigmoid", "HardSwish", "Elu", "Selu", "Sign",
             "LeakyRelu", "IsNaN", "IsInf", "Sin", "Cos", "Atan"]
    for op in unary:
        yield case(f"{op}-special", op, [np.array(SPECIAL, F32)])
    for op in ("Relu", "Exp", "Neg"):
        for shape in [(), (1,), (0,), (7,), (3, 5), (1, 1, 17), (2, 3, 5, 7),
                      (2, 0, 3)]:
            yield case(f"{op}-{sizes(shape)}", op,
                       [floats(op, shape)])
    shapes = [((), (3,)), ((3, 1), (1, 4)), ((2, 3, 1, 5), (3, 7, 1)),
              ((0, 3), (1, 3)), ((1,), (0,)), ((7, 1, 1), (9,)),
              ((5,), (5,)), ((), ())]
    for op, (a, b) in itertools.product(("Add", "Sub", "Mul", "Div"), shapes):
        name = f"{op}-{sizes(a)}-{sizes(b)}"
        yield case(name, op, [floats(name, a), floats(name + "b", b)])
    for op, kind in itertools.product(("Add", "Sub", "Mul", "Div", "Max",
                                       "Min"), (F64, I32, I64, U8)):
        name = f"{op}-{np.dtype(kind).name}"
        make = floats if kind is F64 else integers
        yield case(name, op, [make(name, (3, 5), kind),
                              make(name + "b", (5,), kind)])
    for op in ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual",
               "Max", "Min"):
        yield case(f"{op}-special", op,
                   [np.repeat(np.array(SPECIAL, F32), len(SPECIAL)),
                    np.tile(np.array(SPECIAL, F32), len(SPECIAL))])
    yield case("Div-negative-integers", "Div",
               [np.array([7, -7, 7, -7], I32), np.array([2, 2, -2, -2], I32)])
    for fmod in (0, 1):
        yield case(f"Mod-signs-{fmod}", "Mod",
                   [np.array([7, -7, 7, -7], I64),
                    np.array([3, 3, -3, -3], I64)], fmod=fmod)
    yield case("Pow-edges", "Pow",
               [np.array([0, 2, -2, 4, 0.5, 9], F32),
                np.array([0, -1, 3, 0.5, 2, 1.5], F32)])
    yield case("Where-broadcast", "Where",
               [np.array([[True], [False]]), floats("w", (3,)),
                floats("v", (2, 1))])
    yield case("Clip-low-only", "Clip",
               [np.array(SPECIAL[1:], F32), np.array(-0.25, F32)],
               known=(1,))
    for op in ("And", "Or", "Xor"):
        yield case(f"{op}-broadcast", op,
                   [np.array([[True], [False]]), np.array([True, False])])
    for source, target, number in ((F32, I32, 6), (F32, np.bool_, 9),
                                   (I64, F32, 1), (F32, np.float16, 10),
                                   (np.float16, F32, 1), (U8, F32, 1),
                                   (np.bool_, F32, 1), (F32, F64, 11)):
        values = np.array([0, 1, 2.75, 200.5, 3, 0.25]).astype(source)
        yield case(f"Cast-{np.dtype(source).name}-{np.dtype(target).name}",
                   "Cast", [values], to=number)


def reductions():
    for op in ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd",
               "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare"):
        for axes, keep in (([-1], 1), ([0, -2], 0), (None, 0), ([1], 1)):
            name = f"{op}-{axes}-{keep}".replace(" ", "").replace("[", "") \
                .replace("]", "").replace(",", "_")
            extra = {} if axes is None else {"axes": axes}
            yield case(name, op, [floats(name, (3, 5, 7))], opset=13,
                       keepdims=keep, **extra)
    for shape, axis in (((1, 1), 0), ((17,), -1), ((0, 3), 0), ((3, 0), 0),
                        ((2, 3, 33), -1), ((33, 2, 3), 0)):
        name = f"ReduceSum-{sizes(shape)}-{axis}"
        yield case(name, "ReduceSum",
                   [floats(name, shape), np.array([axis], I64)], known=(1,))
    for op, axis in itertools.product(("Softmax", "LogSoftmax"),
                                      (0, 1, -1, -3)):
        yield case(f"{op}-{axis}", op, [floats(op, (3, 5, 7))], axis=axis)
    yield case("Softmax-large", "Softmax",
               [np.array([[1e4, -1e4, 0], [88, 89, 90],
                          [-np.inf, 0, 1]], F32)])
    yield case("Softmax-one", "Softmax", [floats("s1", (4, 1))])
    for op, last, axis in itertools.product(("ArgMax", "ArgMin"), (0, 1),
                                            (0, -1)):
        yield case(f"{op}-ties-{last}-{axis}", op,
                   [integers(op, (5, 7), F32, 0, 3)], axis=axis, keepdims=0,
                   select_last_index=last)
    yield case("CumSum-reverse", "CumSum",
               [floats("cs", (3, 5)), np.array(-1, I64)], known=(1,),
               reverse=1, exclusive=1)
    for shape in ((2, 3, 5), (1, 1, 1), (2, 1, 33)):
        yield case(f"LayerNormalization-{sizes(shape)}", "LayerNormalization",
                   [floats("ln", shape), floats("lg", shape[-1:]),
                    floats("lb", shape[-1:])], axis=-1)


def contractions():
    for a, b in (((1, 1), (1, 1)), ((7, 13), (13, 17)), ((33, 1), (1, 31)),
                 ((1, 65), (65, 1)), ((5,), (5,)), ((5,), (5, 3)),
                 ((3, 5), (5,)), ((2, 1, 7, 5), (3, 5, 4)), ((0, 4), (4, 3)),
                 ((3, 0), (0, 4)), ((4, 3, 9, 9), (4, 3, 9, 1)),
                 ((100, 67), (67, 99))):
        name = f"MatMul-{sizes(a)}-{sizes(b)}"
        yield case(name, "MatMul", [floats(name, a), floats(name + "b", b)])
    yield case("MatMul-int32", "MatMul", [integers("a", (3, 5), I32),
                                          integers("b", (5, 2), I32)])
    for ta, tb in itertools.product((0, 1), (0, 1)):
        for shape in ((3, 7), (7,), (3, 1), ()):
            name = f"Gemm-{ta}{tb}-{sizes(shape)}"
            a = floats(name, (5, 3) if ta else (3, 5))
            b = floats(name + "b", (7, 5) if tb else (5, 7))
            yield case(name, "Gemm", [a, b, floats(name + "c", shape)],
                       transA=ta, transB=tb, alpha=0.5, beta=-2.0)
    convolutions = {
        "1d": ((2, 3, 11), (4, 3, 3), {}),
        "3d": ((1, 2, 5, 6, 7), (3, 2, 2, 3, 2), {}),
        "one": ((1, 1, 1, 1), (1, 1, 1, 1), {}),
        "pointwise": ((3, 5, 7, 9), (11, 5, 1, 1), {}),
        "odd": ((1, 3, 13, 17), (5, 3, 3, 5), {"pads": [1, 2, 1, 2]}),
        "stride-3": ((1, 3, 13, 17), (5, 3, 3, 3), {"strides": [3, 2]}),
        "dilated": ((1, 3, 13, 17), (5, 3, 3, 3), {"dilations": [2, 3]}),
        "one-sided": ((1, 3, 7, 7), (5, 3, 3, 3), {"pads": [0, 2, 1, 0]}),
        "groups": ((2, 6, 7, 7), (4, 3, 3, 3), {"group": 2}),
        "depthwise": ((1, 7, 9, 9), (7, 1, 3, 3),
                      {"group": 7, "pads": [1] * 4}),
        "depthwise-twofold": ((1, 3, 9, 9), (6, 1, 5, 5), {"group": 3}),
        "kernel-over-input": ((1, 2, 2, 2), (3, 2, 3, 3), {"pads": [1] * 4}),
        "same-upper": ((1, 2, 7, 8), (3, 2, 3, 4),
                       {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        "same-lower": ((1, 2, 7, 8), (3, 2, 4, 4),
                       {"auto_pad": "SAME_LOWER"}),
        "valid": ((1, 2, 7, 8), (3, 2, 3, 3), {"auto_pad": "VALID"}),
        "wide": ((1, 33, 5, 5), (65, 33, 3, 3), {"pads": [1] * 4}),
    }
    for what, (x, w, attributes) in convolutions.items():
        name = f"Conv-{what}"
        yield case(name, "Conv", [floats(name, x), floats(name + "w", w)],
                   known=(1,), **attributes)
        yield case(f"{name}-bias", "Conv",
                   [floats(name, x), floats(name + "w", w),
                    floats(name + "b", w[:1])], **attributes)
    for what, (x, w, attributes) in {
            "plain": ((1, 3, 5, 5), (3, 2, 3, 3), {}),
            "stride": ((1, 3, 5, 4), (3, 2, 2, 2), {"strides": [2, 2]}),
            "output-padding": ((1, 3, 5, 5), (3, 2, 3, 3), {
                "strides": [2, 2], "pads": [1] * 4,
                "output_padding": [1, 1]}),
            "groups": ((1, 4, 5, 5), (4, 1, 3, 3), {"group": 2}),
            "1d": ((1, 3, 7), (3, 2, 4), {"strides": [3]})}.items():
        name = f"ConvTranspose-{what}"
        yield case(name, "ConvTranspose",
                   [floats(name, x), floats(name + "w", w)], **attributes)


def pools():
    for op in ("MaxPool", "AveragePool"):
        for what, attributes in {
                "odd": {"strides": [2, 2]},
                "ceil": {"strides": [2, 2], "ceil_mode": 1},
                "padded": {"pads": [1, 0, 0, 1], "strides": [2, 1]},
                "same-lower": {"auto_pad": "SAME_LOWER"}}.items():
            name = f"{op}-{what}"
            yield case(name, op, [floats(name, (2, 3, 11, 8))],
                       kernel_shape=[3, 2], **attributes)
        yield case(f"{op}-1d", op, [floats(op, (1, 2, 9))], kernel_shape=[4])
    yield case("AveragePool-counts-padding", "AveragePool",
               [floats("ap", (1, 2, 7, 7))], kernel_shape=[3, 3],
               pads=[1] * 4, count_include_pad=1)
    yield case("MaxPool-negative", "MaxPool", [-abs(floats("mp", (1, 1, 5, 5)))
                                               - 1], kernel_shape=[3, 3],
               pads=[1] * 4)
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        for shape in ((2, 3, 7, 5), (1, 1, 1, 1), (2, 3, 9)):
            yield case(f"{op}-{sizes(shape)}", op, [floats(op, shape)])
    x = floats("bn", (2, 3, 5, 5))
    yield case("BatchNormalization-odd", "BatchNormalization",
               [x, *(floats(n, (3,)) for n in "abc"),
                abs(floats("d", (3,))) + 0.1], known=(1, 2, 3, 4))
    yield case("InstanceNormalization-odd", "InstanceNormalization",
               [x, floats("i", (3,)), floats("j", (3,))])
    yield case("LRN-odd", "LRN", [floats("lrn", (1, 7, 3, 3))], size=5)


def movement():
    x = floats("x", (3, 5, 7))
    for perm in itertools.permutations(range(3)):
        yield case(f"Transpose-{''.join(map(str, perm))}", "Transpose", [x],
                   perm=list(perm))
    for axis in (0, 1, -1):
        others = [list(x.shape), list(x.shape)]
        others[0][axis], others[1][axis] = 0, 1
        yield case(f"Concat-{axis}", "Concat",
                   [x, floats("e", others[0]), floats("o", others[1])],
                   axis=axis)
    yield case("Concat-one", "Concat", [x], axis=0)
    far = 2**31
    for what, (starts, ends, axes, steps) in {
            "negative": ([-2], [far], [-1], [1]),
            "backwards": ([-1], [-far], [1], [-2]),
            "beyond": ([1, -100], [100, 100], [0, 2], [1, 3]),
            "empty": ([3], [1], [1], [1])}.items():
        yield case(f"Slice-{what}", "Slice",
                   [x, *(np.array(v, I64) for v in (starts, ends, axes,
                                                    steps))],
                   known=(1, 2, 3, 4))
    yield case("Gather-negative", "Gather",
               [x, np.array([[0, -1], [2, -3]], I64)], axis=-1)
    yield case("Gather-scalar", "Gather", [x, np.array(-2, I64)], axis=1)
    yield case("Gather-none", "Gather", [x, np.zeros((0,), I64)], axis=0)
    yield case("GatherElements-negative", "GatherElements",
               [x, integers("ge", (3, 5, 7), I64, -7, 7)], axis=-1)
    yield case("GatherND-partial", "GatherND",
               [x, np.array([[0, 1], [2, -1]], I64)])
    yield case("ScatterND-rows", "ScatterND",
               [x, np.array([[2], [0]], I64), floats("s", (2, 5, 7))])
    yield case("ScatterElements-axis", "ScatterElements",
               [x, integers("se", (1, 2, 7), I64, 0, 5),
                floats("u", (1, 2, 7))][:1] +
               [np.array([[[1] * 7, [3] * 7]], I64), floats("u", (1, 2, 7))],
               axis=1)
    for mode in ("constant", "edge", "reflect"):
        yield case(f"Pad-{mode}", "Pad",
                   [x, np.array([1, 0, 3, 2, 1, 0], I64)], known=(1,),
                   mode=mode)
    yield case("Pad-negative", "Pad", [x, np.array([-1, 2, 0, 0, -2, 0], I64)],
               known=(1,))
    yield case("Tile-odd", "Tile", [x, np.array([2, 1, 3], I64)], known=(1,))
    yield case("Expand-both", "Expand",
               [floats("ex", (3, 1)), np.array([2, 1, 4], I64)], known=(1,))
    for what, target in {"zero-minus": [0, -1], "scalar-ish": [1, -1, 1],
                         "flat": [-1]}.items():
        yield case(f"Reshape-{what}", "Reshape", [x, np.array(target, I64)],
                   known=(1,))
    yield case("Reshape-empty", "Reshape",
               [floats("re", (0, 3)), np.array([3, 0], I64)], known=(1,),
               allowzero=1)
    for axis in (0, 1, 3, -1):
        yield case(f"Flatten-{axis}", "Flatten", [x], axis=axis)
    yield case("Unsqueeze-negative", "Unsqueeze",
               [x, np.array([-1, 0], I64)], known=(1,))
    yield case("Squeeze-negative", "Squeeze",
               [floats("sq", (1, 3, 1)), np.array([-1], I64)], known=(1,))
    yield case("DepthToSpace-CRD", "DepthToSpace",
               [floats("ds", (1, 8, 2, 3))], blocksize=2, mode="CRD")
    for what, attributes in {
            "nearest": {"mode": "nearest", "nearest_mode": "floor",
                        "coordinate_transformation_mode": "asymmetric"},
            "linear": {"mode": "linear"},
            "corners": {"mode": "linear", "coordinate_transformation_mode":
                        "align_corners"}}.items():
        yield case(f"Resize-{what}", "Resize",
                   [floats("rs", (1, 2, 5, 7)), np.zeros(0, F32),
                    np.zeros(0, F32), np.array([1, 2, 8, 11], I64)],
                   known=(1, 2, 3), **attributes)
    yield case("TopK-smallest", "TopK", [floats("tk", (3, 9)),
                                         np.array([4], I64)],
               known=(1,), axis=-1, largest=0)
    yield case("Trilu-shifted", "Trilu", [floats("tr", (4, 6)),
                                          np.array(-1, I64)], known=(1,),
               upper=0)
    yield case("Einsum-batch", "Einsum",
               [floats("ea", (2, 3, 5)), floats("eb", (2, 5, 4))],
               equation="bij,bjk->bik")


def quantized():
    """Zero points that the model knows, and ones that each call brings."""
    convolutions = {
        "plain": ((1, 3, 9, 10), (5, 3, 3, 3), {}),
        "padded": ((2, 8, 9, 7), (16, 8, 3, 3),
                   {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
        "depthwise": ((1, 6, 8, 8), (6, 1, 3, 3),
                      {"pads": [1, 1, 1, 1], "group": 6}),
        "grouped": ((1, 8, 7, 7), (12, 4, 3, 3),
                    {"pads": [2, 2, 2, 2], "dilations": [2, 2], "group": 2}),
        "line": ((1, 5, 33), (7, 5, 4), {"pads": [3, 0]}),
    }
    for (what, (x, w, attributes)), knows, signed in itertools.product(
            convolutions.items(), ("none", "weights", "zeros", "all"),
            (False, True)):
        name = f"ConvInteger-{what}-{knows}-{'s8' if signed else 'u8'}"
        weights = random(name + "w")
        inputs = [random(name).integers(0, 256, x).astype(U8),
                  weights.integers(-128, 128, w).astype(np.int8) if signed
                  else weights.integers(0, 256, w).astype(U8),
                  np.array(131, U8),
                  np.array(-3 if signed else 77, np.int8 if signed else U8)]
        yield case(name, "ConvInteger", inputs, known={
            "none": (), "weights": (1, 3), "zeros": (2, 3),
            "all": (1, 2, 3)}[knows], **attributes)
    for m, k, n in ((1, 7, 5), (9, 64, 33), (17, 130, 16)):
        for knows in (), (1, 3), (2, 3):
            name = f"MatMulInteger-{m}-{k}-{n}-" + "".join(map(str, knows))
            yield case(name, "MatMulInteger", [
                random(name).integers(0, 256, (m, k)).astype(U8),
                random(name + "w").integers(-128, 128, (k, n)).astype(np.int8),
                np.array(200, U8), np.array(5, np.int8)], known=knows)


def all_cases():
    for family in (elementwise, reductions, contractions, pools, movement,
                   quantized):
        yield from family()
