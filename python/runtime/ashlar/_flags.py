# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keywords of compile() as the flags of ashlar-compile."""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any, Iterable, Mapping, Sequence, Union

import numpy as np

from ._arrays import VIEWED_DTYPES, refuse_masked
from ._errors import InvalidArgument
from ._files import path_text, system_errors
from ._sizes import byte_count, thread_count, truth, whole_number

_NAME = re.compile(r"[A-Za-z_.][A-Za-z0-9_.]*")

_SWITCHES = ("strict", "exact_convolution")
_WORDS = ("precision", "fuse")
# As texts say what most say by numbers.
_RANGE = re.compile(r"\s*([0-9]+)\s*\.\.\s*([0-9]+)\s*(?::\s*([0-9]+)\s*)?")


def command_line(*, shapes: Any, dims: Any, values: Any, target: Any,
                 memory_budget: Any, threads: Any, pieces: Any, tolerance: Any,
                 **others: Any) -> list[str]:
    """The flags; what is None or False is left out."""
    flags: list[str] = []
    known = _mapping(dims, "dims")
    for name, shape in _mapping(shapes, "shapes").items():
        flags.append(f"--shape={name}={_shape(name, shape, known)}")
    if known:
        flags.append("--dim=" + ",".join(
            f"{name}={_range(name, bounds)}"
            for name, bounds in known.items()))
    for name, value in _mapping(values, "values").items():
        flags.append(f"--value={name}={_numbers(name, value)}")
    if target is not None:
        several = [target] if isinstance(target, str) \
            or not isinstance(target, Iterable) else list(target)
        if not several or not all(
                isinstance(each, str) and all(each.split(","))
                for each in several):
            raise InvalidArgument("expected a name or several, such as "
                                  f"'cpu:x86-64-v3', found {target!r}",
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
        try:
            flags.append(f"--tolerance={float(tolerance)!r}")
        except (TypeError, ValueError):
            raise InvalidArgument("expected a number above zero, such as "
                                  f"1e-2, found {tolerance!r}",
                                  "tolerance") from None
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
            raise InvalidArgument(f"expected no NUL, found one in {flag!r}",
                                  "ashlar.compile")
    return flags


def _mapping(value: Any, keyword: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(
            isinstance(name, str) for name in value):
        raise InvalidArgument("expected a dict by name, found "
                              f"{type(value).__name__}", keyword)
    return value


def _shape(name: str, shape: Any, dims: Mapping[str, Any]) -> str:
    place = f"shapes[{name!r}]"
    if isinstance(shape, str) or not isinstance(shape, Iterable):
        raise InvalidArgument("expected a sequence of sizes, such as "
                              f"(1, 3, 224, 224), found {shape!r}", place)
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
            f"products of such, found {text!r}{hint}", place)
    return text


def _range(name: str, bounds: Any) -> str:
    place = f"dims[{name!r}]"
    if not _NAME.fullmatch(name):
        raise InvalidArgument("expected a name of letters, digits, _ and ., "
                              "that does not begin with a digit, found "
                              f"{name!r}; give the dim another one here and in "
                              "shapes", place)
    if isinstance(bounds, str):
        said = _RANGE.fullmatch(bounds)
        if said:
            bounds = [int(each) for each in said.groups() if each]
    if isinstance(bounds, range):
        if len(bounds) == 0 or bounds.step < 1:
            raise InvalidArgument(f"expected sizes from small to large, found "
                                  f"{bounds!r}", place)
        bounds = (bounds[0], bounds[-1], bounds.step)
    if not isinstance(bounds, Sequence) or isinstance(bounds, (str, bytes)) \
            or len(bounds) not in (2, 3):
        raise InvalidArgument("expected (from, to) or (from, to, step), found "
                              f"{bounds!r}", place)
    numbers = [whole_number(each, place, 1) for each in bounds]
    text = f"{numbers[0]}..{numbers[1]}"
    return text if len(numbers) == 2 or numbers[2] == 1 \
        else f"{text}:{numbers[2]}"


def _numbers(name: str, value: Any) -> str:
    refuse_masked(value, f"values[{name!r}]")
    elements = np.asarray(value).reshape(-1)
    if elements.dtype in VIEWED_DTYPES:
        elements = elements.astype(np.float32)
    if elements.dtype.kind not in "biuf" or elements.size == 0:
        raise InvalidArgument(f"expected numbers, found {value!r}",
                              f"values[{name!r}]")
    if elements.dtype.kind == "b":
        elements = elements.astype(np.int8)
    return ",".join(repr(each) for each in elements.tolist())


def write_model(model: Any, work: pathlib.Path,
                names: dict[str, str]) -> pathlib.Path:
    """The path of a model's file, written first where it is in memory. names:
    gets what messages are to call such a file."""
    if isinstance(model, (str, os.PathLike)):
        return pathlib.Path(path_text(model, "model")).absolute()
    shown = f"<{type(model).__name__}>"
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if not isinstance(model, (bytes, bytearray, memoryview)):
        raise InvalidArgument("expected a path, the bytes of a model or an "
                              f"onnx.ModelProto, found {type(model).__name__}",
                              "model")
    data = bytes(model)
    # A ModelProto begins with a number's key, text on tensors with a letter,
    # a blank, a # or a /.
    text = data[:1].isalpha() or data[:1] in (b"#", b"/", b"\n", b" ", b"%")
    path = work / ("model.mlir" if text and b"func" in data else "model.onnx")
    names[str(path)] = shown
    with system_errors("cannot be written to a temporary file", "model"):
        path.write_bytes(data)
    return path


def write_calibration(sets: Iterable[Mapping[str, Any]], folder: pathlib.Path,
                      names: dict[str, str]) -> pathlib.Path:
    """Dicts of arrays as the folder that the compiler reads. names: gets what
    messages are to call its files."""
    if isinstance(sets, Mapping) or not isinstance(sets, Iterable):
        raise InvalidArgument("expected a folder or several dicts of arrays, "
                              f"found {type(sets).__name__}", "calibration")
    for number, arrays in enumerate(sets):
        place = folder / f"{number:06}"
        names[str(place)] = f"calibration[{number}]"
        with system_errors("cannot be written to a temporary folder",
                           "calibration"):
            place.mkdir(parents=True)
            for name, array in _mapping(arrays, "calibration").items():
                shown = f"calibration[{number}][{name!r}]"
                path = place / (name.replace("/", "_") + ".npy")
                names[str(path)] = shown
                _save_array(path, array, shown)
    if not folder.exists():
        raise InvalidArgument("expected dicts of arrays, found none",
                              "calibration")
    return folder


def _save_array(path: pathlib.Path, array: Any, place: str) -> None:
    refuse_masked(array, place)
    try:
        dense = np.ascontiguousarray(array)
    except ValueError as error:
        raise InvalidArgument(f"expected an array, found {type(array).__name__}"
                              f": {error}", place) from None
    if dense.dtype.hasobject:
        raise InvalidArgument("expected an array of numbers, found one of "
                              "objects", place)
    if "\0" in path.name:
        raise InvalidArgument("expected a name, found a NUL in it", place)
    np.save(path, dense, allow_pickle=False)


__all__: Sequence[Union[str, Any]] = ["command_line", "write_calibration",
                                      "write_model"]
