# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sessions, and what Python's own waiting needs of a run."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any, Generator, Optional

import numpy as np

from . import _native
from ._errors import InvalidArgument, quoted
from ._sizes import label, thread_count, truth

if TYPE_CHECKING:
    from ._module import Module
    from ._runtime import Budget

Run = _native.Run
Bindings = _native.Bindings


class Session(_native._Session):
    """The memory and the threads to run a module's entries with. One thread at
    a time; any number of sessions of one module run in parallel.

    threads:     0: as many as its runtime's default
    budget:      arena, outputs of the library's own and copies are charged to
                 it; arrays that run() makes are NumPy's
    name:        shown in budgets and traces; the module's where left out
    reserve_all: take all of the contract's memory now, so that no later run
                 can be refused for its budget
    poison:      fill the arena before every run, to show results that depend
                 on an earlier one

    Raises OutOfBudget, which says how much is missing and who holds the rest.
    """

    def __init__(self, module: "Module", *, threads: int = 0,
                 budget: Optional["Budget"] = None, name: Optional[str] = None,
                 reserve_all: bool = False, poison: bool = False):
        native = getattr(module, "_native", None)
        if not isinstance(native, _native._Module):
            raise InvalidArgument("expected an ashlar.Module, found "
                                  f"{type(module).__name__}", "module")
        check_budget(budget)
        super().__init__(native, budget,
                         None if name is None else label(name, "name"),
                         thread_count(threads), truth(poison, "poison"),
                         truth(reserve_all, "reserve_all"))

    def __enter__(self) -> "Session":
        return self


def check_budget(budget: Any) -> None:
    """Raises InvalidArgument unless it is a Budget or None."""
    if budget is None or isinstance(budget, _native._Budget):
        return
    hint = f"; ashlar.Budget({budget!r}) makes one" \
        if isinstance(budget, (int, str)) else ""
    raise InvalidArgument("expected an ashlar.Budget, found "
                          f"{type(budget).__name__}{hint}", "budget")


def wait(run: _native.Run,
         timeout: Optional[float] = None) -> dict[str, np.ndarray]:
    """What Run.wait does."""
    if timeout is None:
        timeout = math.inf
    elif isinstance(timeout, str) or not hasattr(timeout, "__float__") \
            and not hasattr(timeout, "__index__"):
        raise InvalidArgument("expected seconds from 0 on, found "
                              f"{quoted(timeout)}", "timeout")
    results = run._wait(float(timeout))
    if results is None:
        raise TimeoutError(f"the run has not ended within {timeout} s")
    return results


async def _until_done(run: _native.Run) -> dict[str, np.ndarray]:
    loop = asyncio.get_running_loop()
    waiting = loop.run_in_executor(None, run._wait, math.inf)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        run.cancel()
        # Whoever cancels again meanwhile, the session is free when this ends.
        while not waiting.done():
            try:
                await asyncio.wait([waiting])
            except asyncio.CancelledError:
                pass
        if not waiting.cancelled():
            waiting.exception()
        raise


def waited(run: _native.Run) -> Generator[Any, None, dict[str, np.ndarray]]:
    """What awaiting a Run does: a thread waits, and a task that is cancelled
    cancels the run."""
    return _until_done(run).__await__()
