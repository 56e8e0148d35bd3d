#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers of every micro-kernel at its edges.

A micro-kernel is what one accumulator's box becomes: so many rows, so many
registers of columns. For each width in registers that a strategy may choose,
with as many rows as the registers allow, kernels are made whose rows and
columns go from 1 to twice the box and one, and whose terms go from 1 to twice
what is written out and one. run_kernels.c calls them on random operands and
compares with loops in long double. What a kernel reads and how differs from one
to the next (kinds, below), so that all of them meet all edges.

Kernels for a matrix unit have its registers instead: on a processor without one
they are small ones that the compiler makes of vectors.

Everything runs unless --sample=N takes N kernels of each preset and type.
Presets that this machine cannot run are skipped, each with its reason; code for
aarch64 runs under qemu. Where AMX is all that is missing, emulate_amx.c stands in
for it and every line says so.

  micro_kernels.py --build build --sample=40 --seed=1
"""

import argparse
import dataclasses
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
UNROLL = 4
BATCH = 250

# Types of a, b, the sum, what is stored.
TYPES = {
    "f32": ("f32", "f32", "f32", "f32"),
    "f64": ("f64", "f64", "f64", "f64"),
    "f16": ("f16", "f16", "f32", "f16"),
    "bf16": ("bf16", "bf16", "f32", "bf16"),
    "i8": ("i8", "i8", "i32", "i32"),
    "u8": ("u8", "i8", "i32", "i32"),
    "u8u8": ("u8", "u8", "i32", "i32"),
    "i8i8": ("i8", "i8", "i32", "i8"),
}
BITS = {"f32": 32, "f64": 64, "i32": 32}
# Terms that grouped kinds multiply at once: as many as fill a register's lane
# of the sum where they are smaller, which is what instructions take.
GROUPS = {"bf16": 2, "f16": 2, "i8": 4, "u8": 4, "u8u8": 4}

# What the processor's flags in /proc/cpuinfo must hold.
NEEDS = {
    "host": set(),
    "x86-64-v3": {"avx2", "fma", "f16c", "bmi2"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "sapphirerapids": {"amx_bf16", "amx_int8", "amx_tile", "avx512_bf16"},
}
# Rows of a register of the matrix unit, and groups of terms that it takes; it
# has as many columns as a vector has lanes.
MATRICES = {"sapphirerapids": (16, 16)}
SMALL_MATRICES = (3, 4)

# From level 1 of the tile dialect, through level 3, to vectors; the other two
# stop at the level named and go on in plain loops.
FORMS = {
    "vectors": "ashlar-expand-contracts,ashlar-expand-copies),"
               "ashlar-form-groups,"
               "func.func(ashlar-generalize-kernels,"
               "ashlar-vectorize-generics{vector-bytes=VECTORS},"
               "ashlar-vectorize-steps{vector-bytes=VECTORS}",
    "matrices": "ashlar-expand-contracts,ashlar-expand-copies),"
                "ashlar-form-groups,"
                "func.func(ashlar-generalize-kernels,"
                "ashlar-form-matrices{vector-bytes=VECTORS}",
    "contracts": "ashlar-tile-to-loops),ashlar-form-groups,"
                 "func.func(ashlar-generalize-kernels",
    "steps": "ashlar-expand-contracts,ashlar-expand-copies,"
             "ashlar-tile-to-loops),ashlar-form-groups,"
             "func.func(ashlar-generalize-kernels",
}


@dataclasses.dataclass
class Operand:
    """Elements along each dim, the map into them, steps per loop dim from
    where all of those are zero."""
    shape: list
    map: str
    steps: list
    start: int = 0

    def elements(self):
        count = 1
        for size in self.shape:
            count *= size
        return count

    def type(self, element):
        element = element.replace("u8", "i8")
        return f"memref<{'x'.join(map(str, self.shape))}x{element}>"


@dataclasses.dataclass
class Problem:
    """Loops over m, n and what is summed; the boxes of a strategy."""
    reduced: dict
    a: Operand
    b: Operand
    c: Operand
    chunks: list = None
    panel: int = 0
    distance: int = 0
    workers: tuple = (0, 0)
    order: tuple = (0, 1)
    packs: bool = False
    padded: bool = False
    grouped: bool = False


def plain(m, n, k, rows, columns):
    """A matrix product."""
    return Problem({"k": k}, Operand([m, k], "m, k", [k, 0, 1]),
                   Operand([k, n], "k, n", [0, 1, n]),
                   Operand([m, n], "m, n", [n, 1]))


def panels(m, n, k, rows, columns):
    """b in panels, as constants are."""
    problem = plain(m, n, k, rows, columns)
    count = -(-n // columns)
    problem.b = Operand([count, k, columns],
                        f"n floordiv {columns}, k, n mod {columns}",
                        [0, 1, columns])
    problem.panel, problem.distance = columns, k * columns
    return problem


def gathered(m, n, k, rows, columns):
    """The columns of b lie apart."""
    problem = plain(m, n, k, rows, columns)
    problem.b = Operand([n, k], "n, k", [0, k, 1])
    return problem


def packed(m, n, k, rows, columns):
    """They lie apart, and are copied side by side first."""
    problem = gathered(m, n, k, rows, columns)
    problem.order, problem.packs = (1, 0), True
    return problem


def chunks(m, n, k, rows, columns):
    """Sums of k terms join a total, three times."""
    problem = plain(m, n, 3 * k, rows, columns)
    problem.chunks = [k]
    return problem


def workers(m, n, k, rows, columns):
    """Rows, or columns, are shared out."""
    problem = plain(m, n, k, rows, columns)
    problem.workers = (rows, 0) if k % 2 else (0, columns)
    return problem


def scattered(m, n, k, rows, columns):
    """Columns of the result lie apart."""
    problem = plain(m, n, k, rows, columns)
    problem.c = Operand([n, m], "n, m", [1, m])
    return problem


def padded(m, n, k, rows, columns):
    """The result is the middle of something larger, whose border is one."""
    problem = plain(m, n, k, rows, columns)
    problem.c = Operand([m + 2, n + 3], "m + 1, n + 2", [n + 3, 1], n + 5)
    problem.padded = True
    return problem


def window(m, n, k, rows, columns):
    """A convolution with three taps, in steps of two."""
    return Problem({"s": 3, "k": k},
                   Operand([2 * m + 1, k], "m * 2 + s, k", [2 * k, 0, k, 1]),
                   Operand([3, k, n], "s, k, n", [0, 1, k * n, n]),
                   Operand([m, n], "m, n", [n, 1]))


def lanes(m, n, k, rows, columns):
    """A depthwise convolution with k taps: the columns are a's too."""
    step = 1 + m % 2
    return Problem({"k": k},
                   Operand([step * (m - 1) + k, n], f"m * {step} + k, n",
                           [step * n, 1, n]),
                   Operand([k, n], "k, n", [0, 1, n]),
                   Operand([m, n], "m, n", [n, 1]))


