#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module depends on its model and flags alone; a killed compile leaves
nothing.

Each model is compiled twice: in other folders, under other names, with other
numbers of threads. Both files must be equal byte for byte.
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / ".deps" / "models"
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
CASES = [
    (DIGITS, ["--shape=image=1x1x8x8"]),
    (MODELS / "ppocr_cls.onnx", ["--shape=x=1x3x48x192"]),
    (MODELS / "ppocr_rec.onnx", ["--shape=x=1x3x48x320"]),
]
# Parts of the time that a whole compile takes.
KILLED_AFTER = (0.2, 0.5, 0.8, 0.95)


def compile_in(folder, compiler, model, flags, threads):
    """Compiles a copy of the model in a folder: the module's bytes."""
    folder.mkdir(parents=True)
    copy = shutil.copy(model, folder / "model.onnx")
    done = subprocess.run(
        [compiler, copy, "-o", folder / "module.ash", f"--threads={threads}",
         *flags], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, errors="replace")
    if done.returncode:
        print(done.stderr)
        raise RuntimeError(f"ashlar-compile ended with {done.returncode}")
    return (folder / "module.ash").read_bytes()


def first_difference(one, two):
    for place, (a, b) in enumerate(zip(one, two)):
        if a != b:
            return f"differ at byte {place} of {len(one)} and {len(two)}"
    return f"have {len(one)} and {len(two)} bytes"


def check_same(compiler, work):
    passed = failed = 0
    for model, flags in CASES:
        if not model.exists():
            print(f"NOTE {model.name} is missing; scripts/fetch_models.py")
            continue
        name = f"reproducible {model.stem}"
        try:
            one = compile_in(work / model.stem / "a", compiler, model, flags,
                             threads=1)
            two = compile_in(work / model.stem / "another" / "folder",
                             compiler, model, flags, threads=4)
        except RuntimeError as error:
            print(f"FAIL {name}: {error}")
            failed += 1
            continue
        if one == two:
            passed += 1
        else:
            print(f"FAIL {name}: two compiles {first_difference(one, two)}")
            failed += 1
        # The folder's name must not be in the file either.
        if str(work).encode() in one:
            print(f"FAIL {name}: the module holds the path of its folder")
            failed += 1
        else:
            passed += 1
    return passed, failed


def check_killed(compiler, work):
    """Ends a compile part of the way; no output file may be there, an older
    one must be whole, and no temporary file may stay."""
    passed = failed = 0
    model, flags = CASES[0]
    start = time.monotonic()
    module = compile_in(work / "timed", compiler, model, flags, threads=1)
    whole = time.monotonic() - start
    for part in KILLED_AFTER:
        for how in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            folder = work / f"killed-{part}-{how.name}"
            temporary = work / f"temporary-{part}-{how.name}"
            folder.mkdir()
            temporary.mkdir()
            output = folder / "module.ash"
            output.write_text("older")
            child = subprocess.Popen(
                [compiler, model, "-o", output, *flags],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "TMPDIR": str(temporary)})
            time.sleep(whole * part)
            child.send_signal(how)
            code = child.wait(60)
            there = sorted(p.name for p in [*folder.iterdir(),
                                            *temporary.iterdir()])
            # It may have been done just before the signal came.
            if (there == ["module.ash"]
                    and output.read_bytes() in (b"older", module)):
                passed += 1
            else:
                print(f"FAIL {how.name} after {part:.0%} of a compile: it "
                      f"ended with {code} and left {', '.join(there)}")
                failed += 1
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    compiler = arguments.bin.resolve() / "ashlar-compile"
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        same, killed = check_same(compiler, work), check_killed(compiler, work)
    passed, failed = same[0] + killed[0], same[1] + killed[1]
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
