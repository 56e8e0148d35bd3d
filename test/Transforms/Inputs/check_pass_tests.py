# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether each pass of ours is described in a Passes.td, which registers it,
and has a test of its name that runs it."""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])


def found(folder, suffixes, pattern):
    """What the pattern has found in each of the files, with the file."""
    return {name: file for file in (root / folder).rglob("*")
            if file.suffix in suffixes
            for name in re.findall(pattern, file.read_text())}


def expect(names, what):
    if names:
        sys.exit(f"expected {what} for each pass, found none for "
                 + ", ".join(sorted(names)))


described = found("include", {".td"},
                  r'def (\w+)\s*:\s*Pass<"ashlar-[\w-]+"')
passes = found("include", {".td"}, r'Pass<"ashlar-([\w-]+)"')
if not passes or len(described) != len(passes):
    sys.exit("expected definitions of passes in Passes.td, found "
             f"{len(described)} for {len(passes)} names")

# A class that derives from MLIR's own makes a pass that nobody can name.
sources = {".cpp", ".h"}
apart = found("lib", sources, r"struct (\w+)\s*:\s*(?:public )?"
              r"(?:mlir::)?(?:PassWrapper|OperationPass)<")
expect(apart, "a definition in a Passes.td")
classes = found("lib", sources, r"impl::(\w+)Base<")
expect(described.keys() - classes.keys(), "a class in lib")
expect(classes.keys() - described.keys(), "a definition in a Passes.td")

listed = subprocess.run([sys.argv[2], "--help-list"], capture_output=True,
                        text=True, check=True).stdout
expect([name for name in passes
        if not re.search(rf"--ashlar-{name}\s", listed)],
       "registration in ashlar-opt")

tests = [p for p in (root / "test").rglob("*")
         if p.suffix in (".mlir", ".test", ".onnxtxt")]
expect([name for name in passes
        if not any(p.stem == name.removeprefix("cpu-")
                   and f"--ashlar-{name}" in p.read_text() for p in tests)],
       "a test of its name")
