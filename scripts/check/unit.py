#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the unit tests of a build through ctest and counts them.

A test program of GoogleTest counts as as many tests as it holds when CMake
discovers them (gtest_discover_tests).
"""

import argparse
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Those of the phase hip, by name.
OF_HIP = r"/hip|\.Hip"


def first_line(text, otherwise):
    for line in (text or "").splitlines():
        if line.strip():
            return line.strip()
    return otherwise


def failure_of(case):
    """What a failed test says of it: the first line that reports an error, and
    three after it; else what ctest says."""
    lines = (case.findtext("system-out") or "").splitlines()
    for number, line in enumerate(lines):
        if re.search(r"ERROR:|: Failure$|: error:|runtime error", line):
            return " / ".join(each.strip() for each in lines[number:][:4])
    problem = case.find("failure")
    return first_line(
        problem.get("message") if problem is not None else "", "failed")


def run(build, extra=()):
    """Runs ctest in the folder; prints and returns passed, failed, skipped."""
    result = pathlib.Path(build).resolve() / "check" / "ctest.xml"
    result.parent.mkdir(parents=True, exist_ok=True)
    result.unlink(missing_ok=True)
    # Two at a time: the machine has at least two cores, and some tests
    # measure time. Where setup.sh has installed an OpenCL driver, some run on
    # it.
    subprocess.run(
        ["bash", "-c", '. "$0" && exec "$@"', ROOT / "scripts/opencl_env.sh",
         "ctest", "--test-dir", build, "--output-on-failure", "-j", "2",
         # By the clock, so it is for what hangs only.
         "--timeout", "1800", "--output-junit", result, *extra],
        stdin=subprocess.DEVNULL)
    if not result.exists():
        return 0, 0, 0
    passed = failed = skipped = 0
    for case in ElementTree.parse(result).getroot().iter("testcase"):
        name, status = case.get("name"), case.get("status")
        if status == "run":
            passed += 1
        elif status == "fail":
            print(f"FAIL {name}: {failure_of(case)}")
            failed += 1
        else:
            reason = case.find("skipped")
            why = first_line(
                reason.get("message") if reason is not None else "", status)
            print(f"SKIP {name}: {why}")
            skipped += 1
    return passed, failed, skipped


def phase(name, description, selection, without_any=None):
    """A phase that is some tests of ctest; `without_any` says why there may be
    none of them."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    if not (arguments.build / "CTestTestfile.cmake").exists():
        print(f"SKIP {name}: {arguments.build} has no ctest tests")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed, failed, skipped = run(arguments.build, selection)
    if without_any and passed + failed + skipped == 0:
        print(f"SKIP {name}: {without_any}")
        skipped = 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    # The lit suite, where CMake knows it as one test, is a phase of its own.
    sys.exit(phase("unit", __doc__, ["-E", f"^lit|check-lit|{OF_HIP}"]))
