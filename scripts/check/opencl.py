#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of the target opencl on an OpenCL device, the first one there is:
the driver that scripts/setup.sh installs, or those of the machine.

Programs of the target level-zero on a driver double, whose launches run there,
those of matrix units too; Intel's compiler for GPUs takes their kernels, its
Level Zero driver, without hardware, models as SPIR-V and as machine code, and
PoCL those of opencl:pocl, where they are installed. A driver that says its
device is a GPU gives it shared memory and records what repeats.

Operator tests that pass on cpu pass for the presets generic and subgroups;
real models agree with ONNX Runtime, those of which a part runs beside the
processor as well; spirv-val takes their kernels; a file for cpu and opencl gives
the same numbers on both. In the mode plain this is a
sample, in the mode full all operator tests and all models.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import sys
import tempfile

import numpy as np

import operators
from on_device import (Counts, call, check_edges, check_models,
                       check_operators, count_said, environment, find_driver,
                       first_error, why_not_built, why_not_held)

ROOT = operators.ROOT
sys.path.insert(0, str(ROOT / "test" / "Integration"))
import ocloc_kernels  # noqa: E402
import spirv_modules  # noqa: E402

DEVICE = "opencl:0"
PRESETS = ["generic", "subgroups"]  # avx2 is as generic, for other machines
# One of so many operator tests: those with contractions, the others.
EVERY = {
    ("plain", "generic"): (12, 12), ("plain", "subgroups"): (8, 80),
    ("quick", "generic"): (90, 90), ("quick", "subgroups"): (60, 400),
    ("full", "generic"): (1, 1), ("full", "subgroups"): (1, 1)}
# Whichever the sample is: LLVM's SPIR-V back end once lost where integers of odd
# widths wrap.
ALWAYS = re.compile("/test_wrap_pad$")
# Tests that pass on cpu and are refused here, by name, and why.
REFUSED = {"generic": {}, "subgroups": {}}
# Small ones with convolutions, recurrent layers, attention.
MODELS = {
    ("plain", "generic"): ["ppocr_cls", "hey_jarvis"],
    ("plain", "subgroups"): ["ppocr_cls", "hey_jarvis"],
    ("quick", "generic"): ["hey_jarvis"], ("quick", "subgroups"): [],
    ("full", "generic"): None, ("full", "subgroups"): None}  # all
# One program of both, whose products run on the device.
BESIDE = "cpu+opencl:subgroups"
MODELS_BESIDE = {"plain": ["minilm_l6"], "quick": [], "full": None}
# The same form for Level Zero.
LEVEL_ZERO = "level-zero:pvc"
EVERY_LEVEL_ZERO = {"plain": (40, 400), "quick": (200, 900), "full": (4, 40)}
# Whose matrix units are computed: of subgroups of 16, and of 8.
UNIT_PRESETS = {"plain": ["pvc", "dg2"], "quick": ["dg2"],
                "full": ["pvc", "bmg", "dg2"]}
UNIT_CASES = {"plain": 2, "quick": 1, "full": 12}
MODELS_LEVEL_ZERO = {"plain": ["hey_jarvis"], "quick": [], "full": [
    "hey_jarvis", "ppocr_cls", "mobilenet_v2", "minilm_l6"]}
# Through Intel's driver, which computes nothing without hardware.
MODELS_DRIVER = {"plain": ["hey_jarvis"], "quick": [], "full": [
    "hey_jarvis", "minilm_l6", "mobilenet_v2", "ppocr_cls", "ppocr_det",
    "ppocr_rec", "resnet50"]}
# What Intel's compiler makes of their kernels for its GPUs.
MODELS_NATIVE = {"plain": ["hey_jarvis"], "quick": [], "full": [
    "hey_jarvis", "minilm_l6", "mobilenet_v2", "ppocr_cls", "ppocr_det"]}
