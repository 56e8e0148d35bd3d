#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference of the package `ashlar`, made of its docstrings:
docs/python-reference.md. Compares; --update writes it."""

import dataclasses
import enum
import inspect
import pathlib
import sys

import ashlar
import ashlar.backend

PAGE = pathlib.Path(__file__).parents[2] / "docs/python-reference.md"
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->
# Reference of the Python package

Made of the docstrings; [python.md](python.md) is the page to read first. What begins with `backend.` is in
`ashlar.backend`, which needs the package `onnx` and `import ashlar.backend`.
"""


def documented(thing):
    lines = (inspect.getdoc(thing) or "").splitlines()
    # nanobind writes the signature as the first line.
    if lines and lines[0].startswith(getattr(thing, "__name__", "?") + "("):
        lines = lines[2:]
    text = "\n".join(lines)
    return f"\n```text\n{text}\n```\n" if text else ""


WIDTH = 120


def fill(items, indent=""):
    """Items in lines of at most WIDTH columns, none of them cut."""
    lines = [indent + items[0]]
    for item in items[1:]:
        if len(lines[-1]) + 1 + len(item) > WIDTH:
            lines.append(indent + item)
        else:
            lines[-1] += " " + item
    return lines


def between_commas(text):
    """Its parts with their commas; those in brackets do not part it."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            parts.append(text[begin:at + 1])
            begin = at + 2
    return parts + [text[begin:]]


def call(line, name=None):
    """A signature as code; with a name, below it where it needs several lines
    itself."""
    inline = f"`{line}`" if name is None else f"**`.{line}`**"
    if len(inline) <= WIDTH:
        return f"\n{inline}\n"
    # Annotations may have brackets, the arguments end with the last one before
    # the result.
    given, arrow, result = line.partition(" -> ")
    head, _, arguments = given.partition("(")
    lines = [head + "(", *fill(between_commas(arguments[:-1]), "    "),
             ")" + arrow + result]
    heading = "" if name is None else f"\n**`.{name}`**\n"
    return heading + "\n```python\n" + "\n".join(lines) + "\n```\n"


class Written:
    """What signatures show as it is, without quotes."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def signature(thing, name):
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        line = (getattr(thing, "__doc__", None) or "").split("\n")[0]
        line = line.replace("(self, ", "(").replace("(self)", "()").replace(
            "ashlar._native.", "").replace("typing.", "")
        return line if line.startswith(name + "(") else f"{name}(...)"

    def shown(annotation):
        return Written(annotation.replace('"', "").replace("'", "")) \
            if isinstance(annotation, str) else annotation
    parameters = []
    for each in found.parameters.values():
        if each.name == "self":
            continue
        default = each.default
        if inspect.isclass(default) and default is not inspect.Parameter.empty:
            default = Written(f"{default.__module__}.{default.__qualname__}")
        parameters.append(each.replace(annotation=shown(each.annotation),
                                       default=default))
    return name + str(found.replace(
        parameters=parameters,
        return_annotation=shown(found.return_annotation)))


def constructor(kind, name):
    """How one is made; nothing where other calls make them."""
    if issubclass(kind, (Exception, enum.Enum)) or dataclasses.is_dataclass(
            kind) or "__init__" not in vars(kind):
        return ""
    made = vars(kind)["__init__"]
    line = signature(made, "__init__")
    if line.startswith(("__init__(native", "__init__(*args")):
        return ""
    line = line.removeprefix("__init__").removesuffix(" -> None")
    # Of the binding's; a class of Python's says it above.
    said = documented(made) if (made.__doc__ or "").startswith(
        "__init__(") else ""
    return call(name + line) + said


def members(kind):
    """Of a class, what it promises itself: properties and methods."""
    for owner in reversed(kind.__mro__[:-1]):
        if not owner.__module__.startswith("ashlar"):
            continue
        for name, value in vars(owner).items():
            if not name.startswith("_") or name == "__call__":
                yield name, value


def describe_class(kind, name):
    page = f"\n## {name}\n{constructor(kind, name)}{documented(kind)}"
    if dataclasses.is_dataclass(kind):
        fields = ", ".join(f"`{each.name}: {each.type}`"
                           for each in dataclasses.fields(kind))
        page += "\n" + "\n".join(fill(
            between_commas(f"Fields: {fields}"))) + "\n"
    if issubclass(kind, Exception):
        return page
    for member, value in dict(members(kind)).items():
        if isinstance(value, property) or inspect.isdatadescriptor(value) \
                or type(value).__name__ == "cached_property":
            value = getattr(value, "func", value)
            if inspect.getdoc(value):
                page += f"\n**`.{member}`**\n{documented(value)}"
        elif callable(value):
            page += call(signature(value, member), member) + documented(value)
    return page


def page():
    text = HEAD
    for module, names in ((ashlar, ashlar.__all__),
                          (ashlar.backend, ["prepare", "run_model", "run_node",
                                            "supports_device"])):
        for name in names:
            thing = getattr(module, name)
            shown = name if module is ashlar else f"backend.{name}"
            if inspect.isclass(thing):
                text += describe_class(thing, shown)
            elif callable(thing):
                text += (f"\n## {shown}\n{call(signature(thing, name))}"
                         f"{documented(thing)}")
    return text


if __name__ == "__main__":
    if "--update" in sys.argv:
        PAGE.write_text(page())
    elif not PAGE.exists() or PAGE.read_text() != page():
        sys.exit(f"{PAGE} is old; python/tests/reference.py --update")
