# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime that all share who name no other; budgets; traces."""

from __future__ import annotations

import os
import threading
from typing import Optional, Union

from . import _native
from ._errors import InvalidArgument
from ._sizes import byte_count

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


class Budget(_native._Budget):
    """Bytes that modules and sessions share; what does not fit is refused
    before anything is allocated.

    limit: a number of bytes, or a text such as "512MiB".
    name:  shown in errors.
    """

    def __init__(self, limit: Union[int, str], name: str = "budget", *,
                 runtime: Optional[_native.Runtime] = None):
        super().__init__(runtime or default_runtime(), name,
                         byte_count(limit, "limit"))
        self.name = name

    def __repr__(self) -> str:
        return (f"<ashlar.Budget {self.name!r}: {self.current} of "
                f"{self.limit} bytes, {self.peak} at most>")


class Trace:
    """Records every kernel call of a runtime, `with ashlar.Trace("t.json"):`,
    into a file that ui.perfetto.dev opens. One at a time."""

    def __init__(self, path: Union[str, bytes, "os.PathLike[str]"], *,
                 runtime: Optional[_native.Runtime] = None):
        self._path = os.fsencode(path)
        if b"\0" in self._path:
            raise InvalidArgument("expected a path, found a NUL in it", "path")
        self._runtime = runtime or default_runtime()

    def start(self) -> None:
        """Raises InvalidArgument where one is under way."""
        self._runtime._trace_start(self._path)

    def stop(self) -> None:
        """Writes the file."""
        self._runtime._trace_stop()

    def __enter__(self) -> "Trace":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
