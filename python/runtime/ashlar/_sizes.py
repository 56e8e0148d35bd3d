# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers, switches and names as people give them."""

from __future__ import annotations

import operator
import re
from decimal import Decimal
from typing import Any, Sequence, Union

import numpy as np

from ._errors import InvalidArgument, quoted

_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_MOST = (1 << 63) - 1


def whole_number(value: Any, place: str, least: int = 0,
                 most: int = _MOST) -> int:
    """An int, or InvalidArgument: NaN, 1.5, "3" and True are none."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InvalidArgument("expected a whole number, found "
                              f"{quoted(value)}", place) from None
    if not least <= number <= most:
        raise InvalidArgument(f"expected a number from {least} to {most}, found "
                              f"{number}", place)
    return number


def thread_count(value: Any, least: int = 0) -> int:
    return whole_number(value, "threads", least, 4096)


def byte_count(value: Union[int, str], place: str, least: int = 0) -> int:
    """512, "512B", "1.5GiB"."""
    if isinstance(value, str):
        said = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(B|KiB|MiB|GiB)", value)
        if not said or len(value) > 40:
            raise InvalidArgument("expected bytes or a text such as '512MiB' "
                                  f"(B, KiB, MiB, GiB), found {quoted(value)}",
                                  place)
        value = int(Decimal(said[1]) * _UNITS[said[2]])
    return whole_number(value, place, least)


def truth(value: Any, place: str) -> bool:
    """True or False: "no" is neither."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InvalidArgument(f"expected True or False, found {quoted(value)}",
                          place)


def label(value: Any, place: str) -> str:
    """A name for people, which C can hold."""
    if not isinstance(value, str):
        raise InvalidArgument(f"expected a text, found {type(value).__name__}",
                              place)
    if "\0" in value:
        raise InvalidArgument("expected a name, found a NUL in it", place)
    # Halves of characters, as names of files may hold, are spelled out.
    return value.encode(errors="backslashreplace").decode()


def device_name(value: Any, place: str) -> str:
    name = label(value, place)
    if not name:
        raise InvalidArgument("expected the name of a device, such as 'cpu:0', "
                              "found ''", place)
    return name


def device_names(device: Any) -> list[str]:
    """One name or several, or InvalidArgument; None: none."""
    if device is None:
        return []
    several = [device] if isinstance(device, str) else \
        list(device) if isinstance(device, Sequence) else []
    if not several or not all(isinstance(each, str) and each
                              for each in several):
        raise InvalidArgument("expected names of devices, such as 'cpu:0', or "
                              f"None for any, found {quoted(device)}", "device")
    return [label(each, "device") for each in several]


def byte_text(count: int) -> str:
    """For people: 27.4 KiB."""
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.2f} GiB"
