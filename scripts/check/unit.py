#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the unit tests of a build through ctest and counts them.

A test program of GoogleTest counts as as many tests as it holds when CMake
discovers them (gtest_discover_tests).
"""

import argparse
import pathlib
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
            problem = case.find("failure")
            why = first_line(
                problem.get("message") if problem is not None else "",
                "failed")
            print(f"FAIL {name}: {why}")
            failed += 1
        else:
            reason = case.find("skipped")
            why = first_line(
                reason.get("message") if reason is not None else "", status)
            print(f"SKIP {name}: {why}")
            skipped += 1
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()
    if not (arguments.build / "CTestTestfile.cmake").exists():
        print(f"SKIP unit: {arguments.build} has no ctest tests")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    # The lit suite, where CMake knows it as one test, is a phase of its own.
    passed, failed, skipped = run(arguments.build, ["-E", f"^lit|check-lit|{OF_HIP}"])
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
