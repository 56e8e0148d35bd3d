# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices, and determinants."""

import numpy as np
from operator_case import Case

MATMULS = [((3, 5), (5, 7)), ((2, 3, 5), (5, 7)), ((2, 3, 5), (2, 5, 1)),
           ((4, 1, 3, 5), (2, 5, 7)), ((5,), (5, 7)), ((3, 5), (5,)),
           ((5,), (5,)), ((2, 3, 5), (5,)), ((5,), (2, 5, 3)), ((1, 1), (1, 1)),
           ((0, 5), (5, 3)), ((3, 0), (0, 4)), ((33, 17), (17, 65))]
EQUATIONS = [("ij,jk->ik", (3, 5), (5, 7)), ("ij,jk", (3, 5), (5, 7)),
             ("bij,bjk->bik", (2, 3, 5), (2, 5, 4)), ("ij->ji", (3, 5)),
             ("ij->", (3, 5)), ("ij->i", (3, 5)), ("ii->i", (4, 4)),
             ("ii", (4, 4)), ("i,i->", (9,), (9,)), ("i,j->ij", (3,), (4,)),
             ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
             ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
             ("...ij,jk->...ik", (2, 2, 3, 4), (4, 5)),
             ("i...->...", (3, 2, 4)), ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 5)),
             ("ij,ij->ij", (3, 5), (3, 5)), ("bii->bi", (2, 3, 3)),
             ("bij, bjk -> bki", (2, 3, 4), (2, 4, 5)),
             ("ij,kl->jl", (2, 3), (4, 5)), ("ba,b", (3, 2), (3,))]


def cases(random):
    for i, (left, right) in enumerate(MATMULS):
        yield Case(f"MatMul_{i}", "MatMul", [random.floats(left),
                                             random.floats(right)],
                   reference=np.matmul)
        yield Case(f"MatMul_constant_{i}", "MatMul",
                   [random.floats(left), random.floats(right)],
                   constants=[1], reference=np.matmul)
    yield Case("MatMul_float64", "MatMul", [random.floats((3, 5), np.float64),
                                            random.floats((5, 2), np.float64)])
    for dtype in [np.int32, np.uint64]:
        yield Case(f"MatMul_{np.dtype(dtype)}", "MatMul",
                   [random.integers((3, 5), dtype),
                    random.integers((5, 2), dtype)], reference=np.matmul)
    yield Case("MatMul_float16", "MatMul",
               [random.floats((3, 500), np.float16),
                random.floats((500, 2), np.float16)],
               reference=lambda x, y: np.matmul(
                   x.astype(np.float32), y.astype(np.float32)
               ).astype(np.float16))
    yield from gemms(random)
    yield from quantized(random)
    for i, (equation, *shapes) in enumerate(EQUATIONS):
        yield Case(f"Einsum_{i}", "Einsum", [random.floats(s) for s in shapes],
                   attributes={"equation": equation},
                   reference=lambda *x, e=equation: np.einsum(
                       e.replace(" ", ""), *x))
    for size in [1, 2, 3, 4]:
        yield Case(f"Det_{size}", "Det", [random.floats((3, size, size))])
    yield Case("Det_one", "Det", [random.floats((3, 3))])


def gemms(random):
    n = 0
    for trans_a in [0, 1]:
        for trans_b in [0, 1]:
            for c in [None, (3, 5), (5,), (3, 1), (), (1, 1)]:
                a, b = [(3, 7), (7, 5)]
                inputs = [random.floats(a[::-1] if trans_a else a),
                          random.floats(b[::-1] if trans_b else b)]
                if c is not None:
                    inputs.append(random.floats(c))
                attributes = {"transA": trans_a, "transB": trans_b}
                if n % 2:
                    attributes.update(alpha=0.5, beta=[0.0, 1.5, 2.0][n % 3])
                yield Case(f"Gemm_{n}", "Gemm", inputs, attributes=attributes,
                           opset=13)
                n += 1
    yield Case("Gemm_empty", "Gemm", [random.floats((0, 4)),
                                      random.floats((4, 3)),
                                      random.floats((3,))])
    yield Case("Gemm_no_sum", "Gemm", [random.floats((2, 0)),
                                       random.floats((0, 3)),
                                       random.floats((3,))],
               reference=lambda a, b, c: np.broadcast_to(c, (2, 3)).copy())
    yield Case("Gemm_int32", "Gemm", [random.integers((2, 4), np.int32, -9, 9),
                                      random.integers((4, 3), np.int32, -9, 9),
                                      random.integers((3,), np.int32, -9, 9)],
               reference=lambda a, b, c: a @ b + c)


def quantized(random):
    def wide(x, zero):
        return x.astype(np.int32) - np.asarray(zero, np.int32)

    n = 0
    for left_type in [np.uint8, np.int8]:
        for right_type in [np.uint8, np.int8]:
            for left, right in [((3, 5), (5, 7)), ((2, 3, 5), (5, 4)),
                                ((5,), (5, 2)), ((2, 5), (5,))]:
                x = random.integers(left, left_type)
                y = random.integers(right, right_type)
                zeros = [random.integers((), left_type, 1, 99),
                         random.integers((), right_type, 1, 99)]
                for given in range(3):
                    yield Case(
                        f"MatMulInteger_{n}", "MatMulInteger",
                        [x, y] + zeros[:given], results=[np.int32],
                        constants=[2, 3] if n % 2 else [],
                        reference=lambda x, y, xz=0, yz=0: np.matmul(
                            wide(x, xz), wide(y, yz)))
                    n += 1
    yield Case("MatMulInteger_by_row", "MatMulInteger",
               [random.integers((3, 5), np.uint8),
                random.integers((5, 4), np.int8),
                random.integers((3,), np.uint8),
                random.integers((4,), np.int8)], results=[np.int32],
               reference=lambda x, y, xz, yz: np.matmul(
                   wide(x, xz[:, None]), wide(y, yz)))
    for i, (left, right) in enumerate([((3, 5), (5, 7)), ((2, 3, 5), (5, 4))]):
        for dtype in [np.uint8, np.int8]:
            scales = [np.float32(s) for s in (0.013, 0.021, 0.35)]
            zeros = [random.integers((), dtype, 1, 99) for _ in range(3)]
            yield Case(f"QLinearMatMul_{i}_{np.dtype(dtype)}", "QLinearMatMul",
                       [random.integers(left, dtype), scales[0], zeros[0],
                        random.integers(right, dtype), scales[1], zeros[1],
                        scales[2], zeros[2]])
