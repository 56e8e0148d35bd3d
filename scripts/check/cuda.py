#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the target cuda, without a GPU.

NVIDIA's assembler takes the kernels of real models; the machine code of
products has the instructions that it should. On a driver of ours that
interprets PTX instruction by instruction, and looks for races, bounds and what
nobody wrote (runtime/test/cuda), what two sessions of a model allocate of the
device's memory is what its contract says, to the byte; each chip is given the
code that suits it, and what cannot run is refused; operator tests that pass on
cpu pass, or are refused for a function that PTX does not have; tensor cores
multiply odd sizes; small real models agree with ONNX Runtime;
benchmarks/gpu/run.sh runs in tiny sizes. In the mode plain this is a sample, in
the mode full all operator tests, all presets, all cases of benchmarks/gpu, and
the assembler takes all models.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import tempfile

import operators
from device_memory import check_memory
from on_device import (Counts, call, check_edges, check_models,
                       check_operators, count_said, environment, first_error,
                       why_not_built)

ROOT = operators.ROOT
DEVICE = "cuda:0"
PRESETS = ["sm_80", "sm_90a", "sm_100a"]
# Those whose kernels the double runs: the code of the others differs in the
# choice of sizes.
RUN = "sm_80"
# One of so many operator tests: those with contractions, the others.
EVERY = {"plain": (20, 40), "quick": (60, 200), "full": (1, 1)}
# Or an output of unknown size, whose largest the double does not have.
REFUSAL = re.compile(r"PTX has no function '\w+'|no memory for \d+ bytes")
# Products and convolutions of each matrix unit and type.
UNITS = {"plain": 4, "quick": 1, "full": 40}
# Attentions that are assembled alone.
ATTENTIONS = {"plain": 10, "quick": 4, "full": 0}  # all
MODELS = {"plain": ["hey_jarvis"], "quick": [],
          "full": ["hey_jarvis", "ppocr_cls", "minilm_l6", "mobilenet_v2"]}
ASSEMBLED = {"plain": ["ppocr_cls", "minilm_l6", "mobilenet_v2"],
             "quick": ["hey_jarvis"], "full": None}  # all
# Whose memory is counted: all, those that also run, those of open sizes.
HELD = {"plain": (["hey_jarvis", "silero_vad_v6", "minilm_l6", "mobilenet_v2"],
                  ["hey_jarvis"], ["thai_words"]),
        "quick": (["hey_jarvis"], ["hey_jarvis"], ["thai_words"]),
        "full": (["hey_jarvis", "silero_vad_v6", "minilm_l6", "mobilenet_v2",
                  "ppocr_cls", "ppocr_det", "bert_base"],
                 ["hey_jarvis", "silero_vad_v6"],
                 ["thai_words", "silero_vad_v6"])}
# In one file with the processor.
FILES = {"plain": ["ppocr_cls", "minilm_l6"], "quick": ["hey_jarvis"],
         "full": None}
# NVIDIA's assembler and disassembler.
TOOLS = ROOT / ".deps/cuda/bin"
ASSEMBLER = TOOLS / "ptxas"


def assemble(tools, model, path, preset, work):
    """Why NVIDIA's assembler does not take the model's kernels, and what the
    module says of those it takes: (why, kernels, of which spill registers)."""
    module = work / "m.ash"
    done, said = call(tools / "ashlar-compile", path, "-o", module,
                      f"--target=cuda:{preset}", "--quiet",
                      f"--assembler={ASSEMBLER}", *model.arguments())
    if not done:
        return first_error(said), 0, 0
    done, said = call(tools / "ashlar-inspect", module, "--json")
    if not done:
        return first_error(said), 0, 0
    [program] = json.loads(said)["programs"]
    known = [kernel["resources"] for kernel in program["kernels"]]
    if not known or not all(known):
        return "the module does not say what its kernels take", 0, 0
    return "", len(known), sum(each["spill_bytes"] > 0 for each in known)


def check_assembler(tools, names, work, counts):
    sys.path.insert(0, str(ROOT / "test" / "Integration"))
    import model_list  # what it needs is in the tests' environment
    if not ASSEMBLER.exists():
        counts.skip("assembler", "there is no .deps/cuda/bin/ptxas: "
                    "scripts/setup.sh installs it on x86-64")
        return
    kernels = spilling = 0
    for model in model_list.all_models():
        if names is not None and model.name not in names:
            continue
        with model.prepare(work) as path:
            for preset in PRESETS:
                name = f"{model.name}, assembled for {preset}"
                why, more, spills = assemble(tools, model, path, preset, work)
                if REFUSAL.search(why):
                    counts.skip(name, why)
                    continue
                counts.must(name, why)
                kernels, spilling = kernels + more, spilling + spills
    print(f"NOTE {kernels} kernels were assembled, {spilling} of them spill "
          "registers")


