# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime that all share who name no other; budgets; traces."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from typing import Any, Optional, Union

from . import _copies, _native
from ._errors import Error, InvalidArgument, NotFound
from ._files import path_text
from ._sizes import byte_count, label

Runtime = _native.Runtime
Device = _native.Device

_lock = threading.Lock()
_default: Optional[_native.Runtime] = None
_default_forks = 0


def default_runtime() -> _native.Runtime:
    """The one runtime of this process that modules and budgets belong to
    unless they are given another."""
    global _default, _default_forks
    with _lock:
        if _default is None or _default_forks != _native.forks():
            _default, _default_forks = _native.Runtime(), _native.forks()
        return _default


def _forget_lock() -> None:
    # A thread of the parent may have held it.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock)


def runtime_of(runtime: Any) -> _native.Runtime:
    """The one that was given, or the one that all share; InvalidArgument for
    what is none."""
    if runtime is None:
        return default_runtime()
    if not isinstance(runtime, _native.Runtime):
        raise InvalidArgument("expected an ashlar.Runtime, found "
                              f"{type(runtime).__name__}", "runtime")
    return runtime


class Budget(_native._Budget):
    """Bytes that modules and sessions share; what does not fit is refused
    before anything is allocated.

    limit: a number of bytes, or a text such as "512MiB".
    name:  shown in errors.
    runtime: whose modules and sessions it serves; that of all who name no other
             where it is left out.
    """

    def __init__(self, limit: Union[int, str], name: str = "budget", *,
                 runtime: Optional[_native.Runtime] = None):
        self.name = label(name, "name")
        super().__init__(runtime_of(runtime), self.name,
                         byte_count(limit, "limit"))

    def __repr__(self) -> str:
        return (f"<ashlar.Budget {self.name!r}: {self.current} of "
                f"{self.limit} bytes, {self.peak} at most>")


class Trace:
    """Records every kernel call of a runtime, `with ashlar.Trace("t.json"):`,
    into a file that ui.perfetto.dev opens. One at a time. One that nobody
    stops is written when the interpreter ends."""

    def __init__(self, path: Union[str, bytes, "os.PathLike[str]"], *,
                 runtime: Optional[_native.Runtime] = None):
        self._path = path_text(path, "path")
        self._runtime = runtime_of(runtime)
        self._is_on = False

    def start(self) -> None:
        """Raises InvalidArgument where one is under way, NotFound where there
        is no such folder."""
        # The file is written at the end: better said before all the work.
        folder = os.path.dirname(self._path) or "."
        if not os.path.isdir(folder):
            raise NotFound("cannot be written: expected a folder, found none "
                           f"at {folder!r}", self._path)
        if os.path.isdir(self._path):
            raise InvalidArgument("cannot be written: expected a file, found a "
                                  "folder", self._path)
        self._runtime._trace_start(os.fsencode(self._path))
        self._is_on = True
        atexit.register(self._end)

    def stop(self) -> None:
        """Writes the file. Raises InvalidArgument where it cannot be written,
        or none was begun."""
        if not self._is_on:
            raise InvalidArgument("expected a trace that was started, found one "
                                  "that was not, or that has been stopped",
                                  self._path)
        self._is_on = False
        atexit.unregister(self._end)
        self._runtime._trace_stop()

    def _end(self) -> None:
        try:
            self.stop()
        except Error as error:
            logging.getLogger("ashlar.trace").warning("%s", error)

    def __enter__(self) -> "Trace":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    __reduce_ex__ = _copies.refuse
