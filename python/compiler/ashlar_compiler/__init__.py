# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's programs: what ashlar.compile() and the entry points run. They
are one file, which is the program that it is called as."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import NoReturn

__version__ = "0.1.0"


def program() -> pathlib.Path:
    """The file. Its first argument, the name it is called as, decides."""
    return pathlib.Path(__file__).parent / "bin" / "ashlar-static"


def _become(name: str) -> NoReturn:
    os.execv(program(), [name, *sys.argv[1:]])


def check() -> NoReturn:
    _become("ashlar-check")


def compile() -> NoReturn:
    _become("ashlar-compile")


def opt() -> NoReturn:
    _become("ashlar-opt")


def plan() -> NoReturn:
    _become("ashlar-plan")
