#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is in the loops of products on AMD's matrix units.

Compiles large products of bf16 and f16 for each preset and reads the code
object: the loop with the unit's steps loads 16 bytes at a time from the LDS,
has loads for the next tile, and no kernel keeps anything of a lane in memory.
benchmarks/amd.py makes a table of more of it.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import device_run  # noqa: E402

PRESETS = ["gfx942", "gfx90a", "gfx1100", "gfx1201"]
OBJDUMP = "/usr/lib/llvm-22/bin/llvm-objdump"
STEP = re.compile(r"v_(mfma|wmma)_")
LINE = re.compile(r"^\t(\S+)(.*?)\s*// ([0-9A-F]+):")
# m, n, k: a product whose terms lie side by side in both operands.
SHAPES = {"gemm 4096": (4096, 4096, 4096), "gemm 8192": (8192, 8192, 8192),
          "qkv 512x2304x768": (512, 2304, 768),
          "mlp up 512x3072x768": (512, 3072, 768),
          "mlp down 512x768x3072": (512, 768, 3072),
          "head 2048x4096x11008": (2048, 4096, 11008)}
CHECKED = ["gemm 4096", "mlp up 512x3072x768"]


def save(path, shape, kind):
    m, n, k = shape
    onnx.save(helper.make_model(helper.make_graph(
        [helper.make_node("Transpose", ["w"], ["t"]),
         helper.make_node("MatMul", ["x", "t"], ["y"])], "product",
        [helper.make_tensor_value_info("x", kind, [m, k]),
         helper.make_tensor_value_info("w", kind, [n, k])],
        [helper.make_tensor_value_info("y", kind, [m, n])]),
        opset_imports=[helper.make_opsetid("", 22)], ir_version=10), path)


def read_code(path, kernel=None):
    """(address, instruction, operands) of all kernels, or of one."""
    which = [f"--disassemble-symbols={kernel}"] if kernel else []
    said = subprocess.run([OBJDUMP, "-d", *which, path], capture_output=True,
                          text=True, check=True).stdout
    return [(int(m[3], 16), m[1], m[2]) for m in map(
        LINE.match, said.splitlines()) if m]


def hot_loop(code):
    """The smallest loop with the unit's steps; none: all of it."""
    loops = []
    for at, name, operands in code:
        offset = re.search(r"(\d+)\s*$", operands)
        if not name.startswith(("s_cbranch", "s_branch")) or not offset:
            continue
        by = int(offset[1])
        target = at + 4 + 4 * (by - (by & 0x8000) * 2)
        if target < at:
            inside = [one[1] for one in code if target <= one[0] <= at]
            if any(STEP.match(name) for name in inside):
                loops.append(inside)
    return min(loops, key=len, default=[name for _, name, _ in code])


def why_not(code):
    loop = hot_loop(code)
    if not any(STEP.match(name) for name in loop):
        return "no matrix instruction"
    if not any(re.match(r"ds_(read|load)_b128", name) for name in loop):
        return "no loads of 16 bytes from the LDS in the hot loop"
    if not any(name.startswith("global_load") for name in loop):
        return "no loads for the next tile in the hot loop"
    own = sorted({name for _, name, _ in code
                  if name.startswith(("scratch_", "buffer_"))})
    return f"{', '.join(own)}: a lane's own memory" if own else ""


def compile_product(arguments, work, preset, shape, kind):
    save(work / "m.onnx", shape, kind)
    done = subprocess.run(
        [arguments.bin / "ashlar-compile", work / "m.onnx", "--quiet",
         f"--target=rocm:{preset}", "-o", work / "m.ash",
         f"--save-temps={work}"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split("\n")[0][:300])
    return work / f"rocm-{preset}" / "kernels.hsaco"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--presets", default=",".join(PRESETS))
    arguments = parser.parse_args()
    tally = device_run.Tally()
    for preset in arguments.presets.split(","):
        for name in CHECKED:
            for kind in (TensorProto.BFLOAT16, TensorProto.FLOAT16):
                with tempfile.TemporaryDirectory() as temporary:
                    work = pathlib.Path(temporary)
                    try:
                        hsaco = compile_product(arguments, work, preset,
                                                SHAPES[name], kind)
                        why = why_not(read_code(hsaco))
                    except RuntimeError as error:
                        why = str(error)
                tally.add(f"{preset}, {TensorProto.DataType.Name(kind)}, "
                          f"{name}", why)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
