#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile models: sound ones, changed at the level of protobuf messages.

Each seed (ONNX's operator tests, models with control flow, functions, sequences
and sizes that depend on data, the example) is changed in one to three places: a
message dropped, doubled, swapped or replaced by another one, a number or name
set to something else. compile-each compiles them, each in a process of its own,
up to the stage simplify, one in ten to the end. Right is: compiled, or refused
with an error; within ten seconds, and within a gibibyte beyond what the process
had.

    mutations.py --bin build/bin --count 20000
"""

import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import onnx
import onnx.parser

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent / "edges"))
sys.path.insert(0, str(ROOT / "test" / "Import" / "ONNX"))
import computed_sizes  # noqa: E402
import control_flow  # noqa: E402
import data_sizes  # noqa: E402
import graphs  # noqa: E402
import make_onnx  # noqa: E402
import sized_loops  # noqa: E402

NODE_TESTS = pathlib.Path("/usr/share/libonnx-testdata/data/node")
SECONDS = 10
MEGABYTES = 1024
INTEGERS = [-1, 0, 1, 2, 3, 17, -2, -9, 1000000, 2**31 - 1, -2**31, 2**32,
            2**40, 2**62, 2**63 - 1, -2**63]
FLOATS = [0.0, -1.0, 1e-30, 1e38, float("inf"), float("-inf"), float("nan")]


def seeds():
    written = [case for file in (control_flow, data_sizes, computed_sizes,
                                 sized_loops, graphs) for case in file.CASES]
    models = [onnx.parser.parse_model(text) for _, text, _ in written] * 5
    for name in ("functions", "sequences", "optimizer-errors",
                 "rare-operator-errors"):
        text = (ROOT / "test" / "Import" / "ONNX" / f"{name}.onnxtxt")
        models += [onnx.parser.parse_model(body) for full, body
                   in make_onnx.sections(text.read_text())
                   if full.endswith(".onnxtxt")] * 2
    models.append(onnx.load(ROOT / "examples" / "digits" / "digits.onnx"))
    for path in sorted(NODE_TESTS.glob("*/model.onnx")):
        if path.stat().st_size < 1 << 16:
            models.append(onnx.load(path))
    return [model.SerializeToString() for model in models]


def messages(message, found):
    """All messages below, each with the parent and field that hold it."""
    for field, value in message.ListFields():
        if field.type != field.TYPE_MESSAGE:
            continue
        children = value if field.is_repeated else [value]
        for child in children:
            found.append((message, field, child))
            messages(child, found)
    return found


def names(model):
    return sorted({name for _, _, m in messages(model, [])
                   if isinstance(m, onnx.NodeProto)
                   for name in [*m.input, *m.output, m.op_type]}) or ["x"]


class Mutator:
    def __init__(self, data, number):
        self.random = random.Random(number)
        self.model = onnx.ModelProto()
        self.model.ParseFromString(data)
        self.names = names(self.model)

    def integer(self, old=0):
        pick = self.random.random()
        if pick < 0.3:
            return old + self.random.choice([-1, 1])
        return self.random.choice(INTEGERS)

    def scalar(self, field, old):
        if field.type in (field.TYPE_STRING,):
            return self.random.choice(
                [*self.names, "", "x" * 300, "a/../b", "\u00e9"])
        if field.type == field.TYPE_BYTES:
            cut = self.random.randrange(len(old) + 1)
            return self.random.choice(
                [b"", old[:cut], old + old, b"\xff" * 9, b"name"])
        if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
            return self.random.choice(FLOATS)
        if field.type == field.TYPE_ENUM:
            return self.random.choice(
                [v.number for v in field.enum_type.values])
        value = self.integer(int(old))
        small = field.type in (field.TYPE_INT32, field.TYPE_UINT32)
        bits = 31 if small else 63
        if field.type in (field.TYPE_UINT64, field.TYPE_UINT32):
            return abs(value) % 2**bits
        return max(min(value, 2**bits - 1), -2**bits)

    def change_field(self, message):
        fields = message.ListFields()
        if not fields:
            return
        field, value = self.random.choice(fields)
        how = self.random.random()
        if how < 0.15:
            message.ClearField(field.name)
        elif field.is_repeated:
            self.change_list(field, value)
        elif field.type != field.TYPE_MESSAGE:
            setattr(message, field.name, self.scalar(field, value))

    def change_list(self, field, values):
        at = self.random.randrange(len(values))
        how = self.random.randrange(5)
        if field.type == field.TYPE_MESSAGE:
            copy = type(values[at])()
            copy.CopyFrom(values[at])
            other = self.random.randrange(len(values))
            if how == 0:
                del values[at]
            elif how == 1:
                values.append(copy)
            elif how == 2:
                values[at].CopyFrom(values[other])
                values[other].CopyFrom(copy)
            else:
                values[at].CopyFrom(values[other])
        elif how == 0:
            del values[at]
        elif how == 1:
            values.append(values[at])
        elif how == 2:
            values.append(self.scalar(field, values[at]))
        else:
            values[at] = self.scalar(field, values[at])

    def transplant(self, found):
        """One message in the place of another of its kind."""
        _, _, target = self.random.choice(found)
        like = [m for _, _, m in found if type(m) is type(target)]
        source = type(target)()
        source.CopyFrom(self.random.choice(like))
        target.CopyFrom(source)

    def mutate(self):
        for _ in range(self.random.choice([1, 1, 2, 3])):
            found = messages(self.model, [])
            if not found:
                break
            # Nodes and attributes more often than the shapes of inputs.
            weights = [4 if isinstance(m, (onnx.NodeProto, onnx.AttributeProto))
                       else 1 for _, _, m in found]
            _, _, message = self.random.choices(found, weights)[0]
            if self.random.random() < 0.15:
                self.transplant(found)
            else:
                self.change_field(message)
        return self.model.SerializeToString()


def run(tools, count, first=0, sanitized=False, keep=None, report=print):
    """(how many were refused or compiled, faults): one line per fault."""
    models = seeds()
    faults, verdicts = [], {}
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        command = [str(tools / "compile-each"), "--out", str(work / "out.ash"),
                   f"--seconds={SECONDS * (4 if sanitized else 1)}",
                   f"--megabytes={0 if sanitized else MEGABYTES}"]
        child = subprocess.Popen(command, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True,
                                 errors="replace")
        path = work / "model.onnx"
        for number in range(first, first + count):
            chosen = models[(number * 7919) % len(models)]
            path.write_bytes(Mutator(chosen, number).mutate())
            stage = "emit" if number % 10 == 0 else "simplify"
            child.stdin.write(f"{stage} {path}\n")
            child.stdin.flush()
            answer = child.stdout.readline()
            verdict, _, why = answer.strip().partition(": ")
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
            if verdict in ("compiled", "refused", "unsupported"):
                continue
            faults.append(f"mutation {number}, to {stage}: {answer.strip()}")
            report("FAIL " + faults[-1])
            if keep:
                keep.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, keep / f"mutation-{number}.onnx")
            if not answer:
                break
        child.stdin.close()
        child.wait()
    return verdicts, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    arguments = parser.parse_args()
    verdicts, faults = run(arguments.bin, arguments.count, arguments.first,
                           arguments.sanitized, arguments.keep)
    print(", ".join(f"{n} {v}" for v, n in sorted(verdicts.items())))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
