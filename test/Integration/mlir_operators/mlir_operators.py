#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of TOSA and linalg, one a program, beside NumPy.

Each case is written as an .mlir file, compiled, run and compared. Exits with 1
when one fails.

  mlir_operators.py --bin build/bin --only=tosa.conv
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import linalg_cases
import program_cases
import tosa_cases

RTOL, ATOL = 1e-5, 1e-5
TYPES = {"float32": "f32", "int8": "i8", "int16": "i16", "int32": "i32",
         "int64": "i64", "bool": "i1"}


def spell(array):
    sizes = "".join(f"{n}x" for n in array.shape)
    return f"tensor<{sizes}{TYPES[str(array.dtype)]}>"


def dense(array):
    return str(array.astype(object if array.dtype == bool else array.dtype)
               .tolist()).replace("True", "true").replace("False", "false")


def program(arguments, lines, result, expected):
    signature = ", ".join(f"%{n}: {t} {{ashlar.name = \"{n}\"}}"
                          for n, t in arguments)
    body = "\n".join(f"  {line}" for line in lines)
    kind = spell(expected)
    return (f"func.func @main({signature})\n    -> ({kind} "
            f"{{ashlar.name = \"y\"}}) {{\n{body}\n"
            f"  return {result} : {kind}\n}}\n")


def tosa_program(op, operands, attributes, expected):
    arguments, lines, names, types = [], [], [], []
    for i, operand in enumerate(operands):
        if isinstance(operand, tosa_cases.Shape):
            kind = f"!tosa.shape<{operand.value.size}>"
            lines.append(f"%k{i} = tosa.const_shape {{values = dense<"
                         f"{dense(operand.value)}> : "
                         f"tensor<{operand.value.size}xindex>}} : () -> {kind}")
            names.append(f"%k{i}")
        elif isinstance(operand, tosa_cases.Known):
            kind = spell(operand.value)
            lines.append(f"%k{i} = \"tosa.const\"() <{{values = dense<"
                         f"{dense(operand.value)}> : {kind}}}> : () -> {kind}")
            names.append(f"%k{i}")
        else:
            kind = spell(operand)
            arguments.append((f"x{i}", kind))
            names.append(f"%x{i}")
        types.append(kind)
    spelled = ", ".join(f"{n} = {v}" for n, v in attributes.items())
    properties = f" <{{{spelled}}}>" if spelled else ""
    lines.append(f"%r = \"{op}\"({', '.join(names)}){properties} : "
                 f"({', '.join(types)}) -> {spell(expected)}")
    return program(arguments, lines, "%r", expected)


def linalg_program(op, inputs, attributes, expected, start):
    kind, element = spell(expected), TYPES[str(expected.dtype)]
    spelled = (f"{float(start):e}" if expected.dtype == np.float32
               else int(start))
    lines = [f"%z = arith.constant {spelled} : {element}",
             f"%e = tensor.empty() : {kind}",
             f"%f = linalg.fill ins(%z : {element}) outs(%e : {kind}) -> {kind}"]
    arguments, types = [], []
    for i, x in enumerate(inputs):
        if isinstance(x, np.ndarray):
            arguments.append((f"x{i}", spell(x)))
            types.append(spell(x))
        else:
            lines.append(f"%x{i} = arith.constant {x} : i32")
            types.append("i32")
    names = ", ".join(f"%x{i}" for i in range(len(inputs)))
    lines.append(f"%r = {op} {attributes} ins({names} : {', '.join(types)}) "
                 f"outs(%f : {kind}) -> {kind}")
    return program(arguments, lines, "%r", expected)


def narrowed(expected):
    """What NumPy computed in f64 is of f32."""
    expected = np.asarray(expected)
    wide = expected.dtype == np.float64
    return expected.astype(np.float32) if wide else expected


def all_cases():
    """Name, text, inputs by name, expected."""
    for name, op, operands, attributes, expected in tosa_cases.cases():
        given = [x for x in operands if isinstance(x, np.ndarray)]
        expected = narrowed(expected)
        inputs = {f"x{i}": x for i, x in enumerate(operands)
                  if isinstance(x, np.ndarray)}
        assert len(inputs) == len(given)
        yield (f"tosa.{name}", tosa_program(op, operands, attributes, expected),
               inputs, expected)
    for name, op, inputs, attributes, expected, start in linalg_cases.cases():
        expected = narrowed(expected)
        yield (f"linalg.{name}",
               linalg_program(op, inputs, attributes, expected, start),
               {f"x{i}": x for i, x in enumerate(inputs)
                if isinstance(x, np.ndarray)}, expected)
    for name, inputs, lines, expected in program_cases.cases():
        expected = narrowed(expected)
        yield (name, program([(n, spell(x)) for n, x in inputs.items()],
                             lines, "%r", expected), inputs, expected)


def check(tools, folder, text, inputs, expected):
    """What is wrong, or nothing."""
    folder.mkdir()
    (folder / "case.mlir").write_text(text)
    module = folder / "case.ash"
    np.save(folder / "expected.npy", np.array(expected, order="C"))
    command = [tools / "ashlar-run", module, f"--expect=y={folder / 'expected.npy'}",
               f"--rtol={RTOL}", f"--atol={ATOL}"]
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", np.array(value, order="C"))
        command.append(f"--input={name}={folder / name}.npy")
    for step in ([tools / "ashlar-compile", folder / "case.mlir", "-o",
                  module], command):
        done = subprocess.run(step, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            lines = done.stdout.strip().splitlines() or ["without a word"]
            return f"{step[0].name} ended with {done.returncode}: {lines[0]}"
    return ""


def run(tools, only="", report=print):
    """How many are right, and how many are not."""
    right = wrong = 0
    with tempfile.TemporaryDirectory() as work:
        for name, text, inputs, expected in all_cases():
            if not name.startswith(only):
                continue
            why = check(tools, pathlib.Path(work) / name, text, inputs,
                        expected)
            right, wrong = right + (not why), wrong + bool(why)
            if why:
                report(f"FAIL {name}: {why}")
    return right, wrong


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    right, wrong = run(arguments.bin, arguments.only)
    print(f"{right} passed, {wrong} failed, 0 skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
