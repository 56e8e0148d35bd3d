# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keywords of compile() as the flags of ashlar-compile."""

from __future__ import annotations

import math
import re
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from ._dtypes import VIEWED_DTYPES
from ._errors import InvalidArgument, quoted
from ._files import path_text
from ._given import as_elements, describe, to_array
from ._sizes import byte_count, thread_count, truth, whole_number

_NAME = re.compile(r"[A-Za-z_.][A-Za-z0-9_.]*")

_SWITCHES = ("strict", "exact_convolution")
_WORDS = ("precision", "fuse")
# As texts say what most say by numbers.
_RANGE = re.compile(r"\s*([0-9]+)\s*\.\.\s*([0-9]+)\s*(?::\s*([0-9]+)\s*)?")


def command_line(*, shapes: Any, dims: Any, values: Any, target: Any,
                 memory_budget: Any, threads: Any, pieces: Any, tolerance: Any,
                 states: Any = None, **others: Any) -> list[str]:
    """The flags; what is None or False is left out."""
    flags: list[str] = []
    known = by_name(dims, "dims")
    for name, shape in by_name(shapes, "shapes").items():
        flags.append(f"--shape={name}={_shape(name, shape, known)}")
    if known:
        flags.append("--dim=" + ",".join(
            f"{name}={_range(name, bounds)}"
            for name, bounds in known.items()))
    for name, value in by_name(values, "values").items():
        flags.append(f"--value={name}={_numbers(name, value)}")
    for name, output in by_name(states, "states").items():
        if not isinstance(output, str) or not output:
            raise InvalidArgument("expected the name of an output, found "
                                  f"{quoted(output)}", f"states[{name!r}]")
        flags.append(f"--state={name}={output}")
    if target is not None:
        several = [target] if isinstance(target, str) \
            or not isinstance(target, Iterable) else list(target)
        if not several or not all(
                isinstance(each, str) and all(each.split(","))
                for each in several):
            raise InvalidArgument("expected a name or several, such as "
                                  f"'cpu:x86-64-v3', found {quoted(target)}",
                                  "target")
        flags.append("--target=" + ",".join(several))
    if memory_budget is not None:
        flags.append(f"--memory-budget="
                     f"{byte_count(memory_budget, 'memory_budget', 1)}B")
    if threads is not None:
        flags.append(f"--threads={thread_count(threads, 1)}")
    if pieces is not None:
        flags.append(f"--pieces={whole_number(pieces, 'pieces', 1, 1024)}")
    if tolerance is not None:
        flags.append(f"--tolerance={_tolerance(tolerance)!r}")
    for keyword, value in others.items():
        flag = "--" + keyword.replace("_", "-")
        if keyword in _SWITCHES:
            flags += [flag] if value is not None and truth(value, keyword) \
                else []
        elif value is not None:
            flags.append(f"{flag}={path_text(value, keyword, 'a text')}"
                         if keyword in _WORDS else
                         f"{flag}={path_text(value, keyword)}")
    for flag in flags:
        if "\0" in flag:
            raise InvalidArgument("expected no NUL, found one in "
                                  f"{quoted(flag)}", "ashlar.compile")
    return flags


def by_name(value: Any, keyword: str) -> Mapping[str, Any]:
    """A dict by name, or InvalidArgument; None: an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(
            isinstance(name, str) for name in value):
        raise InvalidArgument("expected a dict by name, found "
                              f"{type(value).__name__}", keyword)
    if "" in value:
        raise InvalidArgument("expected names, found ''", keyword)
    return value


def _tolerance(value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise InvalidArgument("expected a finite number above zero, such as "
                              f"1e-2, found {quoted(value)}", "tolerance")
    return number


def _shape(name: str, shape: Any, dims: Mapping[str, Any]) -> str:
    place = f"shapes[{name!r}]"
    if isinstance(shape, str) or not isinstance(shape, Iterable):
        raise InvalidArgument("expected a sequence of sizes, such as "
                              f"(1, 3, 224, 224), found {quoted(shape)}", place)
    shape = tuple(shape)
    sizes = [_formula(size, place, dims) if isinstance(size, str)
             else str(whole_number(size, place)) for size in shape]
    # Names may hold an x.
    has_names = any(isinstance(size, str) for size in shape)
    return ("," if has_names else "x").join(sizes)


def _formula(text: str, place: str, dims: Mapping[str, Any]) -> str:
    """A size that depends on those of dims: "N", "8*W", "past+1"."""
    for part in re.split(r"[*+]", text):
        part = part.strip(" ")
        if part in dims or re.fullmatch("[0-9]+", part):
            continue
        hint = f"; dims={{{part!r}: (1, 8)}} gives it a range" \
            if _NAME.fullmatch(part) else ""
        raise InvalidArgument(
            "expected a number, one of the names of dims ("
            + (", ".join(map(repr, dims)) or "none") + "), or sums and "
            f"products of such, found {quoted(text)}{hint}", place)
    return text


def _range(name: str, bounds: Any) -> str:
    place = f"dims[{name!r}]"
    if not _NAME.fullmatch(name):
        raise InvalidArgument("expected a name of letters, digits, _ and ., "
                              "that does not begin with a digit, found "
                              f"{quoted(name)}; give the dim another one here "
                              "and in shapes", place)
    if isinstance(bounds, str):
        said = _RANGE.fullmatch(bounds)
        if said:
            bounds = [int(each) for each in said.groups() if each]
    if isinstance(bounds, range):
        if len(bounds) == 0 or bounds.step < 1:
            raise InvalidArgument(f"expected sizes from small to large, found "
                                  f"{quoted(bounds)}", place)
        bounds = (bounds[0], bounds[-1], bounds.step)
    several = tuple(bounds) if isinstance(bounds, Sequence) \
        and not isinstance(bounds, (str, bytes)) else ()
    if len(several) not in (2, 3):
        raise InvalidArgument("expected (from, to) or (from, to, step), found "
                              f"{quoted(bounds)}", place)
    numbers = [whole_number(each, place, int(i == 2))
               for i, each in enumerate(several)]
    text = f"{numbers[0]}..{numbers[1]}"
    return text if len(numbers) == 2 or numbers[2] == 1 \
        else f"{text}:{numbers[2]}"


def _numbers(name: str, value: Any) -> str:
    place = f"values[{name!r}]"
    array = to_array(value, place, "numbers")
    elements = as_elements(array, place, f"expected numbers, found "
                           f"{describe(array)}, of which NumPy makes no array")
    if elements.size > MOST_VALUES:
        raise too_many_values()
    elements = elements.reshape(-1)
    if elements.dtype in VIEWED_DTYPES:
        elements = elements.astype(np.float32)
    elif elements.dtype.kind == "f":  # one of C's long doubles prints otherwise
        elements = elements.astype(np.float64)
    if elements.dtype.kind not in "biuf" or elements.size == 0:
        raise InvalidArgument(f"expected numbers, found {quoted(value)}", place)
    if elements.dtype.kind == "b":
        elements = elements.astype(np.int8)
    return ",".join(repr(each) for each in elements.tolist())


# What does not fit one argument of Linux, 128 KiB, at two bytes each.
MOST_VALUES = 1 << 16


def too_many_values() -> InvalidArgument:
    return InvalidArgument("expected no more than a command line takes, found "
                           "more, mostly of values; leave large ones as inputs",
                           "values")
