# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled modules in a folder, by what they were made of."""

from __future__ import annotations

import hashlib
import logging
import os
import pathlib
import stat
from typing import Any, Callable, Optional, Union

from ._errors import Error
from ._files import path_text, system_error
from ._module import Module, load
from ._runtime import default_runtime
from ._version import __version__

_log = logging.getLogger("ashlar.cache")


def default_folder() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("ASHLAR_CACHE") or base + "/ashlar")


class Cache:
    """folder: None: nothing is kept; "": the default one. What is in a folder
    runs as code, so one that others may write to is not used. A folder that
    was asked for and cannot be made is an error; the default one is only
    passed over."""

    def __init__(self, folder: Union[str, "os.PathLike[str]", None]):
        self._folder: Optional[pathlib.Path] = None
        if folder is None:
            return
        place = default_folder() if folder == "" \
            else pathlib.Path(path_text(folder, "cache_dir"))
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = place.stat()
            if found.st_uid != os.geteuid() \
                    or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                _log.warning("%s is not used: others may write to it; chmod "
                             "go-w, or another cache folder", place)
                return
        except OSError as error:
            if folder != "":
                raise system_error(error, f"{str(place)!r} cannot be made a "
                                   "folder to keep modules in",
                                   "cache_dir") from error
            _log.warning("%s is not used: %s", place, error)
            return
        self._folder = place

    def module(self, parts: Any, name: str,
               make: Callable[[], Module]) -> Module:
        """The module made of `parts`, which differ where it would."""
        if self._folder is None:
            return make()
        features = default_runtime().device("cpu").features
        key = hashlib.sha256(repr(
            (__version__, features, os.cpu_count(), parts)).encode()).hexdigest()
        path = self._folder / f"{key}.ash"
        if path.exists():
            try:
                return load(path, name=name, allow_native_code=True)
            except Error as error:
                _log.warning("%s is made anew: %s", path, error)
        module = make()
        try:
            module.save(path)
        except Error as error:
            _log.warning("%s is not kept: %s", path, error)
        return module
