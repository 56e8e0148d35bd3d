# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A manual page of what --help says."""

import textwrap


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    # Lists of alternatives may break after a bar; the rest is as typed.
    text = text.replace("|", "|\\:")
    text = text.replace("'", "\\(aq").replace("^", "\\(ha")
    text = text.replace("~", "\\(ti").replace("`", "\\(ga")
    return "\\&" + text if text.startswith((".", "'", "\\(aq")) else text


def literal(lines):
    return [".PP", ".nf", *(escape(line) for line in lines), ".fi"]


def paragraph(text):
    """Lines that are indented stand as they are."""
    out, words = [], []

    def flush():
        if words:
            out.extend([".PP", *(escape(line) for line in textwrap.wrap(
                " ".join(words), 78, break_on_hyphens=False,
                break_long_words=False))])
            words.clear()
    block = []
    for line in text.splitlines():
        if line.startswith("  "):
            flush()
            block.append(line)
            continue
        if block:
            out.extend(literal(block))
            block = []
        words.append(line)
    flush()
    return out + (literal(block) if block else [])


def option_lines(option):
    shown = ", ".join(f"\\fB{escape(name)}\\fR" for name in option.names)
    if option.metavar:
        joint = "=" if option.names[-1].startswith("--") else " "
        shown += f"{joint}\\fI{escape(option.metavar)}\\fR"
    text = option.text
    if option.choices and not all(c in text for c in option.choices):
        text += f" ({', '.join(option.choices)})"
    if option.notes:
        text += f" [{option.notes}]"
    return [".TP", shown, *(escape(line) for line in textwrap.wrap(
        text or "(no description)", 78, break_on_hyphens=False,
        break_long_words=False))]


TITLES = {"Exit": "EXIT STATUS"}


def summary(tool):
    for text in tool.paragraphs:
        plain = " ".join(line for line in text.splitlines()
                         if not line.startswith("  ") and line != "Example:")
        if plain:
            first = plain.split(". ")[0].rstrip(".")
            return first[0].lower() + first[1:]
    raise SystemExit(f"{tool.name}: --help says nothing of what it does")


def man_page(tool, others, date):
    title = tool.name.upper().replace("-", "\\-")
    lines = [f'.TH "{title}" "1" "{date}" "Ashlar {tool.version}" '
             '"User Commands"',
             # Flags and lists of targets break nowhere.
             ".ad l", ".nh",
             ".SH NAME", f"{escape(tool.name)} \\- {escape(summary(tool))}",
             ".SH SYNOPSIS", f"\\fB{escape(tool.name)}\\fR "
             + escape(tool.usage[len(tool.name):].strip())]
    example, *rest = tool.paragraphs[0].splitlines() if \
        tool.paragraphs[0].startswith("Example:") else [""]
    block = [line for line in rest if line.startswith("  ")]
    # What stands right behind the first examples is text again.
    after = [line for line in rest if not line.startswith("  ")]
    paragraphs = list(tool.paragraphs)
    if example:
        paragraphs[0] = "\n".join(after)
    lines.append(".SH DESCRIPTION")
    for text in paragraphs:
        if text.strip():
            lines.extend(paragraph(text))
    lines.append(".SH OPTIONS")
    for option in tool.options:
        lines.extend(option_lines(option))
    for name, text in tool.sections.items():
        if name == "Options":
            lines.extend(literal(text.splitlines()))
            continue
        lines.append(f".SH {TITLES.get(name, name.upper())}")
        lines.extend(escape(line) for line in textwrap.wrap(
            text, 78, break_on_hyphens=False, break_long_words=False))
    if block:
        lines.extend([".SH EXAMPLES", *literal(block)])
    lines.append(".SH SEE ALSO")
    lines.append(",\n".join(f"\\fB{escape(name)}\\fR(1)" for name in others
                            if name != tool.name))
    return "\n".join(drop_empty(lines)) + "\n"


def drop_empty(lines):
    """A paragraph right behind a heading is none, and warned about."""
    kept = []
    for line in lines:
        if line == ".PP" and kept and kept[-1].startswith(".SH"):
            continue
        kept.append(line)
    return kept
