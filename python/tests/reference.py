#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference of the package `ashlar`, made of its docstrings:
docs/python-reference.md. Compares; --update writes it."""

import dataclasses
import inspect
import pathlib
import sys

import ashlar
import ashlar.backend

PAGE = pathlib.Path(__file__).parents[2] / "docs/python-reference.md"
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->
# Reference of the Python package

Made of the docstrings; [python.md](python.md) is the page to read first.
"""


def documented(thing):
    lines = (inspect.getdoc(thing) or "").splitlines()
    # nanobind writes the signature as the first line.
    if lines and lines[0].startswith(getattr(thing, "__name__", "?") + "("):
        lines = lines[2:]
    text = "\n".join(lines)
    return f"\n```text\n{text}\n```\n" if text else ""


def signature(thing, name):
    try:
        found = str(inspect.signature(thing))
    except (TypeError, ValueError):
        line = (getattr(thing, "__doc__", None) or "").split("\n")[0]
        line = line.replace("(self, ", "(").replace("(self)", "()").replace(
            "ashlar._native.", "")
        return line if line.startswith(name + "(") else f"{name}(...)"
    return name + found.replace("'", "").replace("(self, ", "(").replace(
        "(self)", "()")


def members(kind):
    """Of a class, what it promises itself: properties and methods."""
    for owner in reversed(kind.__mro__[:-1]):
        if not owner.__module__.startswith("ashlar"):
            continue
        for name, value in vars(owner).items():
            if not name.startswith("_") or name == "__call__":
                yield name, value


def describe_class(kind, name):
    page = f"\n## {name}\n{documented(kind)}"
    if dataclasses.is_dataclass(kind):
        fields = ", ".join(f"`{each.name}: {each.type}`"
                           for each in dataclasses.fields(kind))
        page += f"\nFields: {fields}\n"
    if issubclass(kind, Exception):
        return page
    for member, value in dict(members(kind)).items():
        if isinstance(value, property) or inspect.isdatadescriptor(value) \
                or type(value).__name__ == "cached_property":
            value = getattr(value, "func", value)
            if inspect.getdoc(value):
                page += f"\n**`.{member}`**\n{documented(value)}"
        elif callable(value):
            page += f"\n**`.{signature(value, member)}`**\n{documented(value)}"
    return page


def page():
    text = HEAD
    for module, names in ((ashlar, ashlar.__all__),
                          (ashlar.backend, ["prepare", "run_model",
                                            "supports_device"])):
        for name in names:
            thing = getattr(module, name)
            shown = name if module is ashlar else f"backend.{name}"
            if inspect.isclass(thing):
                text += describe_class(thing, shown)
            elif callable(thing):
                text += (f"\n## {shown}\n\n`{signature(thing, name)}`\n"
                         f"{documented(thing)}")
    return text


if __name__ == "__main__":
    if "--update" in sys.argv:
        PAGE.write_text(page())
    elif not PAGE.exists() or PAGE.read_text() != page():
        sys.exit(f"{PAGE} is old; python/tests/reference.py --update")
