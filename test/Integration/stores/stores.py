#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stores of rows whose end is part of a vector.

A kernel converts rows from one type to another, and its vectors have as many
lanes as the widest type it computes with lets a register have. All pairs of
types, all ways between them (conversions.py), and for each all lengths of a row
below twice the lanes are compiled for each preset of the target cpu. Nothing
but the rows may be written, and nothing beyond them read; what is stored is
compared with NumPy's.

The code is read as well (store_widths.py), which is all that can be done with
what the machine at hand does not run.

Everything runs unless --sample=N takes, of each preset, N kernels and those
with one element behind a whole vector.

  stores.py --build build --sample=200 --seed=1
"""

import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import store_widths
from conversions import SIZES
from rows import ROWS, all_cases, data, mlir

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BATCH = 400

PIPELINE = ("ashlar-form-groups,func.func(ashlar-generalize-kernels,"
            "ashlar-vectorize-generics{vector-bytes=VECTORS},"
            "convert-linalg-to-loops,canonicalize,cse)")

AVX512 = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
BF16 = AVX512 | {"avx512_bf16", "avx512_vnni"}
# What the processor's flags in /proc/cpuinfo must hold. There is no instruction
# of a matrix unit in these kernels.
NEEDS = {
    "host": set(),
    "x86-64": {"lm"},
    "x86-64-v3": {"avx2", "fma", "f16c", "bmi2"},
    "znver3": {"avx2", "fma", "f16c", "bmi2"},
    "x86-64-v4": AVX512,
    "znver4": BF16,
    "sapphirerapids": BF16,
    "aarch64": set(),
    "riscv64": {"riscv"},
}


class Runner:
    """Compiles, runs and reads cases of one preset."""

    def __init__(self, build, preset, folder):
        self.compiler = build.resolve() / "unittests" / "compile-kernels"
        self.preset, self.folder = preset, folder
        told = subprocess.run([self.compiler, preset], check=True,
                              stdout=subprocess.PIPE, text=True)
        self.vector_bytes = int(told.stdout.split()[0])
        self.command, self.why_not_run = [], ""
        cc = self.find_compiler()
        if self.why_not_run:
            return
        program = self.folder / f"run_stores-{preset}"
        subprocess.run(
            [cc, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror",
             f"-I{ROOT}/runtime/include", "-o", program, HERE / "run_stores.c",
             "-ldl"], check=True)
        self.command.append(program)

    def find_compiler(self):
        """Of C for the preset's machine; says why its code is not run."""
        if self.preset == "aarch64":
            self.command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
            cc = "aarch64-linux-gnu-gcc"
            for program in (cc, self.command[0]):
                if not shutil.which(program):
                    self.why_not_run = \
                        f"{program} was not found (scripts/setup.sh)"
            return cc
        flags = set()
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("flags"):
                flags = set(line.split())
        missing = sorted(NEEDS[self.preset] - flags)
        if missing:
            self.why_not_run = f"this processor has no {' '.join(missing)}"
        return shutil.which("clang-22") or shutil.which("cc")

    def compile(self, cases):
        """The image's kernels with their groups and scratch."""
        source = self.folder / "stores.mlir"
        source.write_text("".join(map(mlir, cases)))
        made = subprocess.run(
            [self.compiler, source, self.image(), self.preset, PIPELINE],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if made.returncode != 0:
            print(f"FAIL {self.preset}: not compiled ({made.returncode}): "
                  f"{made.stderr.strip()[:2000]}")
            return None
        return {name: sizes for name, *sizes in
                map(str.split, made.stdout.splitlines())}

    def image(self):
        return self.folder / "stores.so"

    def execute(self, cases, kernels, seed):
        """Names of those that are wrong, each with what is."""
        lines, bytes_of_all = [], []
        for case in cases:
            given, expected = data(case, seed)
            lines.append(" ".join([case.name, *kernels[case.name],
                                   f"{len(given)} {len(expected)}",
                                   f"{case.columns}\n"]))
            bytes_of_all += [given, expected]
        (self.folder / "cases.txt").write_text("".join(lines))
        (self.folder / "data").write_bytes(b"".join(bytes_of_all))
        done = subprocess.run(
            [*self.command, self.image(), self.folder / "cases.txt",
             self.folder / "data"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wrong = dict(line[5:].split(": ", 1) for line in
                     done.stdout.splitlines() if line.startswith("FAIL "))
        if done.returncode not in (0, 1):
            last = (done.stderr.split() or ["?"])[-1]
            wrong[last] = f"ended with {done.returncode}"
        return wrong

    def read(self, cases):
        """The same of code that stores more than it should."""
        widths = store_widths.of_functions(self.image(), self.preset)
        wrong = {}
        for case in cases:
            if not case.known or case.b == "i1":
                continue
            why = store_widths.judge(
                widths[case.name], SIZES[case.b], case.columns,
                case.lanes(self.vector_bytes), ROWS)
            if why:
                wrong[case.name] = why
        return wrong

    def run(self, cases, seed):
        """How many of the cases passed."""
        kernels = self.compile(cases)
        if kernels is None:
            return 0
        wrong = self.read(cases)
        if not self.why_not_run:
            wrong.update(self.execute(cases, kernels, seed))
        for number, (name, why) in enumerate(sorted(wrong.items())):
            print(f"FAIL {self.preset} {name}: {why}")
            if number == 0:
                print(f"  again: {HERE.relative_to(ROOT)}/stores.py "
                      f"--preset={self.preset} --only={name} --seed={seed}")
        return len(cases) - len(wrong)


def sample(cases, arguments, runner):
    one, others = [], []
    for case in cases:
        alone = case.known and not case.apart and \
            case.columns == case.lanes(runner.vector_bytes) + 1
        (one if alone else others).append(case)
    choose = random.Random(f"{arguments.seed} {runner.preset}")
    return one + choose.sample(others, min(arguments.sample, len(others)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0],
        epilog=f"Presets: {' '.join(NEEDS)}.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--preset", action="append", choices=NEEDS)
    parser.add_argument("--sample", type=int, help="kernels of each preset, and those that lead to an "
                        "element alone")
    parser.add_argument("--only", help="kernels whose name begins so")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path,
                        help="a folder that the last kernels stay in")
    arguments = parser.parse_args()

    if not (arguments.build / "unittests" / "compile-kernels").exists():
        print("SKIP stores: compile-kernels is not built")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for preset in arguments.preset or NEEDS:
            runner = Runner(arguments.build, preset, folder)
            cases = all_cases(runner.vector_bytes)
            if arguments.only:
                cases = [c for c in cases if c.name.startswith(arguments.only)]
            elif arguments.sample is not None:
                cases = sample(cases, arguments, runner)
            right = sum(runner.run(cases[i:i + BATCH], arguments.seed)
                        for i in range(0, len(cases), BATCH))
            passed += right
            failed += len(cases) - right
            print(f"{preset}: {len(cases)} kernels"
                  f"{', ' if runner.why_not_run else ''}"
                  f"{runner.why_not_run and 'read, not run: '}"
                  f"{runner.why_not_run}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
