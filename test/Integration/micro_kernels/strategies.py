#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random strategies: what the verifier takes can be expanded and is right.

Contractions of the kinds of micro_kernels.py get strategies at random: tiles of
any size, loops in any order over several levels, parts of workers, packing and
prefetching anywhere, sums in chunks, groups. Many contradict themselves. Those
that ashlar-opt refuses are counted; all others are expanded, compiled and run
beside loops in long double, as micro-kernels are. What fails to compile is as
wrong as a wrong number.

  strategies.py --build build --count=300 --seed=1
"""

import argparse
import dataclasses
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import micro_kernels
from random_clusters import random_clusters
from random_levels import random_levels
from micro_kernels import BATCH, BITS, KINDS, ROOT, TYPES, Runner, mlir

# Of the processor that the tests run on; `host` has its widest vectors.
PRESET = "host"
FORMS = ("steps", "vectors")


@dataclasses.dataclass(frozen=True)
class Case(micro_kernels.Case):
    """One contraction, and the number that its strategy is drawn from."""
    seed: str
    number: int
    rings: bool = False

    @property
    def name(self):
        return f"s{self.number}_{self.kind}"

    def strategy(self, problem):
        rng = random.Random(f"{self.seed} {self.number}")
        sizes = (self.m, self.n), list(problem.reduced.values())
        # Where there are rings at all, every second one has many levels or parts
        # that share copies.
        if self.rings and self.number % 2:
            random_ones = random_clusters if self.number % 4 == 3 else random_levels
            return random_ones(rng, problem, *sizes, random_layout)
        return random_strategy(rng, problem, *sizes, self.rings)


def listed(numbers):
    return ", ".join("_" if number == 0 else str(number) for number in numbers)


def random_layout(rng, rank):
    """Of a slot, often one that only some shapes fit; or nothing."""
    if rng.random() < 0.5:
        return ""
    order = rng.sample(range(rank), rank)
    pad = [rng.randint(0, 3) for _ in range(rank)]
    base, bits = rng.randint(0, 2), rng.randint(1, 2)
    swizzle = [bits, base, rng.randint(bits, 3)]
    parts = [f"{name} {numbers}" for name, numbers in
             (("order", order), ("pad", pad), ("swizzle", swizzle))
             if rng.random() < 0.5]
    return f" #tile.layout<{', '.join(parts)}>" if parts else ""


def random_roles(rng):
    """Of those who copy and who compute, which only suit some rings."""
    return [f"role producer group x {rng.randint(1, 2)}",
            f"role consumer group x {rng.randint(1, 2)}"
            + rng.choice(["", " registers 40"])] if rng.random() < 0.3 else []


def random_rings(rng, problem, levels):
    return [f"{name}: ring near at {rng.randint(0, levels - 1)} slots "
            f"{rng.randint(1, 4)}"
            + rng.choice(["", " by engine"])
            + random_layout(rng, operand.map.count(",") + 1)
            for name, operand in (("a", problem.a), ("b", problem.b))
            if rng.random() < 0.8]


def random_strategy(rng, problem, parallel, reduced, rings):
    """Text between < and > of #tile.strategy."""
    def tile_of(size):
        return rng.choice([1, 2, 4, 6, 8, 16, size, rng.randint(1, size + 2)])

    def often(probability):
        return rng.random() < probability
    box = [tile_of(size) for size in parallel]
    terms = [2 + i for i in range(len(reduced))]
    whole = [0] * len(reduced)
    chunks = [0 if often(0.7) else
              rng.choice([d for d in range(1, size + 1) if size % d == 0]
                         + [rng.randint(1, size)])
              for size in reduced]
    order = rng.sample([0, 1], 2)
    levels = []
    if often(0.5):
        parts = [rng.choice([0, tile, 2 * tile, rng.randint(1, size + 2)])
                 for tile, size in zip(box, parallel)]
        if any(parts):
            levels.append(f"grid core [{listed(parts)} | {listed(whole)}]")
    # Where each level's loops end.
    ends = sorted(rng.choices(range(3), k=rng.randint(0, 2))) + [2]
    done = []
    for number, end in enumerate(ends):
        loops = [d for d in order[:end] if d not in done]
        done += loops
        isLast = number + 1 == len(ends)
        tiles = [tile if isLast or d in done else 0
                 for d, tile in enumerate(box)]
        if often(0.05):
            tiles[rng.randrange(2)] = rng.randint(0, 8)
        if isLast:
            cut = [d for d, chunk in zip(terms, chunks) if chunk]
            loops += cut if often(0.95) else cut[1:]
            if often(0.05):
                rng.shuffle(loops)
        text = f"loop [{listed(tiles)} | {listed(chunks if isLast else whole)}]"
        if loops:
            text += f" order [{', '.join(map(str, loops))}]"
        levels.append(text)
    hops = random_rings(rng, problem, len(levels)) if rings else []
    if not rings and often(0.5):
        hops.append(f"b: pack l2 at {rng.randint(0, len(levels) - 1)}")
    if not rings and often(0.2):
        hops.append(f"b: prefetch l2 slots {rng.randint(1, 20)}")
    group = problem.grouped and often(0.9)
    k = ", ".join(map(str, terms[:-1] if group else terms))
    k += f" | {terms[-1]}" if group else ""
    promote = len(levels) - 1 if any(chunks) and often(0.7) else -1
    if often(0.05):
        promote = rng.randint(-1, len(levels))
    sums = "acc sums" + (f" promote {promote}" if promote >= 0 else "")
    roles = random_roles(rng) if rings else []
    hints = f", hints {{unroll = {rng.randint(1, 7)} : i64}}"
    return (f'"lanes" m [0] n [1] k [{k}], '
            + ", ".join([*levels, *hops, sums, *roles])
            + (hints if often(0.8) else ""))