# Where the driver says that its device is a GPU.
MODELS_AS_GPU = {"plain": ["hey_jarvis"], "quick": [], "full": [
    "hey_jarvis", "minilm_l6", "mobilenet_v2", "ppocr_cls"]}
# A driver without SPIR-V, which takes what llvm-spirv made of it.
POCL = "opencl:pocl"
NO_HALVES = re.compile("opencl:0 lacks cl_khr_fp16")  # numbers of 16 bits
EVERY_POCL = {"plain": (60, 60), "quick": (400, 400), "full": (8, 8)}
MODELS_POCL = {"plain": [], "quick": [],
               "full": ["hey_jarvis", "ppocr_cls", "mobilenet_v2"]}
# The model that runs on two devices, and whose memory is counted.
BOTH = "hey_jarvis"
FEED = "--input=x.1=random:7"  # its input
TOLERANCE = 1e-4  # of the largest value


def why_no_device(tools, work):
    """Nothing, or why no program can run: no driver, or one without SPIR-V."""
    _, said = call(tools / "ashlar-run", "--help")
    devices = re.search(r"^Devices: (.*)$", said, re.M)
    if not devices or DEVICE not in devices[1].split(", "):
        return ("no OpenCL driver: scripts/setup.sh installs one on x86-64, "
                "docs/gpu.md names others")
    folder = operators.DATA / "node" / "test_add"
    module = work / "add.ash"
    done, _ = call(tools / "ashlar-compile", folder / "model.onnx",
                   "--target=opencl:generic", "-o", module)
    if done:
        done, said = call(tools / "ashlar-run", module, f"--device={DEVICE}",
                          "--input=x=random:1", "--input=y=random:2")
        if not done and "takes no SPIR-V" in said:
            return first_error(said)
    return None  # what is wrong beside that, the tests tell


def check_spirv(folder, counts):
    """spirv-val on all that was compiled into the folder."""
    for file in sorted(folder.glob("**/kernels.spv")):
        name = f"spirv-val {file.relative_to(folder).parent}"
        if spirv_modules.find_validator():
            counts.must(name, spirv_modules.why_invalid(file))
        else:
            counts.skip(name, spirv_modules.MISSING)


def run_models(tools, target, device, names, work, counts, like=None):
    temps = check_models(tools, target, device, names, work, counts,
                         "kernels.spv", like)
    if temps:
        check_spirv(temps, counts)
        shutil.rmtree(temps, ignore_errors=True)


def run_on(tools, module, device, inputs, work):
    """The outputs of a run on that device and no other: ({name: values}, why
    there are none)."""
    out = pathlib.Path(tempfile.mkdtemp(dir=work))
    done, said = call(tools / "ashlar-run", module, f"--device={device}",
                      "--placement=strict", "--stats",
                      f"--output-dir={out}", *inputs)
    if not done:
        return {}, f"{device}: {first_error(said)}"
    if not re.search(rf"^device +{device},", said, re.M):
        return {}, f"{device}: ran elsewhere"
    return {file.name: np.load(file) for file in out.glob("*.npy")}, ""


def compare_devices(tools, path, work):
    """Nothing, or how one file with programs for cpu and opencl is wrong."""
    module = work / "both.ash"
    done, said = call(tools / "ashlar-compile", path, "-o", module,
                      "--target=cpu,opencl:generic")
    if not done:
        return first_error(said)
    results = []
    # opencl twice: it gives the same bytes each time.
    for device in ("cpu:0", DEVICE, DEVICE):
        outputs, why = run_on(tools, module, device, [FEED], work)
        if why:
            return why
        results.append(outputs)
    if not results[0] or results[0].keys() != results[1].keys():
        return "other outputs than on cpu"
    for name, cpu in results[0].items():
        opencl = results[1][name]
        if opencl.tobytes() != results[2][name].tobytes():
            return f"{name}: a second run on {DEVICE} gives other bytes"
        if opencl.shape != cpu.shape or opencl.dtype != cpu.dtype:
            return f"{name}: another shape or type than on cpu"
        error = np.abs(opencl.astype(np.float64) - cpu).max(initial=0)
        most = TOLERANCE * np.abs(cpu.astype(np.float64)).max(initial=0)
        if not error <= most:
            return f"{name}: differs from cpu by {error:.2e}, over {most:.2e}"
    return ""


