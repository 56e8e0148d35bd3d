# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products alone, for measuring them one by one."""

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

from graph_writer import GraphWriter, xavier

# What GEMM libraries are usually shown with, and shapes that nets have and
# libraries do not like: one of M, N, K is 1, 7, 17, 49, 197 or 1000.
SQUARE = [(n, n, n) for n in (128, 384, 768, 1024, 1536, 3072)]
ODD = [
    (1, 768, 768), (1, 3072, 768), (1, 1000, 2048), (1, 4096, 1024),
    (7, 768, 768), (7, 3072, 768), (7, 1000, 512), (7, 512, 4608),
    (17, 768, 3072), (17, 1000, 768), (17, 17, 17), (17, 512, 49),
    (49, 512, 512), (49, 2048, 512), (49, 512, 4608), (49, 49, 64),
    (197, 768, 768), (197, 3072, 768), (197, 197, 64), (197, 64, 197),
    (1000, 1, 1000), (1000, 7, 512), (1000, 17, 768), (1000, 1000, 1000),
]


def write_product(path, m, n, k, constant):
    """C = A * B in f32, B part of the model or its second input; returns B."""
    g = GraphWriter(f"matmul_{m}_{n}_{k}", opset=13)
    b = xavier(k) * g.random("b").standard_normal((k, n), dtype=np.float32)
    b = b.astype(np.float32)
    a = g.input("a", "float", [m, k])
    if constant:
        g.weight("b", b)
    else:
        g.input("b", "float", [k, n])
    g.output(g.add("MatMul", [a, "b"]), "c", "float", [m, n])
    g.save(path)
    return b


def write_bf16_chain(path, m, widths):
    """x * W0 * W1 ..., in bf16, W(i) of widths[i] x widths[i+1]: as many
    layers as push each other's weights out of the near caches."""
    draw = np.random.default_rng(1)
    kind = TensorProto.BFLOAT16
    nodes, weights, at = [], [], "x"
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        w = xavier(k) * draw.standard_normal((k, n), dtype=np.float32)
        bits = w.astype(ml_dtypes.bfloat16).view(np.uint16)
        weights.append(helper.make_tensor(f"w{i}", kind, (k, n),
                                          bits.tobytes(), raw=True))
        to = "y" if i == len(widths) - 2 else f"x{i}"
        nodes.append(helper.make_node("MatMul", [at, f"w{i}"], [to], to))
        at = to
    graph = helper.make_graph(
        nodes, "bf16_chain",
        [helper.make_tensor_value_info("x", kind, [m, widths[0]])],
        [helper.make_tensor_value_info("y", kind, [m, widths[-1]])], weights)
    onnx.save(helper.make_model(
        graph, producer_name="ashlar-benchmarks", ir_version=8,
        opset_imports=[helper.make_opsetid("", 13)]), path)


def write_addition(path):
    """One operator on one vector: what remains is the cost of a call."""
    g = GraphWriter("addition", opset=13)
    g.input("a", "float", [16])
    g.input("b", "float", [16])
    g.output(g.add("Add", ["a", "b"]), "c", "float", [16])
    g.save(path)
