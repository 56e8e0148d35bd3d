#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strategies of made-up machines, as programs that are interpreted.

Contractions with random strategies whose operands come through rings of one to
four slots, in random layouts, at any level, in tiles of terms or whole. Those
that the verifier takes are expanded, in six ways: as if nothing overlapped, in
roles within loops, in roles that run side by side, with the copies of later
iterations begun before an iteration computes, and the last two with steps that
go on in the next iteration. Each is interpreted under random schedules (ashlar-interpret-kernels), beside sums in f64.

  levels.py                      300 of them
  levels.py --count=10000        whenever strategies or their expansion change
  levels.py --seed=1 --only=s17_direct
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from micro_kernels import BATCH, ROOT, TYPES, mlir
from strategies import random_cases, taken

LANES = 4
WAYS = ["ashlar-expand-contracts",
        "ashlar-expand-contracts,ashlar-split-roles",
        "ashlar-expand-contracts,ashlar-hoist-roles,canonicalize",
        "ashlar-expand-contracts,ashlar-pipeline-copies,canonicalize",
        "ashlar-expand-contracts,ashlar-hoist-roles,ashlar-schedule-steps,"
        "canonicalize",
        "ashlar-expand-contracts,ashlar-pipeline-copies,ashlar-schedule-steps,"
        "canonicalize"]
# Sums of up to some hundred terms in the type itself.
TOLERANCES = {"f16": 2e-2, "bf16": 2e-2}


def interpret(tool, folder, cases, element, way, arguments):
    """The names of the cases that are right, and what was said of the rest."""
    source = folder / "levels.mlir"
    source.write_text("// -----\n".join(
        mlir(case, TYPES[element], LANES, None, case.strategy)[0]
        for case in cases))
    # A failure ends its own part of the file alone.
    done = subprocess.run(
        [tool, source, "--split-input-file", "-o", "/dev/null",
         f"--ashlar-interpret-kernels=through={way} "
         f"schedules={arguments.schedules} seed={arguments.first + 1} "
         f"tolerance={TOLERANCES.get(element, 1e-5)}"],
        capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{tool} ended with {done.returncode}: "
                         f"{done.stderr[-2000:]}")
    right = set(re.findall(r"'(\w+)_body__through' interpreted under",
                           done.stderr))
    hoisted = done.stderr.count("does not run ahead")
    return right, hoisted, [line for line in done.stderr.splitlines()
                            if ": error: " in line]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--type", action="append", choices=TYPES)
    parser.add_argument("--count", type=int, default=300,
                        help="strategies in all")
    parser.add_argument("--schedules", type=int, default=4)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", help="the one of this name")
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    tool = arguments.build.resolve() / "bin" / "ashlar-opt"
    types = arguments.type or list(TYPES)
    each = -(-arguments.count // len(types))
    passed = failed = refused = apart = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for element in types:
            cases = [case for case in
                     random_cases(each, f"rings {arguments.seed}",
                                  arguments.first, LANES, element, rings=True)
                     if arguments.only in (None, case.name)]
            fit = taken(folder, tool, cases, element, LANES)
            refused += len(cases) - len(fit)
            for way in WAYS:
                for i in range(0, len(fit), BATCH):
                    batch = fit[i:i + BATCH]
                    right, stayed, errors = interpret(
                        tool, folder, batch, element, way, arguments)
                    apart += stayed
                    wrong = [c.name for c in batch if c.name not in right]
                    passed += len(batch) - len(wrong)
                    failed += len(wrong)
                    for case in wrong:
                        print(f"FAIL {element} {case} through {way}: levels.py"
                              f" --seed={arguments.seed} --type={element} "
                              f"--count={arguments.count} "
                              f"--first={arguments.first} --only={case}")
                    for line in errors[:3] if wrong else []:
                        print(f"  {line}")
    print(f"{refused} refused by the verifier, {apart} copies stayed where "
          "they were")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
