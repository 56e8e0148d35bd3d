#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What real models take in one file for the processor and NVIDIA's GPUs.

Compiles each for cpu, cuda:sm_80 and cuda:sm_90a at once, with machine code by
NVIDIA's assembler, and reads what the module says of its kernels. It fails
where a compile takes more than a minute of one thread, a kernel on matrix units
keeps registers in memory, or the file lacks a program. What a target has no
function for is refused by name and counts as skipped. --table=FILE writes what
was found.
"""

import argparse
import pathlib
import re
import sys
import tempfile

import device_run
import model_list
import one_file

PRESETS = ["sm_80", "sm_90a"]
MOST_SECONDS = 60
REFUSAL = re.compile(r"PTX has no function '\w+'")


def row_of(program):
    known = [kernel["resources"] for kernel in program["kernels"]]
    known = [each for each in known if each]
    spilling = [each for each in known if each["spill_bytes"]]
    return {"kernels": len(known), "spilling": len(spilling),
            "most_spilled": max((each["spill_bytes"] for each in known),
                                default=0),
            "most_registers": max((each["registers"] for each in known),
                                  default=0)}


def compile_model(arguments, model, path, work):
    """What is found of one: a row of the table, and why it is not as wanted."""
    done = one_file.compile_model(
        arguments.bin, model, path, work / "m.ash",
        ["cpu", *(f"cuda:{name}" for name in PRESETS)],
        f"--precision={arguments.precision}",
        f"--assembler={arguments.ptxas}")
    row = {"seconds": done.processor, "bytes": done.bytes}
    if done.code:
        return row, done.error()
    forms = [program["executables"][0]["format"] for program in done.programs]
    missing = [name for name in PRESETS if f"cubin-{name}" not in forms]
    if missing or len(forms) != 1 + len(PRESETS):
        return row, f"programs are {forms}"
    for name in PRESETS:
        row[name] = row_of(done.programs[forms.index(f"cubin-{name}")])
    if done.kept():
        return row, "hot kernels spill: " + ", ".join(
            f"{kernel}: {count} B" for kernel, count in done.kept())
    if done.processor > MOST_SECONDS:
        return row, f"it took {done.processor:.0f} s, at most {MOST_SECONDS}"
    return row, ""


def write_table(path, rows):
    head = ["model", "seconds", "MB"]
    for name in PRESETS:
        head += [f"kernels, {name}", "of which spill", "most bytes",
                 "most registers"]
    lines = []
    for name, row in rows.items():
        cells = [name, f"{row['seconds']:.1f}"]
        if PRESETS[0] not in row:
            cells += [row["why"]] + [""] * (len(head) - 3)
        else:
            cells.append(f"{row['bytes'] / 1e6:.1f}")
            for preset in PRESETS:
                cells += [row[preset][key] for key in
                          ("kernels", "spilling", "most_spilled",
                           "most_registers")]
        lines.append(cells)
    one_file.write_table(path, head, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas", type=pathlib.Path, required=True)
    parser.add_argument("--model", action="append",
                        help="only these; several times")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    tally, rows = device_run.Tally(), {}
    for model in model_list.all_models():
        if arguments.model and model.name not in arguments.model:
            continue
        if model.name.endswith("_random"):  # another's graph, other weights
            continue
        with tempfile.TemporaryDirectory() as temporary:
            work = pathlib.Path(temporary)
            with model.prepare(work) as path:
                row, why = compile_model(arguments, model, path, work)
        row["why"] = why
        rows[model.name] = row
        if REFUSAL.search(why):
            tally.skip(model.name, why)
        else:
            tally.add(model.name, why)
        if arguments.table:
            write_table(arguments.table, rows)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
