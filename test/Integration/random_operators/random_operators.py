#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks operators on random operands of our own.

Every module cases_FAMILY.py beside this file has a function cases(random) that
yields Case objects, and may state RTOL and ATOL. The cases are written in the
layout of ONNX's tests and handed to ashlar-check. Exits with 1 when one fails
or is not supported; what failed stays in --folder.

  random_operators.py build/bin/ashlar-check --only=reductions
"""

import argparse
import importlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from operator_case import Random  # noqa: E402

# Accumulation in another order, and other implementations of exp and the like.
RTOL, ATOL = 1e-4, 1e-5


def write_family(family, seed, folder):
    module = importlib.import_module(f"cases_{family}")
    names = set()
    for case in module.cases(Random(seed)):
        assert case.name not in names, f"two cases are named {case.name}"
        names.add(case.name)
        try:
            yield case.write(folder)
        except Exception as error:
            sys.exit(f"{family}/{case.name}: its expectation cannot be "
                     f"computed: {error}")


def tolerances(family):
    module = importlib.import_module(f"cases_{family}")
    return getattr(module, "RTOL", RTOL), getattr(module, "ATOL", ATOL)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checker", help="the program ashlar-check")
    parser.add_argument("--only", action="append", metavar="FAMILY")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", help="write the cases here and keep them")
    parser.add_argument("--write-only", action="store_true",
                        help="write the cases, check nothing")
    arguments = parser.parse_args()

    families = arguments.only or sorted(
        path.stem.removeprefix("cases_") for path in HERE.glob("cases_*.py"))
    folder = pathlib.Path(arguments.folder or tempfile.mkdtemp())
    bad = False
    for family in families:
        target = folder / family
        shutil.rmtree(target, ignore_errors=True)
        folders = [str(f) for f in
                   write_family(family, arguments.seed, target)]
        print(f"{family}: {len(folders)} cases", flush=True)
        if arguments.write_only:
            continue
        rtol, atol = tolerances(family)
        check = subprocess.run(
            [arguments.checker, f"--rtol={rtol}", f"--atol={atol}", *folders],
            stdout=subprocess.PIPE, text=True)
        lines = [line for line in check.stdout.splitlines()
                 if not line.endswith(": passed")]
        failed = check.returncode != 0 or any(
            ": failed" in line or ": unsupported" in line for line in lines)
        if failed:
            print("\n".join(lines))
            print(f"again: {sys.argv[0]} {arguments.checker} --only={family} "
                  f"--seed={arguments.seed} --folder={folder}")
        bad |= failed
    if not arguments.folder and not bad:
        shutil.rmtree(folder)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
