# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler says, as objects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional, Type

from ._calibration import CALIBRATION
from ._errors import (Error, Internal, InvalidArgument, NotFound, OutOfBudget,
                      Unsupported)

STAGES = ("import", "simplify", "place", "precision", "fuse", "tile",
          "schedule", "emit")


@dataclass(frozen=True)
class Diagnostic:
    """An error, warning or note of the compiler. place: the model's node, its
    input or the flag that it is about; may be empty."""

    severity: str
    place: str
    message: str

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{self.severity}: {place}{self.message}"


@dataclass(frozen=True)
class Remark:
    """What the compiler decided, and why. kind: passed, missed or analysis;
    step: what decided, such as fusion or layout."""

    node: str
    kind: str
    step: str
    message: str
    program: str

    def __str__(self) -> str:
        return f"{self.node}: {self.kind}: {self.step}: {self.message}"


@dataclass(frozen=True)
class Progress:
    """A stage that has ended. number counts from 1, of `count`; a model for
    several programs goes through some of them several times."""

    stage: str
    number: int
    count: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.stage} ({self.number}/{self.count}): {self.seconds} s"


_STAGE = re.compile(rf"({'|'.join(STAGES)})\s+([0-9.]+) s")
_SAID = re.compile(r"(?:(?P<at>.+?:\d+:\d+): )?"
                   r"(?P<severity>error|warning|note|remark): "
                   r"(?:(?P<place>'[^']*'(?: \+ '[^']*')*|--[\w-]+(?:=.*?)?): )?"
                   r"(?P<message>.*)")
_REMARK = re.compile(r"(?P<node>.*?): (?P<kind>passed|missed|analysis): "
                     r"(?P<step>[\w -]+): (?P<message>.*)")
_PROGRAM = re.compile(r"remarks of \S+ for (\S+)")


def read_line(line: str, diagnostics: list[Diagnostic],
              tail: list[str]) -> Optional[Progress]:
    """Adds a line of the compiler to what it said, or gives the stage that has
    ended."""
    ended = _STAGE.fullmatch(line)
    if ended:
        return Progress(ended[1], STAGES.index(ended[1]) + 1, len(STAGES),
                        float(ended[2]))
    tail.append(line)
    del tail[:-1000]
    said = _SAID.fullmatch(line)
    if said:
        place = _unquoted(said["place"] or said["at"] or "")
        diagnostics.append(Diagnostic(said["severity"], place,
                                      said["message"]))
    return None


def _unquoted(place: str) -> str:
    """'a' + 'b' as a + b."""
    if not place.startswith("'"):
        return place
    return " + ".join(place.strip("'").split("' + '"))


def read_remarks(text: str) -> list[Remark]:
    program, found = "", []
    for line in text.split("\n"):
        heading = _PROGRAM.fullmatch(line)
        if heading:
            program = heading[1]
        said = _REMARK.fullmatch(line)
        if said:
            found.append(Remark(_unquoted(said["node"]), said["kind"],
                                said["step"], said["message"], program))
    return found


def failure(status: int, diagnostics: list[Diagnostic],
            tail: list[str]) -> Error:
    """The exception for a compile that was refused or failed."""
    while len(tail) > 1 and tail[-1] == "Run with --help for more information.":
        tail = tail[:-1]
    errors = [each for each in diagnostics if each.severity == "error"]
    first = errors[0] if errors else _misuse(tail[-1]) if tail else Diagnostic(
        "error", "", f"the compiler ended with {status} and said nothing")
    if first.message.endswith("of the model cannot be compiled yet:"):
        lines = tail[tail.index(f"error: {first.message}") + 1:]
        nodes = tuple(_with_keywords(line.strip()) for line in lines
                      if line.startswith("  "))
        return Unsupported(first.message.rstrip(":"), notes=nodes)
    kind: Type[Error] = InvalidArgument
    if status == 70:
        kind = Internal
    elif first.place.startswith("--memory-budget"):
        kind = OutOfBudget
    elif "No such file or directory" in first.message:
        kind = NotFound
    notes = tuple(_with_keywords(str(each)) for each in diagnostics
                  if each is not first)
    place, message = _keyword(first.place), _with_keywords(first.message)
    node = "" if place != first.place else first.place
    flag, _, value = first.place.partition("=")
    of_set = _CALIBRATION.fullmatch(message)
    if flag in _FILES and value and value not in message and not of_set \
            and value != CALIBRATION:
        message = f"{value!r}: {message}"
    if place == "dims":
        message = _RANGES.sub(_dim_form, message).replace("; type ", "; write ")
    elif not place and message.startswith("cannot write "):
        place = "output"
    elif of_set:
        place, node = of_set[1], ""
        message = _NO_FILE.sub("expected an array for input \\1", of_set[2])
    return kind(message, place, node=node, notes=notes)


