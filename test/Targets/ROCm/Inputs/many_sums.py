# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a machine file with room for more sums than lanes have registers.

  many_sums.py FROM TO
"""

import json
import pathlib
import sys

machine = json.loads(pathlib.Path(sys.argv[1]).read_text())
for unit in machine["units"]:
    unit["accumulators"] *= 4
for scope in machine["scopes"]:
    if scope["kind"] == "group":
        scope["register_bytes"] *= 4
        scope["count"] = 1
pathlib.Path(sys.argv[2]).write_text(json.dumps(machine))
