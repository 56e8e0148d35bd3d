#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles real models for processors that this machine need not be.

Seven models in bf16 and the quantized ResNet-50, for each preset; --full takes
all models and all presets of all targets. A module for this machine's
instruction set is run, too, and compared with ONNX Runtime in f32: within the
largest difference that bf16 may make there. Of the others the kernel with the
most work is disassembled.

Where a preset has a matrix unit, at most 2 % of the seven models'
multiply-adds that its types could take may be left to vectors.

  cross_targets.py --bin build/bin --preset=cpu:sapphirerapids mobilenet_v2
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnxruntime

import compare_models
import model_list
from compare_models import Failure
from model_case import Case, Model

# Largest differences of bf16 to ONNX Runtime's f32, relative to the largest
# output: twice what was found over five inputs of each (docs/precision.md), or
# more where it varies with the input. They find what is wrong, not what is
# inaccurate.
MODELS = {
    "resnet50": 2e-2, "mobilenet_v2": 8e-2, "bert_base": 8e-2,
    "minilm_l6": 3e-2, "ppocr_det": 6e-1, "ppocr_rec": 1.5e-1,
    "ppocr_cls": 4e-2,
}
QUANTIZED = "resnet50_int8"
# Its outputs are bytes, which roundings at ties move by a step or two.
QUANTIZED_LIMIT = 2e-2
PRESETS = ["cpu:sapphirerapids", "cpu:x86-64-v4", "cpu:x86-64-v3",
           "cpu:aarch64"]
LEFT_TO_VECTORS = 0.02
# Control flow and calls of functions are left to the runtime.
NO_OBJECT = re.compile(r"found a [a-z ]+; a module \(\.ash\) can hold it"
                       r"|calls '\w+', and an object may call .* alone")
PRODUCTS = re.compile(r"; (\d+) multiply-adds")


@dataclasses.dataclass
class Job:
    model: Model
    path: pathlib.Path
    preset: str
    flags: list
    limit: float | None

    @property
    def name(self):
        return f"{self.model.name}, {self.preset} {' '.join(self.flags)}".strip()


@dataclasses.dataclass
class Done:
    job: Job
    why: str = ""       # it failed
    skipped: str = ""   # no object can hold the model
    error: float | None = None
    seconds: float = 0
    products: dict = dataclasses.field(default_factory=dict)


def read_products(remarks):
    """Multiply-adds by where they are done: in a matrix unit, or left to
    vectors although there is one for their types, or else on vectors."""
    found = {"matrices": 0, "left": 0, "vectors": 0}
    for line in remarks.read_text(errors="replace").splitlines():
        match = PRODUCTS.search(line)
        if match:
            where = ("matrices" if "registers of the matrix unit" in line else
                     "left" if "not of the matrix unit" in line else "vectors")
            found[where] += int(match[1])
        elif "multiplies on vectors, not in tile registers" in line:
            raise Failure("a kernel fell back to vectors: " + line[:300])
    return found


def largest_kernel(inspected):
    kernels = [k for program in inspected["programs"]
               for k in program["kernels"]]
    return max(kernels, key=lambda k: k["flops"])["name"] if kernels else None


def is_taken(inspected):
    """Whether this machine runs the module."""
    return inspected.get("contract") is not None


def work_on(arguments, job, work):
    done = Done(job)
    folder = work / re.sub(r"[^\w]", "-", job.name)
    folder.mkdir()
    module, remarks = folder / "module.ash", folder / "remarks.txt"
    kind = []
    if job.preset == "cpu:riscv64":
        module, kind = folder / "model.o", ["--emit=riscv-object"]
    try:
        result = compare_models.run(
            arguments.bin / "ashlar-compile", job.path, "-o", module,
            f"--target={job.preset}", f"--remarks={remarks}", "--quiet",
            *kind, *job.flags, *job.model.arguments(), timeout=1800)
        done.seconds = result.seconds
        done.products = read_products(remarks)
        if kind:
            return done
        inspected = json.loads(compare_models.run(
            arguments.bin / "ashlar-inspect", module, "--json",
            timeout=600).out)
        kernel = largest_kernel(inspected)
        if not is_taken(inspected):
            if kernel and job.preset.startswith("cpu:"):
                listing = compare_models.run(
                    arguments.bin / "ashlar-inspect", module,
                    f"--disassemble={kernel}", timeout=600).out
                if "<unknown>" in listing or "ret" not in listing:
                    raise Failure(f"{kernel} is no code: {listing[-200:]}")
        elif job.limit:
            theirs = compare_models.Theirs(job.path)
            case = job.model.cases(job.path)[0]
            case = Case("bf16", case.feeds, case.expected, job.limit)
            done.error = compare_models.check_case(
                arguments.bin, job.model, job.path, module, theirs, case,
                folder).worst
    except (Failure, OSError, ValueError) as failure:
        if kind and (refusal := NO_OBJECT.search(str(failure))):
            done.skipped = refusal[0]
        else:
            done.why = str(failure)
    finally:
        module.unlink(missing_ok=True)
    return done


