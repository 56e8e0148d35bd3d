# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an ONNX file says of its inputs and outputs, read without the package
`onnx`, which those who only run models need not have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator, Optional, Union

from ._errors import InvalidArgument

Size = Union[int, str, None]

# TensorProto.DataType: as ONNX Runtime spells it, as the C library does.
ELEMENT_TYPES = {
    1: ("float", "f32"), 2: ("uint8", "u8"), 3: ("int8", "i8"),
    4: ("uint16", "u16"), 5: ("int16", "i16"), 6: ("int32", "i32"),
    7: ("int64", "i64"), 8: ("string", ""), 9: ("bool", "bool"),
    10: ("float16", "f16"), 11: ("double", "f64"), 12: ("uint32", "u32"),
    13: ("uint64", "u64"), 14: ("complex64", ""), 15: ("complex128", ""),
    16: ("bfloat16", "bf16"), 17: ("float8e4m3fn", "f8e4m3fn"),
    18: ("float8e4m3fnuz", "f8e4m3fnuz"), 19: ("float8e5m2", "f8e5m2"),
    20: ("float8e5m2fnuz", "f8e5m2fnuz"), 21: ("uint4", "u4"),
    22: ("int4", "i4"), 23: ("float4e2m1", "f4e2m1"),
    24: ("float8e8m0", "f8e8m0"), 25: ("uint2", "u2"), 26: ("int2", "i2"),
}


@dataclass(frozen=True)
class Value:
    """An input or output. shape: None where even its rank is open; sizes are
    numbers, names, or None."""

    name: str
    element: int
    shape: Optional[tuple[Size, ...]]
    is_tensor: bool = True

    @property
    def is_static(self) -> bool:
        return self.shape is not None and all(
            isinstance(size, int) for size in self.shape)


@dataclass
class OnnxModel:
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    producer: str = ""
    domain: str = ""
    description: str = ""
    graph_name: str = ""
    version: int = 0
    external: list[str] = field(default_factory=list)
    """Names of the files that hold weights."""


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """(number, int or memoryview) of a protobuf message."""
    at, end = 0, len(data)

    def varint() -> int:
        nonlocal at
        value = 0
        for shift in range(0, 70, 7):
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number that does not end")
    while at < end:
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        if kind not in (1, 2, 5):
            raise ValueError(f"unknown wire type {kind}")
        size = {1: 8, 5: 4}.get(kind) or (varint() if kind == 2 else 0)
        if size > end - at:
            raise ValueError("a field reaches behind the end")
        yield key >> 3, data[at:at + size]
        at += size


def _text(data: memoryview) -> str:
    return bytes(data).decode(errors="replace")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _dim(data: memoryview) -> Size:
    size: Size = None
    for number, value in _fields(data):
        if number == 1:
            size = _signed(value) if value < 1 << 63 else None
        elif number == 2:
            size = _text(value) or None
    return size


def _value(data: memoryview) -> Value:
    name, element, shape, is_tensor = "", 0, None, False
    for number, value in _fields(data):
        if number == 1:
            name = _text(value)
        elif number == 2:
            for kind, tensor in _fields(value):
                if kind != 1:
                    continue
                is_tensor = True
                for part, content in _fields(tensor):
                    if part == 1:
                        element = content
                    elif part == 2:
                        shape = tuple(_dim(dim) for key, dim
                                      in _fields(content) if key == 1)
    return Value(name, element, shape, is_tensor)


def _pair(data: memoryview) -> tuple[str, str]:
    found = {number: _text(value) for number, value in _fields(data)
             if number in (1, 2)}
    return found.get(1, ""), found.get(2, "")


def _read_graph(data: memoryview, model: OnnxModel) -> None:
    initialized = set()
    for number, value in _fields(data):
        if number == 2:
            model.graph_name = _text(value)
        elif number == 5:
            for part, content in _fields(value):
                if part == 8:
                    initialized.add(_text(content))
                elif part == 13:
                    key, place = _pair(content)
                    if key == "location":
                        model.external.append(place)
        elif number == 11:
            model.inputs.append(_value(value))
        elif number == 12:
            model.outputs.append(_value(value))
    model.inputs = [each for each in model.inputs
                    if each.name not in initialized]


def read_onnx(data: Union[bytes, memoryview]) -> OnnxModel:
    """Raises InvalidArgument where it is no ONNX model."""
    model = OnnxModel()
    try:
        for number, value in _fields(memoryview(data)):
            if number == 7:
                _read_graph(value, model)
            elif number == 14:
                key, text = _pair(value)
                model.metadata[key] = text
            elif number == 2:
                model.producer = _text(value)
            elif number == 4:
                model.domain = _text(value)
            elif number == 5:
                model.version = _signed(value)
            elif number == 6:
                model.description = _text(value)
    except (ValueError, IndexError, TypeError) as error:
        raise InvalidArgument(f"expected an ONNX model, found what is none: "
                              f"{error}", "model") from None
    return model
