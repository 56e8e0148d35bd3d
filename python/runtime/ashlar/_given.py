# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What people give for an array: what it is, what to do about it, and numbers
and lists as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._dtypes import VIEWED_DTYPES
from ._errors import InvalidArgument, OutOfBudget


def spelled(name: str) -> str:
    """A name as the compiler's messages have it, on one line."""
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return "".join(
        named.get(each, f"\\x{ord(each):02x}")
        if ord(each) < 32 or ord(each) == 127 else each for each in name)


def describe(array: Any) -> str:
    """Its type and shape, or what it is."""
    kind = type(array)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    try:
        return f"{array.dtype} of shape {tuple(array.shape)}"
    except Exception:  # whatever such attributes do
        return name + (" whose rows differ in length" if is_ragged(array)
                       else "")


def is_ragged(value: Any) -> bool:
    """Whether it is a list of lists of which NumPy makes no array."""
    if not isinstance(value, (list, tuple)):
        return False
    try:
        np.asarray(value)
    except ValueError as error:
        return "inhomogeneous" in str(error)
    except Exception:
        pass
    return False


def has(value: Any, name: str) -> bool:
    """hasattr(), for attributes that raise whatever they like."""
    try:
        return hasattr(value, name)
    except Exception:
        return False


def advice_for(value: Any, wanted: str) -> str:
    """What makes an array of what is none, or of one of another type, after a
    semicolon; empty: nothing that we know of. wanted: a type's name."""
    if isinstance(value, (bytes, bytearray)):
        return f"; numpy.frombuffer(x, {wanted!r}) reads bytes as elements"
    if isinstance(value, (np.ndarray, np.generic)):
        converts = value.dtype.kind in "biuf" or value.dtype in VIEWED_DTYPES
        return f"; x.astype({wanted!r}) converts it" if converts else ""
    converts = has(value, "__array__") or isinstance(value,
                                                     (memoryview, range))
    if isinstance(value, (list, tuple, bool, int, float)):
        try:
            converts = np.asarray(value).dtype.kind in "biuf"
        except Exception:  # of rows that differ in length, for one
            converts = False
    return f"; numpy.asarray(x, dtype={wanted!r}) makes one" if converts else ""


def to_array(value: Any, place: str, expected: str = "an array",
             wanted: str = "") -> Any:
    """Numbers, and sequences of them, as NumPy has them; arrays and tensors as
    they are. InvalidArgument for what is neither. wanted: a type's name, where
    one is."""
    refuse_masked(value, place)
    if isinstance(value, np.ndarray) or has(value, "__dlpack__"):
        return value
    if isinstance(value, (str, bytes, dict, set, frozenset)) or value is None:
        raise InvalidArgument(f"expected {expected}, found {describe(value)}"
                              + (advice_for(value, wanted) if wanted else ""),
                              place)
    try:
        made = np.asarray(value)
    except MemoryError:
        raise _no_memory(describe(value), place) from None
    except Exception as error:
        why = "" if is_ragged(value) else f", of which NumPy makes none: {error}"
        raise InvalidArgument(f"expected {expected}, found {describe(value)}"
                              f"{why}", place) from None
    if made.dtype.hasobject and made.ndim == 0:
        raise InvalidArgument(f"expected {expected}, found {describe(value)}",
                              place)
    return made


def as_elements(array: Any, place: str, refusal: str) -> np.ndarray:
    """NumPy's array of what to_array() gave. refusal: what is said, with the
    reason behind it, where NumPy makes none."""
    try:
        return np.asarray(array)
    except Exception as error:
        raise InvalidArgument(f"{refusal}: {error}", place) from error


def dense(array: Any, place: str) -> Any:
    """An array of NumPy as one whose rows follow each other; others as they
    are."""
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous:
        return array
    try:
        return np.ascontiguousarray(array)
    except MemoryError:
        raise _no_memory(describe(array), place) from None


def _no_memory(described: str, place: str) -> OutOfBudget:
    return OutOfBudget("expected memory for a dense copy, found none for "
                       f"{described}", place)


def refuse_masked(array: Any, place: str) -> None:
    """Raises for an array of numpy.ma, whose mask would be lost."""
    if isinstance(array, np.ma.MaskedArray):
        raise InvalidArgument("expected an array without a mask, found one of "
                              "numpy.ma; x.filled(0) puts a value in the masked "
                              "places", place)
