#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/operators.md: the operators that are imported, from
`ashlar-compile --list-operators`, with how many of the onnx package's tests of
each pass, from test/Integration/onnx-node-tests.txt.

  list_operators.py build/bin/ashlar-compile [--check]
"""

import argparse
import collections
import pathlib
import subprocess
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "operators.md"
LIST = ROOT / "test" / "Integration" / "onnx-node-tests.txt"
SET = f"node-{onnx.__version__}"
TESTS = ROOT / ".deps" / f"onnx-{SET}"

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->
# Operators

Written by `scripts/list_operators.py` from `ashlar-compile --list-operators`, which reads the importer's own table. An
opset is named where the definition of the operator changed; it holds up to the next. Types are those of the operands.
The last column says how many of the tests of onnx {version} that consist of this operator alone pass. What does not, and
why: [onnx-node-unsupported.txt](../test/Integration/onnx-node-unsupported.txt). What an index outside its dim does in
Gather, ScatterND and their relatives: [numerics.md](numerics.md#indices).

| operator | opsets | types | tests |
|---|---|---|---|
"""


def count_tests():
    """{operator: [passing, all]} of tests of one node."""
    passing = set(LIST.read_text().splitlines())
    counts = collections.defaultdict(lambda: [0, 0])
    for folder in TESTS.iterdir():
        model = folder / "model.onnx"
        if not model.exists():
            continue
        graph = onnx.load(model).graph
        if len(graph.node) != 1:
            continue
        node = graph.node[0]
        domain = node.domain + "." if node.domain else ""
        count = counts[domain + node.op_type]
        count[0] += f"{SET}/{folder.name}" in passing
        count[1] += 1
    return counts


def page(compiler):
    listed = subprocess.run([compiler, "--list-operators"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    counts = count_tests()
    text = HEAD.format(version=onnx.__version__)
    for line in listed.splitlines():
        name, opsets, types = line.split("\t")
        passed, tests = counts[name]
        tested = f"{passed} of {tests}" if tests else ""
        text += f"| {name} | {opsets} | {types} | {tested} |\n"
    return text


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compiler", help="the program ashlar-compile")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; 1 if the page is not what it "
                        "would be")
    arguments = parser.parse_args()
    text = page(arguments.compiler)
    if not arguments.check:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        print("docs/operators.md is not up to date: "
              f"scripts/list_operators.py {arguments.compiler}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
