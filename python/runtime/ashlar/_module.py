# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules: what a compiled file holds, and calling it."""

from __future__ import annotations

import fcntl
import functools
import json
import logging
import os
import pathlib
import re
import shutil
import tempfile
import threading
import weakref
from dataclasses import dataclass
from typing import (TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence,
                    Union)

import numpy as np

from . import _copies, _native, _tools
from ._dtypes import DTYPES
from ._errors import (Corrupt, Error, InvalidArgument, NamedDict, NotFound,
                      quoted)
from ._files import (Path, path_text, refuse_special, system_error,
                     system_errors, temporary_folder)
from ._model_files import of_a_model, refuse_path
from ._runtime import Budget, runtime_of
from ._session import Session, check_budget
from ._sizes import device_names, label, truth

if TYPE_CHECKING:
    from ._diagnostics import Diagnostic, Remark

_log = logging.getLogger("ashlar.load")


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of an entry.

    name:          as the model has it
    type:          as the C library names it, "f32"
    shape:         sizes; -1 where a symbol or the data decide
    maximum:       the largest shape there can be
    shape_text:    "Nx3x48xW": symbols by name
    maximum_bytes: of the largest
    """

    name: str
    type: str
    shape: tuple[int, ...]
    maximum: tuple[int, ...]
    shape_text: str
    maximum_bytes: int

    @property
    def dtype(self) -> np.dtype:
        """NumPy's; of ml_dtypes for bf16 and the like."""
        return DTYPES[self.type]


@dataclass(frozen=True)
class Contract:
    """What running an entry costs, in bytes, symbols at their largest."""

    weights_bytes: int
    """Shared by all sessions of a module."""
    code_bytes: int
    """Likewise."""
    arena_bytes: int
    """One per session."""
    arena_lower_bound_bytes: int
    """No plan could do with less."""
    outputs_bytes: int
    """Of the outputs at their largest."""
    staging_bytes: int
    """Copies of what is not aligned to 64 bytes."""
    scratch_bytes_per_worker: int
    """For each thread."""
    peak_bytes: int
    """The sum, for one thread."""


@dataclass(frozen=True)
class Entry:
    """A function of a module."""

    name: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    contract: Contract


@dataclass(frozen=True)
class Program:
    """A program of the file, for one machine."""

    target: str
    preset: str
    contract: Mapping[str, int]
    kernels: tuple[Mapping[str, Any], ...]


