# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program ashlar-compile, beside this process: Ctrl-C ends it at once, what
LLVM holds is given back when it ends, and neither its code nor its faults meet
those of other packages in this process.
"""

from __future__ import annotations

import errno
import logging
import os
import pathlib
import signal
import subprocess
from typing import IO, Any, Callable, Mapping, Optional, Sequence, Union

from ._calibration import write_calibration
from ._diagnostics import (Diagnostic, Progress, failure, read_line,
                           said_of_success)
from ._errors import Internal, InvalidArgument, NotFound
from ._files import check_children, ended_by, system_error
from ._flags import command_line, too_many_values
from ._given import spelled
from ._model_files import write_model
from ._progress import ProgressBar
from ._version import __version__

log = logging.getLogger("ashlar.compile")

# Keywords that say how to compile, whatever is to be made.
OPTIONS = ("shapes", "dims", "pieces", "states", "values", "target",
           "precision", "tolerance", "calibration", "precision_plan", "write_precision_plan",
           "memory_budget", "machine", "tuning", "strict", "exact_convolution",
           "fuse", "threads", "save_temps")


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


def flags_for(model: Any, work: pathlib.Path, options: Mapping[str, Any]
              ) -> tuple[list[str], dict[str, str]]:
    """The command line for a model and those of OPTIONS that are given; writes
    into the folder `work` what is in memory. And what messages are to call
    these files."""
    given = {**dict.fromkeys(OPTIONS), **options}
    for name in given:
        if name not in OPTIONS:
            raise TypeError(f"unexpected keyword argument {name!r}; expected "
                            f"some of {', '.join(OPTIONS)}")
    # What else is in there, nobody asked about.
    names: dict[str, str] = {str(work): "<temporary folder>"}
    calibration = given["calibration"]
    if calibration is not None and not isinstance(
            calibration, (str, bytes, os.PathLike)):
        given["calibration"] = write_calibration(calibration,
                                                 work / "calibration", names)
    path = write_model(model, work, names)
    return [str(path), *command_line(**given)], names


def renamed(text: str, names: Mapping[str, str]) -> str:
    """With files of ours by what the caller gave."""
    # The longest first: a folder's name begins those of its files.
    for path in sorted(names, key=len, reverse=True):
        # Messages spell control characters out.
        for each in {path, spelled(path)}:
            text = text.replace(each, names[path])
    return text


def run_compiler(flags: Sequence[str],
                 on_progress: Optional[Callable[[Progress], None]] = None,
                 bar: Optional[ProgressBar] = None,
                 output: Union[int, IO[bytes]] = subprocess.DEVNULL,
                 names: Mapping[str, str] = {}) -> list[Diagnostic]:
    """Runs the compiler to its end and gives what it said; whatever ends this
    ends the compiler too. output: where its standard output goes; names: as
    of flags_for()."""
    check_children("ashlar.compile")
    program, command = compiler_program(), ["ashlar-compile", *flags]
    try:
        child = subprocess.Popen(command, executable=program,
                                 stdin=subprocess.DEVNULL,
                                 stdout=output,
                                 stderr=subprocess.PIPE)
    except OSError as error:
        if error.errno == errno.E2BIG:
            raise too_many_values() from None
        raise system_error(error, f"{str(program)!r} cannot be started",
                           "ashlar.compile") from error
    except ValueError as error:
        raise InvalidArgument(f"the compiler cannot be started: {error}",
                              "ashlar.compile") from error
    diagnostics: list[Diagnostic] = []
    tail: list[str] = []
    try:
        assert child.stderr is not None
        for raw in child.stderr:
            line = renamed(raw.decode(errors="replace").rstrip("\n"), names)
            progress = read_line(line, diagnostics, tail)
            if progress is not None:
                log.debug("%s", progress)
                if bar is not None:
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
        kept = said_of_success(diagnostics)
        for each in kept:
            log.log(logging.WARNING if each.severity == "warning"
                    else logging.INFO, "%s", each)
        return kept
    if status == -signal.SIGINT:
        raise KeyboardInterrupt
    if status < 0:
        raise Internal(ended_by(-status, "the compiler"),
                       notes=tuple(tail[-5:]))
    raise failure(status, diagnostics, tail)
