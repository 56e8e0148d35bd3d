# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What belongs to this process and is there once: threads, memory of the
library's own, open files."""

from __future__ import annotations

from typing import Any, NoReturn

_INSTEAD = {
    "Module": "save() it and load() the file where it is wanted; threads, and "
              "children made by fork, can share one",
    "Session": "make a session of the module for each user",
    "Run": "wait for it, and pass on what it gives",
    "Bindings": "bind again, in a session of the other user",
    "Budget": "make one where it is wanted; threads can share one",
    "Runtime": "make one where it is wanted; threads can share one",
    "Device": "pass on its name; Runtime.device() opens it",
    "Trace": "make one where it is wanted",
    "InferenceSession": "make it of the same model where it is wanted; what was "
                        "compiled is in the cache; threads can share one",
    "AshlarRep": "prepare the model again where it is wanted",
}


def refuse(self: Any, protocol: Any = None) -> NoReturn:
    """The __reduce_ex__ of such classes, which pickle and copy call."""
    for kind in type(self).__mro__:
        name = kind.__name__.lstrip("_")
        if name in _INSTEAD:
            break
    raise TypeError(f"expected what can be pickled or copied, found an ashlar."
                    f"{name}, which belongs to this process; {_INSTEAD[name]}")
