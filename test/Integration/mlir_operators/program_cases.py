# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that are written with a region, have several results, or lay a
tensor out anew: (name, inputs by name, lines that end with %r, expected)."""

import numpy as np

RANDOM = np.random.default_rng(24)


def f32(*shape, low=-2, high=2):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def tosa_control_flow():
    x, y = f32(3, 5), f32(3, 5)
    t = "tensor<3x5xf32>"
    for taken in (True, False):
        yield (f"tosa.cond_if_{taken}",
               {"c": np.array(taken), "x": x, "y": y},
               [f'%r = "tosa.cond_if"(%c, %x, %y) ({{',
                f"^bb0(%a: {t}, %b: {t}):",
                f'  %s = "tosa.add"(%a, %b) : ({t}, {t}) -> {t}',
                f'  "tosa.yield"(%s) : ({t}) -> ()', "}, {",
                f"^bb0(%a: {t}, %b: {t}):",
                f'  %s = "tosa.sub"(%a, %b) : ({t}, {t}) -> {t}',
                f'  "tosa.yield"(%s) : ({t}) -> ()',
                f"}}) : (tensor<i1>, {t}, {t}) -> {t}"],
               x + y if taken else x - y)
    i = "tensor<i32>"
    yield ("tosa.while_loop",
           {"n": np.array(4, np.int32), "x": x, "y": y},
           [f'%z = "tosa.const"() <{{values = dense<0> : {i}}}> : () -> {i}',
            f'%k, %r = "tosa.while_loop"(%z, %x) ({{',
            f"^bb0(%i: {i}, %v: {t}):",
            f'  %g = "tosa.greater"(%n, %i) : ({i}, {i}) -> tensor<i1>',
            '  "tosa.yield"(%g) : (tensor<i1>) -> ()', "}, {",
            f"^bb0(%i: {i}, %v: {t}):",
            f'  %o = "tosa.const"() <{{values = dense<1> : {i}}}> : () -> {i}',
            f'  %j = "tosa.add"(%i, %o) : ({i}, {i}) -> {i}',
            f'  %w = "tosa.add"(%v, %y) : ({t}, {t}) -> {t}',
            f'  "tosa.yield"(%j, %w) : ({i}, {t}) -> ()',
            f"}}) : ({i}, {t}) -> ({i}, {t})"], x + 4 * y)


def tosa_transforms():
    re, im = f32(2, 4, 8), f32(2, 4, 8)
    t, h = "tensor<2x4x8xf32>", "tensor<2x4x5xf32>"
    whole = np.fft.fft2(re + 1j * im)
    half = np.fft.rfft2(re)
    for part, number in (("real", 0), ("imag", 1)):
        names = ["%r", "%o"][::1 if number == 0 else -1]
        yield (f"tosa.fft2d_{part}", {"x": re, "y": im},
               [f'{", ".join(names)} = "tosa.fft2d"(%x, %y) '
                f"<{{inverse = false}}> : ({t}, {t}) -> ({t}, {t})"],
               getattr(whole, part))
        yield (f"tosa.rfft2d_{part}", {"x": re},
               [f'{", ".join(names)} = "tosa.rfft2d"(%x) : ({t}) -> '
                f"({h}, {h})"], getattr(half, part))


def resized(x, scale, offset, border, mode):
    """TOSA's definition, for floats."""
    (yn, yd, xn, xd), (yo, xo), (yb, xb) = scale, offset, border
    rows = ((x.shape[1] - 1) * yn - yo + yb) // yd + 1
    columns = ((x.shape[2] - 1) * xn - xo + xb) // xd + 1
    result = np.zeros((x.shape[0], rows, columns, x.shape[3]))
    for r, c in np.ndindex(rows, columns):
        (i, dy), (j, dx) = divmod(r * yd + yo, yn), divmod(c * xd + xo, xn)
        at = lambda k, l: x[:, np.clip(k, 0, x.shape[1] - 1),  # noqa: E731
                            np.clip(l, 0, x.shape[2] - 1)]
        if mode == "NEAREST_NEIGHBOR":
            result[:, r, c] = at(i + (2 * dy >= yn), j + (2 * dx >= xn))
            continue
        fy, fx = dy / yn, dx / xn
        result[:, r, c] = ((1 - fy) * (1 - fx) * at(i, j)
                           + (1 - fy) * fx * at(i, j + 1)
                           + fy * (1 - fx) * at(i + 1, j)
                           + fy * fx * at(i + 1, j + 1))
    return result


def tosa_resize():
    x = f32(1, 5, 4, 3)
    for name, scale, offset, border in [
            ("twice", (4, 2, 4, 2), (-1, -1), (1, 1)),
            ("corners", (8, 4, 6, 3), (0, 0), (0, 0)),
            ("down", (2, 4, 2, 4), (1, 1), (1, 3))]:
        for mode in ("BILINEAR", "NEAREST_NEIGHBOR"):
            y = resized(x, scale, offset, border, mode)
            sizes = "x".join(map(str, y.shape))
            lines, kinds = [], []
            for k, values in zip("sob", (scale, offset, border)):
                kinds.append(f"!tosa.shape<{len(values)}>")
                lines.append(
                    f"%{k} = tosa.const_shape {{values = dense<"
                    f"{list(values)}> : tensor<{len(values)}xindex>}} : () -> "
                    f"{kinds[-1]}")
            lines.append(
                f'%r = "tosa.resize"(%x, %s, %o, %b) <{{mode = #tosa.resize_mode<{mode}>}}> : '
                f"(tensor<1x5x4x3xf32>, {', '.join(kinds)}) -> "
                f"tensor<{sizes}xf32>")
            yield f"tosa.resize_{name}_{mode.lower()}", {"x": x}, lines, y


