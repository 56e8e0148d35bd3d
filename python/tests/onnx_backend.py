#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ashlar.backend judged by the runner of onnx.backend.test.

What is excluded stands in the repository's lists of operator tests with its
reason: test/Integration/onnx-node-unsupported.txt and -irreproducible.txt, by
which ashlar-check is judged too, and below. Every other test must pass.

  onnx_backend.py [--every N] [--jobs N] [--list] [PATTERN]
"""

import argparse
import collections
import multiprocessing
import pathlib
import re
import sys
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTS = ROOT / "test" / "Integration"
# By pattern, what the lists do not name: they are of folders on a disk.
OTHERS = {
    r"^test_.*_cuda$": "a device that is not ours",
    r"^test_(bvlc_alexnet|densenet121|inception_v[12]|resnet50|shufflenet|"
    r"squeezenet|vgg19|zfnet512)_": "real models, which the runner downloads",
}


def excluded():
    reasons = {}
    for name in ("unsupported", "irreproducible"):
        for line in (LISTS / f"onnx-node-{name}.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                test, why = line.split(": ", 1)
                kind, test = test.split("/", 1)
                if kind.startswith("node-") or kind in (
                        "simple", "pytorch-converted", "pytorch-operator"):
                    reasons[test] = why
    return reasons


def cases(pattern, every):
    """Names of tests for the processor, and the runner's suite of them."""
    warnings.simplefilter("ignore")  # of overflows that the tests are about
    import onnx.backend.test
    import ashlar.backend
    runner = onnx.backend.test.BackendTest(ashlar.backend.AshlarBackend,
                                           __name__)
    for reason in OTHERS:
        runner.exclude(reason)
    found = {}
    for case in runner.test_suite:
        name = case.id().rsplit(".", 1)[1]
        if name.endswith("_cpu") and not any(
                re.search(each, name) for each in OTHERS):
            found[name.removesuffix("_cpu")] = case
    names = [name for name in sorted(found) if re.search(pattern, name)]
    return names[::every], found


def work(arguments):
    """One part of the tests in a process of its own."""
    part, parts, pattern, every = arguments
    names, found = cases(pattern, every)
    results = []
    for name in names[part::parts]:
        if name in excluded():
            continue
        outcome = unittest.TestResult()
        found[name].run(outcome)
        wrong = outcome.errors + outcome.failures
        skipped = outcome.skipped
        results.append((name, wrong[0][1] if wrong else "",
                        skipped[0][1] if skipped else ""))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--every", type=int, default=1,
                        help="only each Nth test")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true",
                        help="print what is excluded, and why")
    arguments = parser.parse_args()
    reasons = excluded()
    names, _ = cases(arguments.pattern, arguments.every)
    left_out = [name for name in names if name in reasons]
    if arguments.list:
        for name in left_out:
            print(f"{name}: {reasons[name]}")
    passed = failed = 0
    skipped = len(left_out)
    parts = arguments.jobs * 8
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        for results in pool.imap_unordered(
                work, [(part, parts, arguments.pattern, arguments.every)
                       for part in range(parts)]):
            for name, wrong, skip in results:
                if wrong:
                    failed += 1
                    print(f"FAIL {name}: {wrong.strip().splitlines()[-1]}")
                elif skip:
                    skipped += 1
                    print(f"SKIP {name}: {skip}")
                else:
                    passed += 1
    by_reason = collections.Counter(reasons[name].split(", ")[0]
                                    for name in left_out)
    for why, count in by_reason.most_common():
        print(f"excluded: {count} x {why}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
