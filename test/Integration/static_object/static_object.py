#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Object files for x86-64 and AArch64, run without our runtime.

Each MODEL becomes an object (--emit=static) that may call C's functions on
memory and its mathematics, and has no global function but ashlar_main. It is
linked with main.c, by this machine's C compiler and run, and by the one for
AArch64 and run under qemu-user. Outputs of the machine's own object must be
those of the runtime on the same model and machine to the bit; those of the
other, of the target `reference` within --tolerance.
"""

import argparse
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bare_metal"))
import bare_metal  # noqa: E402

LIBC = {"memcpy", "memset", "memmove", "memcmp"}
MATH = re.compile(r"(a?(sin|cos|tan)h?|atan2|sincos|cbrt|ceil|erfc?|exp2?|expm1"
                  r"|fabs|floor|fma|fmax|fmin|fmod|ldexp|log(10|1p|2)?|pow|rint"
                  r"|round(even)?|sqrt|trunc)f?$")
FLAGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"]
run = bare_metal.run


def check_symbols(model_o):
    for line in run("llvm-nm-22", "--extern-only", model_o).splitlines():
        kind, name = line.split()[-2:]
        if (kind, name) != ("T", "ashlar_main") and not (
                kind == "U" and (name in LIBC or MATH.match(name))):
            sys.exit(f"FAIL unexpected symbol: {line}")


def outputs_of(program, files, work, graph, expected):
    found = [work / f"found_{i}.bin" for i in range(len(graph.output))]
    run(*program, *files, *found)
    return [np.fromfile(path, like.dtype).reshape(like.shape)
            for path, like in zip(found, expected)]


def module_outputs(model, target, arguments, graph, work):
    run(arguments.compile, model, "-o", work / "model.ash", "--quiet",
        f"--target={target}", *arguments.flag)
    run(arguments.run, work / "model.ash",
        *(f"--input={info.name}={work / f'input_{i}.npy'}"
          for i, info in enumerate(graph.input)),
        *(f"--output={o.name}={work / f'expected_{i}.npy'}"
          for i, o in enumerate(graph.output)))
    return [np.load(work / f"expected_{i}.npy")
            for i in range(len(graph.output))]


def build(model, target, compiler, extra, arguments, work):
    run(arguments.compile, model, "-o", work / "model.o", "--emit=static",
        "--quiet", f"--target={target}", *arguments.flag)
    check_symbols(work / "model.o")
    bare_metal.write_sizes(work / "model.h", work / "sizes.h")
    program = work / "program"
    run(compiler, *FLAGS, f"-I{work}", HERE / "main.c", work / "model.o", "-lm",
        *extra, "-o", program)
    return program


def fixed_inputs(graph, flags):
    """Shapes that --shape gives take the place of the model's."""
    given = dict(flag[len("--shape="):].rsplit("=", 1) for flag in flags
                 if flag.startswith("--shape="))
    for info in graph.input:
        for dim, size in zip(info.type.tensor_type.shape.dim,
                             given.get(info.name, "").split("x")):
            if size:
                dim.dim_value = int(size)


def check(model, arguments, work):
    graph = onnx.load(model).graph
    fixed_inputs(graph, arguments.flag)
    random = np.random.default_rng(11)
    files = []
    for i, info in enumerate(graph.input):
        value = bare_metal.random_input(info, random)
        np.save(work / f"input_{i}.npy", value)
        value.tofile(work / f"input_{i}.bin")
        files.append(work / f"input_{i}.bin")
    said = []
    if platform.machine() == "x86_64":
        expected = module_outputs(model, "cpu:host", arguments, graph, work)
        # Whichever way the program is linked: code that may be anywhere, at a
        # fixed place, and in a library.
        for how in ["-pie"], ["-no-pie"]:
            program = build(model, "cpu:host", arguments.cc, how, arguments,
                            work)
            found = outputs_of([program], files, work, graph, expected)
            for output, x, y in zip(graph.output, expected, found):
                if x.tobytes() != y.tobytes():
                    sys.exit(f"FAIL {model.stem}: {output.name}: other bytes "
                             "than the runtime's")
        run(arguments.cc, "-shared", work / "model.o", "-lm", "-Wl,-z,defs",
            "-o", work / "model.so")
        said.append("this machine's outputs equal the runtime's")
    missing = [tool for tool in (arguments.cross, "qemu-aarch64")
               if not shutil.which(tool)]
    if missing:
        print(f"SKIP {model.stem} for AArch64: {' '.join(missing)}: not "
              "installed")
    else:
        expected = module_outputs(model, "reference", arguments, graph, work)
        program = build(model, "cpu:aarch64", arguments.cross, ["-static"],
                        arguments, work)
        found = outputs_of(["qemu-aarch64", program], files, work, graph,
                           expected)
        for output, x, y in zip(graph.output, expected, found):
            x, y = x.astype(np.float64), y.astype(np.float64)
            error = np.max(np.abs(x - y), initial=0)
            scale = np.max(np.abs(x), initial=1e-30)
            if not error <= arguments.tolerance * scale:
                sys.exit(f"FAIL {model.stem}: {output.name}: error {error} of "
                         f"{scale} on AArch64")
        said.append("AArch64's are the reference's")
    print(f"{model.stem}: {', '.join(said)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL")
    parser.add_argument("--compile", default="build/bin/ashlar-compile")
    parser.add_argument("--run", default="build/bin/ashlar-run")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cross", default="aarch64-linux-gnu-gcc")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--flag", action="append", default=[],
                        help="for ashlar-compile, repeatable")
    arguments = parser.parse_args()
    for model in arguments.models:
        with tempfile.TemporaryDirectory() as work:
            check(model, arguments, pathlib.Path(work))


if __name__ == "__main__":
    main()
