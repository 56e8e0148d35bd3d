# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the binding asks of NumPy: new arrays, views, and, where an array is refused,
the reason."""

from __future__ import annotations

import math
import operator
import re
from typing import Any, Callable, Iterable, Optional, Sequence

import ml_dtypes
import numpy as np

from ._dtypes import DTYPES, VIEWED
from ._errors import InvalidArgument, OutOfBudget, Unsupported, quoted
from ._given import advice_for, describe, has, refuse_masked
from ._sizes import whole_number

# As many as the library takes.
MOST_DIMS = 16


def empty(shape: int | Sequence[int], dtype: Any = np.float32) -> np.ndarray:
    """A new array, as numpy.empty gives it, that begins at a multiple of 64
    bytes, so that the library reads and writes it in place. Raises
    InvalidArgument, OutOfBudget where there is not so much memory."""
    from . import _native
    try:
        kind = np.dtype(dtype)
    except Exception as error:  # of several classes
        raise InvalidArgument("expected a type of NumPy, found "
                              f"{quoted(dtype)}: {error}", "dtype") from None
    if kind.hasobject or kind.itemsize == 0 or kind.shape:
        raise InvalidArgument("expected a type of numbers, found "
                              f"{quoted(dtype)}", "dtype")
    if isinstance(shape, (str, bytes)) or not (
            isinstance(shape, Iterable) or hasattr(shape, "__index__")):
        raise InvalidArgument(f"expected sizes, found {quoted(shape)}", "shape")
    sizes = tuple(whole_number(size, "shape") for size in (
        shape if isinstance(shape, Iterable) else (shape,)))
    if len(sizes) > MOST_DIMS:
        raise InvalidArgument(f"expected at most {MOST_DIMS} sizes, found "
                              f"{len(sizes)}", "shape")
    # NumPy counts strides as if no size were 0.
    most = math.prod(size or 1 for size in sizes) * kind.itemsize
    if most >= 1 << 63:
        raise OutOfBudget("expected an array of fewer than 2^63 bytes, found "
                          f"{most} of shape {sizes}", "shape")
    return _native.aligned_bytes(most if 0 not in sizes else 0).view(
        kind).reshape(sizes)


def _advice(wanted: np.dtype, shape_text: str, is_output: bool,
            otherwise: str) -> str:
    """What to do about an array that is refused. One to write to is no use as a
    copy."""
    if not is_output:
        return otherwise
    shape = f"({shape_text.replace('x', ', ')})" \
        if re.fullmatch(r"\d+(x\d+)+", shape_text) else \
        f"({shape_text},)" if shape_text.isdigit() else \
        "()" if shape_text == "scalar" else "shape"
    return f"ashlar.empty({shape}, {wanted.name!r}) makes one to write to"


def prepare(array: Any, place: str, type_name: str, shape_text: str,
            is_output: bool, refusal: Optional[BaseException] = None) -> Any:
    """An object that the binding takes, or the reason why there is none. Types
    that DLPack's arrays cannot carry become integers of as many bits. refusal:
    what the array raised when its memory was asked for."""
    wanted = DTYPES.get(type_name)
    if wanted is None:
        raise InvalidArgument(
            f"expected an ml_dtypes that knows {type_name}, found "
            f"{ml_dtypes.__version__}; pip install -U ml_dtypes", place)
    expected = f"expected an array of {wanted.name}, {shape_text}"

    def advice(otherwise: str) -> str:
        return _advice(wanted, shape_text, is_output, otherwise)
    refuse_masked(array, place)
    if type(array).__name__ == "PyCapsule":
        raise InvalidArgument(
            f"{expected}, found a DLPack capsule that was consumed before or "
            "holds something else; give the array itself, or a new capsule",
            place)
    if is_output and type(array).__module__.startswith("jax"):
        raise InvalidArgument(f"{expected}, found one of JAX, which never "
                              "change; leave `out` out, and take the output "
                              "with jax.numpy.from_dlpack", place)
    if not isinstance(array, np.ndarray):
        array = _to_numpy(array, expected, place, wanted, is_output, advice,
                          refusal)
    if array.dtype.hasobject:
        said = advice(f"numpy.asarray(x, dtype={wanted.name!r}) converts what "
                      "it can")
        raise InvalidArgument(f"{expected}, found an array of objects; {said}",
                              place)
    if array.dtype != wanted and array.dtype.newbyteorder("=") == wanted:
        said = advice(f"x.astype({wanted.name!r}) swaps them")
        raise InvalidArgument(f"{expected}, found the bytes of each element in "
                              f"the other order; {said}", place)
    if array.dtype != wanted:
        said = advice(advice_for(array, wanted.name).removeprefix("; "))
        raise InvalidArgument(f"{expected}, found {describe(array)}"
                              + (f"; {said}" if said else ""), place)
    if is_output and not array.flags.writeable:
        raise InvalidArgument(f"{expected}, found one that is read-only; "
                              f"{advice('')}", place)
    if array.ndim > MOST_DIMS:
        raise InvalidArgument(f"{expected}, found {array.ndim} dims, and "
                              f"{MOST_DIMS} are the most", place)
    if not array.flags.c_contiguous:
        said = advice("numpy.ascontiguousarray(x) makes a copy that is dense")
        raise InvalidArgument(
            f"{expected}, found one whose rows are apart in memory (strides "
            f"{array.strides}); {said}", place)
    if type_name in ("i4", "i2"):
        # ml_dtypes keeps the low bits alone; the library wants the value.
        if is_output:
            raise Unsupported(f"expected no array to write {type_name} to, "
                              "since ml_dtypes holds it in another form, found "
                              "one; leave `out` out", place)
        return array.astype(np.int8).view(np.uint8)
    if type_name in VIEWED:
        return array.view(np.uint8 if wanted.itemsize == 1 else np.uint16)
    return array


def as_numpy(array: Any, expected: str, place: str) -> np.ndarray:
    """The memory of an input of whatever type, shared. expected: what is, for
    a sentence."""
    return _to_numpy(array, expected, place, np.dtype(np.float32), False,
                     lambda otherwise: otherwise, None)


def _to_numpy(array: Any, expected: str, place: str, wanted: np.dtype,
              is_output: bool, advice: Callable[[str], str],
              refusal: Optional[BaseException]) -> np.ndarray:
    """The memory of a foreign array as NumPy's, shared; for what the binding
    did not take at once."""
    try:
        is_to_be_negated = has(array, "is_neg") and bool(array.is_neg())
    except Exception as error:
        raise InvalidArgument(f"{expected}, found {describe(array)}, whose "
                              f"is_neg() fails: {error}", place) from error
    if is_to_be_negated:
        raise InvalidArgument(f"{expected}, found a tensor whose sign is yet to "
                              "be turned; x.resolve_neg() does it", place)
    if has(array, "__dlpack_device__"):
        try:
            device, number = map(operator.index, array.__dlpack_device__())
        except Exception as error:
            raise InvalidArgument(f"{expected}, found {describe(array)}, "
                                  f"which does not say where it is: {error}",
                                  place) from error
        if device not in HOST_DEVICES:
            raise InvalidArgument(
                f"{expected}, in host memory, found one on device "
                f"{_DEVICES.get(device, device)}:{number}; copy it "
                "to the host first, such as with x.cpu()", place)
    try:
        return np.from_dlpack(array)
    except Exception as error:
        if refusal is None and has(array, "__dlpack__"):
            refusal = error
            if "PyCapsule" in str(error):
                raise InvalidArgument(
                    f"{expected}, found {describe(array)}, whose __dlpack__ "
                    "gives no capsule, or one that was consumed before or holds "
                    "something else", place) \
                    from error
    # Tensors whose type NumPy lacks: their bits under another name.
    if has(array, "view") and has(array, "element_size"):
        import torch
        name = str(getattr(array, "dtype", "")).removeprefix("torch.")
        if name == wanted.name and array.is_contiguous():
            bits = torch.uint8 if array.element_size() == 1 else torch.int16
            return np.from_dlpack(array.detach().view(bits)).view(wanted)
        if getattr(array, "requires_grad", False):
            raise InvalidArgument(f"{expected}, found a tensor that wants its "
                                  "gradient; x.detach() is without", place)
    if not is_output and isinstance(array, np.generic):
        return np.asarray(array)
    if has(array, "to_dense"):
        said = advice("x.contiguous() or x.to_dense() makes one")
    elif refusal is not None:
        said = advice("")
    else:
        said = advice(advice_for(array, wanted.name).removeprefix("; "))
    why = "" if refusal is None else \
        f", which gives no memory: {refusal or type(refusal).__name__}"
    raise InvalidArgument(f"{expected}, found {describe(array)}{why}"
                          + (f"; {said}" if said else ""), place)


# Of DLPack: the host's own, and what is pinned for a GPU.
HOST_DEVICES = (1, 3, 11)
_DEVICES = {2: "cuda", 4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm",
            13: "cuda_managed", 14: "oneapi", 15: "webgpu", 16: "hexagon"}


def refuse_names(objects: Any, names: Iterable[str], what: str) -> None:
    """Raises what is wrong with the names or the number of arguments."""
    names = list(names)
    listed = ", ".join(repr(name) for name in names) or "none"
    # What they hold, whatever a class of its own says of it.
    if isinstance(objects, dict):
        objects = dict(dict.items(objects))
        missing = [name for name in names if name not in objects]
        unknown = [name for name in objects if name not in names]
        why = []
        if unknown:
            why.append("found " + ", ".join(map(quoted, unknown))
                       + " too")
        if missing:
            why.append("found no " + ", ".join(map(repr, missing)))
        raise InvalidArgument(f"expected {listed}, " + (
            " and ".join(why) or f"found {len(objects)}"), what)
    if isinstance(objects, (tuple, list)):
        found = tuple.__len__(objects) if isinstance(objects, tuple) \
            else list.__len__(objects)
        raise InvalidArgument(f"expected {len(names)}: {listed}, found "
                              f"{found}", what)
    raise InvalidArgument(
        f"expected a dict or a sequence of {len(names)}: {listed}, found "
        f"{describe(objects)}", what)


def refuse_shape(shape: tuple[int, ...], place: str, type_name: str,
                 shape_text: str) -> None:
    """For an array to write to, of another shape than the output's."""
    said = _advice(DTYPES[type_name], shape_text, True, "")
    raise InvalidArgument(f"expected shape {shape_text}, found "
                          f"{'x'.join(map(str, shape)) or 'a scalar'}; "
                          f"{said}", place)


def room_advice(type_name: str, maximum: tuple[int, ...]) -> str:
    """For an array to write to that is too small for its sizes."""
    return (f"ashlar.empty({maximum}, {DTYPES[type_name].name!r}) has room for "
            "the largest")


def beginning(array: Any, shape: tuple[int, ...]) -> Any:
    """The first elements of an array that was given, in their shape; of what
    cannot be taken apart, all of it."""
    if not has(array, "reshape"):
        return array
    return array.reshape(-1)[:math.prod(shape)].reshape(shape)
