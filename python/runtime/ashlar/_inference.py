# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime's manner of running a model, over Ashlar's: what it is asked for
by name is the same; options that mean nothing here are accepted."""

from __future__ import annotations

import enum
import os
import threading
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np

from . import _copies
from ._cache import Cache
from ._errors import InvalidArgument, NotFound, quoted
from ._onnx_model import ELEMENT_TYPES, Size, Value
from ._sizes import thread_count
from ._specialize import Specialized


class GraphOptimizationLevel(enum.IntEnum):
    """Accepted and without effect: everything is optimised ahead of time."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class SessionOptions:
    """intra_op_num_threads: threads of each session; 0: as many as there are.
    All other options are kept and have no effect."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.log_severity_level = 2
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_profiling = False
        self.config_entries: dict[str, str] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        self.config_entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        if key not in self.config_entries:
            raise NotFound("expected one of the entries that were added, "
                           f"{', '.join(map(repr, self.config_entries)) or 'none'}"
                           f", found {quoted(key)}", "key")
        return self.config_entries[key]


class RunOptions:
    """Accepted and without effect."""


class NodeArg:
    """name, type ("tensor(float)") and shape (numbers, names or None)."""

    def __init__(self, value: Value):
        self.name = value.name
        spelled = ELEMENT_TYPES.get(value.element, ("undefined", ""))[0]
        self.type = f"tensor({spelled})" if value.is_tensor else "unknown"
        self.shape: list[Size] = list(value.shape or ())

    def __repr__(self) -> str:
        return f"NodeArg(name={self.name!r}, type={self.type!r}, " \
               f"shape={self.shape!r})"


class ModelMetadata:
    """What the model says of itself."""

    def __init__(self, model: Any):
        self.custom_metadata_map: dict[str, str] = model.metadata
        self.producer_name: str = model.producer
        self.domain: str = model.domain
        self.description: str = model.description
        self.graph_name: str = model.graph_name
        self.version: int = model.version
        self.graph_description = ""


def get_available_providers() -> list[str]:
    return ["CPUExecutionProvider"]


def get_device() -> str:
    return "CPU"


class InferenceSession:
    """Runs an ONNX model as onnxruntime.InferenceSession does.

    path_or_bytes: of the model
    sess_options:  a SessionOptions, or ONNX Runtime's own
    providers:     names; only "CPUExecutionProvider" does anything, others are
                   passed over as ONNX Runtime does with those it lacks
    cache_dir:     where compiled modules are kept; None: nowhere. The default is
                   ASHLAR_CACHE, or ashlar in the user's cache folder.
    Further keywords are those of ashlar.compile: shapes and dims make one
    module for all sizes, compiled here; without them a model with open sizes
    is compiled when a new set of them comes, and found again in the cache.

    Any number of threads may run it.
    """

    def __init__(self, path_or_bytes: Any,
                 sess_options: Optional[Any] = None,
                 providers: Optional[Sequence[Any]] = None,
                 provider_options: Optional[Sequence[Any]] = None, *,
                 cache_dir: Union[str, "os.PathLike[str]", None] = "",
                 **options: Any):
        del provider_options
        self._threads = thread_count(
            getattr(sess_options, "intra_op_num_threads", 0) or 0)
        self._options = sess_options or SessionOptions()
        if isinstance(providers, str) or not isinstance(
                providers, (Sequence, type(None))):
            raise InvalidArgument("expected names of providers, found "
                                  f"{quoted(providers)}", "providers")
        for each in providers or ():
            name, *more = tuple(each) if isinstance(each, (tuple, list)) \
                and tuple(each) else (each,)
            if not isinstance(name, str) or len(more) > 1 or not all(
                    isinstance(options, Mapping) for options in more):
                raise InvalidArgument("expected names of providers, or pairs "
                                      "of a name and a dict of options, found "
                                      f"{quoted(each)}", "providers")
        cache = Cache(cache_dir)
        options.setdefault("remarks", False)
        self._model = Specialized(path_or_bytes, cache, options)
        self._local = threading.local()
        if self._model.is_ready:
            from ._errors import Unsupported
            try:
                self._model.module({})
            except Unsupported as error:
                # What needs an input's values waits for them.
                if not error.nodes or not all(
                        "values={" in node for node in error.nodes):
                    raise

    def get_inputs(self) -> list[NodeArg]:
        return [NodeArg(each) for each in self._model.description.inputs]

    def get_outputs(self) -> list[NodeArg]:
        return [NodeArg(each) for each in self._model.description.outputs]

    def get_overridable_initializers(self) -> list[NodeArg]:
        return []

    def get_modelmeta(self) -> ModelMetadata:
        return ModelMetadata(self._model.description)

    def get_providers(self) -> list[str]:
        return get_available_providers()

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        return {name: {} for name in self.get_providers()}

    def get_session_options(self) -> Any:
        return self._options

    def set_providers(self, providers: Optional[Sequence[Any]] = None,
                      provider_options: Optional[Sequence[Any]] = None) -> None:
        """Accepted and without effect."""

    def run(self, output_names: Optional[Sequence[str]],
            input_feed: Mapping[str, Any],
            run_options: Optional[Any] = None) -> list[np.ndarray]:
        """The outputs of these names, in their order; all where None."""
        del run_options
        if not isinstance(input_feed, Mapping):
            raise InvalidArgument("expected a dict by name, found "
                                  f"{type(input_feed).__name__}", "input_feed")
        names = [each.name for each in self._model.description.outputs]
        if output_names is not None and (
                isinstance(output_names, str)
                or not isinstance(output_names, Sequence)):
            raise InvalidArgument("expected a list of names, found "
                                  f"{quoted(output_names)}", "output_names")
        wanted = list(output_names or ()) or names
        for name in wanted:
            if name not in names:
                raise InvalidArgument(
                    f"expected some of {', '.join(map(repr, names))}, found "
                    f"{quoted(name)}", "output_names")
        feed = dict(input_feed.items())
        known = [each.name for each in self._model.description.inputs]
        unknown = [name for name in feed if name not in known]
        if unknown:
            raise InvalidArgument(
                f"expected {', '.join(map(repr, known)) or 'none'}, found "
                f"{', '.join(map(quoted, unknown))} too", "input_feed")
        results = self._model.run(feed, self._threads)
        return [results[name] for name in wanted]

    def run_async(self, output_names: Optional[Sequence[str]],
                  input_feed: Mapping[str, Any],
                  callback: Callable[[Any, Any, str], None],
                  user_data: Any = None,
                  run_options: Optional[Any] = None) -> None:
        """Runs on a thread of its own and calls back with (outputs, user_data,
        error text)."""
        if not callable(callback):
            raise InvalidArgument("expected what can be called with (outputs, "
                                  "user_data, error text), found "
                                  f"{type(callback).__name__}", "callback")

        def go() -> None:
            try:
                results: Any = self.run(output_names, input_feed, run_options)
            except Exception as error:
                callback([], user_data, str(error))
            else:
                callback(results, user_data, "")
        threading.Thread(target=go).start()

    __reduce_ex__ = _copies.refuse
