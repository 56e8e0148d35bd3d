# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose sizes are open, for callers who say them only with their data:
compiled for each set of sizes, and, where a node must know an input's values,
for these too."""

from __future__ import annotations

import hashlib
import inspect
import os
import pathlib
import re
import threading
from collections import OrderedDict
from typing import Any, Iterable, Mapping, Optional

import numpy as np

from ._arrays import as_numpy
from ._cache import Cache
from ._compile import check_showing, compile
from ._compiler import OPTIONS
from ._dtypes import DTYPES
from ._errors import InvalidArgument, Unsupported
from ._files import absolute, contents, path_text
from ._flags import by_name, command_line
from ._given import advice_for, dense, describe, spelled, to_array
from ._model_files import (refuse_compiled, refuse_model, refuse_path,
                           serialized)
from ._module import Module, check_load_options
from ._onnx_model import ELEMENT_TYPES, OnnxModel, Value, read_onnx

# More elements than axes, sizes or bounds have are data.
_MOST_FIXED = 64
_NEEDED = re.compile(
    r'to fix an input\'s value: values=\{"(.+?)": \.\.\.\}')

# Of compile(), what does not come from the call itself.
_KEYWORDS = [name for name in inspect.signature(compile).parameters
             if name not in ("model", "output", "name")]

# Of these: what says how a module is loaded, what is shown meanwhile, what is
# read from files, and what is written beside the module.
_LOADING = ("budget", "device", "runtime")
_SHOWING = ("on_progress", "progress_bar")
_READ = ("calibration", "precision_plan", "machine", "tuning", "sign_key")
_BESIDE = {"save_temps", "write_precision_plan", "trace"}


class Specialized:
    """model: a path, bytes or a ModelProto; options: keywords of compile().
    At most `most` modules are held at the same time."""

    def __init__(self, model: Any, cache: Cache, options: Mapping[str, Any],
                 most: int = 32):
        self._path: Optional[pathlib.Path] = None
        for name in options:
            if name not in _KEYWORDS:
                raise TypeError(f"unexpected keyword argument {name!r}; "
                                f"expected some of {', '.join(_KEYWORDS)}")
        options = dict(options)
        for name in ("shapes", "dims", "values"):
            options[name] = dict(by_name(options.get(name), name)) or None
        self._check(options)
        if isinstance(model, (str, os.PathLike)):
            shown = path_text(model, "model")
            self._path = absolute(shown)
            data = contents(self._path, shown)
            refuse_compiled(data[:8], shown, f"ashlar.load({shown!r})")
        elif hasattr(model, "SerializeToString"):
            data = serialized(model)
        elif isinstance(model, (bytes, bytearray, memoryview)):
            data = bytes(model)
            refuse_compiled(data[:8], "<bytes>", "ashlar.load(...)")
            refuse_path(data, "model")
        else:
            raise refuse_model(model, "model")
        self.description: OnnxModel = read_onnx(data)
        self._data = data if self._path is None else b""
        self._name = self._path.stem if self._path else \
            self.description.graph_name or "model"
        self._content = hashlib.sha256(data).hexdigest(), self._weights()
        self._cache, self._options, self._most = cache, options, most
        self._fixed: set[str] = set()
        self._modules: "OrderedDict[Any, Module]" = OrderedDict()
        self._lock = threading.RLock()

    @staticmethod
    def _check(options: Mapping[str, Any]) -> None:
        """What can be known of them before there is anything to compile."""
        check_load_options(None, *map(options.get, _LOADING))
        check_showing(options.get("remarks", False),
                      *map(options.get, _SHOWING))
        command_line(**{
            name: options.get(name) for name in OPTIONS
            if name != "calibration"})

    def _weights(self) -> list[tuple[str, int, int]]:
        """Of files beside the model: what changes when they do."""
        if self._path is None:
            return []
        found = []
        for name in sorted(set(self.description.external)):
            try:
                status = os.stat(self._path.parent / name)
                found.append((name, status.st_size, status.st_mtime_ns))
            except (OSError, ValueError):
                found.append((name, -1, -1))
        return found

    def _settled(self, value: Value) -> bool:
        """Whether the sizes of this input do not come with its data."""
        # Of dims in the model's own names, compile() checks which they are of.
        return value.is_static or bool(self._options.get("dims")) \
            or value.name in (self._options.get("shapes") or {})

    @property
    def is_ready(self) -> bool:
        """Whether no size is open that the options do not give."""
        return all(map(self._settled, self.description.inputs))

    def taken(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs as arrays, where they were numbers and lists. Raises
        InvalidArgument for what no module of this model could take, before one
        is compiled."""
        arrays = dict(feed)
        for each in self.description.inputs:
            if each.name not in feed:
                if self._settled(each):
                    continue  # its module may need none
                raise InvalidArgument(
                    "expected " + ", ".join(
                        repr(name.name) for name in self.description.inputs)
                    + f", found no {each.name!r}", "inputs")
            wanted = DTYPES.get(ELEMENT_TYPES.get(each.element, ("", ""))[1])
            given, shape = feed[each.name], _shape_text(each)
            expected = "an array" if wanted is None else \
                f"an array of {wanted.name}" + (f", {shape}" if shape else "")
            array = to_array(given, each.name, expected,
                             wanted.name if wanted is not None else "")
            if wanted is not None and isinstance(given, (list, tuple, range)):
                array = _typed(array, wanted)
            # Of tensors of other packages, the module's own check knows more.
            if isinstance(array, np.ndarray) and wanted is not None \
                    and array.dtype != wanted:
                of = f" of {array.dtype}" \
                    if isinstance(given, (list, tuple, range)) else ""
                raise InvalidArgument(
                    f"expected {expected}, found {describe(given)}{of}"
                    + advice_for(given, wanted.name), each.name)
            if not hasattr(array, "shape"):
                array = as_numpy(array, f"expected {expected}", each.name)
            if each.is_static or not self._settled(each):
                _check_rank(each, tuple(array.shape))
            arrays[each.name] = array
        return arrays

    def run(self, feed: Mapping[str, Any], threads: int) -> dict[str, Any]:
        """The outputs of all inputs' data, by name."""
        module, taken = self.module(self.taken(feed))
        ports = {port.name: port for port in module.inputs}
        for name, array in taken.items():
            port = ports.get(name)
            # A copy of what does not fit may be larger than all memory.
            if port is not None and isinstance(array, np.ndarray) and (
                    array.ndim != len(port.shape) or any(
                        found > most for found, most
                        in zip(array.shape, port.maximum))):
                raise InvalidArgument(
                    f"expected shape {port.shape_text}, at most "
                    f"{_sizes(port.maximum)}, found {_sizes(array.shape)}"
                    if -1 in port.shape else
                    f"expected shape {port.shape_text}, found "
                    f"{_sizes(array.shape)}", name)
            taken[name] = dense(array, name)
        results: dict[str, Any] = module._run_with(taken, threads)
        return results

    def module(self, feed: Mapping[str, Any]) -> tuple[Module, dict[str, Any]]:
        """The module for these inputs, and those of them that it takes."""
        shapes = dict(self._options.get("shapes") or {})
        for each in self.description.inputs:
            if not self._settled(each):
                shapes[each.name] = tuple(np.shape(feed[each.name]))
        with self._lock:
            while True:
                values = {name: _elements(name, feed) for name
                          in sorted(self._fixed)}
                key = (tuple(sorted(shapes.items())),
                       tuple((name, array.dtype.str, array.tobytes())
                             for name, array in values.items()))
                module = self._modules.get(key)
                try:
                    if module is None:
                        module = self._make(key, shapes, values)
                    break
                except Unsupported as error:
                    # As messages spell them.
                    named = {spelled(name): name for name in feed}
                    needed = {named.get(said[1], said[1]) for node
                              in error.nodes for said in _NEEDED.finditer(node)}
                    # All of them, or it would not help.
                    if not needed - self._fixed or not all(
                            _NEEDED.search(node) for node in error.nodes) \
                            or any(name not in feed
                                   or np.size(feed[name]) > _MOST_FIXED
                                   or np.size(feed[name]) == 0
                                   for name in needed):
                        raise
                    self._fixed |= needed
            self._modules[key] = module
            self._modules.move_to_end(key)
            while len(self._modules) > self._most:
                self._modules.popitem(last=False)
        taken = {port.name for port in module.inputs}
        return module, {name: array for name, array in feed.items()
                        if name in taken or name not in self._fixed}

    def _make(self, key: Any, shapes: Mapping[str, Any],
              values: Mapping[str, np.ndarray]) -> Module:
        options = {**self._options, "shapes": shapes,
                   "values": {**(self._options.get("values") or {}), **values}}

        def make() -> Module:
            return compile(self._path or self._data, name=self._name, **options)
        given = {name: value for name, value in self._options.items()
                 if value is not None}
        # What only a compile gives is not in a file that is found again.
        if given.keys() & _BESIDE or given.get("remarks"):
            return make()
        loading = {name: given.pop(name) for name in _LOADING if name in given}
        for name in _READ:
            if isinstance(given.get(name), str):
                given[name] = pathlib.Path(given[name])
        for name in _SHOWING:
            given.pop(name, None)
        return self._cache.module((self._content, key, given), self._name, make,
                                  loading)


