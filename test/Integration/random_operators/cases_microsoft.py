# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of com.microsoft, beside ONNX Runtime, which defines them."""

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
    for i, (rows, columns, block, zeros, bias) in enumerate(
            [(8, 64, 32, False, False), (5, 48, 16, True, False),
             (7, 40, 16, True, True)]):
        blocks = -(-columns // block)
        b = random.integers((rows, blocks, block // 2), np.uint8)
        scales = random.floats((rows * blocks,), low=0.01, high=0.1)
        zero = random.integers((rows * -(-blocks // 2),), np.uint8)
        yield case(f"MatMulNBits_{i}", "MatMulNBits",
                   [random.floats((2, 3, columns)), b, scales,
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
