# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dicts of arrays as the folder that the compiler measures precision on."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Iterable, Mapping

import numpy as np

from ._dtypes import VIEWED_DTYPES
from ._errors import InvalidArgument
from ._files import system_errors
from ._flags import by_name
from ._given import as_elements, dense, describe, to_array

# What messages call the folder of dicts of arrays: no path.
CALIBRATION = "<calibration>"


def write_calibration(sets: Iterable[Mapping[str, Any]], folder: pathlib.Path,
                      names: dict[str, str]) -> pathlib.Path:
    """Dicts of arrays as the folder that the compiler reads. names: gets what
    messages are to call its files."""
    if isinstance(sets, Mapping) or not isinstance(sets, Iterable):
        raise InvalidArgument("expected a folder or several dicts of arrays, "
                              f"found {type(sets).__name__}", "calibration")
    for number, arrays in enumerate(sets):
        names[str(folder)] = CALIBRATION
        place = folder / f"{number:06}"
        names[str(place)] = f"calibration[{number}]"
        with system_errors("cannot be written to a temporary folder",
                           "calibration"):
            place.mkdir(parents=True)
            for name, array in by_name(
                    arrays, f"calibration[{number}]").items():
                shown = f"calibration[{number}][{name!r}]"
                path = place / _file_name(name, shown)
                if path.exists():
                    raise InvalidArgument(
                        "expected names that differ in more than / and _, "
                        f"found {names[str(path)]} too", shown)
                names[str(path)] = shown
                _save_array(path, array, shown)
    if not folder.exists():
        raise InvalidArgument("expected dicts of arrays, found none",
                              "calibration")
    return folder


def _file_name(name: str, place: str) -> str:
    """As the compiler looks for the array of an input."""
    if "\0" in name:
        raise InvalidArgument("expected a name, found a NUL in it", place)
    file = name.replace("/", "_") + ".npy"
    try:
        size = len(os.fsencode(file))
    except UnicodeEncodeError:
        raise InvalidArgument("expected a name that the system can take, found "
                              f"{name!r}", place) from None
    if size > 255:
        raise InvalidArgument("expected a name of at most 251 bytes, found "
                              f"{size - 4}; a folder with such as input_0.npy "
                              "goes by numbers", place)
    return file


def _save_array(path: pathlib.Path, array: Any, place: str) -> None:
    array = to_array(array, place)
    array = as_elements(array, place, f"expected an array, found {describe(array)}"
                        ", of which NumPy makes none")
    if array.dtype.hasobject:
        raise InvalidArgument("expected an array of numbers, found one of "
                              "objects", place)
    if array.dtype.kind not in "biuf" and array.dtype not in VIEWED_DTYPES:
        raise InvalidArgument("expected an array of numbers, found "
                              f"{describe(array)}", place)
    np.save(path, dense(array, place), allow_pickle=False)