def check_machine_code(tools, counts):
    """Instructions of hot loops, and which code each chip is given."""
    missing = [tool for tool in ("ptxas", "cuobjdump", "nvdisasm")
               if not (TOOLS / tool).exists()]
    if missing:
        counts.skip("machine code", f"there is no .deps/cuda/bin/{missing[0]}: "
                    "scripts/setup.sh installs it on x86-64")
        return
    count_said(counts, "machine code", call(
        sys.executable, ROOT / "test/Integration/machine_code.py", "--bin",
        tools, f"--cuda={TOOLS}")[1])


def check_forms(tools, counts):
    if not ASSEMBLER.exists():
        return
    count_said(counts, "forms", call(
        sys.executable, ROOT / "test/Integration/cuda_forms.py", "--bin",
        tools, f"--ptxas={ASSEMBLER}")[1])


def check_benchmarks(build, mode, counts):
    """What benchmarks/gpu brings to a GPU, in tiny sizes, on the double."""
    count_said(counts, "benchmarks/gpu", call(
        sys.executable, ROOT / "test/Integration/gpu_benchmarks.py", "--build",
        build, *(["--all"] if mode == "full" else []))[1])


def check_units(tools, cases, counts):
    """Tensor cores, those of Hopper among them, at sizes that do not suit
    them."""
    for preset, chip, driver in (("sm_90a", "9.0", "12040"),
                                 ("sm_100a", "10.0", "12080")):
        # So few multiprocessors that workgroups have several parts each.
        with environment(ASHLAR_CUDA_DOUBLE_CC=chip,
                         ASHLAR_CUDA_DOUBLE_DRIVER=driver,
                         ASHLAR_CUDA_DOUBLE_MULTIPROCESSORS="4"):
            count_said(counts, f"units of {preset}", call(
                sys.executable, ROOT / "test/Integration/device_units.py",
                "--bin", tools, f"--target=cuda:{preset}", "--machine",
                ROOT / f"lib/Targets/CUDA/Machines/{preset}.json",
                f"--device={DEVICE}", f"--cases={cases}")[1])


def check_attentions(tools, cases, counts):
    """Their forms, each of which the assembler must like."""
    if not ASSEMBLER.exists():
        return  # said before
    count_said(counts, "attentions", call(
        sys.executable, ROOT / "test/Integration/cuda_attention.py", "--bin",
        tools, f"--ptxas={ASSEMBLER}", f"--cases={cases}")[1])


def check_files(tools, names, counts):
    """One file of real models for the processor and both GPUs."""
    if not ASSEMBLER.exists():
        return  # said before
    for precision in ("f32", "bf16"):
        count_said(counts, f"one file, {precision}", call(
            sys.executable, ROOT / "test/Integration/cuda_models.py", "--bin",
            tools, f"--ptxas={ASSEMBLER}", f"--precision={precision}",
            *(f"--model={name}" for name in names or ()))[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    tools = build / "bin"
    double = build / "runtime/test/cuda/double"
    counts = Counts()
    why = why_not_built(tools)
    if arguments.mode == "sanitize":
        why = "nothing of it is sanitized but what unit and lit run, too"
    if why:
        counts.skip("cuda", why)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            work = pathlib.Path(temporary)
            # Nothing else depends on what the machine has installed.
            os.environ["ASHLAR_PTXAS"] = "none"
            check_assembler(tools, ASSEMBLED[arguments.mode], work, counts)
            check_machine_code(tools, counts)
            check_attentions(tools, ATTENTIONS[arguments.mode], counts)
            check_files(tools, FILES[arguments.mode], counts)
            if not (double / "libcuda.so.1").exists():
                counts.skip("cuda", "the driver double is not built "
                            "(ASHLAR_RUNTIME_TESTS)")
            else:
                os.environ["LD_LIBRARY_PATH"] = str(double)
                # What needs more is refused, not interpreted for hours.
                os.environ["ASHLAR_CUDA_DOUBLE_MEMORY"] = str(1 << 30)
                target = f"cuda:{RUN}"
                check_operators(arguments, tools, target,
                                EVERY[arguments.mode], work, counts,
                                refusal=REFUSAL)
                check_forms(tools, counts)
                count_said(counts, "refusals", call(
                    sys.executable,
                    ROOT / "test/Integration/cuda_refusals.py", "--bin",
                    tools)[1])
                check_edges(tools, target, DEVICE, counts)
                check_memory(build, target, DEVICE, *HELD[arguments.mode],
                             work, counts)
                check_units(tools, UNITS[arguments.mode], counts)
                check_benchmarks(build, arguments.mode, counts)
                check_models(tools, target, DEVICE, MODELS[arguments.mode],
                             work, counts, "kernels.ptx")
    print(f"{counts.passed} passed, {counts.failed} failed, "
          f"{counts.skipped} skipped")
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
