#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators at their edges: odd and empty sizes, NaN, ties, every padding.

test/Integration/edges/cases.py lists them; ONNX's reference evaluator and ONNX
Runtime, where they agree, say what is right. Besides: operators on random
operands, the distributions of random numbers, operators of TOSA and linalg.
"""

import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts" / "check"),
                *(str(ROOT / "test" / "Integration" / f) for f in
                  ("edges", "mlir_operators", "random_operators"))]
import distributions  # noqa: E402
import make  # noqa: E402
import mlir_operators  # noqa: E402
import operators  # noqa: E402


def check_random(checker, mode):
    """Operators on random operands, beside ONNX Runtime and NumPy: how many
    families are right, how many are not."""
    folder = ROOT / "test" / "Integration" / "random_operators"
    families = sorted(p.stem.removeprefix("cases_")
                      for p in folder.glob("cases_*.py"))
    if mode == "quick":
        families = families[::4]
    wrong = 0
    for family in families:
        done = subprocess.run(
            [sys.executable, folder / "random_operators.py", checker,
             f"--only={family}"], stdout=subprocess.PIPE, text=True)
        print(done.stdout)
        if done.returncode:
            print(f"FAIL random operators: {family}")
            wrong += 1
    return len(families) - wrong, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    checker = arguments.build.resolve() / "bin" / "ashlar-check"
    if not checker.exists():
        print(f"SKIP edges: {checker.name} is not built")
        print("0 passed, 0 failed, 1 skipped")
        return 0

    folder = arguments.build.resolve() / "check" / "edges"
    written, left_out = make.make(
        folder, every=10 if arguments.mode == "quick" else 1)
    print(f"{written} cases, {len(left_out)} left out: {left_out}")
    names = sorted(p.name for p in folder.iterdir())
    with tempfile.TemporaryDirectory() as work:
        verdicts, status = operators.check_set(
            checker, folder, names, os.cpu_count(), work)
    passed = failed = 0
    unsupported = collections.defaultdict(list)
    if status not in (0, 1):
        print(f"FAIL edges: ashlar-check ended with {status}")
        failed += 1
    for name in names:
        verdict, why = verdicts.get(
            name, ("failed", "ashlar-check said nothing of it"))
        if verdict == "passed":
            passed += 1
        elif verdict == "failed":
            print(f"FAIL {name}: {why}; it is in {folder / name}")
            failed += 1
        else:
            unsupported[why].append(name)
    skipped = operators.show_unsupported(unsupported)
    counts = [check_random(checker, arguments.mode)]
    if arguments.mode != "quick":
        counts += [distributions.run(checker.parent),
                   mlir_operators.run(checker.parent)]
    for right, wrong in counts:
        passed += right
        failed += wrong
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
