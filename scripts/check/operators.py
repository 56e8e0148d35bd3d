#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX's own operator tests against the committed list of what passes.

The tests are Debian's libonnx-testdata, and those of the newer onnx package in
.deps/venv; the list is test/Integration/onnx-node-tests.txt, one `SET/TEST` a
line. A test on the list that does not pass is a failure, and so is any test
that fails or crashes; what is unsupported and not on the list is skipped.
`--update` writes the list anew, and beside it the list of what is unsupported
with the reasons, and docs/operators.md. The target reference, by which others
are checked, has to pass a part of the same tests; --target=reference runs all.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "test" / "Integration" / "onnx-node-tests.txt"
REASONS = ROOT / "test" / "Integration" / "onnx-node-unsupported.txt"
# Tests whose expectation nobody can reproduce, by hand, `SET/TEST: WHY`.
IRREPRODUCIBLE = ROOT / "test" / "Integration" / "onnx-node-irreproducible.txt"
GENERATOR = ROOT / "scripts" / "generate_node_tests.py"
ONNX = re.search(r"^onnx==(\S+)$",
                 (ROOT / "scripts" / "requirements.txt").read_text(), re.M)[1]
DATA = pathlib.Path("/usr/share/libonnx-testdata/data")
SETS = ["node", "simple", "pytorch-converted", "pytorch-operator"]
LINE = re.compile(r"^(\S+): (passed|failed|unsupported)(?:: (.*))?$")
SHOWN_NAMES = 4
# Of the tests, for the target reference: one in so many.
REFERENCE_EVERY = 8


def read_list():
    if not LIST.exists():
        return set()
    lines = (l.strip() for l in LIST.read_text().splitlines())
    return {l for l in lines if l and not l.startswith("#")}


def write_list(names):
    LIST.write_text(
        "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
        "#\n"
        "# The tests of libonnx-testdata that pass; one that stands here and\n"
        "# does not pass is a regression. Written by\n"
        "# scripts/check/operators.py --update.\n\n"
        + "".join(f"{name}\n" for name in sorted(names)))


def read_irreproducible():
    lines = (l.strip() for l in IRREPRODUCIBLE.read_text().splitlines())
    return dict(l.split(": ", 1) for l in lines
                if l and not l.startswith("#"))


def write_reasons(reasons):
    REASONS.write_text(
        "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
        "#\n"
        "# The operator tests that are not supported, and why. Written by\n"
        "# scripts/check/operators.py --update.\n\n"
        + "".join(f"{name}: {why}\n" for name, why in
                  sorted(reasons.items())))


def find_sets(data):
    """The folders of tests by the name that the list gives them."""
    newer = ROOT / ".deps" / f"onnx-node-{ONNX}"
    subprocess.run([sys.executable, GENERATOR, newer], check=True)
    sets = {kind: data / kind for kind in SETS}
    sets[f"node-{ONNX}"] = newer
    return sets


def check_set(checker, folder, names, jobs, work, target="cpu"):
    """Runs the tests `names` of one set: {name: (verdict, why)}, exit code."""
    # A folder of links to the tests asked for, so that the command line stays
    # short and --quick can choose.
    chosen = pathlib.Path(tempfile.mkdtemp(dir=work))
    for name in names:
        (chosen / name).symlink_to(folder / name)
    done = subprocess.run(
        [checker, chosen, f"--jobs={jobs}", f"--target={target}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        errors="replace")
    print(done.stdout)
    verdicts = {}
    for line in done.stdout.splitlines():
        match = LINE.match(line)
        if match:
            name = os.path.basename(match[1].rstrip("/"))
            verdicts[name] = (match[2], match[3] or "no reason given")
    return verdicts, done.returncode


def show_unsupported(unsupported):
    """One line for each reason; how many tests in all."""
    for why, keys in sorted(unsupported.items(), key=lambda i: -len(i[1])):
        more = len(keys) - SHOWN_NAMES
        print(f"SKIP {len(keys)} operator tests "
              f"({', '.join(keys[:SHOWN_NAMES])}"
              f"{f' and {more} more' if more > 0 else ''}): "
              f"unsupported: {why}")
    return sum(map(len, unsupported.values()))


def check_reference(checker, sets, passing, jobs, work):
    """What of the passing tests fails on the target reference."""
    failures = []
    for kind, folder in sets.items():
        names = sorted(key.split("/", 1)[1] for key in passing
                       if key.startswith(f"{kind}/"))[::REFERENCE_EVERY]
        if not names:
            continue
        verdicts, _ = check_set(checker, folder, names, jobs, work,
                                "reference")
        for name in names:
            verdict, why = verdicts.get(name, ("failed", "nothing was said"))
            if verdict != "passed":
                failures.append(f"{kind}/{name} on reference: {why}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    parser.add_argument("--update", action="store_true",
                        help="write the list of what passes")
    parser.add_argument("--data", type=pathlib.Path, default=DATA)
    parser.add_argument("--target", default="cpu:host")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()

    checker = arguments.build.resolve() / "bin" / "ashlar-check"
    if not checker.exists():
        print(f"SKIP operators: {checker.name} is not built")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    if not arguments.data.is_dir():
        print(f"FAIL operators: {arguments.data} is missing "
              "(package libonnx-testdata)")
        print("0 passed, 1 failed, 0 skipped")
        return 1

    listed = read_list()
    irreproducible = read_irreproducible()
    passing, tested = set(), set()
    failed = 0
    unsupported = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as work:
        sets = find_sets(arguments.data)
        for kind, folder in sets.items():
            if not folder.is_dir():
                print(f"NOTE {folder} is missing")
                continue
            names = sorted(p.name for p in folder.iterdir() if p.is_dir())
            if arguments.mode == "quick":
                names = names[::10]
            verdicts, status = check_set(
                checker, folder, names, arguments.jobs, work,
                arguments.target)
            if status not in (0, 1):
                print(f"FAIL {kind}: ashlar-check ended with {status}")
                failed += 1
            for name in names:
                key = f"{kind}/{name}"
                tested.add(key)
                verdict, why = verdicts.get(
                    name, ("failed", "ashlar-check said nothing of it"))
                if verdict == "failed" and key in irreproducible:
                    verdict, why = "unsupported", irreproducible[key]
                if verdict == "passed":
                    passing.add(key)
                elif verdict == "failed":
                    print(f"FAIL {key}: {why}")
                    failed += 1
                elif key in listed and not arguments.update:
                    print(f"FAIL {key}: passed before, now unsupported: {why}")
                    failed += 1
                else:
                    unsupported[why].append(key)
        if arguments.target == "cpu:host" and not arguments.update:
            for failure in check_reference(checker, sets, passing,
                                           arguments.jobs, work):
                print(f"FAIL {failure}")
                failed += 1

    skipped = show_unsupported(unsupported)
    for key in sorted((listed - tested) if arguments.mode != "quick" else ()):
        print(f"FAIL {key}: on the list, but there is no such test")
        failed += 1
    new = passing - listed
    if arguments.update:
        # What a part of the suite did not test stays as it was.
        write_list(passing | (listed - tested))
        write_reasons({key: why for why, keys in unsupported.items()
                       for key in keys})
        subprocess.run([sys.executable, ROOT / "scripts" / "list_operators.py",
                        checker.parent / "ashlar-compile"], check=True)
        print(f"NOTE wrote {LIST.name}: {len(passing)} of {len(tested)} pass")
    elif new:
        print(f"NOTE {len(new)} tests pass that are not on the list yet: "
              "python3 scripts/check/operators.py --build "
              f"{arguments.build} --update")
    print(f"{len(passing)} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