class Module:
    """A compiled model, made by compile() and load(). Call it with its inputs,
    in their order or by name; it gives its one output, or a dict of them by
    name. Any number of threads may; each has a session of its own, which lives
    as long as thread and module."""

    def __init__(self, native: "_native._Module", descriptor: int, *,
                 remarks: Sequence["Remark"] = (),
                 diagnostics: Sequence["Diagnostic"] = ()):
        self._native = native
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)
        self._sessions = threading.local()
        self.remarks = tuple(remarks)
        """What the compiler decided and why, where compile() made this."""
        self.diagnostics = tuple(diagnostics)
        """Warnings and notes of that compile."""

    # What it is.

    @functools.cached_property
    def _info(self) -> dict[str, Any]:
        return self._native._describe()

    @functools.cached_property
    def entries(self) -> dict[str, Entry]:
        """By name, in the order of the file. Another name is NotFound, with
        those there are."""
        return NamedDict("entries", (
            (name, Entry(name, tuple(TensorInfo(*port) for port in inputs),
                         tuple(TensorInfo(*port) for port in outputs),
                         Contract(*cost)))
            for name, inputs, outputs, cost in self._native._entries()))

    @property
    def name(self) -> str:
        return self._info["name"]

    @property
    def target(self) -> str:
        """Of the program taken, with its machine model: "cpu:host"."""
        return f"{self._info['target']}:{self._info['preset']}"

    @property
    def device(self) -> str:
        """That it runs on: "cpu:0"."""
        return self._info["device"]

    @property
    def placement(self) -> str:
        """A line for each program of the file: taken, or why not."""
        return self._info["placement"]

    @property
    def fallbacks(self) -> int:
        """How many devices that were asked for could not serve, so that a later
        one was taken: load(placement="soft"). `placement` says which and
        why; a warning of the logger "ashlar.load" does as well."""
        return self._info["fallbacks"]

    @functools.cached_property
    def metadata(self) -> dict[str, str]:
        """What the model says of itself, such as the names of its classes."""
        return NamedDict("metadata", self._native._metadata().items())

    @property
    def _first(self) -> Entry:
        return next(iter(self.entries.values()))

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        """Of the first entry."""
        return self._first.inputs

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """Of the first entry."""
        return self._first.outputs

    @property
    def contract(self) -> Contract:
        """Of the first entry."""
        return self._first.contract

    # Running it.

    def session(self, **options: Any) -> Session:
        """A Session of this module; options as its own."""
        return Session(self, **options)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Runs the first entry: module(x), module(a, b), module(name=x)."""
        if inputs and named:
            raise InvalidArgument("expected the inputs by position or by name, "
                                  "found both", "inputs")
        feed = named or (inputs[0] if len(inputs) == 1
                         and isinstance(inputs[0], dict) else inputs)
        results = self._run_with(feed, 0)
        if len(results) == 1:
            return next(iter(results.values()))
        return results

    def _run_with(self, feed: Any, threads: int) -> dict[str, Any]:
        """On a session of this thread's own, with so many threads."""
        held = getattr(self._sessions, "held", None)
        if held is None or held[1] != threads or held[2] != _native.forks():
            held = Session(self, threads=threads), threads, _native.forks()
            self._sessions.held = held
        return held[0].run(feed)

    # Looking into it.

    def save(self, path: Path) -> None:
        """Writes the .ash file; load() and the C library read it. It is there
        when it is whole, or not at all. Raises NotFound where there is no
        such folder, InvalidArgument where nothing can be written there."""
        target = pathlib.Path(path_text(path, "path"))
        refuse_special(target, str(target))
        with system_errors("cannot be written", str(target)), \
                tempfile.NamedTemporaryFile(dir=target.parent,
                                            delete=False) as new:
            try:
                with os.fdopen(os.dup(self._descriptor), "rb") as source:
                    source.seek(0)
                    shutil.copyfileobj(source, new)
                new.flush()
                os.chmod(new.name, 0o666 & ~_umask())
                os.replace(new.name, target)
            except BaseException:
                os.unlink(new.name)
                raise

    @functools.cached_property
    def _inspected(self) -> dict[str, Any]:
        return json.loads(_tools.inspect_file(self._descriptor, ["--json"]))

    @property
    def programs(self) -> tuple[Program, ...]:
        """All programs of the file, with their kernels."""
        return tuple(Program(each["target"], each["preset"], each["contract"],
                             tuple(each["kernels"]))
                     for each in self._inspected["programs"])

    @property
    def provenance(self) -> dict[str, Any]:
        """Version and flags of the compiler, the model's sha256."""
        return self._inspected["provenance"]

    def kernels(self) -> list[dict[str, Any]]:
        """A row for each kernel of each program: pandas.DataFrame takes it.
        Sizes in bytes."""
        return [{"program": f"{program.target}:{program.preset}", **kernel}
                for program in self.programs for kernel in program.kernels]

    def disassemble(self, kernel: str) -> str:
        """The machine code of a kernel, as text. Needs a disassembler:
        llvm-objdump, or objdump of binutils. Raises NotFound without one, and
        with the kernels' names where there is none of this."""
        names = dict.fromkeys(row["name"] for row in self.kernels())
        if not isinstance(kernel, str) or kernel not in names:
            raise NotFound("expected one of the module's kernels, "
                           f"{_listed(names)}, found {quoted(kernel)}",
                           "kernel")
        return _tools.inspect_file(self._descriptor,
                                   [f"--disassemble={kernel}"])

    def memory_map(self, path: Optional[Path] = None, *,
                   entry: Optional[str] = None) -> str:
        """What lies where in the arena, and when: a picture (.svg) or a page
        (.html), written to `path` if given, and given back as text."""
        return self._drawn("--memory-map", path, ".svg", entry)

    def graph(self, path: Optional[Path] = None, *,
              entry: Optional[str] = None) -> str:
        """A page (.html) of the kernels in their order and what they
        exchange."""
        return self._drawn("--graph", path, ".html", entry)

    def _drawn(self, flag: str, path: Optional[Path], ending: str,
               entry: Optional[str]) -> str:
        if entry is not None and (not isinstance(entry, str)
                                  or entry not in self.entries):
            raise NotFound("expected one of the module's entries, "
                           f"{', '.join(map(repr, self.entries))}, found "
                           f"{quoted(entry)}", "entry")
        target = None if path is None else path_text(path, "path")
        if target is not None:
            refuse_special(pathlib.Path(target), target)
            given = pathlib.Path(target).suffix
            endings = (".svg", ".html") if ending == ".svg" else (".html",)
            if given not in endings:
                raise InvalidArgument(
                    f"expected a name that ends in {' or '.join(endings)}, "
                    f"found {target!r}", "path")
            ending = given
        with temporary_folder() as folder:
            drawn = folder / f"drawn{ending}"
            flags = [f"{flag}={drawn}"]
            if entry is not None:
                flags.append(f"--entry={entry}")
            _tools.inspect_file(self._descriptor, flags)
            if target is not None:
                with system_errors("cannot be written", target):
                    shutil.copyfile(drawn, target)
            return drawn.read_text()

    def __repr__(self) -> str:
        def ports(infos: Iterable[TensorInfo]) -> str:
            return ", ".join(f"{info.name}: {info.type} {info.shape_text}"
                             for info in infos)
        return (f"<ashlar.Module {self.name!r} for {self.target}: "
                f"({ports(self.inputs)}) -> ({ports(self.outputs)}), "
                f"{self.contract.peak_bytes} bytes>")

    __reduce_ex__ = _copies.refuse

    def _repr_html_(self) -> str:
        from ._notebook import module_html
        return module_html(self)


