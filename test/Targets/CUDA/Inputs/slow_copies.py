# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A machine file once more, with units that go on by themselves alone, and
copies so slow that blocks share those of boxes."""

import json
import sys

with open(sys.argv[1]) as file:
    machine = json.load(file)
for engine in machine["copy_engines"]:
    engine["bytes_per_cycle"] = 2 if "boxes" in engine else 0.1
machine["units"] = [unit for unit in machine["units"]
                    if unit.get("fragment", {}).get("in_flight")]
with open(sys.argv[2], "w") as file:
    json.dump(machine, file)