def _elements(name: str, feed: Mapping[str, Any]) -> np.ndarray:
    return np.ascontiguousarray(feed[name])


def _typed(array: np.ndarray, wanted: np.dtype) -> np.ndarray:
    """What lists held, which say no type, in the model's where that holds all
    of it; as they are where not."""
    kind = array.dtype.kind if array.size else wanted.kind
    if kind in "iu" and wanted.kind in "iu":
        if array.size:
            bounds = np.iinfo(wanted)
            if int(array.min()) < bounds.min or int(array.max()) > bounds.max:
                return array
    elif kind not in "iuf" or wanted.kind != "f":
        return array
    with np.errstate(over="ignore"):
        made = array.astype(wanted)
    same = wanted.kind != "f" or np.array_equal(np.isfinite(made),
                                                np.isfinite(array))
    return made if same else array


def _sizes(shape: Iterable[Any]) -> str:
    return "x".join("?" if size is None else str(size) for size in shape) \
        or "a scalar"


def _shape_text(value: Value) -> str:
    """As the model has it; empty where even its rank is open."""
    return "" if value.shape is None else _sizes(value.shape)


def _check_rank(value: Value, found: tuple[int, ...]) -> None:
    declared = value.shape
    if declared is None:
        return
    if len(declared) != len(found) or any(
            isinstance(size, int) and size != other
            for size, other in zip(declared, found)):
        raise InvalidArgument(f"expected shape {_sizes(declared)}, found "
                              f"{_sizes(found)}", value.name)
