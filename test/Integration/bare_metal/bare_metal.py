#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Object files for a RISC-V core, run without our runtime and simulator.

Each MODEL becomes an object (--emit=riscv-object) that may call memcpy and
memset and has no global function but ashlar_main. It is linked with harness.c
and executor.c and runs under qemu-riscv64 on random inputs; its outputs must be
those of the target `reference` to the bit. The last line counts commands, and
with --count the instructions that the core executes in the object's own
functions, commands among them (what memcpy and memset take is not): a plugin of
QEMU (count.c) counts them.
"""

import argparse
import bisect
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ["clang-22", "ld.lld-22", "llvm-objdump-22", "llvm-nm-22"]
TARGET = ["--target=riscv64-unknown-elf", "-march=rv64gc", "-mabi=lp64d",
          "-mcmodel=medany"]


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True,
                          capture_output=True)
    if done.returncode:
        sys.exit(f"FAIL {' '.join(map(str, command))}: exit code "
                 f"{done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def functs(model_o):
    """How often each custom-3 command stands in the code."""
    count = collections.Counter()
    text = run("llvm-objdump-22", "-d", "--mattr=+m,+a,+f,+d,+c", model_o)
    for line in text.splitlines():
        found = re.match(r"\s*[0-9a-f]+:\s+([0-9a-f]{8})\s", line)
        word = int(found[1], 16) if found else 0
        if word & 0x7f == 0x7b:
            if word >> 12 & 7 != 3 or word >> 7 & 31:
                sys.exit(f"FAIL not a command of two sources: {line}")
            count[word >> 25] += 1
    return dict(sorted(count.items()))


def check_symbols(model_o):
    for line in run("llvm-nm-22", "--extern-only", model_o).splitlines():
        kind, name = line.split()[-2:]
        if (kind, name) not in (("T", "ashlar_main"), ("U", "memcpy"),
                                ("U", "memset")):
            sys.exit(f"FAIL unexpected symbol: {line}")


def write_sizes(header, path):
    """What the harness must know, from the model's header."""
    text = header.read_text()
    lines = [f'#include "{header}"']
    for kind in "INPUT", "OUTPUT":
        count = int(re.search(rf"ASHLAR_{kind}_COUNT (\d+)", text)[1])
        sizes = "".join(f"ASHLAR_{kind}_{i}_BYTES, " for i in range(count))
        lines.append(f"static const unsigned long {kind.lower()}_bytes[] = "
                     f"{{{sizes}0}};")
    path.write_text("\n".join(lines) + "\n")


def plugin(work):
    """count.c for the version of plugins that this QEMU has."""
    for version in range(1, 9):
        built = work / f"count{version}.so"
        run("clang-22", "-O2", "-fPIC", "-shared", f"-DQEMU_VERSION={version}",
            HERE / "count.c", "-o", built)
        done = subprocess.run(["qemu-riscv64", "-plugin", built, "/dev/null"],
                              capture_output=True, text=True)
        if "version" not in done.stderr:
            return built
    sys.exit("FAIL count.c: this QEMU has no plugins")


def functions_of(file):
    """(address, name) of a file's functions, in order."""
    found = []
    for line in run("llvm-nm-22", "--numeric-sort", file).splitlines():
        *address, kind, name = line.split()
        if kind in "tT" and not name.startswith("."):
            found.append((int(address[0], 16), name))
    return found


