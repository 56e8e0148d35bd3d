# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether each pass that a Passes.td describes has a test of its name."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
passes = [name for text in (root / "include").rglob("Passes.td")
          for name in re.findall(r'Pass<"ashlar-([\w-]+)"', text.read_text())]
tests = [p for p in (root / "test").rglob("*")
         if p.suffix in (".mlir", ".test", ".onnxtxt")]
missing = []
for name in passes:
    stem = name.removeprefix("cpu-")
    own = [p for p in tests if p.stem == stem]
    if not any(f"--ashlar-{name}" in p.read_text() for p in own):
        missing.append(name)
if missing or not passes:
    sys.exit("expected a test of its name for each pass, found none for "
             + ", ".join(missing))
