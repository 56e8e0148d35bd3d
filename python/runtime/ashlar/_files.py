# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Paths as people give them, and what the system says of files."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import tempfile
from typing import Any, Iterator, Union

from ._errors import Error, Internal, InvalidArgument, NotFound

Path = Union[str, "os.PathLike[str]", "os.PathLike[bytes]"]

# What the system is short of, rather than what the caller wrote.
_SHORTAGES = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE,
              errno.ENOMEM)


def path_text(path: Any, place: str, kind: str = "a path") -> str:
    """A path as text, or InvalidArgument. kind: what is expected."""
    try:
        text = os.fsdecode(path)
        os.fsencode(text)
    except TypeError:
        raise InvalidArgument(f"expected {kind}, found {type(path).__name__}",
                              place) from None
    except UnicodeEncodeError:
        raise InvalidArgument(f"expected {kind} that the system can take, found "
                              f"{path!r}", place) from None
    if not text:
        raise InvalidArgument(f"expected {kind}, found ''", place)
    if "\0" in text:
        raise InvalidArgument(f"expected {kind}, found a NUL in it", place)
    return text


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


@contextlib.contextmanager
def temporary_folder() -> Iterator[pathlib.Path]:
    """A folder that is gone afterwards."""
    with system_errors("no temporary folder can be made", "TMPDIR"):
        folder = tempfile.TemporaryDirectory(prefix="ashlar-")
    with folder:
        yield pathlib.Path(folder.name)
