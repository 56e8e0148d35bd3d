# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of com.microsoft, beside ONNX Runtime, which defines them."""

import copy

import numpy as np
from operator_case import Case

DOMAIN = "com.microsoft"


def case(name, op, inputs, **options):
    return Case(name, op, inputs, domain=DOMAIN, **options)


def cases(random):
    yield from activations(random)
    yield from normalizations(random)
    yield from products(random)
    yield from quantized(random)
    yield from layers(random)
    yield from attention(random)
    yield from rotation(random)
    yield from grouped(random)
    yield from between(random)
    yield from quantized_recurrence(random)


def activations(random):
    for i, shape in enumerate([(3, 5, 7), (1, 33), (2, 0, 3)]):
        x, bias = random.floats(shape), random.floats(shape[-1:])
        yield case(f"Gelu_{i}", "Gelu", [x])
        yield case(f"QuickGelu_{i}", "QuickGelu", [x],
                   attributes={"alpha": 1.3} if i else {})
        if x.size:
            yield case(f"BiasGelu_{i}", "BiasGelu", [x, bias])
            yield case(f"FastGelu_{i}", "FastGelu", [x])
            yield case(f"FastGelu_bias_{i}", "FastGelu", [x, bias])


def normalizations(random):
    for i, (batch, rows, width) in enumerate([(2, 3, 16), (1, 1, 7)]):
        x, skip = (random.floats((batch, rows, width)) for _ in range(2))
        gamma, beta, bias = (random.floats((width,)) for _ in range(3))
        for name, inputs in [("all", [x, skip, gamma, beta, bias]),
                             ("beta", [x, skip, gamma, beta]),
                             ("bias", [x, skip, gamma, None, bias]),
                             ("gamma", [x, skip, gamma])]:
            yield case(f"SkipLayerNormalization_{name}_{i}",
                       "SkipLayerNormalization", inputs,
                       attributes={"epsilon": 1e-5})
        for name, inputs in [("bias", [x, skip, gamma, bias]),
                             ("gamma", [x, skip, gamma])]:
            yield case(f"SkipSimplified_{name}_{i}",
                       "SkipSimplifiedLayerNormalization", inputs,
                       attributes={"epsilon": 1e-5})
        # The sum as a result, too; one skip for the batch; tokens in one axis.
        for simplified in ("", "Simplified"):
            op = f"Skip{simplified}LayerNormalization"
            for name, a, b, results in [
                    ("sum", x, skip, [np.float32, None, None, np.float32]),
                    ("shared", x, skip[:1], None), ("row", x, skip[0], None),
                    ("tokens", x[0], skip[0], None)]:
                yield case(f"{op}_{name}_{i}", op, [a, b, gamma],
                           results=results, attributes={"epsilon": 1e-5})
        yield Case(f"SimplifiedLayerNormalization_{i}",
                   "SimplifiedLayerNormalization", [x, gamma],
                   attributes={"epsilon": 1e-5, "axis": -1})


