# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A real model that is compared with ONNX Runtime, and one set of inputs."""

import contextlib
import dataclasses
import pathlib
import sys
from typing import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / ".deps" / "models"
sys.path.insert(0, str(ROOT / "scripts"))
import fetch_models  # noqa: E402


@dataclasses.dataclass
class Case:
    """One set of inputs; `expected` where it is not ONNX Runtime's answer."""
    label: str
    feeds: dict
    expected: list | None = None
    # ONNX's own outputs were computed elsewhere, by older code.
    tolerance: float = 1e-4


@dataclasses.dataclass
class Model:
    name: str
    prepare: Callable  # work folder -> context manager of the model's path
    cases: Callable    # path -> list of Case
    shapes: dict = dataclasses.field(default_factory=dict)
    small: bool = False
    # label -> feeds: any number of inputs like those that it meets in use.
    draw: Callable | None = None

    def arguments(self):
        return [f"--shape={name}=" + "x".join(map(str, shape))
                for name, shape in self.shapes.items()]


@contextlib.contextmanager
def fetched(path, _work):
    if not path.exists():
        fetch_models.fetch(MODELS)
    yield path