def quantized():
    """ResNet-50 of bytes, as benchmarks/models writes it."""
    def cases(_):
        draw = model_list.model_inputs.generator(QUANTIZED)
        picture = draw.integers(-128, 128, (1, 3, 224, 224)).astype(np.int8)
        return [Case("random", {"input": picture})]
    return Model(QUANTIZED, lambda work: model_list.written(QUANTIZED, work),
                 cases)


def all_presets(arguments):
    """Of every target, as the compiler lists them; the oracle is none."""
    told = compare_models.run(arguments.bin / "ashlar-compile",
                              "--list-targets", timeout=60).out
    return [name for name in told.split() if not name.startswith("reference")]


def report_units(arguments, results):
    """The share of what a matrix unit's types could take that it has not got."""
    failures = 0
    for preset in sorted({d.job.preset for d in results}):
        sums = {"matrices": 0, "left": 0, "vectors": 0}
        for done in results:
            if done.job.preset == preset and done.job.model.name in MODELS:
                for where, products in done.products.items():
                    sums[where] += products
        if not sums["matrices"]:
            continue
        total = sum(sums.values())
        share = {where: products / total for where, products in sums.items()}
        print(f"NOTE {preset}: of the bf16 models' multiply-adds "
              f"{share['matrices']:.1%} in the matrix unit, "
              f"{share['left']:.2%} left to vectors, "
              f"{share['vectors']:.1%} of other types and forms")
        if share["left"] > LEFT_TO_VECTORS:
            failures += 1
            print(f"FAIL {preset}: {share['left']:.2%} of multiply-adds left "
                  f"to vectors, over {LEFT_TO_VECTORS:.0%}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="MODEL")
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--preset", action="append",
                        help="TARGET:PRESET, repeatable")
    parser.add_argument("--full", action="store_true",
                        help="all models for all presets")
    arguments = parser.parse_args()
    arguments.bin = arguments.bin.resolve()
    onnxruntime.set_default_logger_severity(3)
    models = [*model_list.all_models(), quantized()]
    if not arguments.full:
        models = [m for m in models if m.name in (*MODELS, QUANTIZED)]
    if arguments.names:
        models = [m for m in models if m.name in arguments.names]
    presets = arguments.preset or (
        all_presets(arguments) if arguments.full else PRESETS)

    results = []
    with tempfile.TemporaryDirectory() as temporary, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = pathlib.Path(temporary)
        for model in models:
            with model.prepare(work) as path:
                is_quantized = model.name == QUANTIZED
                flags = [] if is_quantized else ["--precision=bf16"]
                limit = (QUANTIZED_LIMIT if is_quantized
                         else MODELS.get(model.name))
                jobs = [Job(model, path, preset, flags, limit)
                        for preset in presets]
                for done in pool.map(
                        lambda job: work_on(arguments, job, work), jobs):
                    results.append(done)
                    found = (f"FAIL {done.job.name}: {done.why}" if done.why
                             else f"SKIP {done.job.name}: {done.skipped}"
                             if done.skipped else f"{done.job.name}: {done.seconds:.1f} s" +
                             (f", error {done.error:.1e}"
                              if done.error is not None else ""))
                    print(found, flush=True)
    failed = sum(bool(done.why) for done in results)
    skipped = sum(bool(done.skipped) for done in results)
    passed = len(results) - failed - skipped
    over = 0 if arguments.names else report_units(arguments, results)
    run = sum(done.error is not None for done in results)
    print(f"NOTE {run} of {passed} modules were run on this machine")
    print(f"{passed} passed, {failed + over} failed, {skipped} skipped")
    return 1 if failed or over or not results else 0


if __name__ == "__main__":
    sys.exit(main())