def products(random):
    for trans_a in (0, 1):
        for trans_b in (0, 1):
            a = random.floats((2, 5, 3) if trans_a else (2, 3, 5))
            b = random.floats((2, 4, 5) if trans_b else (2, 5, 4))
            yield case(f"FusedMatMul_{trans_a}{trans_b}", "FusedMatMul",
                       [a, b], attributes={"transA": trans_a,
                                           "transB": trans_b, "alpha": 0.3})
    # One row is unpacked on its way into the sums, several as a matrix.
    for i, (outer, rows, columns, block, zeros, bias) in enumerate(
            [((2, 3), 8, 64, 32, False, False), ((2, 3), 5, 48, 16, True, False),
             ((2, 3), 7, 40, 16, True, True), ((1, 1), 9, 96, 32, False, True),
             ((1,), 33, 72, 16, True, False), ((1, 1), 130, 200, 64, True,
                                               True)]):
        blocks = -(-columns // block)
        b = random.integers((rows, blocks, block // 2), np.uint8)
        scales = random.floats((rows * blocks,), low=0.01, high=0.1)
        zero = random.integers((rows * -(-blocks // 2),), np.uint8)
        yield case(f"MatMulNBits_{i}", "MatMulNBits",
                   [random.floats((*outer, columns)), b, scales,
                    zero if zeros else None, None,
                    random.floats((rows,)) if bias else None],
                   attributes={"K": columns, "N": rows, "bits": 4,
                               "block_size": block}, constants=[1, 2, 3])


def quantized(random):
    for dtype in (np.uint8, np.int8):
        for op in ("QLinearAdd", "QLinearMul"):
            for i, (x, y) in enumerate([((3, 5, 7), (3, 5, 7)),
                                        ((3, 5, 7), (7,)), ((4, 1), (1, 6))]):
                yield case(f"{op}_{np.dtype(dtype)}_{i}", op,
                           [random.integers(x, dtype), np.float32(0.04),
                            dtype(3), random.integers(y, dtype),
                            np.float32(0.03), dtype(7), np.float32(0.09),
                            dtype(5)], results=[dtype])


    for trans_a, trans_b in ((0, 0), (1, 1)):
        a = random.integers((5, 3) if trans_a else (3, 5), np.uint8)
        b = random.integers((4, 5) if trans_b else (5, 4), np.uint8)
        for name, scale, bias, more in [
                ("plain", np.float32(0.03), None,
                 [np.float32(0.7), np.uint8(9)]),
                ("bias", random.floats((4,), low=0.01, high=0.05),
                 random.integers((4,), np.int32, -999, 999),
                 [np.float32(0.7), np.uint8(9)]),
                ("float", np.float32(0.03),
                 random.integers((1, 4), np.int32, -999, 999), [])]:
            zero = random.integers(scale.shape, np.uint8)
            yield case(f"QGemm_{name}_{trans_a}{trans_b}", "QGemm",
                       [a, np.float32(0.04), np.uint8(120), b, scale, zero,
                        bias, *more],
                       attributes={"transA": trans_a, "transB": trans_b,
                                   "alpha": 0.5},
                       results=[np.uint8 if more else np.float32],
                       constants=[4, 5])


def layers(random):
    x, w, b = (random.floats(s) for s in ((2, 4, 9, 7), (6, 2, 3, 3), (6,)))
    geometry = {"pads": [1, 1, 0, 1], "strides": [2, 1], "group": 2}
    for name, parameters in [("Relu", []), ("Tanh", []), ("Sigmoid", []),
                             ("LeakyRelu", [0.3]), ("Clip", [-0.5, 1.5]),
                             ("HardSigmoid", [0.3, 0.4])]:
        more = {"activation_params": parameters} if parameters else {}
        yield case(f"FusedConv_{name}", "FusedConv", [x, w, b],
                   attributes={"activation": name, **geometry, **more})
    yield case("FusedConv_sum", "FusedConv",
               [x, w, b, random.floats((2, 6, 4, 7))],
               attributes={"activation": "Relu", **geometry})
    for name, more in [("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.2}),
                       ("Elu", {"activation_alpha": 0.7})]:
        yield case(f"FusedGemm_{name}", "FusedGemm",
                   [random.floats((5, 3)), random.floats((5, 7)),
                    random.floats((7,))],
                   attributes={"activation": name, "transA": 1, "alpha": 0.5,
                               "beta": 2.0, **more})
    width = 8
    for segments in (False, True):
        for masked in (False, True):
            ids = random.integers((2, 5), np.int32, 0, 10)
            yield case(
                f"EmbedLayerNormalization_{segments:d}{masked:d}",
                "EmbedLayerNormalization",
                [ids, random.integers((2, 5), np.int32, 0, 1)
                 if segments else None,
                 random.floats((11, width)), random.floats((6, width)),
                 random.floats((2, width)) if segments else None,
                 random.floats((width,)), random.floats((width,)),
                 random.integers((2, 5), np.int32, 0, 1) if masked else None],
                attributes={"epsilon": 1e-6},
                results=[np.float32, np.int32, np.float32])
    yield case("EmbedLayerNormalization_positions", "EmbedLayerNormalization",
               [random.integers((2, 5), np.int32, 0, 10), None,
                random.floats((11, width)), random.floats((6, width)), None,
                random.floats((width,)), random.floats((width,)), None,
                random.integers((2, 5), np.int32, 0, 5)],
               results=[np.float32, np.int32])


def key_masks(random, batch, rows, total):
    """Nothing, by key, by query and key, by number, by end and start."""
    yield "none", None
    by_key = random.integers((batch, total), np.int32, 0, 1)
    by_key[:, 0] = 1
    yield "keys", by_key
    pairs = random.integers((batch, rows, total), np.int32, 0, 1)
    pairs[:, :, 0] = 1
    yield "pairs", pairs
    yield "lengths", random.integers((batch,), np.int32, 1, total)
    yield "ends", np.concatenate([
        random.integers((batch,), np.int32, 2, total),
        random.integers((batch,), np.int32, 0, 1)])


def attention(random):
    batch, rows, heads, size, past = 2, 5, 3, 4, 2
    width = heads * size
    x = random.floats((batch, rows, 7))
    weights = random.floats((7, 3 * width), low=-1, high=1)
    bias = random.floats((3 * width,))
    for name, mask in key_masks(random, batch, rows, rows):
        for causal in (0, 1):
            yield case(f"Attention_{name}_{causal}", "Attention",
                       [x, weights, bias, mask],
                       attributes={"num_heads": heads,
                                   "unidirectional": causal})
    for name, mask in key_masks(random, batch, rows, rows + past):
        if name == "ends":
            continue
        yield case(f"Attention_past_{name}", "Attention",
                   [x, weights, bias, mask,
                    random.floats((2, batch, heads, past, size))],
                   attributes={"num_heads": heads, "unidirectional": 1},
                   results=[np.float32, np.float32])
    yield case("Attention_scale", "Attention",
               [x, weights, bias, None, None,
                random.floats((batch, heads, rows, rows))],
               attributes={"num_heads": heads, "scale": 0.3})
    yield case("Attention_sizes", "Attention",
               [x, random.floats((7, 2 * width + 6)),
                random.floats((2 * width + 6,))],
               attributes={"num_heads": heads,
                           "qkv_hidden_sizes": [width, width, 6]})
    for name, mask in key_masks(random, batch, rows, rows):
        if name in ("none", "keys", "lengths"):
            yield case(f"QAttention_{name}", "QAttention",
                       [random.integers((batch, rows, 7), np.uint8),
                        random.integers((7, 3 * width), np.int8), bias,
                        np.float32(0.02), np.float32(0.01), mask,
                        np.uint8(120), np.int8(3)],
                       attributes={"num_heads": heads},
                       results=[np.float32], constants=[1, 7])
    yield from multi_head(random)


def attend(q, k, v):
    """Of tensors of batch, row, head and column."""
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    made = np.einsum("bhqk,bkhd->bqhd", weights, v)
    return made.reshape(*made.shape[:2], -1).astype(np.float32)


def multi_head(random):
    batch, rows, keys, heads, size, past = 2, 3, 5, 2, 4, 2
    width = heads * size
    q = random.floats((batch, rows, width))
    k, v = (random.floats((batch, keys, width)) for _ in range(2))
    bias = random.floats((3 * width,))
    wide = random.floats((batch, keys, heads * 6))
    base = {"num_heads": heads}

    def multi(name, inputs, results=1, reference="onnxruntime", **more):
        return case(f"MultiHeadAttention_{name}", "MultiHeadAttention",
                    inputs, attributes={**base, **more},
                    results=[np.float32] * results, reference=reference)

    yield multi("plain", [q, k, v])
    yield multi("bias", [q, k, v, bias])
    yield multi("values", [q, k, wide], scale=0.7)
    yield multi("causal", [q, k[:, :rows], v[:, :rows]], unidirectional=1)
    for name, mask in key_masks(random, batch, rows, keys):
        if name in ("keys", "pairs", "lengths"):
            yield multi(f"mask_{name}", [q, k, v, None, mask])
    yield multi("scores", [q, k, v, None, None,
                           random.floats((1, heads, rows, keys))])
    # ONNX Runtime has the packed forms on other devices alone.
    yield multi("packed", [random.floats((batch, rows, heads, 3, size))],
                reference=lambda x: attend(x[..., 0, :], x[..., 1, :],
                                           x[..., 2, :]))
    yield multi("packed_keys",
                [q, random.floats((batch, keys, heads, 2, size))],
                reference=lambda q, x: attend(
                    q.reshape(batch, rows, heads, size), x[..., 0, :],
                    x[..., 1, :]))
    yield multi("crossed", [q, random.floats((batch, heads, keys, size)),
                            random.floats((batch, heads, keys, size))])
    yield multi("past", [q, k[:, :rows], v[:, :rows], bias, None, None,
                         random.floats((batch, heads, past, size)),
                         random.floats((batch, heads, past, size))],
                results=3)


def rotation(random):
    batch, rows, heads, size, longest = 2, 5, 3, 8, 9
    angles = random.floats((longest, size // 2))
    cosines, sines = np.cos(angles), np.sin(angles)
    positions = random.integers((batch, rows), np.int64, 0, longest - 1)
    for interleaved in (0, 1):
        yield case(f"RotaryEmbedding_{interleaved}", "RotaryEmbedding",
                   [random.floats((batch, rows, heads * size)), positions,
                    cosines, sines], attributes={"interleaved": interleaved})
    yield case("RotaryEmbedding_offset", "RotaryEmbedding",
               [random.floats((batch, heads, rows, size)),
                np.array([2], np.int64), cosines, sines])
    yield case("RotaryEmbedding_part", "RotaryEmbedding",
               [random.floats((batch, rows, heads * size)), positions,
                cosines[:, :2], sines[:, :2]],
               attributes={"num_heads": heads, "rotary_embedding_dim": 4})


def grouped(random):
    """GroupQueryAttention: prompts, steps, and what lies in larger caches."""
    heads, groups, size, longest = 4, 2, 32, 16
    angles = random.floats((longest, size // 2))
    cosines, sines = np.cos(angles), np.sin(angles)

    def group(name, batch, rows, past, total, lengths=None, *, packed=False,
              rotary=False, narrow=False, positions=None, bias=False,
              norms=False, constant=False, **more):
        """lengths: how many keys each element of the batch has, all by
        default. past: rows of the cache; None: there is none."""
        widths = [heads * size] + [groups * size] * 2
        tensors = [random.floats((batch, rows, width)) for width in widths]
        if packed:
            tensors = [np.concatenate(tensors, -1), None, None]
        cache = [None, None] if past is None else [
            random.floats((batch, groups, past, size)) for _ in range(2)]
        lengths = [total] * batch if lengths is None else lengths
        tables = [None, None]
        if rotary:
            tables = [table[:, :8] if narrow else table
                      for table in (cosines, sines)]
        inputs = [*tensors, *cache, np.array(lengths, np.int32) - 1,
                  np.array(total, np.int32), *tables, positions,
                  random.floats((1, heads, rows, total)) if bias else None]
        if norms:
            inputs += [None, None, None, random.floats((size,)),
                       random.floats((size,))]
        while inputs[-1] is None:
            inputs.pop()
        made = case(f"GroupQueryAttention_{name}", "GroupQueryAttention",
                    inputs, constants=[5, 6] if constant else [6],
                    results=[np.float32] * (1 if past is None else 3),
                    attributes={"num_heads": heads, "kv_num_heads": groups,
                                "do_rotary": int(rotary), **more})
        whole = copy.copy(made)
        if norms:
            # ONNX Runtime has these on other devices alone.
            whole.inputs = made.inputs[:-5]
            for i, norm in enumerate(made.inputs[-2:]):
                x = whole.inputs[i].reshape(batch, rows, -1, size)
                mean = np.square(x).mean(-1, keepdims=True)
                whole.inputs[i] = (x / np.sqrt(mean + 1e-6) * norm).reshape(
                    batch, rows, -1).astype(np.float32)
            while whole.inputs[-1] is None:
                whole.inputs.pop()
            made.reference = lambda *_: tuple(whole.expected(whole.model()))
        if past is None or min(lengths) >= max(total, past):
            return made

        def keep_rest(*inputs):
            """What lies behind the keys is anything to ONNX Runtime. It stays
            as it was, as in a cache that is updated in place."""
            out, *present = (np.array(x) for x in whole.expected(
                whole.model()))
            for rows, before in zip(present, inputs[3:5]):
                for b, length in enumerate(lengths):
                    rows[b, :, length:] = 0
                    rows[b, :, length:past] = before[b, :, length:]
            return out, *present

        made.reference = keep_rest
        return made

    yield group("prompt", 1, 5, None, 5)
    yield group("prompts", 2, 5, 0, 5)
    yield group("packed", 2, 5, 0, 5, packed=True, constant=True)
    yield group("packed_rotary", 1, 5, 0, 5, packed=True, rotary=True)
    yield group("part", 1, 5, 0, 5, rotary=True, narrow=True)
    yield group("interleaved", 1, 5, 0, 5, rotary=True, rotary_interleaved=1)
    # One row behind those of the past, which is as long as it can be or not.
    yield group("step", 1, 1, 6, 7, rotary=True)
    yield group("steps", 3, 1, 6, 7, rotary=True, packed=True)
    yield group("steps_known", 3, 1, 6, 7, rotary=True, constant=True)
    yield group("step_in_cache", 1, 1, 12, 7, rotary=True)
    yield group("steps_apart", 3, 1, 12, 9, [9, 4, 1], rotary=True)
    yield group("full_cache", 2, 1, 9, 9, [9, 8])
    yield group("rows_in_cache", 1, 3, 12, 9, rotary=True)
    yield group("prompt_in_cache", 1, 5, 12, 5, rotary=True)
    yield group("rows", 1, 3, 6, 9, packed=True)
    yield group("positions", 1, 1, 6, 7, rotary=True,
                positions=np.array([[3]], np.int64))
    for name, window in [("one", 1), ("some", 3), ("all", 20)]:
        yield group(f"window_{name}", 1, 5, 0, 5, local_window_size=window)
        yield group(f"window_{name}_step", 2, 1, 12, 9, [9, 6],
                    local_window_size=window)
    yield group("softcap", 1, 3, 6, 9, softcap=2.0, scale=0.7)
    yield group("bias", 1, 3, 6, 9, bias=True)
    yield group("norms", 1, 3, 6, 9, norms=True, rotary=True)
    yield group("bias_in_cache", 1, 1, 12, 7, bias=True)


def between(random):
    """Operators on quantized values."""
    for dtype in (np.uint8, np.int8):
        kind = np.dtype(dtype)
        x = random.integers((2, 3, 7, 5), dtype)
        scales = [np.float32(0.04), dtype(9), np.float32(0.05), dtype(4)]
        pool = {"kernel_shape": [3, 2], "strides": [2, 1],
                "pads": [1, 0, 1, 1]}
        yield case(f"QLinearAveragePool_{kind}", "QLinearAveragePool",
                   [x, *scales], attributes=pool)
        yield case(f"QLinearAveragePool_padding_{kind}", "QLinearAveragePool",
                   [x, *scales], attributes={**pool, "count_include_pad": 1})
        yield case(f"QLinearGlobalAveragePool_{kind}",
                   "QLinearGlobalAveragePool", [x, *scales])
        yield case(f"QLinearGlobalAveragePool_last_{kind}",
                   "QLinearGlobalAveragePool", [x, *scales],
                   attributes={"channels_last": 1})
        yield case(f"QLinearLeakyRelu_{kind}", "QLinearLeakyRelu",
                   [x, *scales], attributes={"alpha": 0.2}, constants=[1, 2,
                                                                       3, 4])
        yield case(f"QLinearSigmoid_{kind}", "QLinearSigmoid",
                   [x, np.float32(0.04), dtype(9), np.float32(1 / 256),
                    dtype(0)], constants=[1, 2, 3, 4])
        yield case(f"QLinearSoftmax_{kind}", "QLinearSoftmax",
                   [random.integers((3, 11), dtype), np.float32(0.1), dtype(9),
                    np.float32(1 / 256), dtype(0)],
                   attributes={"axis": -1, "opset": 13},
                   constants=[1, 2, 3, 4])
        yield case(f"QLinearConcat_{kind}", "QLinearConcat",
                   [np.float32(0.05), dtype(4), x, np.float32(0.04), dtype(9),
                    random.integers((2, 2, 7, 5), dtype), np.float32(0.05),
                    dtype(4)], attributes={"axis": 1}, results=[dtype],
                   constants=[0, 1, 3, 4, 6, 7])
        yield case(f"QuantizeLinear_{kind}", "QuantizeLinear",
                   [random.floats((3, 5)), np.float32(0.03), dtype(7)],
                   results=[dtype])
        yield case(f"DequantizeLinear_{kind}", "DequantizeLinear",
                   [random.integers((3, 5), dtype),
                    random.floats((5,), low=0.01, high=0.1),
                    random.integers((5,), dtype)], attributes={"axis": 1},
                   results=[np.float32])
    a = random.integers((2, 4, 6), np.uint8)
    b = random.integers((6, 5), np.int8)
    for name, scale, zero in [
            ("one", np.float32(0.02), np.int8(3)),
            ("columns", random.floats((5,), low=0.01, high=0.1),
             random.integers((5,), np.int8))]:
        for bias in (None, random.floats((5,))):
            suffix = f"{name}_{'plain' if bias is None else 'bias'}"
            yield case(f"MatMulIntegerToFloat_{suffix}",
                       "MatMulIntegerToFloat",
                       [a, b, np.float32(0.03), scale, np.uint8(100), zero,
                        bias], results=[np.float32], constants=[1, 3, 5])
            yield case(f"DynamicQuantizeMatMul_{suffix}",
                       "DynamicQuantizeMatMul",
                       [random.floats((2, 4, 6)), b, scale, zero, bias],
                       constants=[1, 2, 3])


def quantized_recurrence(random):
    for i, (directions, kind, per_gate, zeros, more, batch) in enumerate(
            [(1, "forward", False, True, False, 1),
             (2, "bidirectional", True, False, False, 1),
             (1, "reverse", False, False, True, 1),
             (1, "forward", True, True, True, 3)]):
        steps, inputs, hidden = 4, 5, 6
        gates = 4 * hidden
        shape = (directions, gates) if per_gate else (directions,)
        dtype = np.uint8 if zeros else np.int8
        weights = [random.integers((directions, n, gates), dtype)
                   for n in (inputs, hidden)]
        scales = [random.floats(shape, low=0.002, high=0.01)
                  for _ in range(2)]
        points = [np.full(shape, 128 if zeros else 0, dtype)
                  for _ in range(2)]
        bias = random.floats((directions, 2 * gates), low=-1, high=1)
        first = [random.floats((directions, batch, hidden), low=-1, high=1)
                 for _ in range(2)] if more else [None, None]
        peepholes = random.floats((directions, 3 * hidden)) if more else None
        yield case(
            f"DynamicQuantizeLSTM_{i}", "DynamicQuantizeLSTM",
            [random.floats((steps, batch, inputs)), *weights, bias, None,
             *first, peepholes, scales[0], points[0], scales[1], points[1]],
            attributes={"hidden_size": hidden, "direction": kind},
            constants=(1, 2, 8, 9, 10, 11),
            results=[np.float32] * 3)
