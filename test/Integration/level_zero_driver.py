#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models through Intel's own Level Zero driver, without a GPU.

The driver can be told that there is hardware which computes nothing, and the
loader that it checks every call. Outputs are of no meaning then: what is
checked is that the driver takes all kernels, as SPIR-V and, where ocloc is
there, as machine code, and that neither it nor the loader's validation has
anything to say.

  level_zero_driver.py --bin build/bin --work /tmp/w MODEL...
"""

import ctypes.util
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import named_models  # noqa: E402
import ocloc_kernels  # noqa: E402

TARGET = "level-zero:pvc"
# Of which chip, and how many slices, subslices and units of it there are.
WITHOUT_HARDWARE = {
    "NEOReadDebugKeys": "1", "SetCommandStreamReceiver": "1",
    "ProductFamilyOverride": "pvc", "HardwareInfoOverride": "1x4x8"}
VALIDATION = {"ZE_ENABLE_VALIDATION_LAYER": "1",
              "ZE_ENABLE_PARAMETER_VALIDATION": "1"}
MOST_SECONDS = 20  # that a wait takes for what takes none
LIBRARIES = ("ze_loader", "ze_intel_gpu", "ze_validation_layer")


def environment():
    """That of a run; None: the driver is not there."""
    found = dict(os.environ, **WITHOUT_HARDWARE, **VALIDATION)
    folder = os.environ.get("ASHLAR_LEVEL_ZERO")
    if folder:
        found["LD_LIBRARY_PATH"] = folder
    elif not all(map(ctypes.util.find_library, LIBRARIES)):
        return None
    return found


def call(command, **how):
    return subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace", **how)


def why_not_run(tools, module, work):
    """Why a module does not run without a word of the driver's; or ""."""
    # It leaves what it would give the hardware where it stands.
    done = call([tools / "ashlar-bench", module.resolve(),
                 "--device=level-zero:0", "--min-time=0", "--warmup=2",
                 f"--device-wait={MOST_SECONDS}"],
                cwd=work, env=environment())
    said = [line for line in done.stderr.splitlines() if line.strip()]
    for left in work.glob("*.aub"):
        left.unlink()
    if done.returncode or said:
        return f"ended with {done.returncode}: {said[:1]}"
    return ""


def check_model(tools, model, path, work, tally):
    """As SPIR-V, and with machine code in front of it."""
    module = work / f"{model.name}.ash"
    ocloc = ocloc_kernels.find_ocloc()
    for name, compiler in (("SPIR-V", "none"), ("machine code", ocloc)):
        if not compiler:
            tally.skip(f"{model.name}, {name}", "there is no ocloc (Debian: "
                       "intel-opencl-icd); ASHLAR_OCLOC may name it")
            continue
        done = call([tools / "ashlar-compile", path, f"--target={TARGET}",
                     "--quiet", "-o", module, *model.arguments()],
                    env=dict(os.environ, ASHLAR_OCLOC=compiler))
        why = done.stderr.strip()[:300] if done.returncode else ""
        if not why and (b"zebin-pvc" in module.read_bytes()) != (
                name == "machine code"):
            why = "expected machine code in the module, and only there"
        tally.add(f"{model.name} on {TARGET} as {name}",
                  why or why_not_run(tools, module, work))


def main():
    missing = () if environment() else (
        "Level Zero's driver", "it is not there (Debian: libze1, "
        "intel-opencl-icd); ASHLAR_LEVEL_ZERO may name its folder")
    return named_models.check(__doc__, missing, check_model)


if __name__ == "__main__":
    sys.exit(main())
