# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Public keys of whoever may sign modules."""

from __future__ import annotations

import base64
import binascii
import os
import re
from typing import Any

from ._errors import InvalidArgument, quoted

_PLACE = "signature_keys"
_PEM = re.compile(rb"-----BEGIN PUBLIC KEY-----\r?\n([A-Za-z0-9+/=\r\n]+)"
                  rb"-----END PUBLIC KEY-----")
# What says in DER that a key of Ed25519 follows (RFC 8410).
_DER = bytes.fromhex("302a300506032b6570032100")


def _from_file(path: Any) -> bytes:
    try:
        with open(path, "rb") as file:
            text = file.read(4097)
    except (OSError, ValueError) as error:
        raise InvalidArgument(f"cannot read the key {quoted(path)}: {error}",
                              _PLACE) from None
    found = _PEM.search(text) if len(text) <= 4096 else None
    if found:
        try:
            key = base64.b64decode(found[1])
        except binascii.Error:
            key = b""
        if len(key) == len(_DER) + 32 and key.startswith(_DER):
            return key[len(_DER):]
    raise InvalidArgument(f"{quoted(path)}: expected a public key of Ed25519 "
                          "(PEM), as 'openssl pkey -in KEY -pubout' writes it",
                          _PLACE)


def signature_keys(keys: Any) -> bytes:
    """32 bytes of each, one behind the other."""
    if isinstance(keys, (str, bytes, bytearray, os.PathLike)):
        raise InvalidArgument("expected a list of keys, found "
                              f"{quoted(keys)}; put it into one", _PLACE)
    try:
        given = list(keys)
    except TypeError:
        raise InvalidArgument("expected a list of keys, found "
                              f"{quoted(keys)}", _PLACE) from None
    raw = b""
    for key in given:
        if isinstance(key, (str, os.PathLike)):
            key = _from_file(key)
        if not isinstance(key, (bytes, bytearray)) or len(key) != 32:
            raise InvalidArgument("expected the name of a PEM file or the 32 "
                                  f"bytes of a key, found {quoted(key)}",
                                  _PLACE)
        raw += bytes(key)
    return raw
