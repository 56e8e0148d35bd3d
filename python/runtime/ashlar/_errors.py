# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions: one class for each status code of the C library."""

from __future__ import annotations

import enum
import re
from typing import Iterable, NoReturn, TypeVar

_T = TypeVar("_T")


class StatusCode(enum.IntEnum):
    """Why a call ended; the numbers are those of the C library."""

    OK = 0
    INVALID_ARGUMENT = 1
    NOT_FOUND = 2
    OUT_OF_BUDGET = 3
    UNSUPPORTED = 4
    CORRUPT = 5
    DEVICE_LOST = 6
    CANCELLED = 7
    INTERNAL = 8


_EXPECTED = re.compile(r"expected (?P<expected>.+?), found (?P<found>.+?)"
                       r"(?=$|; |, (?:no|not) )", re.S)
_NODE = re.compile(r"(?:node|nodes|kernel) '(?P<node>[^']+)'")


def quoted(value: object, most: int = 300) -> str:
    """What somebody gave, for a sentence: of very long ones the beginning, of
    what cannot be shown its class."""
    try:
        text = repr(value)
    except Exception:  # a __repr__ may do whatever it likes
        return f"<{type(value).__name__}>"
    return text if len(text) <= most else text[:most] + "..."


class Error(Exception):
    """Whatever Ashlar refuses or fails at; catch this for all of it.

    code:      a StatusCode
    message:   the whole sentence
    place:     the argument, file, kernel or table it is about; may be empty
    node:      the model's node it is about; may be empty
    expected, found: of the sentence, where it says them; else empty
    hint:      what to do about it, where the sentence says it; else empty
    """

    code = StatusCode.INTERNAL

    def __init__(self, message: str = "", place: str = "", *, node: str = "",
                 hint: str = "", notes: tuple[str, ...] = ()):
        self.message = message
        self.place = place
        self.notes = tuple(notes)
        said = _EXPECTED.search(message)
        self.expected = said["expected"] if said else ""
        self.found = said["found"] if said else ""
        named = _NODE.search(message)
        self.node = node or (named["node"] if named else "")
        if not hint and "; " in message:
            hint = message.rsplit("; ", 1)[1]
        self.hint = hint
        text = f"{place}: {message}" if place else message
        super().__init__("\n".join([text, *notes]))

    def __reduce__(self):
        return _rebuild, (type(self), self.message, self.place, self.node,
                          self.hint, self.notes)


def _rebuild(kind, message, place, node, hint, notes):
    return kind(message, place, node=node, hint=hint, notes=notes)


class InvalidArgument(Error, ValueError):
    """The caller can mend the call."""

    code = StatusCode.INVALID_ARGUMENT


class NotFound(Error, LookupError):
    """There is no file, entry or device of that name."""

    code = StatusCode.NOT_FOUND


class NoSuchName(NotFound, KeyError):
    """Of dicts, whose callers may wait for a KeyError."""

    __str__ = Exception.__str__


class OutOfBudget(Error, MemoryError):
    """Refused before anything was allocated."""

    code = StatusCode.OUT_OF_BUDGET


class Unsupported(Error, NotImplementedError):
    """Sound, but not here or not allowed.

    nodes: of a compile, the lines that name each unsupported operator.
    """

    code = StatusCode.UNSUPPORTED

    @property
    def nodes(self) -> tuple[str, ...]:
        return self.notes


class Corrupt(Error):
    """The module contradicts itself."""

    code = StatusCode.CORRUPT


class DeviceLost(Error, RuntimeError):
    """The device failed; the message is the first failure it had."""

    code = StatusCode.DEVICE_LOST


class Cancelled(Error):
    """Ended by Run.cancel()."""

    code = StatusCode.CANCELLED


class Internal(Error, RuntimeError):
    """Our fault, or the system is out of memory, files or room on a disk."""

    code = StatusCode.INTERNAL


_CLASSES: dict[int, type[Error]] = {int(kind.code): kind for kind in (
    InvalidArgument, NotFound, OutOfBudget, Unsupported, Corrupt, DeviceLost,
    Cancelled, Internal)}


class NamedDict(dict[str, _T]):
    """A dict that says which names it has. what: of what, for a sentence."""

    def __init__(self, what: str, items: Iterable[tuple[str, _T]]):
        super().__init__(items)
        self._what = what

    def __missing__(self, name: object) -> NoReturn:
        raise NoSuchName(
            f"expected one of the module's {self._what}, "
            f"{', '.join(map(repr, self)) or 'of which it has none'}, found "
            f"{quoted(name)}", self._what)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._what, tuple(self.items()))


# The C library's words for a port, by its number too, and for an option.
_OF_C = re.compile(r"(?:inputs|outputs)\[\d+\] (?=.)|options\.")

_ROOM = re.compile(r"capacity is (\d+) bytes, the result needs (\d+)")


def from_status(code: int, message: str, place: str) -> Error:
    """The exception for a status of the C library."""
    said = _OF_C.match(place)
    if said:
        place = place[said.end():]
    room = _ROOM.match(message)
    if room:
        message = (f"expected room for {room[2]} bytes, found {room[1]}"
                   + message[room.end():])
    return _CLASSES.get(code, Internal)(message.rstrip("\n"), place)
