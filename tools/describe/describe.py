#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes manual pages and completions for bash and zsh from what the tools say
with --help: DIR/man1/TOOL.1, DIR/bash/TOOL, DIR/zsh/_TOOL."""

import argparse
import datetime
import os
import pathlib

import completions
import help_text
import man_page


def date():
    """Of the pages: today, or what a reproducible build says."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.datetime.now(datetime.timezone.utc)
    if epoch:
        now = datetime.datetime.fromtimestamp(int(epoch),
                                              datetime.timezone.utc)
    return now.strftime("%Y-%m-%d")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("tools", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    # A build under sanitizers is no place to look for leaks; LLVM is not
    # instrumented.
    os.environ.setdefault("ASAN_OPTIONS",
                          "detect_leaks=0:detect_container_overflow=0")
    names = sorted(path.name for path in arguments.tools)
    targets = ()
    for path in arguments.tools:
        if path.name == "ashlar-compile":
            targets = tuple(help_text.said(path, "--list-targets").split())
    for path in arguments.tools:
        tool = help_text.read_tool(path)
        custom = "Options" in tool.sections
        extra = help_text.all_options(path) if custom else ()
        out = arguments.out
        write(out / "man1" / f"{tool.name}.1",
              man_page.man_page(tool, names, date()))
        write(out / "bash" / tool.name,
              completions.bash(tool, targets, extra))
        write(out / "zsh" / f"_{tool.name}",
              completions.zsh(tool, targets, extra))


if __name__ == "__main__":
    main()
