# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a C program finds the header and the library of this package."""

from __future__ import annotations

import pathlib

_HERE = pathlib.Path(__file__).parent


def get_include() -> str:
    """The folder for -I: it holds ashlar/runtime/api.h."""
    return str(_HERE / "include")


def get_library() -> str:
    """The shared library, to link or to load."""
    return str(next((_HERE / "lib").glob("libashlar_runtime.so.*")))
