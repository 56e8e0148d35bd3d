#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real models and ones with control flow held to their memory contracts.

What a budget counts equals what the module says, to the byte, and a run after
the first allocates nothing; see test/Integration/contract/HoldToContract.cpp.
So are some models of open sizes, at five sizes each: what a session takes is
what ashlar_entry_contract_at said before.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "Integration"), str(ROOT / "scripts"),
                str(ROOT / "benchmarks")]
import limit_cpu  # noqa: E402
import model_list  # noqa: E402
import open_models  # noqa: E402
from open_rows import five_sizes  # noqa: E402

# Of open_models.TABLE: in one piece and in several, of fixed and of open sizes.
OPEN = {"quick": ["silero_vad", "thai_words"],
        "plain": ["silero_vad", "thai_words", "silero_vad_v6", "names_decode",
                  "names_encode", "chinese_words", "ppocr_cls"]}


def hold(build, model, work):
    """Why it fails, or nothing; and the line of its figures."""
    module = work / f"{model.name}.ash"
    inputs = []
    with model.prepare(work) as path:
        for i, (name, values) in enumerate(
                model.cases(path)[0].feeds.items()):
            np.save(work / f"{i}.npy", values)
            inputs.append(f"{name}={work / f'{i}.npy'}")
        compiled = limit_cpu.run(
            [build / "bin" / "ashlar-compile", path, "-o", module, "--quiet",
             *model.arguments()], seconds=600)
    return compare(build, compiled, module, inputs)


def compare(build, compiled, module, arguments):
    if compiled.returncode:
        return f"does not compile: {compiled.stderr.strip()[:300]}", ""
    try:
        held = limit_cpu.run(
            [build / "unittests" / "hold-to-contract", module, *arguments],
            seconds=600)
    finally:
        module.unlink()
    line = (held.stdout + held.stderr).strip().replace(f"{module.parent}/", "")
    if held.returncode:
        return line or f"ended with {held.returncode}", ""
    return None, line


def calls_at(model, path, work, choose):
    """Of a model of open_models.TABLE: flags of the compiler, and calls of
    hold-to-contract at those of its five sizes that `choose` takes."""
    dims, shapes, *rest = open_models.TABLE[model.name]
    below, given = (dict(d) for d in (*rest, {}, {})[:2])
    ranges = open_models.read_ranges(dims)
    random = np.random.default_rng(1)
    inputs, flags = open_models.open_inputs(path, shapes, ranges)
    calls = []
    for number, point in enumerate(choose(five_sizes(ranges))):
        calls.append("--at")
        for i, (name, values) in enumerate(open_models.values_at(
                inputs, point, below, given, random).items()):
            file = work / f"{model.name}-{number}-{i}.npy"
            np.save(file, values)
            calls.append(f"{name}={file}")
    return [f"--dim={dims}", *flags], calls


def hold_open(build, model, work):
    """The same, where the caller chooses sizes."""
    module = work / f"{model.name}-open.ash"
    with model.prepare(work) as path:
        flags, calls = calls_at(model, path, work, lambda points: points)
        compiled = limit_cpu.run(
            [build / "bin" / "ashlar-compile", path, "-o", module, "--quiet",
             *flags], seconds=600)
    return compare(build, compiled, module, calls)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="only these of model_list.py")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    if arguments.mode == "sanitize":
        print("SKIP contract: sanitizers bring an allocator of their own")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory() as work:
        for model in model_list.all_models():
            if arguments.names and model.name not in arguments.names:
                continue
            # Random weights change no size.
            if model.name.endswith("_random") or (
                    arguments.mode == "quick" and not model.small):
                continue
            ways = [hold]
            if model.name in OPEN.get(arguments.mode, OPEN["plain"]):
                ways.append(hold_open)
            for way in ways:
                why, line = way(build, model, pathlib.Path(work))
                if why:
                    failed += 1
                    print(f"FAIL {model.name}: {why}", flush=True)
                else:
                    passed += 1
                    print(line, flush=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
