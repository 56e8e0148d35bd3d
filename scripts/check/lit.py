#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the lit tests of a build and counts them."""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

BAD = {"FAIL", "XPASS", "UNRESOLVED", "TIMEOUT"}
NOT_RUN = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def find_lit():
    for candidate in ("/usr/lib/llvm-22/bin/lit", "lit", "llvm-lit"):
        if shutil.which(candidate):
            return candidate
    return None


def reason(test):
    """Lit writes why a test was left out as the last line of its output."""
    lines = [l for l in (test.get("output") or "").splitlines() if l.strip()]
    return lines[-1].strip() if lines else test["code"].lower()


def printed(test):
    """What the commands of a test that failed printed, as lit shows it."""
    lines = (test.get("output") or "").splitlines()
    return [l[4:] for l in lines if l.startswith("# | ") and l[4:].strip()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    arguments = parser.parse_args()

    suite = arguments.build / "test"
    lit = find_lit()
    if not (suite / "lit.site.cfg.py").exists():
        print(f"SKIP lit: {suite} has no lit.site.cfg.py")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    if not lit:
        print("FAIL lit: the program lit was not found (llvm-22-tools)")
        print("0 passed, 1 failed, 0 skipped")
        return 1

    result = arguments.build / "check" / "lit.json"
    result.parent.mkdir(parents=True, exist_ok=True)
    result.unlink(missing_ok=True)
    subprocess.run([lit, "-v", "--output", result, suite],
                   stdin=subprocess.DEVNULL)
    if not result.exists():
        print("FAIL lit: wrote no result")
        print("0 passed, 1 failed, 0 skipped")
        return 1
    tests = json.loads(result.read_text())["tests"]
    bad = [t for t in tests if t["code"] in BAD]
    left_out = [t for t in tests if t["code"] in NOT_RUN]
    for test in bad:
        lines = printed(test)
        why = f": {lines[-1].strip()}" if lines else ""
        print(f"FAIL {test['name']}: {test['code'].lower()}{why}")
        # Once more at the end of the log, of which check.sh shows the tail.
        print(*lines[-30 // len(bad):], sep="\n")
    for test in left_out:
        print(f"SKIP {test['name']}: {reason(test)}")
    passed = len(tests) - len(bad) - len(left_out)
    print(f"{passed} passed, {len(bad)} failed, {len(left_out)} skipped")
    return 1 if bad or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
