#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function of JAX by two exports: ONNX (jax2onnx), and StableHLO, which the
program torch-mlir-opt of the package torch-mlir turns into linalg on tensors.
Each is compiled, run on JAX's own arrays, and compared with JAX.

    pip install jax jax2onnx torch-mlir
    from_jax.py
"""

import pathlib
import shutil
import subprocess
import sys

import ashlar

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    sys.exit(f"SKIP: {error}; pip install jax jax2onnx torch-mlir")

TOLERANCE = 1e-5
keys = jax.random.split(jax.random.PRNGKey(0), 3)
WIDE = jax.random.normal(keys[0], (64, 128)) / 8
NARROW = jax.random.normal(keys[1], (128, 10)) / 11


def classify(x):
    mean = x.mean(-1, keepdims=True)
    x = (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
    return jax.nn.softmax(jax.nn.gelu(x @ WIDE) @ NARROW)


def compare(name, module, x):
    """module runs on the array as it is: its memory is shared."""
    found, expected = jnp.from_dlpack(module(x)), classify(x)
    off = float(jnp.abs(found - expected).max() / jnp.abs(expected).max())
    print(f"{name}: {x.shape} -> {found.shape}, off by {off:.1e}")
    assert off <= TOLERANCE, off


def inputs(batch):
    return jax.random.normal(jax.random.fold_in(keys[2], batch), (batch, 64))


def by_onnx():
    """One module for every batch from 1 to 8."""
    from jax2onnx import to_onnx
    exported = to_onnx(classify, [("batch", 64)])
    name = exported.graph.input[0].name
    module = ashlar.compile(exported, name="classify",
                            shapes={name: ("N", 64)}, dims={"N": (1, 8)})
    for batch in (1, 3, 8):
        compare("ONNX", module, inputs(batch))


def by_linalg():
    """For one batch."""
    program = shutil.which("torch-mlir-opt") or shutil.which(
        "torch-mlir-opt", path=pathlib.Path(sys.executable).parent)
    if program is None:
        raise ImportError("there is no torch-mlir-opt; pip install torch-mlir")
    exported = jax.jit(classify).lower(inputs(2)).as_text()
    text = subprocess.run(
        [program, "--inline", "--stablehlo-legalize-to-linalg",
         "--stablehlo-convert-to-signless", "--canonicalize"],
        input=exported.encode(), stdout=subprocess.PIPE, check=True).stdout
    compare("linalg", ashlar.compile(text, name="classify"), inputs(2))


def main():
    for name, way in (("ONNX", by_onnx), ("linalg", by_linalg)):
        try:
            way()
        except ImportError as error:
            print(f"{name} is left out: {error}")


if __name__ == "__main__":
    main()
