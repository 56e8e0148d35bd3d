# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Paths as people give them, and what the system says of files."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import signal
import stat
import tempfile
from typing import Any, Iterator, Union

from ._errors import (Error, Internal, InvalidArgument, NotFound,
                      OutOfBudget, quoted)

Path = Union[str, "os.PathLike[str]", "os.PathLike[bytes]"]

# What the system is short of, rather than what the caller wrote.
_SHORTAGES = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE,
              errno.ENOMEM, errno.EAGAIN, errno.EFBIG)


def path_text(path: Any, place: str, kind: str = "a path") -> str:
    """A path as text, or InvalidArgument. kind: what is expected."""
    try:
        text = os.fsdecode(path)
        os.fsencode(text)
    except TypeError:
        raise InvalidArgument(f"expected {kind}, found {type(path).__name__}",
                              place) from None
    except UnicodeEncodeError:
        raise InvalidArgument(f"expected {kind} that the system can take, "
                              f"found {quoted(path)}", place) from None
    if not text:
        raise InvalidArgument(f"expected {kind}, found ''", place)
    if "\0" in text:
        raise InvalidArgument(f"expected {kind}, found a NUL in it", place)
    return text


def check_children(place: str) -> None:
    """Raises where the system does not say how a child process ended, so that
    a refusal would look like success."""
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        raise InvalidArgument(
            "expected a process that can wait for its children, found one that "
            "ignores SIGCHLD; signal.signal(signal.SIGCHLD, signal.SIG_DFL) "
            "lets it", place)


_LIMITS = {"SIGXFSZ": "no file may be so large here (ulimit -f)",
           "SIGXCPU": "it has had all the time that it may (ulimit -t)"}


def ended_by(number: int, what: str) -> str:
    """The sentence for a program of ours that a signal ended."""
    names = {int(each): each.name for each in signal.Signals}
    name = names.get(number, "of no name")
    why = _LIMITS.get(name, "where memory was not short, please report it with "
                      "the model that shows it")
    return f"{what} was ended by signal {number}, {name}; {why}"


def system_error(error: OSError, doing: str, place: str) -> Error:
    """What the system refused, as load() and compile() say it: NotFound,
    InvalidArgument, or Internal where the system is short of something."""
    kind: type[Error] = InvalidArgument
    if isinstance(error, FileNotFoundError):
        kind = NotFound
    elif error.errno in _SHORTAGES:
        kind = Internal
    return kind(f"{doing}: {error.strerror or error}", place)


@contextlib.contextmanager
def system_errors(doing: str, place: str) -> Iterator[None]:
    """What the system refuses meanwhile, as an Error."""
    try:
        yield
    except OSError as error:
        raise system_error(error, doing, place) from error


def absolute(path: str) -> pathlib.Path:
    """As seen from the current folder, which may be gone: NotFound."""
    with system_errors("there is no current folder that it could be seen from",
                       path):
        return pathlib.Path(path).absolute()


def refuse_special(path: "os.PathLike[str]", place: str) -> None:
    """Raises where a file would be written in the place of what is none."""
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
            kind = _KINDS.get(stat.S_IFMT(found.st_mode), "device")
            raise InvalidArgument("cannot be written: expected the name of a "
                                  f"file, found a {kind}", place)


_KINDS = {stat.S_IFDIR: "folder", stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket"}


def contents(path: "os.PathLike[str]", place: str) -> bytes:
    """What a file holds. Regular ones only, as the compiler: a pipe would be
    waited for, and a device has no end."""
    with system_errors("cannot be read", place):
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            kind = _KINDS.get(stat.S_IFMT(found.st_mode), "device")
            raise InvalidArgument("cannot be read: expected a regular file, "
                                  f"found a {kind}", place)
        try:
            with open(path, "rb") as file:
                return file.read()
        except MemoryError:
            raise OutOfBudget(f"expected memory for {found.st_size} bytes, "
                              "found none", place) from None


@contextlib.contextmanager
def temporary_folder() -> Iterator[pathlib.Path]:
    """A folder that is gone afterwards."""
    with system_errors("no temporary folder can be made", "TMPDIR"):
        # What cannot be cleared away is no reason to lose what was made.
        folder = tempfile.TemporaryDirectory(prefix="ashlar-",
                                             ignore_cleanup_errors=True)
    with folder:
        yield pathlib.Path(folder.name)
