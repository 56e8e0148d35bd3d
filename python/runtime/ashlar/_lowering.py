# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What else the compiler gives than modules: its IR after a stage, objects for
bare metal, the strategies that are worth measuring, and what it knows."""

from __future__ import annotations

import json
import pathlib
import tempfile
from dataclasses import dataclass
from typing import Any, Mapping, Optional

from ._compiler import flags_for, renamed, run_compiler
from ._errors import InvalidArgument
from ._files import (Path, absolute, path_text, system_errors,
                     temporary_folder)
from ._sizes import truth


@dataclass(frozen=True)
class Operator:
    """An operator of ONNX that is imported.

    opsets: in which its meaning was said anew, as far as they are known here
    types:  of its elements, in ONNX's names
    """

    name: str
    opsets: tuple[int, ...]
    types: tuple[str, ...]


def _printed(*flags: str, names: Mapping[str, str] = {}) -> str:
    """What the compiler prints with these flags alone. names: as of
    flags_for()."""
    with system_errors("no temporary file can be made", "TMPDIR"):
        output = tempfile.TemporaryFile()
    with output:
        run_compiler(flags, output=output, names=names)
        output.seek(0)
        return renamed(output.read().decode(errors="replace"), names)


def list_targets() -> list[str]:
    """What `target` takes: "cpu:x86-64-v3" and others. Several targets joined
    by "+" make one program over all of them."""
    return _printed("--list-targets").split()


def list_operators() -> list[Operator]:
    """ONNX's operators that are imported, by name."""
    found = []
    for line in _printed("--list-operators").splitlines():
        name, opsets, types = (line + "\t\t").split("\t")[:3]
        found.append(Operator(name, tuple(map(int, opsets.split())),
                              tuple(types.split())))
    return found


def _made(model: Any, options: Mapping[str, Any], *flags: str) -> str:
    """What the compiler prints about a model."""
    with temporary_folder() as work:
        of_model, names = flags_for(model, work, options)
        return _printed(*of_model, *flags, names=names)


def lower(model: Any, until: str, *, locations: bool = False,
          **options: Any) -> str:
    """The compiler's IR of a model after a stage, as text of MLIR.

    model:     as of compile()
    until:     "import", "simplify", "place", "precision", "fuse", "tile",
               "schedule" or "emit"
    locations: say at each op which of the model's nodes it is of
    options:   keywords of compile() that say how

    Raises as compile() does.
    """
    flags = ["--until-locations"] if truth(locations, "locations") else []
    until = path_text(until, "until", "the name of a stage")
    return _made(model, options, f"--until={until}", *flags)


def strategies(model: Any, **options: Any) -> dict[str, Any]:
    """The contractions of a model and, for each, the strategies that are worth
    measuring, the best by the machine's model first: what ashlar-bench --tune
    measures. options: keywords of compile() that say how."""
    found: dict[str, Any] = json.loads(
        _made(model, options, "--list-strategies=-"))
    return found


def compile_object(model: Any, output: Path, *, target: str,
                   symbol_prefix: Optional[str] = None,
                   **options: Any) -> tuple[pathlib.Path, pathlib.Path]:
    """Compiles a model to bare-metal code for a RISC-V core and gives the paths
    of the object and of the C header that says how to call it.

    model:   as of compile(); its sizes are fixed
    output:  of the object: FILE.o, beside which FILE.h is written
    target:  such as "systolic:gemmini"
    symbol_prefix: what the names in both begin with, where one program holds
             several models
    options: keywords of compile() that say how

    Raises as compile() does.
    """
    kept = path_text(output, "output")
    made = absolute(kept)
    if made.suffix != ".o":
        raise InvalidArgument("expected a name that ends in .o, found "
                              f"{kept!r}", "output")
    flags = ["--emit=riscv-object", f"--output={made}"]
    if symbol_prefix is not None:
        flags.append(f"--symbol-prefix={symbol_prefix}")
    _made(model, {**options, "target": target}, *flags)
    return made, made.with_suffix(".h")