def _listed(names: Iterable[str], most: int = 20) -> str:
    """The names for a sentence, of very many the first."""
    shown = [repr(name) for name in names]
    more = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {more} more" if more > 0 else "")


def _umask() -> int:
    # There is no call that only asks.
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o077


def load(source: Union[Path, bytes], *, name: Optional[str] = None,
         budget: Optional[Budget] = None,
         device: Union[str, Sequence[str], None] = None,
         placement: str = "strict", allow_native_code: bool = False,
         verify_weights: bool = False,
         runtime: Optional["_native.Runtime"] = None) -> Module:
    """Loads a compiled module.

    source:  path of an .ash file, or its contents as bytes. While the module
             lives, replace the file by renaming another over it, never by
             writing into it.
    name:    shown in budgets and traces; the file's where it is left out
    budget:  weights and code are charged to it
    device:  one name or several, in order of preference; any where left out
    placement: "strict": a device that cannot serve is an error; "soft": the
             next one is taken
    allow_native_code: modules hold machine code that runs with this process's
             rights; say True for files you trust as much as a shared library
    verify_weights: hash the weights too

    Raises NotFound, Corrupt, OutOfBudget, Unsupported, InvalidArgument.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        place = "<bytes>"
        if memoryview(source).nbytes <= 4096:
            refuse_path(bytes(source), "source")
        with system_errors("cannot be held in memory", place):
            descriptor = _memory_file(source)
        name = "memory" if name is None else name
    else:
        if hasattr(source, "SerializeToString"):
            raise InvalidArgument("expected a module that was compiled, found "
                                  f"{type(source).__name__}; ashlar.compile "
                                  "makes one of it", "source")
        if isinstance(source, Module):
            raise InvalidArgument("expected a path or bytes, found an "
                                  "ashlar.Module; it is loaded, call it with "
                                  "its inputs", "source")
        place = path_text(source, "source")
        try:
            # Not to wait for the other end of a pipe; the library takes files
            # only.
            descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC
                                 | os.O_NONBLOCK)
        except OSError as error:
            raise system_error(error, "cannot be read", place) from None
        name = os.path.basename(place) if name is None else name
    return load_descriptor(descriptor, place, name, budget, device, placement,
                           allow_native_code, verify_weights, runtime)


def _memory_file(contents: Any) -> int:
    descriptor = os.memfd_create("ashlar-module")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(contents)
    except BufferError as error:
        os.close(descriptor)
        raise InvalidArgument(f"expected bytes, found {error}",
                              "source") from None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_load_options(name: Any, budget: Any, device: Any,
                       runtime: Any) -> None:
    """Raises InvalidArgument for what is of another kind than load() says."""
    device_names(device)
    if name is not None:
        label(name, "name")
    check_budget(budget)
    runtime = runtime_of(runtime)
    if budget is not None:
        budget._check_of(runtime)


def load_descriptor(descriptor: int, source: str, name: str,
                    budget: Optional[Budget],
                    device: Union[str, Sequence[str], None], placement: str,
                    allow_native_code: bool, verify_weights: bool,
                    runtime: Optional["_native.Runtime"],
                    **more: Any) -> Module:
    """Loads an open file, and takes the descriptor over. source: what errors
    call it."""
    if descriptor < 3:
        # Where a program closed its standard files; those of ours are given
        # other meanings in the programs that they are passed to.
        low, descriptor = descriptor, fcntl.fcntl(descriptor,
                                                  fcntl.F_DUPFD_CLOEXEC, 3)
        os.close(low)
    place, shown = f"/proc/self/fd/{descriptor}", ""
    try:
        check_load_options(name, budget, device, runtime)
        if not isinstance(placement, str) \
                or placement not in ("strict", "soft"):
            raise InvalidArgument("expected 'strict' or 'soft', found "
                                  f"{quoted(placement)}", "placement")
        shown = label(name, "name")
        native = _native._Module(
            runtime_of(runtime), place.encode(), budget, shown,
            truth(allow_native_code, "allow_native_code"),
            truth(verify_weights, "verify_weights"),
            device_names(device), placement == "soft")
        module = Module(native, descriptor, **more)
    except Error as error:
        hint = of_a_model(descriptor, source) \
            if isinstance(error, Corrupt) else ""
        os.close(descriptor)
        raise _as_of_load(error, source, (place, shown), hint) from None
    except BaseException:
        os.close(descriptor)
        raise
    if module.fallbacks:
        _log.warning("%s: %s", source, "; ".join(module.placement.splitlines()))
    return module


def _as_of_load(error: Error, source: str, ours: tuple[str, str],
                hint: str) -> Error:
    """With the file as the caller named it, and what to write in Python."""
    place = error.place
    if place in ours:
        place = source
    elif isinstance(error, Corrupt):
        place = f"{source}: {place}"
    return type(error)(
        _SET_OPTION.sub(r"; load it with \1=True", error.message) + hint, place,
        notes=error.notes)


_SET_OPTION = re.compile(r": set (\w+) in the load options")
