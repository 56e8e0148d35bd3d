#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether two compilers make the same modules of the real models.

For changes that may move code about and change no kernel: each model of
model_list.py is compiled by both, and the modules are compared byte by byte.

  same_modules.py --old /tmp/before/ashlar-compile --new build/bin/ashlar-compile
"""

import argparse
import filecmp
import pathlib
import subprocess
import sys
import tempfile

import model_list

# What differs between these presets and types covers every way through the
# compiler: vectors of three widths, dots, matrix units, another architecture.
CONFIGURATIONS = {
    "cpu:x86-64-v3": ["--target=cpu:x86-64-v3"],
    "cpu:znver4": ["--target=cpu:znver4"],
    "cpu:sapphirerapids bf16":
        ["--target=cpu:sapphirerapids", "--precision=bf16"],
    "cpu:aarch64": ["--target=cpu:aarch64"],
    "reference": ["--target=reference"],
    "systolic:tpu-128 bf16":
        ["--target=systolic:tpu-128", "--precision=bf16"],
    "systolic:gemmini": ["--target=systolic:gemmini"],
}


def make(compiler, path, flags, output):
    """Nothing where it is made, else how it ended and what was said."""
    output.parent.mkdir(exist_ok=True)
    output.unlink(missing_ok=True)
    done = subprocess.run([compiler, path, "-o", output, *flags],
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{done.returncode} {done.stderr}"


def compare(arguments, path, flags, work):
    """"same", "refused", or how the two differ."""
    # The module's name is in it.
    files = [work / side / "m.ash" for side in ("old", "new")]
    said = [make(compiler, path, flags, file) for compiler, file
            in zip((arguments.old, arguments.new), files)]
    if said[0] != said[1]:
        return f"one says {said[0][:200]!r}, the other {said[1][:200]!r}"
    if said[0]:
        return "refused"
    return "same" if filecmp.cmp(*files, shallow=False) else "other bytes"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--old", required=True, type=pathlib.Path)
    parser.add_argument("--new", required=True, type=pathlib.Path)
    parser.add_argument("--only", action="append", metavar="CONFIGURATION",
                        choices=CONFIGURATIONS,
                        help="default: " + "; ".join(CONFIGURATIONS))
    parser.add_argument("models", nargs="*", help="default: all")
    arguments = parser.parse_args()
    models = model_list.all_models()
    names = [model.name for model in models]
    for name in arguments.models:
        if name not in names:
            parser.error(f"no model '{name}'; expected some of "
                         + ", ".join(names))
    found = dict.fromkeys(("same", "refused", "different"), 0)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for model in models:
            if arguments.models and model.name not in arguments.models:
                continue
            with model.prepare(work) as path:
                for name in arguments.only or CONFIGURATIONS:
                    flags = CONFIGURATIONS[name] + model.arguments()
                    what = compare(arguments, path, flags, work)
                    if what not in found:
                        print(f"FAIL {model.name}, {name}: {what}", flush=True)
                        what = "different"
                    found[what] += 1
    print(f"{found['refused']} refused by both, in the same words")
    print(f"{found['same']} passed, {found['different']} failed, 0 skipped")
    return 1 if found["different"] or not found["same"] else 0


if __name__ == "__main__":
    sys.exit(main())
