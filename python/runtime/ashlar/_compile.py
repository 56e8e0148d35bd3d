# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compile(): the compiler as a function."""

from __future__ import annotations

import os
import pathlib
from typing import (TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional,
                    Sequence, Union)

from ._compiler import flags_for, log, renamed, run_compiler
from ._diagnostics import Diagnostic, Progress, Remark, read_remarks
from ._errors import Internal, InvalidArgument, Unsupported
from ._files import (Path, absolute, contents, path_text,
                     temporary_folder)
from ._module import Module, check_load_options, load_descriptor
from ._progress import ProgressBar
from ._runtime import Budget
from ._sizes import truth

if TYPE_CHECKING:
    from . import _native

__all__ = ["Diagnostic", "Progress", "Remark", "compile"]


def check_showing(remarks: Any, on_progress: Any, progress_bar: Any) -> None:
    """Raises InvalidArgument for what is of another kind than compile() says."""
    truth(remarks, "remarks")
    if progress_bar is not None:
        truth(progress_bar, "progress_bar")
    if on_progress is not None and not callable(on_progress):
        raise InvalidArgument("expected what can be called with a Progress, "
                              f"found {type(on_progress).__name__}",
                              "on_progress")


def compile(model: Any, output: Optional[Path] = None, *,
            shapes: Optional[Mapping[str, Sequence[Union[int, str]]]] = None,
            dims: Optional[Mapping[str, Any]] = None,
            pieces: Optional[int] = None,
            states: Optional[Mapping[str, str]] = None,
            values: Optional[Mapping[str, Any]] = None,
            target: Union[str, Sequence[str], None] = None,
            precision: Optional[str] = None,
            tolerance: Optional[float] = None,
            calibration: Union[Path, Iterable[Mapping[str, Any]], None] = None,
            precision_plan: Optional[Path] = None,
            write_precision_plan: Optional[Path] = None,
            memory_budget: Union[int, str, None] = None,
            machine: Optional[Path] = None, tuning: Optional[Path] = None,
            strict: bool = False, exact_convolution: bool = False,
            fuse: Optional[str] = None, threads: Optional[int] = None,
            save_temps: Optional[Path] = None,
            sign_key: Optional[Path] = None, trace: Optional[Path] = None,
            assembler: Optional[Path] = None, line_tables: bool = False,
            weights: Optional[str] = None, remarks: bool = True,
            on_progress: Optional[Callable[[Progress], None]] = None,
            progress_bar: Optional[bool] = None,
            name: Optional[str] = None, budget: Optional[Budget] = None,
            device: Union[str, Sequence[str], None] = None,
            runtime: Optional["_native.Runtime"] = None) -> Module:
    """Compiles a model and loads the result.

    model:   path of an .onnx file, or an .mlir file on tensors; the contents of
             one as bytes; or an onnx.ModelProto
    output:  where to keep the .ash file; nowhere where left out
    shapes:  of inputs whose sizes are open: {"x": (1, 3, 224, 224)}, or with
             names of `dims` in it: {"x": ("N", 3, 48, "W")}
    dims:    sizes that each call chooses: {"N": (1, 8), "W": (32, 3200, 32)},
             from, to, and the step between
    pieces:  how many programs share these sizes at most, where no one form
             serves all of them; 1: none but one
    states:  inputs and what they become, such as the cache of attention:
             {"past": "present"}; a run puts what is new behind what was there,
             in the memory of the array that it gives, and the next run goes on
             in it where that array is passed
    values:  inputs that become constants: {"rate": 16000}
    target:  "cpu:host" where left out; several make one program each
    precision: "f32", "bf16", "f16" or "auto"; with "auto", tolerance says how
             far an output may be from f32, relative to its largest element
    calibration: a folder of inputs, or dicts of arrays, to measure that on
    precision_plan, write_precision_plan: files that say each node's type
    memory_budget: bytes or "512MiB": compile to fit, or refuse
    machine, tuning, strict: a machine model, measured strategies; whether the
             latter must be of this machine and version
    exact_convolution: sums of products only, without transforms
    fuse:    "none", "basic" or "all": how much becomes one kernel
    threads: that compile; all there are where left out
    save_temps: a folder for intermediate files
    sign_key: of Ed25519 (PEM), that signs the module
    trace:   a file for when the compile's stages began and ended
    assembler: makes machine code of a target's text: a path, a name in PATH or
             "none"; what is found where left out
    line_tables: whether vendors' profilers show nodes as files
    weights: "random:7": that seed in place of large weights, for measuring
    remarks: whether module.remarks says what was decided, and why
    on_progress: called with a Progress after each stage
    progress_bar: shown after two seconds; where somebody watches if left out
    name, budget, device, runtime: as of load()

    What the compiler says comes through logging as well, as "ashlar.compile".
    Raises Unsupported with all nodes that cannot be compiled, OutOfBudget,
    InvalidArgument, NotFound, Internal. Other threads of Python go on
    meanwhile; Ctrl-C ends it.
    """
    check_load_options(name, budget, device, runtime)
    check_showing(remarks, on_progress, progress_bar)
    kept = None if output is None else path_text(output, "output")
    with temporary_folder() as work:
        made = work / "model.ash" if kept is None \
            else absolute(kept)
        said = work / "remarks.txt"
        flags, names = flags_for(model, work, dict(
            shapes=shapes, dims=dims, pieces=pieces, states=states,
            values=values, target=target, precision=precision, tolerance=tolerance,
            calibration=calibration,
            precision_plan=precision_plan,
            write_precision_plan=write_precision_plan,
            memory_budget=memory_budget, machine=machine, tuning=tuning,
            strict=strict, exact_convolution=exact_convolution, fuse=fuse,
            threads=threads, save_temps=save_temps))
        flags += [f"--output={made}", "--verbose"]
        flags += [f"--{flag}={absolute(path_text(path, keyword))}"
                  for flag, keyword, path in (("sign-key", "sign_key", sign_key),
                                              ("trace", "trace", trace))
                  if path is not None]
        if assembler is not None:
            text = path_text(assembler, "assembler")
            flags.append("--assembler=" +
                         (str(absolute(text)) if os.sep in text else text))
        if line_tables:
            flags.append("--line-tables")
        if weights is not None:
            flags.append(f"--weights={path_text(weights, 'weights', 'a text')}")
        if remarks:
            flags.append(f"--remarks={said}")
        with ProgressBar(progress_bar) as bar:
            diagnostics = run_compiler(flags, on_progress, bar, names=names)
        notes = read_remarks(contents(said, "remarks").decode(
            errors="replace")) if remarks and said.exists() else []
        for note in notes:
            log.info("%s", note)
        try:
            descriptor = os.open(made, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise Internal("the compiler ended well and left no module: "
                           f"{error.strerror}", str(made)) from None
        if name is None:
            name = pathlib.Path(flags[0]).stem
        try:
            return load_descriptor(descriptor, kept or renamed(flags[0], names),
                                   name, budget, device, "strict",
                                   True, False, runtime, remarks=notes,
                                   diagnostics=diagnostics)
        except Unsupported as error:
            if kept is None:
                raise
            raise Unsupported(
                f"{error.message}; {kept} is written, to be loaded where it "
                "can run", error.place) from error
