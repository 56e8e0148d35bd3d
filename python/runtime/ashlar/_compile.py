# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compile(): the compiler as a function.

It runs the program ashlar-compile beside this process: Ctrl-C ends it at once,
what LLVM holds is given back when it ends, and neither its code nor its faults
meet those of other packages in this process.
"""

from __future__ import annotations

import logging
import os
import pathlib
import signal
import subprocess
import tempfile
from typing import (TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional,
                    Sequence, Union)

from ._diagnostics import (Diagnostic, Progress, Remark, failure, read_remarks,
                           read_line)
from ._errors import Internal, InvalidArgument, NotFound
from ._flags import command_line, write_calibration, write_model
from ._module import Module, Path, load_descriptor
from ._progress import ProgressBar
from ._runtime import Budget
from ._version import __version__

if TYPE_CHECKING:
    from . import _native

__all__ = ["Diagnostic", "Progress", "Remark", "compile"]

_log = logging.getLogger("ashlar.compile")


def compiler_program() -> pathlib.Path:
    """The program that compiles. ASHLAR_BIN names a folder to take it from, for
    those who build it themselves."""
    chosen = os.environ.get("ASHLAR_BIN")
    if chosen:
        return pathlib.Path(chosen) / "ashlar-compile"
    try:
        import ashlar_compiler
    except ImportError:
        raise NotFound("expected the package with the compiler, found only the "
                       "one that runs modules; install the wheel ashlar-"
                       f"{__version__}-*.whl that came with this one",
                       "ashlar.compile") from None
    if ashlar_compiler.__version__ != __version__:
        raise InvalidArgument(
            f"expected the compiler of version {__version__}, found "
            f"{ashlar_compiler.__version__}; install the two wheels of one "
            "version", "ashlar.compile")
    return ashlar_compiler.program()


def compile(model: Any, output: Optional[Path] = None, *,
            shapes: Optional[Mapping[str, Sequence[Union[int, str]]]] = None,
            dims: Optional[Mapping[str, Any]] = None,
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
            save_temps: Optional[Path] = None, remarks: bool = True,
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
    remarks: whether module.remarks says what was decided, and why
    on_progress: called with a Progress after each stage
    progress_bar: shown after two seconds; where somebody watches if left out
    name, budget, device, runtime: as of load()

    What the compiler says comes through logging as well, as "ashlar.compile".
    Raises Unsupported with all nodes that cannot be compiled, OutOfBudget,
    InvalidArgument, NotFound, Internal. Other threads of Python go on
    meanwhile; Ctrl-C ends it.
    """
    program = compiler_program()
    with tempfile.TemporaryDirectory(prefix="ashlar-") as folder:
        work = pathlib.Path(folder)
        path = write_model(model, work)
        made = work / "model.ash" if output is None \
            else pathlib.Path(os.fsdecode(output)).absolute()
        said = work / "remarks.txt"
        if calibration is not None and not isinstance(
                calibration, (str, bytes, os.PathLike)):
            calibration = write_calibration(calibration, work / "calibration")
        command = ["ashlar-compile", str(path), f"--output={made}",
                   "--verbose",
                   *command_line(
                       shapes=shapes, dims=dims, values=values, target=target,
                       precision=precision, tolerance=tolerance,
                       calibration=calibration, precision_plan=precision_plan,
                       write_precision_plan=write_precision_plan,
                       memory_budget=memory_budget, machine=machine,
                       tuning=tuning, strict=strict,
                       exact_convolution=exact_convolution, fuse=fuse,
                       threads=threads, save_temps=save_temps)]
        if remarks:
            command.append(f"--remarks={said}")
        with ProgressBar(progress_bar) as bar:
            diagnostics = _run(program, command, on_progress, bar)
        notes = read_remarks(said.read_text(errors="replace")) \
            if remarks and said.exists() else []
        for note in notes:
            _log.info("%s", note)
        descriptor = os.open(made, os.O_RDONLY | os.O_CLOEXEC)
        if name is None:
            name = path.stem if not isinstance(model, (bytes, bytearray)) \
                else "model"
        return load_descriptor(descriptor, name, budget, device, "strict", True,
                               False, runtime, remarks=notes,
                               diagnostics=diagnostics)


def _run(program: pathlib.Path, command: Sequence[str],
         on_progress: Optional[Callable[[Progress], None]],
         bar: ProgressBar) -> list[Diagnostic]:
    """Runs the compiler to its end and gives what it said; whatever ends this
    ends the compiler too."""
    try:
        child = subprocess.Popen(command, executable=program,
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE)
    except (OSError, ValueError) as error:
        raise InvalidArgument(f"the compiler cannot be started: {error}",
                              "ashlar.compile") from error
    diagnostics: list[Diagnostic] = []
    tail: list[str] = []
    try:
        assert child.stderr is not None
        for raw in child.stderr:
            line = raw.decode(errors="replace").rstrip("\n")
            progress = read_line(line, diagnostics, tail)
            if progress is not None:
                _log.debug("%s", progress)
                bar.show(progress)
                if on_progress is not None:
                    on_progress(progress)
        status = child.wait()
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        if child.stderr is not None:
            child.stderr.close()
    if status == 0:
        for each in diagnostics:
            _log.warning("%s", each)
        return diagnostics
    if status == -signal.SIGINT:
        raise KeyboardInterrupt
    if status < 0:
        raise Internal(f"the compiler was ended by signal {-status}; where "
                       "memory was not short, please report it with the model "
                       "that shows it", notes=tuple(tail[-5:]))
    raise failure(status, diagnostics, tail)