def core_instructions(said, program, model_o):
    """By function of the object, in one of its two runs."""
    functions = functions_of(program)
    own = {name for _, name in functions_of(model_o)}
    count = collections.Counter()
    for address, executed in re.findall(r"^count (\w+) (\d+)$", said, re.M):
        at = bisect.bisect(functions, (int(address, 16), "~")) - 1
        if at >= 0 and functions[at][1] in own:
            count[functions[at][1]] += int(executed)
    return {name: executed // 2 for name, executed in count.most_common()}


def random_input(info, random):
    dtype = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
    shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
    if np.issubdtype(dtype, np.integer):
        bounds = np.iinfo(dtype)
        return random.integers(max(bounds.min, -1000),
                               min(bounds.max, 1000), shape, dtype, True)
    return random.standard_normal(shape).astype(dtype)


def check(model, arguments, work):
    graph = onnx.load(model).graph
    random = np.random.default_rng(7)
    model_o = work / "model.o"
    run(arguments.compile, model, "-o", model_o, "--emit=riscv-object",
        "--quiet", f"--target={arguments.target}", *arguments.flag)
    check_symbols(model_o)
    commands = functs(model_o)
    write_sizes(work / "model.h", work / "sizes.h")
    if arguments.expect and set(map(int, arguments.expect.split(","))) - set(
            commands):
        sys.exit(f"FAIL {model.stem}: expected commands {arguments.expect}, "
                 f"found {commands}")
    run(arguments.compile, model, "-o", work / "reference.ash", "--quiet",
        "--target=reference", *arguments.flag)
    feeds, files = [], []
    for i, info in enumerate(graph.input):
        value = random_input(info, random)
        np.save(work / f"input_{i}.npy", value)
        value.tofile(work / f"input_{i}.bin")
        feeds.append(f"--input={info.name}={work / f'input_{i}.npy'}")
        files.append(work / f"input_{i}.bin")
    run(arguments.run, work / "reference.ash", *feeds,
        *(f"--output={o.name}={work / f'expected_{i}.npy'}"
          for i, o in enumerate(graph.output)))
    if not shutil.which("qemu-riscv64"):
        print(f"SKIP {model.stem}: qemu-riscv64 (Debian: qemu-user) is not "
              "there to run it")
        return
    for source in "harness", "executor":
        run("clang-22", *TARGET, "-O2", "-Wall", "-Wextra", "-Werror",
            "-ffreestanding", "-fno-builtin", f"-I{work}", "-c",
            HERE / f"{source}.c", "-o", work / f"{source}.o")
    run("ld.lld-22", "-static", model_o, work / "harness.o",
        work / "executor.o", "-o", work / "program")
    found = [work / f"found_{i}.bin" for i in range(len(graph.output))]
    counts = ["-plugin", plugin(work)] if arguments.count else []
    said = run("qemu-riscv64", *counts, work / "program", *files, *found)
    each = core_instructions(said, work / "program", model_o)
    said = re.sub(r"^count .*\n", "", said, flags=re.M)
    for i, output in enumerate(graph.output):
        expected = np.load(work / f"expected_{i}.npy")
        ours = np.fromfile(found[i], expected.dtype).reshape(expected.shape)
        wrong = np.count_nonzero(ours.view(np.uint8) != expected.view(np.uint8))
        if wrong or len(np.unique(expected)) < min(expected.size, 8):
            sys.exit(f"FAIL {model.stem}: {output.name}: {wrong} bytes differ, "
                     f"{len(np.unique(expected))} different values expected")
    print(f"{model.stem}: {said.strip()}, outputs equal; in the code "
          + ", ".join(f"{n} x {f}" for f, n in commands.items()))
    if arguments.count:
        print(f"{model.stem}: {sum(each.values())} instructions of the core: "
              + ", ".join(f"{n} in {name}" for name, n in each.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL")
    parser.add_argument("--compile", default="build/bin/ashlar-compile")
    parser.add_argument("--run", default="build/bin/ashlar-run")
    parser.add_argument("--target", default="systolic:gemmini")
    parser.add_argument("--flag", action="append", default=[],
                        help="for ashlar-compile, repeatable")
    parser.add_argument("--expect", help="commands that must be there: 0,2,3")
    parser.add_argument("--count", action="store_true",
                        help="count the core's instructions, too")
    parser.add_argument("--keep", type=pathlib.Path,
                        help="work in this folder and leave it there")
    arguments = parser.parse_args()
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"SKIP {' '.join(missing)}: not installed")
        return
    for model in arguments.models:
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            check(model, arguments, arguments.keep.resolve())
        else:
            with tempfile.TemporaryDirectory() as work:
                check(model, arguments, pathlib.Path(work))


if __name__ == "__main__":
    main()