def check_level_zero(arguments, tools, work, counts):
    """The device level-zero, by the double that the runtime's tests build."""
    double = arguments.build.resolve() / "runtime/test/level_zero/double"
    if not (double / "libze_loader.so.1").exists():
        counts.skip("level-zero", f"no driver double in {double}")
        return
    # It takes no machine code, which takes a while to make.
    with environment(LD_LIBRARY_PATH=str(double), ASHLAR_OCLOC="none"):
        device = "level-zero:0"
        check_operators(arguments, tools, LEVEL_ZERO,
                        EVERY_LEVEL_ZERO[arguments.mode], work, counts,
                        re.compile("^$"), {})
        if arguments.mode != "quick":
            for target in ("level-zero:generic", LEVEL_ZERO):
                check_edges(tools, target, device, counts)
            check_memory(tools, LEVEL_ZERO, device, work, counts)
        for preset in UNIT_PRESETS[arguments.mode]:
            check_units(tools, preset, arguments.mode, device, work, counts)
        temps = check_models(tools, LEVEL_ZERO, device,
                             MODELS_LEVEL_ZERO[arguments.mode], work, counts,
                             "kernels.spv")
    if temps:
        check_spirv(temps, counts)
        check_native(temps, counts)
        shutil.rmtree(temps, ignore_errors=True)


def check_intel(arguments, tools, work, counts):
    """Its Level Zero driver, told that there is hardware, and its compiler."""
    for name, script, models in (
            ("Level Zero's driver", "level_zero_driver.py",
             MODELS_DRIVER[arguments.mode]),
            ("ocloc", "native_code.py", MODELS_NATIVE[arguments.mode])):
        if models:
            own = pathlib.Path(tempfile.mkdtemp(dir=work))
            _, said = call(sys.executable, ROOT / "test/Integration" / script,
                           "--bin", tools, "--work", own, *models)
            count_said(counts, name, said)


def check_as_gpu(arguments, tools, work, counts):
    """Memory with addresses and command buffers, by the shim of the runtime's
    tests."""
    models = MODELS_AS_GPU[arguments.mode]
    shim = arguments.build.resolve() / "runtime/test/shim"
    if not models:
        return
    if not (shim / "libOpenCL.so.1").exists():
        counts.skip("devices as GPUs", f"there is no shim in {shim}")
        return
    with environment(LD_LIBRARY_PATH=str(shim), ASHLAR_SHIM_GPU="1"):
        check_models(tools, "opencl:generic", DEVICE, models, work / "as_gpu",
                     counts, "kernels.spv")


def check_units(tools, preset, mode, device, work, counts):
    """Products, convolutions and attentions by dpas, which the double computes
    as its function says; spirv-val takes them."""
    target = f"level-zero:{preset}"
    machine = ROOT / "lib/Targets/LevelZero/Machines" / f"{preset}.json"
    temps = work / f"units-{preset}"
    _, said = call(sys.executable, ROOT / "test/Integration/device_units.py",
                   "--bin", tools, f"--target={target}",
                   f"--machine={machine}", f"--device={device}",
                   f"--cases={UNIT_CASES[mode]}", f"--save-temps={temps}")
    count_said(counts, f"units on {target}", said)
    check_spirv(temps, counts)
    shutil.rmtree(temps, ignore_errors=True)


def check_native(folder, counts):
    """Intel's compiler on all that was compiled into the folder."""
    ocloc = ocloc_kernels.find_ocloc()
    if not ocloc:
        counts.skip("ocloc", ocloc_kernels.MISSING)
        return
    for file in sorted(folder.glob("**/kernels.spv")):
        for device in ocloc_kernels.DEVICES:
            why, _ = ocloc_kernels.compile_module(ocloc, file, device)
            counts.must(f"ocloc {device} {file.relative_to(folder).parent}",
                        why)


