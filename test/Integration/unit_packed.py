# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with weights of a few bits for device_units.py: random MatMulNBits
beside NumPy in f64.

Weights are what its definition says: a number minus its zero point, times the
scale of its block, rounded to the type of the other operand.
"""

import numpy as np
from onnx import helper

import unit_bytes


def packed_zeros(zeros, bits):
    """A row's zero points in bytes, the first of them lowest."""
    parts = 8 // bits
    rows, blocks = zeros.shape
    wide = np.zeros([rows, -(-blocks // parts) * parts], np.uint8)
    wide[:, :blocks] = zeros
    wide = wide.reshape(rows, -1, parts)
    return sum(wide[..., i] << bits * i for i in range(parts)).astype(np.uint8)


def product(random, kind, dtype):
    """Rows of several tiles and of few, blocks that the terms do not fill."""
    m, n, k = (int(random.choice(each)) for each in (
        [2, 5, 16, 33, 70, 150], [8, 33, 64, 96, 136, 300],
        [16, 40, 64, 136, 256, 520, 1024]))
    bits = int(random.choice([4, 4, 4, 2, 8]))
    block = int(random.choice([16, 32, 64, 128]))
    blocks, parts = -(-k // block), 8 // bits
    codes = random.integers(0, 2 ** bits, [n, blocks, block], dtype=np.uint8)
    lanes = codes.reshape(n, blocks, -1, parts)
    bytes_of = sum(lanes[..., i] << bits * i for i in range(parts))
    scales = random.uniform(0.01, 0.1, [n, blocks]).astype(dtype)
    has_zeros = bool(random.integers(2))
    zeros = random.integers(0, 2 ** bits, [n, blocks], dtype=np.uint8)
    if not has_zeros:
        zeros[:] = 2 ** (bits - 1)
    weights = (codes.astype(np.float32) - zeros[..., None]) * scales.astype(
        np.float32)[..., None]
    weights = weights.astype(dtype).astype(np.float64).reshape(n, -1)[:, :k]
    x = random.standard_normal([m, k]).astype(dtype)
    constants = [
        unit_bytes.constant("w", bytes_of.astype(np.uint8)),
        helper.make_tensor("s", kind, [n * blocks], scales.tobytes(),
                           raw=True)]
    inputs = ["x", "w", "s"]
    if has_zeros:
        inputs.append("z")
        constants.append(unit_bytes.constant(
            "z", packed_zeros(zeros, bits).reshape(-1)))
    node = helper.make_node("MatMulNBits", inputs, ["y"],
                            domain="com.microsoft", K=k, N=n, bits=bits,
                            block_size=block)
    return (f"{[m, n, k]}, {bits} bits in blocks of {block}"
            f"{' with zeros' * has_zeros}"), [node], {"x": x}, constants, \
        x.astype(np.float64) @ weights.T
