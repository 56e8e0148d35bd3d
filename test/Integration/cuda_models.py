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
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import device_run
import model_list

PRESETS = ["sm_80", "sm_90a"]
MOST_SECONDS = 60
REFUSAL = re.compile(r"PTX has no function '\w+'")
# A warning by which the compiler says so of a kernel on a matrix unit.
SPILL = re.compile(r"warning: .*kernel (\S+) by ptxas [\d.]+: (\d+) bytes of a "
                   r"thread are kept in memory")


def timed(command):
    """Exit status, output, and the seconds of the processor and of the wall.
    The assembler's are among them."""
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as log:
        child = subprocess.Popen([str(word) for word in command],
                                 stdin=subprocess.DEVNULL, stdout=log,
                                 stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        return (child.returncode, log.read(), used.ru_utime + used.ru_stime,
                time.monotonic() - begin)


def first_error(code, said):
    return next((line for line in said.splitlines() if "error:" in line),
                f"the compiler ended with {code}: {said.strip()[-300:]}")


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
    module = work / "m.ash"
    targets = ",".join(["cpu", *(f"cuda:{name}" for name in PRESETS)])
    code, said, seconds, wall = timed([
        arguments.bin / "ashlar-compile", path, "-o", module,
        f"--target={targets}", f"--precision={arguments.precision}",
        f"--assembler={arguments.ptxas}", *model.arguments()])
    row = {"seconds": seconds, "wall": wall}
    if code:
        return row, first_error(code, said)
    done = subprocess.run([arguments.bin / "ashlar-inspect", module, "--json"],
                          text=True, capture_output=True, check=True)
    row["bytes"] = module.stat().st_size
    programs = json.loads(done.stdout)["programs"]
    forms = [program["executables"][0]["format"] for program in programs]
    missing = [name for name in PRESETS if f"cubin-{name}" not in forms]
    if missing or len(programs) != 1 + len(PRESETS):
        return row, f"programs are {forms}"
    for name in PRESETS:
        row[name] = row_of(programs[forms.index(f"cubin-{name}")])
    row["hot"] = [f"{found[1]}: {found[2]} B" for found in SPILL.finditer(said)]
    if row["hot"]:
        return row, "hot kernels spill: " + ", ".join(row["hot"])
    if seconds > MOST_SECONDS:
        return row, f"it took {seconds:.0f} s, at most {MOST_SECONDS}"
    return row, ""


def write_table(path, rows):
    head = ["model", "seconds", "MB"]
    for name in PRESETS:
        head += [f"kernels, {name}", "of which spill", "most bytes",
                 "most registers"]
    lines = [head, ["---"] * len(head)]
    for name, row in rows.items():
        cells = [name, f"{row['seconds']:.1f}"]
        if PRESETS[0] not in row:
            cells += [row["why"]] + [""] * (len(head) - 3)
        else:
            cells.append(f"{row['bytes'] / 1e6:.1f}")
            for preset in PRESETS:
                cells += [str(row[preset][key]) for key in
                          ("kernels", "spilling", "most_spilled",
                           "most_registers")]
        lines.append(cells)
    path.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines))


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