_FILES = ("--calibration", "--precision-plan", "--machine", "--tuning",
          "--save-temps")
# As write_calibration calls its files, whose names the caller never saw.
_CALIBRATION = re.compile(
    r"(calibration\[\d+\](?:\[.+?\](?=: ))?): (.*)", re.S)
_NO_FILE = re.compile(r"expected a file for input ('.*?'), .*(?=, found none)")


def said_of_success(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """What remains to be said after a compile that went well, in the caller's
    words: not what made it give up a form that it had tried first."""
    kept: list[Diagnostic] = []
    error: Optional[Diagnostic] = None
    for each in diagnostics:
        if each.severity == "error":
            error = each
        elif error is None or each.severity != "note" or (
                each.place != error.place
                and not each.message.startswith("see current operation")):
            error = None
            kept.append(Diagnostic(each.severity, _keyword(each.place),
                                   _with_keywords(each.message)))
    return kept


_MISUSE = re.compile(r"(?P<flag>--[a-z-]+)(?:=(?P<found>.*?))?: "
                     r"(?P<why>expected .*)", re.S)


def _misuse(line: str) -> Diagnostic:
    """Of a command line that is refused."""
    line = line.removeprefix("ashlar-compile: ")
    said = _MISUSE.fullmatch(line)
    if not said or said["found"] is None or ", found " in said["why"]:
        return Diagnostic("error", said["flag"] if said else "",
                          said["why"] if said else line)
    why, *hint = said["why"].split("; ", 1)
    return Diagnostic("error", said["flag"], "; ".join(
        [f"{why}, found {said['found']!r}", *hint]))


_FLAG = re.compile(r"--([a-z][a-z-]*)")
_RENAMED = {"shape": "shapes", "dim": "dims", "value": "values"}


def _keyword(place: str) -> str:
    """A flag of the program as the keyword of compile() that it came from."""
    said = _FLAG.match(place)
    if not said:
        return place
    word = said[1].replace("-", "_")
    return _RENAMED.get(word, word)


def _with_keywords(message: str) -> str:
    """The sentence with flags as what one writes in Python."""
    for flag, form in _FORMS:
        message = flag.sub(form, message)
    return _FLAG.sub(lambda said: _keyword(said[0]), message)


def _shape_form(said: "re.Match[str]") -> str:
    sizes = re.split("," if "," in said[2] else "x", said[2])
    shown = ", ".join(size if size.isdigit() else f'"{size}"'
                      for size in sizes)
    return f'shapes={{"{said[1]}": ({shown}{"," * (len(sizes) == 1)})}}'


def _dim_form(said: "re.Match[str]") -> str:
    ranges = []
    for each in said[1].split(","):
        name, bounds = each.split("=")
        ranges.append(f'"{name}": ('
                      + ", ".join(re.split(r"\.\.|:", bounds)) + ")")
    return f'dims={{{", ".join(ranges)}}}'


def _value_form(said: "re.Match[str]") -> str:
    numbers = f"[{said[2]}]" if "," in said[2] else said[2]
    return f'values={{"{said[1]}": {numbers}}}'


def _budget_form(said: "re.Match[str]") -> str:
    shown = said[1] if said[2] == "B" else f'"{said[1]}{said[2]}"'
    return f"memory_budget={shown}"


_RANGE = r"[\w.]+=[0-9]+\.\.[0-9]+(?::[0-9]+)?"
_RANGES = re.compile(rf"({_RANGE})")
_FORMS = (
    (re.compile(r"--shape=([^\s=]+)=([\w.*+]+(?:,[\w.*+]+)*)"), _shape_form),
    (re.compile(rf"--dim=({_RANGE}(?:,{_RANGE})*)"), _dim_form),
    (re.compile(r"--value=(\S+?)=(\.\.\.|[-+\w.,]+)"), _value_form),
    (re.compile(r"--memory-budget=([0-9.]+)(B|KiB|MiB|GiB)"), _budget_form),
    (re.compile(r"--(precision|fuse)=([a-z0-9]+)"), r'\1="\2"'),
)
