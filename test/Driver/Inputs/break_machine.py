# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes one field of a machine file: IN OUT PATH=JSON or PATH=- (removed)."""

import json
import re
import sys

source, target, change = sys.argv[1:]
machine = json.load(open(source))
path, value = change.split("=", 1)
at = machine
*steps, last = [int(s) if s.isdigit() else s
                for s in re.split(r"[.\[\]]+", path) if s]
for step in steps:
    at = at[step]
if value == "-":
    del at[last]
else:
    at[last] = json.loads(value)
json.dump(machine, open(target, "w"))
