#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is predicted for AMD's GPUs, where there is none: results/amd.md.

Products, ResNet-50's layers and attentions of bf16 are compiled. A table says
of each one's longest kernel what the code object takes (registers, LDS,
workgroups of a unit, occupancy), how much of its hot loop the matrix unit's
instructions are, counted in the disassembly, and by the machine file the bytes
moved, the time and the share of the peak. The same choices for NVIDIA's sm_90a
stand beside times that results/gpu.json has, so that a reader can judge the
predictions.

Tables of presets that are not named stay as they were.

  amd.py --bin build/bin [--presets gfx942,gfx1100] [--only gemm]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test/Integration/amdgpu")]
import hot_loops  # noqa: E402

KIND = TensorProto.BFLOAT16
# Channels in and out, side of the picture in, window, step.
LAYERS = [(3, 64, 224, 7, 2), (64, 64, 56, 1, 1), (64, 64, 56, 3, 1),
          (64, 256, 56, 1, 1), (256, 64, 56, 1, 1), (256, 128, 56, 1, 1),
          (128, 128, 56, 3, 2), (256, 512, 56, 1, 2), (128, 512, 28, 1, 1),
          (512, 128, 28, 1, 1), (128, 128, 28, 3, 1), (512, 256, 28, 1, 1),
          (256, 256, 28, 3, 2), (512, 1024, 28, 1, 2), (256, 1024, 14, 1, 1),
          (1024, 256, 14, 1, 1), (256, 256, 14, 3, 1), (1024, 512, 14, 1, 1),
          (512, 512, 14, 3, 2), (1024, 2048, 14, 1, 2), (512, 2048, 7, 1, 1),
          (2048, 512, 7, 1, 1), (512, 512, 7, 3, 1)]
# Heads (16 in results/gpu.json, which has no others), rows, width, causal.
ATTENTIONS = [(12, 512, 64, 0), (16, 2048, 128, 0), (16, 2048, 128, 1)]
BATCH = 16  # as in results/gpu.json


def save(path, nodes, inputs, constants=()):
    onnx.save(helper.make_model(helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(name, KIND, shape)
                     for name, shape in inputs.items()],
        [helper.make_tensor_value_info("y", KIND, None)], list(constants)),
        opset_imports=[helper.make_opsetid("", 23)], ir_version=10), path)


