# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of this package: what the entry points run, and how the package
itself calls them."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import NoReturn, Sequence

from ._errors import Corrupt, Error, Internal, NotFound
from ._files import check_children, ended_by, system_errors

BIN = pathlib.Path(__file__).parent / "bin"


def _become(name: str) -> NoReturn:
    program = BIN / name
    os.execv(program, [name, *sys.argv[1:]])


def run() -> NoReturn:
    _become("ashlar-run")


def bench() -> NoReturn:
    # For --tune, which runs ashlar-compile: the scripts of the two packages lie
    # side by side, their programs do not.
    os.environ.setdefault("ASHLAR_BIN",
                          os.path.dirname(os.path.abspath(sys.argv[0])))
    _become("ashlar-bench")


def inspect() -> NoReturn:
    _become("ashlar-inspect")


def inspect_file(descriptor: int, flags: Sequence[str]) -> str:
    """What ashlar-inspect prints of an open module file."""
    check_children("ashlar-inspect")
    with system_errors("cannot be started", "ashlar-inspect"):
        done = subprocess.run(
            [BIN / "ashlar-inspect", f"/proc/self/fd/{descriptor}", *flags],
            pass_fds=[descriptor], stdin=subprocess.DEVNULL,
            capture_output=True)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix(
            "ashlar-inspect: error: ")
        if done.returncode < 0:
            raise Internal(ended_by(-done.returncode, "ashlar-inspect"))
        kind: type[Error] = Corrupt if done.returncode == 1 else Internal
        if said.startswith(("no disassembler", "no objdump")):
            kind = NotFound
        raise kind(said)
    return done.stdout.decode(errors="replace")
