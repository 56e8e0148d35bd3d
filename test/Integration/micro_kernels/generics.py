#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random structured ops as operations on accumulators, interpreted.

Ops over one to four dims: element by element with operands that are repeated,
transposed or read in steps, and reductions along any dims, of several types;
sizes known or values. Each is written by ashlar-tile-generics in tiles of
several sizes and interpreted in random order beside the op itself.

  generics.py                    300 of them
  generics.py --count=10000      whenever the pass changes
  generics.py --seed=1 --only=g17
"""

import argparse
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
TYPES = ["f32", "f32", "f16", "bf16", "i32", "i8"]
TILES = [1, 6, 64, 4096]
SIZES = [1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64]
FLOATS = {"addf": "add", "mulf": "mul", "maximumf": "max", "minimumf": "min",
          "maxnumf": "max"}
INTEGERS = {"addi": "add", "muli": "mul", "maxsi": "max", "minui": "min",
            "xori": "xor", "andi": "and"}


def memref(shape, element):
    return f"memref<{''.join(f'{size}x' for size in shape)}{element}>"


class Case:
    """One op in a function of its own, drawn from its name and a seed."""

    def __init__(self, number, seed):
        self.name = f"g{number}"
        self.draw = draw = random.Random(f"generics {seed} {number}")
        while True:
            self.sizes = [draw.choice(SIZES)
                          for _ in range(draw.randint(1, 4))]
            if math.prod(self.sizes) <= 3000:
                break
        self.reduced = [draw.random() < 0.4 for _ in self.sizes]
        if draw.random() < 0.4:
            self.reduced = [False] * len(self.sizes)
        self.element = draw.choice(TYPES)
        self.is_open = draw.random() < 0.3
        # Of each: the places and the shape. The first has all that the results
        # lack, or the sizes were not known.
        first = [d for d, reduced in enumerate(self.reduced)
                 if reduced or draw.random() < 0.5]
        draw.shuffle(first)
        self.operands = [([f"d{d}" for d in first],
                          [self.sizes[d] for d in first])]
        for _ in range(draw.randint(0, 2)):
            self.operands.append(self.place(range(len(self.sizes))))

    def place(self, dims):
        """Where an operand lies: some dims, now and then sums of multiples."""
        draw = self.draw
        dims = draw.sample(list(dims), draw.randint(0, len(dims)))
        places, shape = [], []
        while dims:
            d = dims.pop()
            step = draw.choice([1, 1, 1, 2])
            place, size = f"d{d} * {step}", (self.sizes[d] - 1) * step + 1
            if dims and draw.random() < 0.2:
                other = dims.pop()
                place += f" + d{other}"
                size += self.sizes[other] - 1
            if draw.random() < 0.1:
                place += " + 3"
                size += 3
            places.append(place)
            shape.append(size)
        return places, shape

    def op(self, name, x, y):
        kind = "f" if self.is_float else "i"
        if name == "sub":
            name = f"sub{kind}"
        return f"arith.{name} {x}, {y} : {self.element}"

    @property
    def is_float(self):
        return self.element[0] in "fb"

    def mlir(self):
        draw, element = self.draw, self.element
        rank = len(self.sizes)
        results = [d for d in range(rank) if not self.reduced[d]]
        draw.shuffle(results)
        is_reduction = any(self.reduced)
        numbers = 1 if draw.random() < 0.7 else 2
        inputs = list(self.operands)
        outputs = [([f"d{d}" for d in results],
                    [self.sizes[d] for d in results])] * numbers
        dims = ", ".join(f"d{d}" for d in range(rank))
        text, lines = [], []
        text.append(f"func.func @{self.name}(" + ", ".join(
            f"%m{i}: {memref(shape, element)}"
            for i, (_, shape) in enumerate(inputs + outputs)) + ") {")
        # One input is a scalar, now and then.
        scalar = draw.random() < 0.2
        if scalar:
            value = draw.choice(["0.5", "2.0"]) if self.is_float else "3"
            text.append(f"  %scalar = arith.constant {value} : {element}")
        values, types = [], []
        for i, (_, shape) in enumerate(inputs + outputs):
            own = memref(shape, element)
            values.append(f"%m{i}")
            if self.is_open and shape:
                wide = memref(["?"] * len(shape), element)
                text.append(f"  %o{i} = memref.cast %m{i} : {own} to {wide}")
                values[-1], own = f"%o{i}", wide
            types.append(own)
        maps = [f"affine_map<({dims}) -> ({', '.join(places)})>"
                for places, _ in inputs]
        n = len(inputs)
        in_values, in_types = values[:n], types[:n]
        if scalar:
            in_values, in_types = ["%scalar"] + in_values, [element] + in_types
            maps.insert(0, f"affine_map<({dims}) -> ()>")
        maps += [f"affine_map<({dims}) -> ({', '.join(places)})>"
                 for places, _ in outputs]
        kinds = ", ".join('"reduction"' if r else '"parallel"'
                          for r in self.reduced)
        text.append(f"  linalg.generic {{indexing_maps = [{', '.join(maps)}], "
                    f"iterator_types = [{kinds}]}}")
        text.append(f"      ins({', '.join(in_values)} : {', '.join(in_types)})"
                    f" outs({', '.join(values[n:])} : {', '.join(types[n:])}) "
                    "{")
        arguments = [f"%a{i}" for i in range(len(in_values))]
        olds = [f"%y{i}" for i in range(numbers)]
        text.append("  ^bb0(" + ", ".join(
            f"{a}: {element}" for a in arguments + olds) + "):")
        ops = list(FLOATS if self.is_float else INTEGERS)
        yielded = []
        for i in range(numbers):
            value = draw.choice(arguments)
            for j in range(draw.randint(0, 3)):
                others = arguments if is_reduction else arguments + olds
                lines.append(f"%v{i}{j} = " + self.op(
                    draw.choice(ops + ["sub"]), value, draw.choice(others)))
                value = f"%v{i}{j}"
            if draw.random() < 0.15 and not self.is_float:
                d = draw.randrange(rank)
                lines += [f"%n{i} = linalg.index {d} : index",
                          f"%c{i} = arith.index_cast %n{i} : index to {element}",
                          f"%w{i} = " + self.op("addi", value, f"%c{i}")]
                value = f"%w{i}"
            if is_reduction:
                both = [value, olds[i]]
                draw.shuffle(both)
                # Sums and products of few bits hang on their order.
                if self.element in ("f16", "bf16"):
                    ops = [op for op in ops if op[:2] in ("ma", "mi")]
                lines.append(f"%r{i} = " + self.op(draw.choice(ops), *both))
                value = f"%r{i}"
            yielded.append(value)
        text += [f"    {line}" for line in lines]
        text.append(f"    linalg.yield {', '.join(yielded)} : "
                    f"{', '.join([element] * numbers)}")
        text += ["  }", "  return", "}"]
        return "\n".join(text) + "\n"


def interpret(tool, source, through, arguments):
    """The names that are right, and the errors."""
    done = subprocess.run(
        [tool, source, "--split-input-file", "-o", "/dev/null",
         f"--ashlar-interpret-kernels=through={through} schedules="
         f"{arguments.schedules} seed={arguments.seed} "
         f"tolerance={arguments.tolerance}"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{tool} ended with {done.returncode}: "
                         f"{done.stderr[-2000:]}")
    right = set(re.findall(r"'(\w+)__through' interpreted under", done.stderr))
    return right, [line for line in done.stderr.splitlines()
                   if ": error: " in line]


def count_left(tool, source):
    """How many ops stay as they are, since they have no such form."""
    done = subprocess.run([tool, source, "--split-input-file",
                           "--ashlar-tile-generics"],
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{tool} ended with {done.returncode}: "
                         f"{done.stderr[-2000:]}")
    return done.stdout.count("linalg.generic")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", help="the one of this name")
    parser.add_argument("--schedules", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tool = arguments.build.resolve() / "bin" / "ashlar-opt"
    cases = [Case(i, arguments.seed)
             for i in range(arguments.first, arguments.first + arguments.count)]
    cases = [case for case in cases if arguments.only in (None, case.name)]
    passed = failed = stayed = 0
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "generics.mlir"
        # Sums of up to 3,000 terms, in another order.
        for is_narrow, tolerance in [(False, 1e-4), (True, 6e-2)]:
            batch = [case for case in cases
                     if (case.element in ("f16", "bf16")) == is_narrow]
            if not batch:
                continue
            arguments.tolerance = tolerance
            source.write_text("// -----\n".join(case.mlir() for case in batch))
            stayed += count_left(tool, source)
            ways = [f"ashlar-tile-generics{{elements={n}}}" for n in TILES]
            ways.append("ashlar-tile-generics{elements=64},ashlar-tile-to-loops")
            for way in ways:
                right, errors = interpret(tool, source, way, arguments)
                wrong = [case for case in batch if case.name not in right]
                passed += len(batch) - len(wrong)
                failed += len(wrong)
                for case in wrong:
                    print(f"FAIL {case.name} through {way}: generics.py "
                          f"--seed={arguments.seed} --only={case.name} "
                          f"--first={arguments.first} "
                          f"--count={arguments.count}")
                for line in errors[:3]:
                    print(f"  {line}")
    print(f"{stayed} ops have no such form")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
