# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model as a file that the compiler reads, and what is none."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from ._errors import InvalidArgument
from ._files import absolute, path_text, system_errors

# As module files begin.
_MAGIC = b"\x89ASHL\r\n\x1a"


def refuse_compiled(data: bytes, shown: str, call: str) -> None:
    """Raises for the first bytes of a module, which needs no compiler. call:
    what loads it."""
    if data.startswith(_MAGIC):
        raise InvalidArgument("expected a model to compile, found a module that "
                              f"was compiled; {call} loads it", shown)


def refuse_path(data: bytes, place: str) -> None:
    """Raises where bytes are a path rather than contents: a path is a str."""
    if 0 < len(data) <= 4096 and b"\0" not in data and (
            data.endswith((b".onnx", b".mlir", b".ash"))
            or os.path.exists(data)):
        raise InvalidArgument("expected a path or the bytes of a file, found a "
                              f"path as bytes, {data!r}; os.fsdecode(path) "
                              "gives it as a text", place)


def of_a_model(descriptor: int, shown: str) -> str:
    """A hint where what is no module is a model to be compiled, else empty."""
    call = "ashlar.compile(...)" if shown == "<bytes>" \
        else f"ashlar.compile({shown!r})"
    hint = f"; it is a model, which {call} compiles and loads"
    try:
        begin = os.pread(descriptor, 65536, 0)
    except OSError:  # such as of /proc/self/mem
        return ""
    # As messages of ONNX begin: a small ir_version, and another field.
    is_onnx = begin[:1] == b"\x08" and begin[1:2] < b"\x20" \
        and begin[2:3] in (b"\x12", b"\x1a", b"\x22", b"\x28", b"\x32", b"\x3a",
                           b"\x42")
    return hint if is_onnx or b"func.func" in begin \
        or shown.endswith((".onnx", ".mlir")) else ""


def refuse_model(model: Any, place: str) -> InvalidArgument:
    """What to raise for a model of another kind."""
    kind = type(model).__name__
    hint = "; it is compiled, call it with its inputs" if kind == "Module" \
        and type(model).__module__.startswith("ashlar") else ""
    return InvalidArgument("expected a path, the bytes of a model or an "
                           f"onnx.ModelProto, found {kind}{hint}", place)


def serialized(model: Any) -> bytes:
    """The bytes of a ModelProto."""
    try:
        data = model.SerializeToString()
    except Exception as error:  # of protobuf, which changed them over time
        raise InvalidArgument(
            "expected an onnx.ModelProto that can be serialized, which 2 GiB "
            f"or more cannot, found {type(error).__name__}: {error}; onnx.save("
            "model, path, save_as_external_data=True) writes a large one, and "
            "the path can be compiled", "model") from error
    if not isinstance(data, bytes):
        raise refuse_model(model, "model")
    return data


def first_bytes(path: str) -> bytes:
    """Enough to tell a module by; empty where there are none."""
    try:
        if os.path.isfile(path):  # a pipe would be waited for
            with open(path, "rb") as file:
                return file.read(len(_MAGIC))
    except OSError:
        pass  # the compiler says why
    return b""


def write_model(model: Any, work: pathlib.Path,
                names: dict[str, str]) -> pathlib.Path:
    """The path of a model's file, written first where it is in memory. names:
    gets what messages are to call such a file."""
    if isinstance(model, (str, os.PathLike)):
        given = path_text(model, "model")
        refuse_compiled(first_bytes(given), given, f"ashlar.load({given!r})")
        return absolute(given)
    shown = f"<{type(model).__name__}>"
    if hasattr(model, "SerializeToString"):
        model = serialized(model)
    if not isinstance(model, (bytes, bytearray, memoryview)):
        raise refuse_model(model, "model")
    data = bytes(model)
    refuse_compiled(data, shown, "ashlar.load(...)")
    refuse_path(data, "model")
    # A ModelProto begins with a number's key, text on tensors with a letter,
    # a blank, a # or a /.
    text = data[:1].isalpha() or data[:1] in (b"#", b"/", b"\n", b" ", b"%")
    path = work / ("model.mlir" if text and b"func" in data else "model.onnx")
    names[str(path)] = shown
    with system_errors("cannot be written to a temporary file", "model"):
        path.write_bytes(data)
    return path
