# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A line of progress for whom it concerns: on a terminal, or in a notebook."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Optional

from ._diagnostics import STAGES, Progress


def _notebook() -> Optional[Any]:
    """IPython's display where this runs in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display
    return display


def _is_terminal() -> bool:
    """Whether somebody looks: services have no stderr, or one of their own."""
    return bool(getattr(sys.stderr, "isatty", bool)())


class ProgressBar:
    """Shown after two seconds, renewed as time goes by, gone in the end; in a
    notebook it says then how long it took."""

    def __init__(self, wanted: Optional[bool]):
        self._display = None if wanted is False else _notebook()
        watched = self._display is not None or _is_terminal()
        self._wanted = watched if wanted is None else wanted
        self._begin = time.monotonic()
        self._last: Optional[Progress] = None
        self._over = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._handle: Any = None
        self._shown = False

    def __enter__(self) -> "ProgressBar":
        if self._wanted:
            self._thread = threading.Thread(target=self._go, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if self._shown and self._display is None:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        elif self._handle is not None:
            seconds = time.monotonic() - self._begin
            text = "compiled in" if kind is None else "ended after"
            self._handle.update({"text/plain": f"{text} {seconds:.0f} s"},
                                raw=True)

    def show(self, progress: Progress) -> None:
        self._last = progress

    def _go(self) -> None:
        if self._over.wait(2):
            return
        while True:
            self._draw()
            if self._over.wait(0.2):
                return

    def _draw(self) -> None:
        done = self._last.number if self._last else 0
        stage = STAGES[min(done, len(STAGES) - 1)]
        filled = 24 * done // len(STAGES)
        text = (f"[{'#' * filled}{'-' * (24 - filled)}] {stage} "
                f"{time.monotonic() - self._begin:.0f} s")
        self._shown = True
        if self._display is None:
            sys.stderr.write("\r\033[K" + text)
            sys.stderr.flush()
        elif self._handle is None:
            self._handle = self._display({"text/plain": text}, raw=True,
                                         display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)
