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
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import device_run  # noqa: E402
import model_list  # noqa: E402
import one_file  # noqa: E402

TARGETS = ["cpu", "cuda:sm_90a", "rocm:gfx942", "rocm:gfx1100",
           "opencl:generic"]
THREADS, SECONDS = 2, 90


def of_target(program):
    return ":".join(filter(None, (program["target"], program["preset"])))


def why_not(done):
    if done.code:
        return done.error()
    found = [of_target(program) for program in done.programs]
    families = {"cpu" if name.startswith("cpu") else
                ":".join(name.split(":")[:2]) for name in found}
    if families != set(TARGETS) or len(found) != len(TARGETS):
        return f"expected programs of {TARGETS}, found {found}"
    if done.kept():
        return "; ".join(f"{kernel} keeps {count} bytes of a thread in memory"
                         for kernel, count in done.kept()[:3])
    if done.processor > THREADS * SECONDS:
        return f"{done.processor:.0f} processor seconds"
    return ""


def write_table(path, results):
    """Of each that keeps anything of a thread in memory, too."""
    names = [of_target(p) for p in next(iter(results.values())).programs]
    rows = []
    for model, done in results.items():
        kernels = {of_target(p): p["kernels"] for p in done.programs}
        kept = sum(bool((kernel["resources"] or {}).get("stack_bytes"))
                   for each in kernels.values() for kernel in each)
        rows.append([model, *(len(kernels.get(name, [])) for name in names),
                     kept, f"{done.bytes / 2 ** 20:.1f}", f"{done.wall:.1f}",
                     f"{done.processor:.1f}", why_not(done)])
    one_file.write_table(path, ["model", *names, "with scratch", "MiB", "s",
                                "processor s", "not as wanted"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="MODEL")
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    tally, results = device_run.Tally(), {}
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        for model in model_list.all_models():
            if arguments.names and model.name not in arguments.names:
                continue
            with model.prepare(work) as path:
                done = one_file.compile_model(
                    arguments.bin, model, path, work / "m.ash", TARGETS,
                    f"--threads={THREADS}")
            results[model.name] = done
            tally.add(model.name, why_not(done))
            print(f"{model.name}: {done.wall:.1f} s, {done.processor:.1f} "
                  f"processor s, {done.bytes / 2 ** 20:.1f} MiB", flush=True)
            if arguments.table:
                write_table(arguments.table, results)
    if not results:
        tally.add("models", "none has such a name")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
