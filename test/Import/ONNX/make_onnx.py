#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the ONNX models that a test describes: make_onnx.py TEST FOLDER.

A test holds sections, each begun by a line `#--- NAME.onnxtxt` or
`#--- NAME.py`, and becomes FOLDER/NAME.onnx:

  .onnxtxt  a model in ONNX's own text format
  .py       a Python program that sets `model` to a ModelProto or to bytes. It
            finds `onnx`, `helper`, `numpy_helper`, `parser` (a function from
            text to a model), `np`, `os`, `models` (those of the sections
            before, by name) and `folder`, where it may write other files.

What stands before the first section, the RUN lines, belongs to no model.
"""

import os
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper, parser


def sections(text):
    """(name, kind, text) of each section, padded so that lines count right."""
    name, lines = None, []
    for number, line in enumerate(text.splitlines()):
        if line.startswith("#---"):
            if name:
                yield name, "\n".join(lines)
            name, lines = line[4:].strip(), [""] * (number + 1)
        elif name:
            lines.append(line)
    if name:
        yield name, "\n".join(lines)


def main():
    test, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    models = {}
    with open(test, encoding="utf-8") as file:
        text = file.read()
    for full_name, body in sections(text):
        name, kind = os.path.splitext(full_name)
        if kind == ".onnxtxt":
            model = parser.parse_model(body)
        elif kind == ".py":
            scope = dict(onnx=onnx, helper=helper, numpy_helper=numpy_helper,
                         parser=parser.parse_model, np=np, os=os,
                         models=models, folder=folder)
            exec(compile(body, test, "exec"), scope)
            model = scope["model"]
        else:
            sys.exit(f"{test}: section {full_name} is neither .onnxtxt nor .py")
        models[name] = model
        if not isinstance(model, bytes):
            model = model.SerializeToString()
        with open(os.path.join(folder, name + ".onnx"), "wb") as file:
            file.write(model)


if __name__ == "__main__":
    main()