def tosa_rescale():
    x = RANDOM.integers(-9999, 9999, (3, 5)).astype(np.int32)
    multiplier, shift = 1342177280, 36
    y = np.clip((x.astype(object) * multiplier + (1 << (shift - 1)) >> shift)
                + 5, -128, 127).astype(np.int8)
    yield ("tosa.rescale", {"x": x}, [
        f'%m = "tosa.const"() <{{values = dense<{multiplier}> : tensor<1xi32>'
        "}> : () -> tensor<1xi32>",
        f'%s = "tosa.const"() <{{values = dense<{shift}> : tensor<1xi8>}}> : '
        "() -> tensor<1xi8>",
        '%i = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> '
        "tensor<1xi32>",
        '%o = "tosa.const"() <{values = dense<5> : tensor<1xi8>}> : () -> '
        "tensor<1xi8>",
        '%r = "tosa.rescale"(%x, %m, %s, %i, %o) <{scale32 = true, '
        "rounding_mode = #tosa.rounding_mode<SINGLE_ROUND>, per_channel = false, "
        "input_unsigned = false, output_unsigned = false}> : "
        "(tensor<3x5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, "
        "tensor<1xi8>) -> tensor<3x5xi8>"], y)


def linalg_regions():
    x, y = f32(3, 5), f32(3, 5)
    t = "tensor<3x5xf32>"
    empty = f"%e = tensor.empty() : {t}"
    yield ("linalg.map", {"x": x, "y": y},
           [empty, f"%r = linalg.map {{ arith.addf }} ins(%x, %y : {t}, {t}) "
            f"outs(%e : {t})"], x + y)
    yield ("linalg.reduce", {"x": x},
           ["%z = arith.constant 0.0 : f32",
            "%e = tensor.empty() : tensor<3xf32>",
            "%f = linalg.fill ins(%z : f32) outs(%e : tensor<3xf32>) -> "
            "tensor<3xf32>",
            f"%r = linalg.reduce {{ arith.addf }} ins(%x : {t}) "
            "outs(%f : tensor<3xf32>) dimensions = [1]"], x.sum(1))
    yield ("linalg.transpose", {"x": x},
           ["%e = tensor.empty() : tensor<5x3xf32>",
            f"%r = linalg.transpose ins(%x : {t}) outs(%e : tensor<5x3xf32>) "
            "permutation = [1, 0]"], x.T)
    v = f32(5)
    yield ("linalg.broadcast", {"x": v},
           [empty, "%r = linalg.broadcast ins(%x : tensor<5xf32>) "
            f"outs(%e : {t}) dimensions = [0]"], np.broadcast_to(v, (3, 5)))
    soft = np.exp(x.astype(np.float64))
    yield ("linalg.softmax", {"x": x},
           [empty, f"%r = linalg.softmax dimension(1) ins(%x : {t}) "
            f"outs(%e : {t}) -> {t}"], soft / soft.sum(1, keepdims=True))
    yield ("linalg.elementwise", {"x": x},
           [empty, "%r = linalg.elementwise kind=#linalg.elementwise_kind<exp>"
            f" ins(%x : {t}) outs(%e : {t}) -> {t}"], np.exp(x))
    a, b = f32(4, 3, 5), f32(7, 5, 4)
    yield ("linalg.contract", {"x": a, "y": b},
           ["%z = arith.constant 0.0 : f32",
            "%e = tensor.empty() : tensor<3x7xf32>",
            "%f = linalg.fill ins(%z : f32) outs(%e : tensor<3x7xf32>) -> "
            "tensor<3x7xf32>",
            "%r = linalg.contract indexing_maps = ["
            "affine_map<(i, j, k, l) -> (l, i, k)>, "
            "affine_map<(i, j, k, l) -> (j, k, l)>, "
            "affine_map<(i, j, k, l) -> (i, j)>] "
            "ins(%x, %y : tensor<4x3x5xf32>, tensor<7x5x4xf32>) "
            "outs(%f : tensor<3x7xf32>) -> tensor<3x7xf32>"],
           np.einsum("lik,jkl->ij", a, b))
    yield ("linalg.generic", {"x": x, "y": v},
           [empty, "%r = linalg.generic {indexing_maps = ["
            "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, "
            "affine_map<(i, j) -> (i, j)>], "
            'iterator_types = ["parallel", "parallel"]} '
            f"ins(%x, %y : {t}, tensor<5xf32>) outs(%e : {t}) {{",
            "^bb0(%p: f32, %q: f32, %o: f32):",
            "  %c = arith.cmpf ogt, %p, %q : f32",
            "  %s = arith.select %c, %p, %q : f32",
            f"  linalg.yield %s : f32", f"}} -> {t}"], np.maximum(x, v))


def linalg_layouts():
    x = f32(8, 15)
    tiles = x.reshape(4, 2, 5, 3).transpose(0, 2, 1, 3)
    one, two = "tensor<8x15xf32>", "tensor<4x5x2x3xf32>"
    how = "inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e"
    yield ("linalg.pack", {"x": x},
           [f"%e = tensor.empty() : {two}",
            f"%r = linalg.pack %x {how} : {one} -> {two}"], tiles)
    yield ("linalg.unpack", {"x": np.ascontiguousarray(tiles)},
           [f"%e = tensor.empty() : {one}",
            f"%r = linalg.unpack %x {how} : {two} -> {one}"], x)


def cases():
    for family in (tosa_control_flow, tosa_transforms, tosa_resize,
                   tosa_rescale, linalg_regions, linalg_layouts):
        yield from family()
