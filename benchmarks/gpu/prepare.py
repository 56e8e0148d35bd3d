#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles what run.py checks and measures on a machine with a GPU.

Needs no GPU: writes the modules, what is needed to check them, the runtime and
its programs, linked so that they need nothing but glibc, and run.py itself
into a folder that travels. --quick takes tiny sizes, for a driver that
interprets.
"""

import argparse
import concurrent.futures
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

import given
import graphs
import kinds
import large
import table

ROOT = given.ROOT
HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ("ashlar-run", "ashlar-bench")
CARRIED = ("run.sh", "run.py", "worker.py", "timing.py", "kinds.py",
           "places.py", "ashlar_c.py", "report.py", "peer_graph.py")
PARTS = ("table", "edges", "models", "large", "operators")
REFERENCE = "cpu:x86-64-v3"  # in f32, where the GPU is
ON_ALL = "sm_80"  # of operator tests: it runs on every GPU since
MOST_MIB = 40


def build_runtime(build, out):
    """The runtime alone, in a folder of its own."""
    folder = build / "gpu-runtime"
    static = "-static-libstdc++ -static-libgcc"
    if not (folder / "CMakeCache.txt").exists():
        subprocess.run(
            ["cmake", "-S", ROOT / "runtime", "-B", folder, "-G", "Ninja",
             "-DCMAKE_BUILD_TYPE=Release", "-DASHLAR_RUNTIME_TOOLS=ON",
             "-DASHLAR_RUNTIME_TESTS=OFF",
             f"-DCMAKE_SHARED_LINKER_FLAGS={static}",
             f"-DCMAKE_EXE_LINKER_FLAGS={static}",
             "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"],
            check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "AshlarRuntime",
                    *PROGRAMS], check=True, stdout=subprocess.DEVNULL)
    # Programs look for the library in ../lib.
    places = {"bin": PROGRAMS, "lib": ("libashlar_runtime.so.?",)}
    for place, names in places.items():
        (out / place).mkdir()
        for name in names:
            file, = (f for f in folder.glob(f"**/{name}") if f.is_file())
            subprocess.run(["strip", "-o", out / place / file.name, file],
                           check=True)
    for file in out.glob("*/*"):
        needed = subprocess.run(["ldd", file], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        if re.search(r"libstdc\+\+|libgcc|not found", needed):
            raise SystemExit(f"{file.name} needs more than glibc:\n{needed}")


def take_runtime(build, out):
    """That of the build, as it is: for this machine alone."""
    for place, names in {"bin": PROGRAMS,
                         "lib": ("libashlar_runtime.so.?",)}.items():
        (out / place).mkdir()
        for name in names:
            file, = (build / place).glob(name)
            shutil.copy(file, out / place)


def compile_one(tools, path, target, flags, module, feeds):
    """Why it was not compiled; empty: it was. What must be known when it is
    compiled, sizes and the like, is taken from the feeds, by and by."""
    done = subprocess.run(
        [tools / "ashlar-compile", "--quiet", path, "-o", module,
         f"--target={target}", *flags], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace")
    if done.returncode == 0:
        return ""
    asked = {name for name in re.findall(r"--value=([^=\s]+)=", done.stdout)
             if name in feeds}
    fixed = [f"--value={name}=" + ",".join(map(str, np.ravel(
        given.numbers(feeds[name])))) for name in sorted(asked)]
    if fixed and not set(fixed) <= set(flags):
        return compile_one(tools, path, target, [*flags, *fixed], module,
                           feeds)
    lines = [l.strip() for l in done.stdout.splitlines() if l.strip()]
    return " ".join(lines)[:300] or "said nothing"


class Folder:
    """What travels: modules and arrays in one archive, cases.json beside."""

    def __init__(self, arguments, work):
        self.arguments, self.work = arguments, work
        self.cases = []
        self.missing = 0  # cases that must compile and do not
        self.archive = zipfile.ZipFile(arguments.out / "modules.zip", "w",
                                       zipfile.ZIP_LZMA)

    def compiled(self, job):
        """Writes and compiles one case; on a thread of the pool."""
        case, path, flags, *arrays = job
        module = self.work / f"{abs(hash(case['name']))}.ash"
        if path is None:
            path = module.with_suffix(".onnx")
            case["inputs"] = graphs.write(case, path)
            case["tolerance"] = kinds.tolerance(case)
        preset = self.arguments.preset if case.pop("preset", True) else ON_ALL
        tools = self.arguments.build / "bin"
        why = compile_one(tools, path, f"cuda:{preset}",
                          [*flags, *case.pop("flags", [])], module,
                          arrays[0] if arrays else {})
        if not why and "reference" in case:
            why = compile_one(tools, path, REFERENCE, flags,
                              module.with_suffix(".reference"), arrays[0])
        return case, why, module, arrays

    def add(self, case, why, module, arrays):
        case["file"] = re.sub(r"[^\w.-]", "_", case["name"])
        self.cases.append(case)
        if why:
            case["refused"] = why
            print(f"REFUSED {case['name']}: {why}", flush=True)
            return
        self.archive.write(module, case["file"] + ".ash")
        module.unlink()
        if "reference" in case:
            reference = module.with_suffix(".reference")
            self.archive.write(reference, case["reference"])
            reference.unlink()
        if arrays:
            case["arrays"] = case.get("arrays", case["file"]) + ".npz"
            if case["arrays"] in self.archive.namelist():
                return
            feeds, expected = arrays
            buffer = io.BytesIO()
            np.savez(buffer, **{f"in {n}": given.as_kept(a)
                                for n, a in feeds.items()},
                     **{f"out {i}": given.as_kept(a)
                        for i, a in enumerate(expected)})
            self.archive.writestr(case["arrays"], buffer.getvalue())

    def add_all(self, part, jobs):
        """In their order; the pool holds a few at a time."""
        jobs, count, refused = iter(jobs), 0, 0
        with concurrent.futures.ThreadPoolExecutor(
                self.arguments.jobs) as pool:
            waiting = []
            for job in jobs:
                waiting.append(pool.submit(self.compiled, job))
                # Models stay only while their turn lasts.
                if part in ("models", "large") or len(waiting) > 4:
                    refused += self.take(waiting.pop(0))
                    count += 1
            for each in waiting:
                refused += self.take(each)
                count += 1
        # Some operators have no function in PTX.
        self.missing += refused if part != "operators" else 0
        print(f"{part}: {count} cases, {refused} refused", flush=True)

    def take(self, future):
        found = future.result()
        self.add(*found)
        return bool(found[1])

    def close(self):
        self.archive.close()
        (self.arguments.out / "cases.json").write_text(json.dumps(
            {"preset": self.arguments.preset, "quick": self.arguments.quick,
             "cases": self.cases}, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--preset", default="sm_90a")
    parser.add_argument("--only", default="", help="names that this finds")
    parser.add_argument("--part", action="append",
                        choices=PARTS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--here", action="store_true",
                        help="with the runtime of the build as it is: for this "
                        "machine and its driver double")
    parser.add_argument("--operators", type=int, default=400,
                        help="how many operator tests")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    arguments.out = (arguments.out or arguments.build / "gpu").resolve()
    shutil.rmtree(arguments.out, ignore_errors=True)
    arguments.out.mkdir(parents=True)
    wanted = re.compile(arguments.only)
    parts = arguments.part or PARTS
    (take_runtime if arguments.here else build_runtime)(
        arguments.build, arguments.out)
    for name in CARRIED:
        shutil.copy(HERE / name, arguments.out / name)
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        folder = Folder(arguments, work)
        table_cases = ((({"part": "table", **c}), None, [])
                       for c in table.all_cases(arguments.quick))
        for part, jobs in (
                ("table", table_cases), ("edges", given.edges(work)),
                ("models", given.models(work, given.MODELS[:2])
                 if arguments.quick else given.models(work)),
                ("large", large.cases(work, folder.archive, arguments.quick,
                                      wanted.search)),
                ("operators", given.operator_tests(
                    arguments.operators))):
            if part in parts:
                folder.add_all(part, (j for j in jobs
                                      if wanted.search(j[0]["name"])))
        folder.close()
    size = sum(f.stat().st_size for f in arguments.out.glob("**/*")
               if f.is_file()) / 2**20
    print(f"{arguments.out}: {size:.1f} MiB")
    return int(size > MOST_MIB or folder.missing != 0)


if __name__ == "__main__":
    sys.exit(main())
