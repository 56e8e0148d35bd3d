#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Intel's compiler makes of real models' kernels, without a GPU.

Each model is compiled for level-zero presets with ocloc. All of its kernels are
in the machine code; those that call a function of matrices have `dpas` in it,
and none spills registers by the compiler's own report. For a GPU that Debian's
ocloc does not know there is SPIR-V alone, and spirv-val takes it.

  native_code.py --bin build/bin --work /tmp/w MODEL...
"""

import json
import os
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import named_models  # noqa: E402
import ocloc_kernels  # noqa: E402
import spirv_modules  # noqa: E402

# A GPU with matrix units and 8 KiB of registers a thread, one with half, an
# integrated one, and one that is newer than Debian's ocloc.
FORMS = [("pvc", "f32"), ("pvc", "bf16"), ("dg2", "f32"), ("dg2", "bf16"),
         ("tgllp", "f32"), ("bmg", "f32"), ("bmg", "bf16")]
NEWER = {"bmg"}
DPAS = 0x59  # Intel's graphics assembler: the opcode, 7 bits


def count_matrix_steps(image):
    """{kernel: dpas instructions} of a zebin. An instruction has 16 bytes, or 8
    where its bit 29 says that it is compacted."""
    headers, = struct.unpack_from("<Q", image, 0x28)
    count, names = struct.unpack_from("<HH", image, 0x3c)
    sections = [struct.unpack_from("<IIQQQQ", image, headers + 64 * i)
                for i in range(count)]
    found = {}
    for name, _, _, _, offset, size in sections:
        start = sections[names][4] + name
        text = image[start:image.index(b"\0", start)].decode()
        if not text.startswith(".text."):
            continue
        at, steps = offset, 0
        while at < offset + size:
            word, = struct.unpack_from("<I", image, at)
            steps += word & 0x7f == DPAS
            at += 8 if word >> 29 & 1 else 16
        found[text.removeprefix(".text.")] = steps
    return found


def why_not(tools, preset, module, temps):
    said = subprocess.run([tools / "ashlar-inspect", module, "--json"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          check=True)
    program = json.loads(said.stdout)["programs"][0]
    formats = [each["format"] for each in program["executables"]]
    if preset in NEWER and formats == ["spirv64-addresses"]:
        return spirv_modules.why_invalid(temps / "kernels.spv")
    if formats != [f"zebin-{preset}", "spirv64-addresses"]:
        return f"expected machine code, then SPIR-V, found {formats}"
    steps = count_matrix_steps((temps / "kernels.zebin").read_bytes())
    for kernel in program["kernels"]:
        name = kernel["name"]
        if name not in steps:
            return f"{name} is not in the machine code"
        calls = "_matrix_mad_k" in (temps / f"{name}.opt.ll").read_text()
        if calls != (steps[name] > 0):
            return f"{name} has {steps[name]} dpas" + \
                " and calls a function of matrices" * calls
        spilled = kernel["resources"]["spill_bytes"]
        if spilled:
            return f"{name} spills {spilled} bytes of a thread"
    return ""


def check_model(tools, model, path, work, tally):
    for preset, precision in FORMS:
        name = f"{model.name} in {precision} for {preset}"
        if preset in NEWER and not spirv_modules.find_validator():
            tally.skip(name, spirv_modules.MISSING)
            continue
        module, temps = work / f"{model.name}.ash", work / "temps"
        temps.mkdir(exist_ok=True)
        done = subprocess.run(
            [tools / "ashlar-compile", path, f"--target=level-zero:{preset}",
             f"--precision={precision}", "--quiet", "-o", module,
             f"--save-temps={temps}", *model.arguments()],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            env=dict(os.environ, ASHLAR_OCLOC=ocloc_kernels.find_ocloc()))
        tally.add(name,
                  done.stdout.strip()[:300] if done.returncode else
                  why_not(tools, preset, module,
                          temps / f"level-zero-{preset}"))


def main():
    missing = () if ocloc_kernels.find_ocloc() else (
        "ocloc", ocloc_kernels.MISSING)
    return named_models.check(__doc__, missing, check_model)


if __name__ == "__main__":
    sys.exit(main())
