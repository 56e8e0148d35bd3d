# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a tool says of itself with --help, taken apart.

The tools of CLI11 print paragraphs, `Usage:`, `Positionals:`, `Options:` and
last paragraphs of the form `Word: text`; ashlar-opt prints the like by hand. A
line of the options that has another form is an error, so that nothing is lost
when a --help changes.
"""

import dataclasses
import os
import re
import subprocess

# `-o,--output TEXT ... REQUIRED Needs: --x`, then the description.
ENTRY = re.compile(
    r"^  (?P<names>-[^\s{]+(?:,-[^\s{]+)*|[A-Za-z]+(?= TEXT))(?P<set>\{[^}]*\})?"
    r"(?P<type> [A-Z]+(?::[A-Z]+)?(?::\{[^}]*\})?(?::[A-Z]+)?"
    r"(?: in \[[^\]]*\])?(?:=\S+)?)?"
    r"(?P<more> \.\.\.)?(?P<notes>(?: REQUIRED| (?:Excludes|Needs): \S+)*)"
    r"(?: +(?P<text>\S.*))?$")
CHOICES = re.compile(r"^([\w.-]+(?:, (?:or )?[\w.-]+)*,? or [\w.-]+|"
                     r"[\w.-]+(?:\|[\w.-]+)+)(?::|,| |$)")
SECTION = re.compile(r"^([A-Z]\w*): +(\S.*)$")


@dataclasses.dataclass
class Option:
    names: list
    metavar: str = ""  # empty: a flag
    repeats: bool = False
    text: str = ""
    choices: tuple = ()
    notes: str = ""

    @property
    def is_positional(self):
        return not self.names[0].startswith("-")

    @property
    def extensions(self):
        """Of the files that are meant, where the description says them."""
        return tuple(dict.fromkeys(
            re.findall(r"\.(ash|onnx|mlir|csv|npy|pb|json|html)\b",
                       self.text)))


@dataclasses.dataclass
class Tool:
    name: str
    version: str
    usage: str = ""
    paragraphs: list = dataclasses.field(default_factory=list)
    options: list = dataclasses.field(default_factory=list)
    sections: dict = dataclasses.field(default_factory=dict)


def said(*command):
    """Without drivers of OpenCL and Level Zero: what is described is no
    machine's, and some of them end a process that sanitizers watch."""
    return subprocess.run([str(word) for word in command], check=True,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True,
                          env={**os.environ, "OCL_ICD_VENDORS": os.devnull,
                               "ZE_ENABLE_ALT_DRIVERS": "none"}).stdout


def read_entry(line):
    match = ENTRY.match(line)
    if not match:
        raise SystemExit(f"--help has a line of another form: {line!r}")
    metavar, choices = (match["type"] or "").strip(), ()
    members = re.search(r"\{([^}]*)\}", metavar + (match["set"] or ""))
    if members:
        choices = tuple(members[1].split(","))
    metavar = re.sub(r"[:=].*", "", metavar)
    return Option(match["names"].split(","), metavar, bool(match["more"]),
                  match["text"] or "", choices,
                  (match["notes"] or "").strip())


def find_choices(option):
    if option.choices or not option.metavar or option.is_positional:
        return option.choices
    match = CHOICES.match(option.text)
    if not match:
        return ()
    return tuple(re.split(r"(?:,? or |, |\|)", match[1]))


def read_options(lines):
    options = []
    for line in lines:
        if line.startswith(" " * 12) and options:
            last = options[-1]
            last.text = f"{last.text} {line.strip()}".strip()
        elif line.strip():
            options.append(read_entry(line))
    for option in options:
        option.choices = find_choices(option)
    return options


def read_footer(tool, lines):
    name = None
    for line in lines:
        match = SECTION.match(line)
        if match:
            name = match[1]
            tool.sections[name] = match[2]
        elif line.strip() and name:
            # A list of alternatives is broken after its |.
            joint = "" if tool.sections[name].endswith("|") else " "
            tool.sections[name] += joint + line.strip()


def read_tool(path):
    tool = Tool(path.name, said(path, "--version").split()[1])
    part, parts = "head", {"head": [], "Options": [], "Positionals": [],
                           "foot": []}
    for line in said(path, "--help").splitlines():
        if line.startswith("Usage:"):
            tool.usage = line[len("Usage:"):].strip()
        elif line in ("Options:", "Positionals:"):
            part = line[:-1]
        elif part == "Options" and SECTION.match(line):
            part = "foot"
            parts[part].append(line)
        else:
            parts[part].append(line)
    if not tool.usage:
        read_custom(tool, parts)
    tool.paragraphs = "\n".join(parts["head"]).strip().split("\n\n")
    tool.options = read_options(parts["Positionals"]) + read_options(
        parts["Options"])
    read_footer(tool, parts["foot"])
    for option in tool.options:
        if "--until" in option.names:
            option.choices = tuple(tool.sections["Stages"].split())
    return tool


def read_custom(tool, parts):
    """ashlar-opt: a block of indented lines holds the options; all of them,
    upstream's too, stand in --help-list."""
    tool.usage = f"{tool.name} [OPTIONS] [FILE]"
    head, rest = [], parts["head"]
    while rest and not rest[0].startswith("  FILE"):
        head.append(rest.pop(0))
    parts["head"] = head
    text, at = [], 0
    while at < len(rest) and not SECTION.match(rest[at]):
        text.append(rest[at])
        at += 1
    parts["foot"] = rest[at:]
    parts["Options"] = []
    tool.sections["Options"] = "\n".join(text).rstrip()


def all_options(path):
    """Every option that --help-list has, without those inside of passes."""
    found = re.findall(r"^ {2,6}(--?[\w-]+)(=?)", said(path, "--help-list"),
                       re.M)
    return sorted({name + equals for name, equals in found})
