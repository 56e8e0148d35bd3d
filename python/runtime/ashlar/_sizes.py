# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes as people give them."""

from __future__ import annotations

import operator
import re
from typing import Any, Union

from ._errors import InvalidArgument

_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def whole_number(value: Any, place: str, least: int = 0) -> int:
    """An int, or InvalidArgument: NaN, 1.5 and "3" are none."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgument(f"expected a whole number, found {value!r}",
                              place) from None
    if number < least or number >= 1 << 63:
        raise InvalidArgument(f"expected a number from {least} on, found "
                              f"{number}", place)
    return number


def byte_count(value: Union[int, str], place: str) -> int:
    """512, "512B", "1.5GiB"."""
    if isinstance(value, str):
        said = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(B|KiB|MiB|GiB)", value)
        if not said:
            raise InvalidArgument("expected bytes or a text such as '512MiB' "
                                  f"(B, KiB, MiB, GiB), found {value!r}",
                                  place)
        value = int(float(said[1]) * _UNITS[said[2]])
    return whole_number(value, place)


def byte_text(count: int) -> str:
    """For people: 27.4 KiB."""
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.2f} GiB"