def save_convolution(path, layer):
    ins, outs, side, window, step = layer
    # Not all alike, which would be no product.
    count = 2 * outs * ins * window ** 2
    pattern = bytes(range(1, 64))
    weight = helper.make_tensor("w", KIND, [outs, ins, window, window],
                                (pattern * (count // 63 + 1))[:count],
                                raw=True)
    save(path, [helper.make_node("Conv", ["x", "w"], ["y"],
                                 strides=[step] * 2,
                                 pads=[window // 2] * 4)],
         {"x": [BATCH, ins, side, side]}, [weight])


def save_attention(path, one):
    heads, rows, width, causal = one
    save(path, [helper.make_node("Attention", list("qkv"), ["y"],
                                 is_causal=causal)],
         {name: [1, heads, rows, width] for name in "qkv"})


def cases():
    """(group, name, how it is saved, its name in results/gpu.json)"""
    for name, shape in hot_loops.SHAPES.items():
        yield ("gemm", name,
               lambda path, shape=shape: hot_loops.save(path, shape, KIND),
               "matmul-{}x{}x{}-bf16".format(*shape))
    for layer in LAYERS:
        ins, outs, side, window, step = layer
        yield ("resnet50", f"{ins} to {outs}, {side}x{side}, "
               f"{window}x{window} by {step}",
               lambda path, layer=layer: save_convolution(path, layer),
               f"conv{window}x{window}-{ins}-{outs}-{side}"
               + f"-by{step}" * (step != 1) + "-bf16")
    for one in ATTENTIONS:
        heads, rows, width, causal = one
        kind = "attention_op" if causal else "attention"
        yield ("attention", f"attention of {heads} heads, {rows} x {width}"
               + ", causal" * causal,
               lambda path, one=one: save_attention(path, one),
               f"{kind}-d{width}-s{rows}" + "-causal" * causal + "-bf16")


def compile_one(arguments, work, target):
    done = subprocess.run(
        [arguments.bin / "ashlar-compile", work / "m.onnx", "--quiet",
         f"--target={target}", "-o", work / "m.ash", f"--save-temps={work}"],
        capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split("\n")[0][:200])
    said = json.loads(subprocess.run(
        [arguments.bin / "ashlar-inspect", work / "m.ash", "--json"],
        capture_output=True, text=True, check=True).stdout)
    [program] = said["programs"]
    return max(program["kernels"], key=lambda one: one["flops"])


def peak_of(machine, unit):
    return (2 * unit["m"] * unit["n"] * unit["k"] * unit["steps_per_cycle"]
            * machine["workers"]["count"] * machine["clock"]["hz"])


def loop_of(machine, preset, hsaco, kernel):
    """Matrix instructions of the hot loop, all of them, and the share of issue
    if others take 4 cycles."""
    loop = hot_loops.hot_loop(hot_loops.read_code(hsaco, kernel["name"]))
    steps = sum(bool(hot_loops.STEP.match(one)) for one in loop)
    unit = machine["units"][0]
    of_step = 2 if preset.startswith("gfx9") else 1  # instructions
    parts = 4 if preset.startswith("gfx9") else 2
    issued = parts / unit["steps_per_cycle"] / of_step * steps
    share = issued / (issued + 4 * (len(loop) - steps))
    return f"{steps} of {len(loop)} | {100 * share:.0f} %"


def row(arguments, work, preset, name):
    machine = json.loads((ROOT / f"lib/Targets/ROCm/Machines/{preset}.json"
                          ).read_text())
    kernel = compile_one(arguments, work, f"rocm:{preset}")
    takes = kernel["resources"]
    rate = kernel["flops"] / (kernel["bound_us"] * 1e-6)
    return (f"| {name} | {takes['registers']} | {takes['stack_bytes']} | "
            f"{takes['shared_bytes'] / 1024:.0f} KiB | "
            f"{takes['groups_per_worker']} | {100 * takes['occupancy']:.0f} % "
            f"| {loop_of(machine, preset, work / f'rocm-{preset}/kernels.hsaco', kernel)}"
            f" | {kernel['bytes'] / 1e6:.1f} MB | {kernel['bound_us']:.1f} | "
            f"{rate / peak_of(machine, machine['units'][0]):.2f} |")


def row_nvidia(arguments, work, name, known, measured):
    machine = json.loads(
        (ROOT / "lib/Targets/CUDA/Machines/sm_90a.json").read_text())
    kernel = compile_one(arguments, work, "cuda:sm_90a")
    us = kernel["bound_us"]
    peak = peak_of(machine, machine["units"][0])
    found = measured.get(known)
    time = found and (found.get("counted") or found["time"])["us"]
    return (f"| {name} | {kernel['bytes'] / 1e6:.1f} MB | {us:.1f} | "
            f"{kernel['flops'] / us * 1e6 / peak:.2f} | " + (
                f"{time:.1f} | {kernel['flops'] / time * 1e6 / peak:.2f} |"
                if time else "| |"))


HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->
# AMD's GPUs, on paper

Written by `benchmarks/amd.py`; no GPU has run any of it. Of each case the
kernel with the most work. Registers of a lane, scratch bytes of a lane, LDS and
workgroups of one compute unit, occupancy: from the code object. The loop:
matrix instructions of all instructions in the smallest loop that has them, and
their share of issue if each other instruction takes 4 cycles and none runs
beside them, so a lower bound (a loop of 7 % to 20 % is a convolution's or an
attention's, most of whose instructions are addresses or functions; one without
any is that of a convolution of 3 channels, whose FMA by threads are predicted
to be faster than bringing its rows to the unit). Moved, predicted, of the peak:
by the machine file, whose peak is that of the unit for bf16; [rocm.md][1] says
what is assumed there. Convolutions of 16 pictures.

[1]: ../../docs/rocm.md#on-paper
"""


NVIDIA = "sm_90a"


def table(arguments, work, chosen, preset):
    lines = [f"\n## {preset}\n",
             "| bf16 | registers | scratch | LDS | workgroups | occupancy | "
             "loop | issue | moved | predicted, us | of the peak |",
             "|---" + "|--:" * 10 + "|"]
    for _, name, save_case, _ in chosen:
        save_case(work / "m.onnx")
        try:
            lines.append(row(arguments, work, preset, name))
        except RuntimeError as error:
            lines.append(f"| {name} | {error} |" + " |" * 9)
        print(lines[-1], flush=True)
    return lines


def table_nvidia(arguments, work, chosen, _):
    measured = json.loads((ROOT / "benchmarks/results/gpu.json")
                          .read_text())["cases"]
    lines = [f"\n## {NVIDIA}, beside an H200\n",
             "The same predictions of the longest kernel, and times of all "
             "kernels that\n`results/gpu.json` has, of the compiler of "
             "2026-11-27: before products were\ncopied by TMA, when attention "
             "was three kernels, six where causal. Of windows of\nseveral "
             "taps another kernel brings the picture into order.\n",
             "| bf16 | moved | predicted, us | of the peak | measured, us "
             "| of the peak |", "|---" + "|--:" * 5 + "|"]
    for _, name, save_case, known in chosen:
        save_case(work / "m.onnx")
        lines.append(row_nvidia(arguments, work, name, known, measured))
        print(lines[-1], flush=True)
    return lines


def tables_of(path):
    """By preset: those of an earlier run."""
    text = path.read_text() if path.exists() else ""
    return {part.split()[0].rstrip(","): ["\n## " + part.rstrip("\n")]
            for part in text.split("\n## ")[1:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    presets = ["gfx942", "gfx90a", "gfx1100", "gfx1201", NVIDIA]
    parser.add_argument("--presets", default=",".join(presets))
    parser.add_argument("--only", default="", help="gemm, resnet50, attention")
    parser.add_argument("--output", type=pathlib.Path,
                        default=ROOT / "benchmarks/results/amd.md")
    arguments = parser.parse_args()
    chosen = [case for case in cases() if case[0].startswith(arguments.only)]
    tables = tables_of(arguments.output)
    with tempfile.TemporaryDirectory() as temporary:
        for preset in arguments.presets.split(","):
            write = table_nvidia if preset == NVIDIA else table
            tables[preset] = write(arguments, pathlib.Path(temporary), chosen,
                                   preset)
    arguments.output.write_text("\n".join(
        [HEAD, *(line for preset in presets if preset in tables
                 for line in tables[preset])]) + "\n")


if __name__ == "__main__":
    main()
