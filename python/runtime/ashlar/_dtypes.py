# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library's element types as types of NumPy and ml_dtypes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

# As the C library names element types.
DTYPES: dict[str, np.dtype] = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8), "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32), "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8), "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32), "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16), "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
# Those that NumPy lends out as integers only.
VIEWED: set[str] = set()
for _name, _type in (
        ("bf16", "bfloat16"), ("f8e4m3fn", "float8_e4m3fn"),
        ("f8e4m3fnuz", "float8_e4m3fnuz"), ("f8e5m2", "float8_e5m2"),
        ("f8e5m2fnuz", "float8_e5m2fnuz"), ("f8e8m0", "float8_e8m0fnu"),
        ("f4e2m1", "float4_e2m1fn"), ("i4", "int4"), ("u4", "uint4"),
        ("i2", "int2"), ("u2", "uint2")):
    if hasattr(ml_dtypes, _type):
        DTYPES[_name] = np.dtype(getattr(ml_dtypes, _type))
        VIEWED.add(_name)


VIEWED_DTYPES = frozenset(DTYPES[_name] for _name in VIEWED)


def view_type(name: str) -> Any:
    """numpy's dtype of ml_dtypes, or None where that is too old to have it."""
    kind = getattr(ml_dtypes, name, None)
    return None if kind is None else np.dtype(kind)
