# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make_tuning.py LIST TABLE [SETTING=JSON...]: a tuning table of what
ashlar-compile --list-strategies has listed, each contraction on a strategy
that is not the compiler's own, as if it had been measured. Settings replace
fields of the table, `entries[0].box=[3]`, or remove them (`version=-`)."""

import json
import re
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        listed = json.load(file)
    entries = []
    for contraction in listed.pop("contractions"):
        own, *others = contraction["candidates"]
        other = next(c for c in others if c["box"] != own["box"])
        del other["cycles"]
        entries.append({"contraction": contraction["contraction"], **other,
                        "microseconds": 3, "own_microseconds": 4.5})
    table = {**listed, "entries": entries}
    for setting in sys.argv[3:]:
        path, value = setting.split("=", 1)
        at = table
        *steps, last = [int(step) if step.isdigit() else step
                        for step in re.findall(r"\w+", path)]
        for step in steps:
            at = at[step]
        if value == "-":
            del at[last]
        elif isinstance(at, list) and last == len(at):
            at.append(at[int(value)])  # once more
        else:
            at[last] = json.loads(value)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(table, file)


main()
