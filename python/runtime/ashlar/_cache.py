# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled modules in a folder, by what they were made of."""

from __future__ import annotations

import hashlib
import logging
import os
import pathlib
import stat
from typing import Any, Callable, Mapping, Optional, Union

import numpy as np

from ._errors import Error
from ._files import contents, path_text, system_error
from ._module import Module, load
from ._runtime import default_runtime
from ._version import __version__

_log = logging.getLogger("ashlar.cache")


def default_folder() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("ASHLAR_CACHE") or base + "/ashlar")


def _spelled(part: Any) -> Any:
    """The same text for the same thing: arrays by all their bytes, files and
    folders by what they hold. None: it cannot be told."""
    if part is None or isinstance(part, (bool, int, float, str, bytes)):
        return repr(part)
    if isinstance(part, np.generic) or (isinstance(part, np.ndarray)
                                        and not part.dtype.hasobject):
        array = np.ascontiguousarray(part)
        return repr((array.dtype.str, array.dtype.name, np.shape(part),
                     hashlib.sha256(array.tobytes()).hexdigest()))
    if isinstance(part, os.PathLike):
        return _content(pathlib.Path(part))
    if isinstance(part, Mapping):
        part = [list(item) for item in sorted(part.items(), key=repr)]
    if not isinstance(part, (list, tuple, set, frozenset)):
        return None
    found = [_spelled(each) for each in
             (sorted(part, key=repr) if isinstance(part, (set, frozenset))
              else part)]
    return None if None in found else "[" + ", ".join(found) + "]"


def _content(path: pathlib.Path) -> Optional[str]:
    try:
        if path.is_dir():
            found = [(each.name, _content(each))
                     for each in sorted(path.iterdir())]
            return None if any(text is None for _, text in found) \
                else repr(found)
        return hashlib.sha256(contents(path, str(path))).hexdigest()
    except (OSError, Error):
        return None


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

    def module(self, parts: Any, name: str, make: Callable[[], Module],
               loading: Mapping[str, Any]) -> Module:
        """The module made of `parts`, which differ where it would. loading:
        what load() is to be told as well."""
        spelled = _spelled(parts)
        if self._folder is None or spelled is None:
            return make()
        features = default_runtime().device("cpu").features
        key = hashlib.sha256(repr(
            (__version__, features, os.cpu_count(), spelled)
        ).encode()).hexdigest()
        path = self._folder / f"{key}.ash"
        if path.exists():
            try:
                return load(path, name=name, allow_native_code=True, **loading)
            except Error as error:
                _log.warning("%s is made anew: %s", path, error)
        module = make()
        try:
            module.save(path)
        except Error as error:
            _log.warning("%s is not kept: %s", path, error)
        return module