def find_pocl():
    """PoCL's library, as Debian has it, or that of ASHLAR_POCL; None: there is
    none."""
    named = os.environ.get("ASHLAR_POCL")
    found = sorted(pathlib.Path("/usr/lib").glob("*/libpocl.so.2"))
    return pathlib.Path(named) if named else found[0] if found else None


def check_pocl(arguments, tools, work, counts):
    """The device of PoCL, alone."""
    library = find_pocl()
    translator = os.environ.get("ASHLAR_LLVM_SPIRV", "llvm-spirv-15")
    if not library or not shutil.which(translator):
        counts.skip("PoCL", "it or llvm-spirv-15 is not there (Debian: "
                    "pocl-opencl-icd, llvm-spirv-15); ASHLAR_POCL and "
                    "ASHLAR_LLVM_SPIRV may name them")
        return
    vendors = work / "pocl"
    vendors.mkdir()
    (vendors / "pocl.icd").write_text(f"{library}\n")
    with environment(OCL_ICD_VENDORS=str(vendors)):
        check_operators(arguments, tools, POCL, EVERY_POCL[arguments.mode],
                        work, counts, refusal=NO_HALVES)
        check_models(tools, POCL, DEVICE, MODELS_POCL[arguments.mode], work,
                     counts, "kernels.bc")


def check_presets(arguments, tools, work, counts):
    for preset in arguments.preset or PRESETS:
        target, like = f"opencl:{preset}", preset.replace("avx2", "generic")
        check_operators(arguments, tools, target, EVERY[arguments.mode, like],
                        work, counts, ALWAYS, REFUSED[like])
        check_edges(tools, target, DEVICE, counts)
        run_models(tools, f"cpu,{target}", DEVICE, MODELS[arguments.mode, like],
                   work, counts, "cpu:0")
        check_memory(tools, target, DEVICE, work, counts)


@contextlib.contextmanager
def model_of_both(work):
    import model_list  # what it needs is in the tests' environment
    model, = [m for m in model_list.all_models() if m.name == BOTH]
    with model.prepare(work) as path:
        yield path


def check_both(arguments, tools, work, counts):
    """One program for two devices, and a file with a program for each."""
    run_models(tools, BESIDE, None, MODELS_BESIDE[arguments.mode], work, counts)
    with model_of_both(work) as path:
        counts.must(f"{BOTH} for cpu and opencl in one file",
                    compare_devices(tools, path, work))


def check_memory(tools, target, device, work, counts):
    """What a budget counts is what the contract says."""
    module = work / "held.ash"
    with model_of_both(work) as path:
        done, said = call(tools / "ashlar-compile", path, "-o", module,
                          f"--target={target}")
    counts.must(f"the memory of {BOTH} on {target}", why_not_held(
        tools, module, device, [FEED]) if done else first_error(said))


PARTS = {"presets": check_presets, "both": check_both, "as-gpu": check_as_gpu,
         "level-zero": check_level_zero, "intel": check_intel,
         "pocl": check_pocl}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--mode", default="plain")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--preset", action="append",
                        choices=[*PRESETS, "avx2"],
                        help="only this one of the first part; repeatable")
    parser.add_argument("--part", action="append", choices=PARTS,
                        help="only this one; repeatable")
    arguments = parser.parse_args()
    tools = arguments.build.resolve() / "bin"
    counts = Counts()
    why = why_not_built(tools)
    if arguments.mode == "sanitize":
        why = "a driver compiles in our process; unit runs the device there"
    find_driver()
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        why = why or why_no_device(tools, work)
        if why:
            counts.skip("opencl", why)
        else:
            for part in arguments.part or PARTS:
                PARTS[part](arguments, tools, work, counts)
    print(f"{counts.passed} passed, {counts.failed} failed, "
          f"{counts.skipped} skipped")
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
