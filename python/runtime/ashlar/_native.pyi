# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ashlar's C library; see the package `ashlar`."""

from collections.abc import Generator, Sequence
import os
from typing import Any, NoReturn, SupportsIndex


def _close() -> None:
    """Lets no thread come back from the library any more."""

version: str = '0.1.0'

def forks() -> int:
    """
    How many forks lie between this process and the one that imported this.
    """

def aligned_bytes(bytes: int) -> Any:
    """A fresh uint8 array that begins at a multiple of 64."""

class Device:
    """A device that programs run on; see Runtime.device()."""

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn: ...

    @property
    def name(self) -> str:
        """Such as 'cpu:0'."""

    @property
    def features(self) -> list[str]:
        """The instruction sets it has, in LLVM's names."""

    def check(self) -> None:
        """Raises DeviceLost, with its first failure, if it has failed."""

    def __repr__(self) -> str: ...

class Runtime:
    """
    What devices, budgets and modules belong to. There is one that all use who
    name no other; make your own for other numbers of threads.
    """

    def __init__(self, threads: int = 0, signature_keys: Sequence[str | os.PathLike[str] | bytes] = ()) -> None:
        """
        threads: default of sessions; 0: as many as CPUs are allowed.
        signature_keys: public keys of Ed25519, each 32 bytes or the name of a PEM
        file. With any, modules are loaded only if one of them has signed them; what
        is not is Unsupported, what was altered Corrupt.

        Raises InvalidArgument beyond 4096 threads, Unsupported without libsodium.
        """

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn: ...

    @property
    def device_names(self) -> list[str]:
        """The devices that there are, the preferred first."""

    def device(self, name: str) -> Device:
        """
        Opens a device on first use; 'cpu' means 'cpu:0'.

        Raises NotFound with the names there are.
        """

    def _trace_start(self, path: bytes) -> None: ...

    def _trace_stop(self) -> None: ...

class _Budget:
    def __init__(self, runtime: Runtime, name: str, limit: int) -> None: ...

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn: ...

    def _check_of(self, runtime: Runtime) -> None: ...

    @property
    def limit(self) -> int:
        """Bytes that may be charged at the same time."""

    @property
    def current(self) -> int:
        """Bytes charged now."""

    @property
    def peak(self) -> int:
        """The most bytes that were ever charged."""

    @property
    def refusals(self) -> int:
        """How many requests did not fit."""

    @property
    def current_by_kind(self) -> dict[str, int]:
        """
        Bytes charged now, by what they are for: weights, code, arena,
        outputs, staging, scratch.
        """

    @property
    def holders(self) -> list[tuple[str, str, int]]:
        """Who holds it: (name, kind, bytes), the largest first."""

class _Module:
    def __init__(self, runtime: Runtime, path: bytes, budget: _Budget | None, name: object | None, allow_native_code: bool, verify_weights: bool, devices: Sequence[str], is_soft: bool) -> None: ...

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn: ...

    def _describe(self) -> dict: ...

    def _entries(self) -> list: ...

    def _metadata(self) -> dict: ...

class _Session:
    def __init__(self, module: object, budget: _Budget | None = None, name: object | None = None, threads: int = 0, poison: bool = False, reserve_all: bool = False) -> None: ...

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn: ...

    def run(self, inputs: Any, out: Any = None, entry: str | None = None) -> dict[str, Any]:
        """
        Runs an entry and gives its outputs, a dict of arrays by name.

        inputs: a dict by name, a sequence in the entry's order, or the one
        array there is to give: NumPy or anything with DLPack, dense and in
        host memory. Arrays aligned to 64 bytes (ashlar.empty) are read in
        place, others copied by the library.
        out: arrays to write to, likewise; fresh ones where it is left out.
        entry: a name; the module's first where it is left out.

        Other threads of Python go on meanwhile. Raises InvalidArgument,
        OutOfBudget, DeviceLost, Internal.
        """

    def run_async(self, inputs: Any, out: Any = None, entry: str | None = None) -> Run:
        """
        Starts a run and gives a Run, which can be awaited, waited for and
        cancelled. Arguments as of run(); leave their memory alone until the
        run has ended. One run at a time.
        """

    def bind(self, inputs: Any, out: Any = None, entry: str | None = None) -> Bindings:
        """
        Checks the arguments once and keeps them: a Bindings, whose run()
        reads what the inputs hold then and writes the same outputs. NumPy
        resizes none of these arrays in place meanwhile.
        """

    def close(self) -> None:
        """Gives its memory and threads back. It cannot be used afterwards."""

    @property
    def closed(self) -> bool:
        """Whether its memory and threads were given back."""

    @property
    def statistics(self) -> dict[str, int]:
        """
        Runs, failures, bytes copied since not aligned, nanoseconds of the last run,
        threads and memory, by name.
        """

    def __exit__(self, *args) -> None: ...

class Run:
    """A run that was started. `await` gives its outputs, as wait() does."""

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn: ...

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not."""

    def _wait(self, seconds: float) -> Any: ...

    def wait(self, timeout: float | None = None) -> dict[str, Any]:
        """
        Gives the outputs by name once the run has ended. Ctrl-C is heard;
        the run goes on then.

        timeout: seconds; TimeoutError is raised when they are over.
        Raises what ended the run: Cancelled, DeviceLost, Internal.
        """

    def __await__(self) -> Generator[Any, None, dict[str, Any]]: ...

    def cancel(self) -> None:
        """
        Asks the run to end early; waiting for it then raises Cancelled,
        unless it had ended before.
        """

class Bindings:
    """
    Arguments that a session has checked once. Their memory is kept; what the
    inputs hold may change between runs.
    """

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> NoReturn: ...

    def run(self) -> dict[str, Any]:
        """
        Runs with them and gives the outputs by name: the same arrays each
        time, except where sizes depend on data.
        """

    def run_async(self) -> Run:
        """
        Starts a run with them: a Run. All runs of the same bindings have
        the same outputs, so wait for one before the next is started.
        """

    @property
    def outputs(self) -> dict[str, Any]:
        """
        The outputs by name, as the last run left them. Raises
        InvalidArgument before the first, and while a run that was
        started writes them.
        """
