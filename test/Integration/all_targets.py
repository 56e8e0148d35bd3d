#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real models, each in one file for processors and GPUs of three vendors.

Every model that runs on cpu is compiled for all of TARGETS at once. The file
has a program of each, no kernel with a matrix unit keeps anything of a thread
in memory, and the compiler takes at most SECONDS. On the machine that it runs
on, which may be busy, that is held against processor seconds by the compiler's
two threads.

  all_targets.py --bin build/bin [--table FILE] [MODEL ...]
"""

import argparse
import dataclasses
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import model_list  # noqa: E402

TARGETS = ["cpu", "cuda:sm_90a", "rocm:gfx942", "rocm:gfx1100",
           "opencl:generic"]
THREADS, SECONDS = 2, 90
# What the compiler says of a kernel with a matrix unit.
KEPT = re.compile(r"warning: .*kernel (\S+): (\d+) bytes of a thread are kept")


@dataclasses.dataclass
class Done:
    name: str
    why: str = ""
    seconds: float = 0
    processor: float = 0
    size: int = 0
    kernels: dict = dataclasses.field(default_factory=dict)
    kept: int = 0  # of all kernels, those that keep something in memory


def first_error(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [line for line in lines if "error" in line] or lines or ["nothing"]
    return found[0][:400]


def of_target(program):
    return ":".join(filter(None, (program["target"], program["preset"])))


def compile_all(arguments, model, path, module):
    done = Done(model.name)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    said = subprocess.run(
        [arguments.bin / "ashlar-compile", path, "-o", module,
         f"--target={','.join(TARGETS)}", f"--threads={THREADS}",
         *model.arguments()], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace")
    done.seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    done.processor = (after.ru_utime + after.ru_stime - before.ru_utime
                      - before.ru_stime)
    if said.returncode:
        done.why = first_error(said.stdout)
        return done
    inspected = json.loads(subprocess.run(
        [arguments.bin / "ashlar-inspect", module, "--json"],
        stdout=subprocess.PIPE, text=True, check=True).stdout)
    done.size = module.stat().st_size
    for program in inspected["programs"]:
        kernels = program["kernels"]
        done.kernels[of_target(program)] = len(kernels)
        done.kept += sum(bool((each["resources"] or {}).get("stack_bytes"))
                         for each in kernels)
    done.why = why_not(done, KEPT.findall(said.stdout))
    return done


def why_not(done, kept):
    found = {name.split(":")[0] + ":" + name.split(":")[1]
             if not name.startswith("cpu") else "cpu"
             for name in done.kernels if ":" in name or name == "cpu"}
    missing = [name for name in TARGETS if name not in found]
    if missing or len(done.kernels) != len(TARGETS):
        return f"expected programs of {TARGETS}, found {[*done.kernels]}"
    if kept:
        return "; ".join(f"{kernel} keeps {size} bytes of a thread in memory"
                         for kernel, size in kept[:3])
    if done.processor > THREADS * SECONDS:
        return f"{done.processor:.0f} processor seconds"
    return ""


def write_table(path, results):
    names = [name for name in results[0].kernels]
    with path.open("w") as file:
        print("| model | " + " | ".join(names) +
              " | with scratch | MiB | s | processor s |", file=file)
        print("| --- |" + " --: |" * (len(names) + 4), file=file)
        for done in results:
            print(f"| {done.name} | " + " | ".join(
                str(done.kernels.get(name, "")) for name in names) +
                f" | {done.kept} | {done.size / 2 ** 20:.1f} "
                f"| {done.seconds:.1f} | {done.processor:.1f} |"
                + (f" {done.why}" if done.why else ""), file=file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="MODEL")
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        for model in model_list.all_models():
            if arguments.names and model.name not in arguments.names:
                continue
            with model.prepare(work) as path:
                done = compile_all(arguments, model, path, work / "m.ash")
            results.append(done)
            print(f"FAIL {done.name}: {done.why}" if done.why else
                  f"{done.name}: {done.seconds:.1f} s, {done.processor:.1f} "
                  f"processor s, {done.size / 2 ** 20:.1f} MiB", flush=True)
            if arguments.table:
                write_table(arguments.table, results)
    failed = sum(bool(done.why) for done in results)
    print(f"{len(results) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
