# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program of somebody who has mypy: read by `mypy --strict` alone, never run.
What is marked as a mistake must be one."""

import asyncio
from typing import Any

import numpy as np

import ashlar

module = ashlar.compile("m.onnx", shapes={"x": ("N", 3)}, dims={"N": (1, 8)},
                        target=["cpu:x86-64-v4", "cpu:x86-64"])
y = module(np.zeros((1, 3), np.float32))
peak: int = module.contract.peak_bytes
rows: list[dict[str, Any]] = module.kernels()
budget = ashlar.Budget("1MiB", "tenant")
session: ashlar.Session = module.session(threads=1, budget=budget)
results: dict[str, Any] = session.run({"x": y}, out={"y": y})
with ashlar.Session(module, threads=2, budget=budget) as another:
    another.bind({"x": y}, {"y": y}).outputs["y"]
    copied: int = another.statistics["staged_bytes"]
arena: int = budget.current_by_kind["arena"]
names: list[str] = [name for name, kind, size in budget.holders if size > 1]
reasons = [remark.message.upper() for remark in module.remarks]


async def main() -> None:
    (await session.run_async({"x": y}))["y"]

asyncio.run(main())
with ashlar.Trace("trace.json"):
    session.bind({"x": y}).run()
try:
    ashlar.load("m.ash", budget=budget, device="cpu:0")
except ashlar.OutOfBudget as error:
    print(error.code.name, error.place.upper(), error.hint.upper())
onnx_like = ashlar.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])
outputs: list[Any] = onnx_like.run(None, {"x": y})
ir: str = ashlar.lower("m.onnx", "fuse", shapes={"x": (1, 3)})

ashlar.compile("m.onnx", shape={"x": (1, 3)})  # type: ignore[call-arg]
ashlar.load(3)  # type: ignore[arg-type]
session.run_async({"x": y}).wait("1")  # type: ignore[arg-type]
session.statistics["runs"].lower()  # type: ignore[attr-defined]
session.run({"x": y}).x  # type: ignore[attr-defined]
module.remarks[0].text  # type: ignore[attr-defined]
onnx_like.get_input()  # type: ignore[attr-defined]