def random_cases(count, seed, first, lanes_of_register, element, rings=False):
    for number in range(first, first + count):
        rng = random.Random(f"{seed} {element} {number}")
        vectors = rng.randint(1, 3)
        yield Case(rng.randint(1, 6), vectors, rng.randint(1, 14),
                   rng.randint(1, 2 * vectors * lanes_of_register + 1),
                   rng.randint(1, 12), rng.choice(KINDS).__name__,
                   f"{seed} {element}", number, rings)


def taken(folder, tool, cases, element, lanes_of_register):
    """The cases whose strategies the verifier takes."""
    source = folder / "strategies.mlir"
    starts, text = [], ""
    for case in cases:
        starts.append(text.count("\n") + 1)
        text += mlir(case, TYPES[element], lanes_of_register, None,
                     case.strategy)[0] + "// -----\n"
    source.write_text(text)
    done = subprocess.run([tool, source, "--split-input-file", "-o",
                           "/dev/null"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{tool} ended with {done.returncode}: "
                         f"{done.stderr[-2000:]}")
    refused = set()
    for line in re.findall(r"strategies\.mlir:(\d+):\d+: error", done.stderr):
        refused.add(max(i for i, start in enumerate(starts)
                        if start <= int(line)))
    return [case for i, case in enumerate(cases) if i not in refused]


class StrategyRunner(Runner):
    program = "strategies.py"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--preset", default=PRESET)
    parser.add_argument("--type", action="append", choices=TYPES)
    parser.add_argument("--form", action="append", choices=FORMS)
    parser.add_argument("--count", type=int, default=300,
                        help="strategies in all")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", help="the one of this name")
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    types = arguments.type or list(TYPES)
    each = -(-arguments.count // len(types))
    passed = failed = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for form in arguments.form or FORMS:
            runner = StrategyRunner(arguments.build, arguments.preset, form,
                                    pathlib.Path(folder))
            if runner.why_not:
                print(f"SKIP {arguments.preset}: {runner.why_not}")
                print("0 passed, 0 failed, 1 skipped")
                return 0
            tool = arguments.build.resolve() / "bin" / "ashlar-opt"
            for element in types:
                lanes = runner.vector_bytes * 8 // BITS[TYPES[element][2]]
                cases = list(random_cases(each, arguments.seed,
                                          arguments.first, lanes, element))
                if arguments.only:
                    cases = [case for case in cases
                             if case.name == arguments.only]
                fit = taken(runner.folder, tool, cases, element, lanes)
                refused += len(cases) - len(fit)
                for i in range(0, len(fit), BATCH):
                    p, f = runner.run(element, fit[i:i + BATCH],
                                      arguments.seed)
                    passed, failed = passed + p, failed + f
    print(f"{refused} refused by the verifier")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
