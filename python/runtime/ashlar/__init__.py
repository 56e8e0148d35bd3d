# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ashlar: compiles tensor graphs ahead of time, and runs what it compiled.

    import ashlar
    module = ashlar.compile("model.onnx", shapes={"x": (1, 3, 224, 224)})
    y = module(x)

What the module will cost is known before it runs: module.contract. Everything
that is refused raises a subclass of ashlar.Error that says what was expected,
what was found and what to do.
"""

from typing import TYPE_CHECKING, Any

from ._arrays import empty
from ._compile import Diagnostic, Progress, Remark, compile
from ._errors import (Cancelled, Corrupt, DeviceLost, Error, Internal,
                      InvalidArgument, NotFound, OutOfBudget, StatusCode,
                      Unsupported)
from ._lowering import (Operator, compile_object, list_operators, list_targets,
                        lower, strategies)
from ._module import Contract, Entry, Module, Program, TensorInfo, load
from ._paths import get_include, get_library
from ._runtime import Budget, Device, Runtime, Trace, default_runtime
from ._session import Bindings, Run, Session
from ._version import __version__

if TYPE_CHECKING:
    from ._inference import (GraphOptimizationLevel, InferenceSession,
                             RunOptions, SessionOptions,
                             get_available_providers, get_device)

__all__ = [
    "Bindings", "Budget", "Cancelled", "Contract", "Corrupt", "Device",
    "DeviceLost", "Diagnostic", "Entry", "Error", "InferenceSession",
    "Internal", "InvalidArgument", "Module", "NotFound", "Operator",
    "OutOfBudget", "Program", "Progress", "Remark", "Run", "Runtime", "Session",
    "SessionOptions", "StatusCode", "TensorInfo", "Trace", "Unsupported",
    "__version__", "compile", "compile_object", "default_runtime", "empty",
    "get_available_providers", "get_include", "get_library", "list_operators",
    "list_targets", "load", "lower", "strategies",
]


def __getattr__(name: str) -> Any:
    # Only who has ONNX Runtime's habits pays for them.
    if name in ("InferenceSession", "SessionOptions", "RunOptions",
                "GraphOptimizationLevel", "get_available_providers",
                "get_device"):
        from . import _inference
        return getattr(_inference, name)
    raise AttributeError(f"module 'ashlar' has no attribute {name!r}")