def pairs(m, n, k, rows, columns, group):
    """Groups of terms lie side by side, b's in panels."""
    count = -(-n // columns)
    return Problem({"k": k, "j": group},
                   Operand([m, k * group], f"m, k * {group} + j",
                           [k * group, 0, group, 1]),
                   Operand([count, k, columns, group],
                           f"n floordiv {columns}, k, n mod {columns}, j",
                           [0, group, columns * group, 1]),
                   Operand([m, n], "m, n", [n, 1]), panel=columns,
                   distance=k * columns * group, grouped=True)


def paired(m, n, k, rows, columns, group):
    """b's are brought side by side first."""
    problem = pairs(m, n, k, rows, columns, group)
    problem.b = Operand([k * group, n], f"k * {group} + j, n",
                        [0, 1, group * n, n])
    problem.panel = problem.distance = 0
    problem.order, problem.packs = (1, 0), True
    return problem


KINDS = (plain, panels, gathered, packed, chunks, workers, scattered, padded,
         window, lanes, pairs, paired)


@dataclasses.dataclass(frozen=True)
class Case:
    """One kernel, named by all that it is."""
    rows: int
    vectors: int
    m: int
    n: int
    k: int
    kind: str

    @property
    def name(self):
        return (f"{self.kind}_{self.rows}x{self.vectors}"
                f"_m{self.m}_n{self.n}_k{self.k}")


def all_cases(boxes, lanes_of_register, kinds, together):
    """Every m and n of every box of rows and vectors. k, up to twice what is
    taken `together` and one, and the kind go round at different paces, so that
    they meet each other, each m and, given rows enough, each n."""
    cases = []
    for rows, vectors in boxes:
        columns = vectors * lanes_of_register
        terms = 2 * together + 1
        for m in range(1, 2 * rows + 2):
            for n in range(1, 2 * columns + 2):
                kind = kinds[(m + n) % len(kinds)]
                k = 1 + (2 * m + n) % terms
                cases.append(Case(rows, vectors, m, n, k, kind.__name__))
    return cases


def levels(problem, box, workers, sizes):
    """The levels of a strategy, and all that stands behind them."""
    def tile(parallel, reduced):
        return (f"[{', '.join(str(n or '_') for n in parallel)} | "
                f"{', '.join(str(n or '_') for n in reduced)}]")
    whole = [0] * len(sizes)
    chunks = [chunk if chunk < size else 0
              for chunk, size in zip(box[2:], sizes)]
    dims = [2 + i for i in range(len(sizes))]
    terms = ", ".join(map(str, dims))
    if problem.grouped:
        terms = f"{', '.join(map(str, dims[:-1]))} | {dims[-1]}"
    text, number = f"m [0] n [1] k [{terms}], ", 0
    if any(workers):
        text += f"grid core {tile(workers, whole)}, "
        number += 1
    loops, hop = list(problem.order), ""
    if problem.packs:
        outside = loops[:loops.index(1) + 1]
        loops = loops[len(outside):]
        panel = [box[d] if d in outside else 0 for d in range(2)]
        text += f"loop {tile(panel, whole)} order {outside}, "
        hop = f"b: pack l2 at {number}, "
        number += 1
    loops += [d for d, chunk in zip(dims, chunks) if chunk]
    order = f" order {loops}" if loops else ""
    promote = f" promote {number}" if any(chunks) else ""
    return (f"{text}loop {tile(box[:2], chunks)}{order}, {hop}"
            f"acc sums{promote}, hints {{unroll = {UNROLL} : i64}}")


def mlir(case, types, lanes_of_register, matrix=None, strategy=None):
    """The function of a case, and its line for run_kernels but for groups.
    `matrix` is rows of a register of a matrix unit and groups it takes;
    `strategy` takes a problem and gives the text of another strategy than the
    kind's own."""
    columns = case.vectors * lanes_of_register
    kind = next(k for k in KINDS if k.__name__ == case.kind)
    a, b, sums, out = types
    group = [GROUPS.get(a, 2)] if kind in (pairs, paired) else []
    p = kind(case.m, case.n, case.k, case.rows, columns, *group)
    names = ", ".join(["m", "n", *p.reduced])
    sizes = list(p.reduced.values())
    box = [case.rows, columns, *(p.chunks or sizes)]
    flags = ("aUnsigned, " if a == "u8" else "") + (
        "bUnsigned, " if b == "u8" else "")
    add = "arith.addf" if sums[0] == "f" else "arith.addi"
    pad = ""
    if p.padded:
        pad = f"pad = {'1.0' if out[0] in 'fb' else '1'} : {out}, "
    body = f"    %y = {add} %s, %x : {sums}\n"
    if out != sums:
        cut = "arith.truncf" if sums[0] == "f" else "arith.trunci"
        body += f"    %z = {cut} %y : {sums} to {out}\n"
    bias = f"memref<{case.n}x{sums}>"
    workers = [w if w < size else 0
               for w, size in zip(p.workers, (case.m, case.n))]
    unit = '"lanes"'
    if matrix:
        unit = (f'"matrix" shape [{matrix[0]}, {lanes_of_register}, '
                f"{matrix[1] * sizes[-1]}]")
    chosen = (strategy(p) if strategy
              else f"{unit} {levels(p, box, workers, sizes)}")
    text = (
        f"exec.kernel @{case.name} calls @{case.name}_body : ({p.a.type(a)}, "
        f"{p.b.type(b)}, {bias}) -> {p.c.type(out)}\n"
        f"func.func private @{case.name}_body(%a: {p.a.type(a)}, "
        f"%b: {p.b.type(b)}, %p: {bias}, %c: {p.c.type(out)}) {{\n"
        f"  tile.contract a(%a : {p.a.type(a)}) b(%b : {p.b.type(b)}) "
        f"epilogue(%p : {bias}) outs(%c : {p.c.type(out)}) attributes {{\n"
        f"      parallel = array<i64: {case.m}, {case.n}>, "
        f"reduced = array<i64: {', '.join(map(str, sizes))}>, {flags}{pad}\n"
        f"      maps = [affine_map<({names}) -> ({p.a.map})>, "
        f"affine_map<({names}) -> ({p.b.map})>, "
        f"affine_map<(m, n) -> (n)>, affine_map<(m, n) -> ({p.c.map})>],\n"
        f"      strategy = #tile.strategy<{chosen}>}} {{\n"
        f"  ^bb0(%s: {sums}, %x: {sums}):\n{body}"
        f"    tile.yield %{'y' if out == sums else 'z'} : {out}\n"
        "  }\n  return\n}\n")
    line = [*types, 2, len(sizes), case.m, case.n, *sizes, 0, *p.a.steps, 0,
            *p.b.steps, p.panel, p.distance, p.c.start, *p.c.steps,
            p.a.elements(), p.b.elements(), p.c.elements()]
    return text, " ".join(map(str, line))


class Runner:
    """Compiles and runs cases of one preset."""
    program = "micro_kernels.py"

    def __init__(self, build, preset, form, folder):
        self.compiler = build.resolve() / "unittests" / "compile-kernels"
        self.preset, self.form, self.folder = preset, form, folder
        self.emulated = False
        self.why_not = self.find_program()
        if not self.why_not:
            told = subprocess.run([self.compiler, preset], check=True,
                                  stdout=subprocess.PIPE, text=True)
            self.vector_bytes, self.registers = map(int, told.stdout.split())
        self.matrix = None
        if form == "matrices":
            self.matrix = MATRICES.get(preset, SMALL_MATRICES)

    @property
    def name(self):
        return self.preset + (" (AMX emulated)" if self.emulated else "")

    def find_program(self):
        """Builds what runs kernels, or says why they cannot be run."""
        if not self.compiler.exists():
            return f"{self.compiler.name} is not built"
        if self.preset == "aarch64":
            self.command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
            cc = "aarch64-linux-gnu-gcc"
            for program in (cc, self.command[0]):
                if not shutil.which(program):
                    return f"{program} was not found (scripts/setup.sh)"
        else:
            flags = set()
            for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
                if line.startswith("flags"):
                    flags = set(line.split())
            missing = sorted(NEEDS[self.preset] - flags)
            self.emulated = bool(missing) and all(
                flag.startswith("amx_") for flag in missing)
            if missing and not self.emulated:
                return f"this processor has no {' '.join(missing)}"
            self.command = []
            cc = shutil.which("clang-22") or shutil.which("cc")
            if not cc:
                return "no C compiler was found (scripts/setup.sh)"
            if self.emulated:
                emulation = self.folder / "emulate_amx.so"
                subprocess.run(
                    [cc, "-std=gnu11", "-O2", "-shared", "-fPIC", "-o",
                     emulation, HERE / "emulate_amx.c", "-lm"], check=True)
                self.command = ["env", f"LD_PRELOAD={emulation}"]
        program = self.folder / f"run_kernels-{self.preset}"
        subprocess.run(
            [cc, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror",
             "-ffp-contract=off", f"-I{ROOT}/runtime/include", "-o", program,
             HERE / "run_kernels.c", "-ldl", "-lm"], check=True)
        self.command.append(program)
        return None

    def cases(self, element):
        lanes_of_register = self.vector_bytes * 8 // BITS[TYPES[element][2]]
        if self.matrix:
            rows, groups = self.matrix
            boxes = [(rows, 1), (2 * rows, 1), (rows, 2), (2 * rows, 2)]
            return all_cases(boxes, lanes_of_register, (pairs, paired), groups)
        boxes = [((self.registers - v - 1) // v, v) for v in range(1, 9)
                 if self.registers - v - 1 >= v]
        return all_cases(boxes, lanes_of_register, KINDS, UNROLL)

    def run(self, element, cases, seed):
        """Returns how many passed and failed; says which failed."""
        lanes_of_register = self.vector_bytes * 8 // BITS[TYPES[element][2]]
        source = self.folder / "kernels.mlir"
        image = self.folder / "kernels.so"
        list_of_cases = self.folder / "cases.txt"
        texts, lines = {}, {}
        for case in cases:
            texts[case.name], lines[case.name] = mlir(
                case, TYPES[element], lanes_of_register, self.matrix,
                getattr(case, "strategy", None))
        source.write_text("".join(texts.values()))
        pipeline = (f"func.func({FORMS[self.form]},"
                    "convert-linalg-to-loops,canonicalize,cse)")
        made = subprocess.run(
            [self.compiler, source, image, self.preset, pipeline],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if made.returncode != 0:
            print(f"FAIL {self.preset} {element}: not compiled "
                  f"({made.returncode}): {made.stderr.strip()[:2000]}")
            return 0, len(cases)
        list_of_cases.write_text("".join(
            f"{name} {groups} {scratch} {lines[name]}\n"
            for name, groups, scratch in map(str.split,
                                             made.stdout.splitlines())))
        done = subprocess.run(
            [*self.command, image, list_of_cases, str(seed)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        failed = []
        for line in done.stdout.splitlines():
            if line.startswith("FAIL "):
                failed.append(line.split()[1].rstrip(":"))
                print(f"FAIL {self.preset} {element} {line[5:]}")
        if done.returncode not in (0, 1):
            last = (done.stderr.split() or ["?"])[-1]
            failed.append(last)
            print(f"FAIL {self.preset} {element} {last}: "
                  f"ended with {done.returncode}")
        for name in failed[:1]:
            print(f"  again: {HERE.relative_to(ROOT)}/{self.program} "
                  f"--preset={self.preset} --type={element} --form={self.form} "
                  f"--only={name} --seed={seed}")
        return len(cases) - len(failed), len(failed)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0],
        epilog=f"Presets: {' '.join(NEEDS)} aarch64. "
        f"Types: {' '.join(TYPES)}. Forms: {' '.join(FORMS)}.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--preset", action="append")
    parser.add_argument("--type", action="append", choices=TYPES)
    parser.add_argument("--form", choices=FORMS, default="vectors")
    parser.add_argument("--sample", type=int, help="kernels of each type")
    parser.add_argument("--only", help="kernels whose name begins so")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path,
                        help="a folder that the kernels stay in")
    arguments = parser.parse_args()

    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for preset in arguments.preset or [*NEEDS, "aarch64"]:
            runner = Runner(arguments.build, preset, arguments.form, folder)
            if runner.why_not:
                print(f"SKIP {preset}: {runner.why_not}")
                skipped += 1
                continue
            for element in arguments.type or TYPES:
                cases = runner.cases(element)
                if arguments.only:
                    cases = [c for c in cases
                             if c.name.startswith(arguments.only)]
                elif arguments.sample:
                    cases = random.Random(f"{arguments.seed} {preset} {element}"
                                          ).sample(cases, arguments.sample)
                counts = [
                    runner.run(element, cases[i:i + BATCH], arguments.seed)
                    for i in range(0, len(cases), BATCH)]
                passed += sum(p for p, _ in counts)
                failed += sum(f for _, f in counts)
                print(f"{runner.name} {element}: {len(cases)} kernels",
                      flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
