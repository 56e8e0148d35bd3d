#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which instructions NVIDIA's assembler makes of products on matrix units.

Compiles products of bf16, with an epilogue and without, one whose rows no
engine takes as they are, one with weights of 4 bits, a convolution in steps and
a causal attention, one of products, a scale and a softmax, and a masked one of
f16, and reads the machine code of the module: the loop that has the matrix
unit's steps keeps nothing in local memory and, or another loop beside it, has
the copies that a preset is meant for; results leave by 16 bytes, or by the copy
engine where workgroups have several tiles each; nobody writes the zeros around
an image that a copy engine has; an attention's exponentials are computed while
Hopper's unit multiplies, by groups that take turns. The same compile twice
gives the same bytes, and the module says what each kernel takes.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

import device_run

# What the hot loop must have, and what all of the kernel: a warp of its own
# tells the copy engine.
WANTED = {
    "sm_80": ["HMMA", "LDGSTS"],
    "sm_90a": ["HGMMA"],
    "sm_100a": ["HMMA"],
}
BESIDE = {
    "sm_80": [],
    "sm_90a": ["UTMALDG"],
    "sm_100a": [],
}
# With weights that threads unpack on their way to either unit.
PACKED = ["LDGSTS", "STS"]
# What tiles behind the first need not wait for: matrices into shared memory,
# and boxes of them to the copy engine.
STORES = ["STSM", "UTMASTG"]
STEPS = ("HMMA", "HGMMA")
LOCAL = ("STL", "LDL")

INSTRUCTION = re.compile(
    r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)([^;]*);")


def functions(listing):
    """Instructions of each kernel: address, operation, operands."""
    found = {}
    for part in re.split(r"Function : ", listing)[1:]:
        name = part.split("\n", 1)[0].strip()
        found[name] = [(int(m[1], 16), m[2], m[3].strip())
                       for m in INSTRUCTION.finditer(part)]
    return found


def loops(code):
    """Instructions between the target of a branch back and the branch."""
    for address, operation, operands in code:
        if operation.split(".")[0] != "BRA":
            continue
        target = re.search(r"0x([0-9a-f]+)$", operands)
        if target and int(target[1], 16) < address:
            yield [word for at, word, _ in code
                   if int(target[1], 16) <= at <= address]


def has(words, wanted):
    return any(word.split(".")[0] == wanted for word in words)


def hot_loop(code):
    """The smallest loop with a matrix unit's steps; without any, all of it."""
    with_steps = [each for each in loops(code)
                  if any(has(each, step) for step in STEPS)]
    return min(with_steps, key=len, default=[word for _, word, _ in code])


def why_not_stored(words, preset, stored):
    """`stored`: by the engine where a preset has one, by 16 bytes, or as they
    are: empty."""
    local = [word for word in LOCAL if has(words, word)]
    if stored == "engine" and preset == "sm_90a":
        missing = [word for word in STORES if not has(words, word)]
        return f"no {', '.join(missing)}" if missing else \
            f"{', '.join(local)} beside the engine's stores" if local else ""
    if stored and not any(re.match(r"STG\.E(\.\w+)*\.128", word)
                          for word in words):
        return "no store of 16 bytes"
    return ""


def why_not(code, preset, stored, packed):
    words, everywhere = hot_loop(code), [word for _, word, _ in code]
    wanted, beside = ((PACKED, []) if packed else
                      (WANTED[preset], BESIDE[preset]))
    missing = [word for word in wanted if not has(words, word)]
    local = [word for word in LOCAL if has(words, word)]
    if missing:
        return f"no {', '.join(missing)} in the hot loop"
    missing = [word for word in beside if not has(everywhere, word)]
    if missing:
        return f"no {', '.join(missing)}"
    if local:
        return f"{', '.join(local)} in the hot loop"
    return why_not_stored(everywhere, preset, stored)


def computes_beside(code):
    """Whether exponentials stand between a wait that leaves a step of the
    matrix unit under way and the wait for that step."""
    beside = under_way = False
    for _, word, operands in code:
        if word.startswith("WARPGROUP.DEPBAR"):
            under_way = operands.endswith("0x1")
        beside |= under_way and word == "MUFU.EX2"
    return beside


def models():
    """Graphs by name: nodes, the shapes of their inputs, of bf16 but in those
    of halves, and how results are stored. Terms are so many that no loop over them is written
    out."""
    def product(m, n, k, *more):
        return ([helper.make_node("MatMul", ["x", "w"],
                                  ["p" if more else "y"]), *more],
                {"x": (m, k), "w": (k, n)})

    def epilogue(m, n, k):
        nodes, shapes = product(
            m, n, k, helper.make_node("Add", ["p", "b"], ["q"]),
            helper.make_node("Relu", ["q"], ["y"]))
        return nodes, {**shapes, "b": (n,)}

    convolution = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]),
        helper.make_node("Conv", ["t", "w"], ["c"], pads=[1] * 4,
                         strides=[2, 2]),
        helper.make_node("Transpose", ["c"], ["y"], perm=[0, 2, 3, 1])]
    attention = [helper.make_node("Attention", list("qkv"), ["y"],
                                  is_causal=1)]
    # Scores are rounded, scaled and rounded: each op has its type.
    apart = [
        helper.make_node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "t"], ["s"]),
        helper.make_node("Mul", ["s", "c"], ["m"]),
        helper.make_node("Softmax", ["m"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "v"], ["y"])]
    packed = [helper.make_node("MatMulNBits", ["x", "w", "s"], ["y"],
                               domain="com.microsoft", K=8192, N=1024, bits=4,
                               block_size=32)]
    return {"product": (*product(4096, 4096, 8192), "engine"),
            "epilogue": (*epilogue(2048, 4096, 8192), "engine"),
            "odd": (*product(4095, 4097, 8191), ""),
            "convolution": (convolution, {"x": (16, 56, 56, 1024)}, "wide"),
            "attention": (attention, {name: (1, 16, 2048, 128)
                                      for name in "qkv"}, "wide"),
            "attention of parts": (apart, {name: (1, 16, 2048, 128)
                                           for name in "qkv"}, "wide"),
            "attention of halves": (
                [helper.make_node("Attention", list("qkvb"), ["y"])],
                {**{name: (1, 16, 2048, 128) for name in "qkv"},
                 "b": (2048, 2048)}, "wide"),
            "packed": (packed, {"x": (64, 8192)}, "")}


def constants(name):
    """Which a graph has besides: weights, whose order is the compiler's."""
    if name == "packed":
        return [helper.make_tensor("w", TensorProto.UINT8, (1024, 256, 16),
                                   bytes(1024 * 256 * 16), raw=True),
                helper.make_tensor("s", TensorProto.BFLOAT16, (1024 * 256,),
                                   bytes(2 * 1024 * 256), raw=True)]
    if name == "attention of parts":
        return [helper.make_tensor("c", TensorProto.BFLOAT16, [], [0.0884])]
    if name != "convolution":
        return []
    shape = (128, 1024, 3, 3)
    return [helper.make_tensor("w", TensorProto.BFLOAT16, shape,
                               bytes(2 * 128 * 1024 * 9), raw=True)]


def call(*command, env=None):
    done = subprocess.run([str(word) for word in command], text=True, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")
    if done.returncode:
        raise RuntimeError(f"{pathlib.Path(command[0]).name} ended with "
                           f"{done.returncode}: {done.stdout.strip()[:300]}")
    return done.stdout


def compile_model(arguments, work, preset, name):
    module, temps = work / f"{name}.ash", work / f"temps-{name}"
    call(arguments.bin / "ashlar-compile", "--quiet", work / "m.onnx", "-o",
         module, f"--target=cuda:{preset}",
         f"--assembler={arguments.cuda}/ptxas", f"--save-temps={temps}")
    return module, next(temps.glob(f"*-{preset}/kernels.cubin"))


def check_code(arguments, name, stored, preset, module, cubin):
    """Why a module's machine code is not as wanted; empty: it is."""
    env = {**os.environ, "PATH": f"{arguments.cuda}:{os.environ['PATH']}"}
    code = functions(call(f"{arguments.cuda}/cuobjdump", "--dump-sass", cubin,
                          env=env))
    hot = [name for name, body in code.items()
           if any(has([word for _, word, _ in body], step) for step in STEPS)]
    if not hot:
        return "no kernel has a matrix unit's steps"
    reasons = {each: why_not(code[each], preset, stored, name == "packed")
               for each in hot}
    wrong = [f"{each}: {why}" for each, why in reasons.items() if why]
    if name.startswith("attention") and preset == "sm_90a":
        wrong += [f"{each}: no exponentials beside products" for each in hot
                  if not computes_beside(code[each])]
        wrong += [f"{each}: no turns" for each in hot
                  if not any(word.startswith("BAR.ARV")
                             for _, word, _ in code[each])]
    if wrong:
        return "; ".join(wrong)
    [program] = json.loads(call(arguments.bin / "ashlar-inspect", module,
                                "--json"))["programs"]
    forms = [form["format"] for form in program["executables"]]
    if forms != [f"cubin-{preset}", "ptx"]:
        return f"executables are {forms}"
    if (name, preset) in ALONE and len(program["kernels"]) != 1:
        return "kernels beside it: " + ", ".join(
            kernel["name"] for kernel in program["kernels"])
    # What the assembler said of each is what the module says.
    for kernel in program["kernels"]:
        known = kernel["resources"]
        if not known or not 0 < known["registers"] <= 255 \
                or not 0 < known["occupancy"] <= 1:
            return f"{kernel['name']} says {known} of its resources"
    return ""


# Presets whose copy engine has the zeros around an image: nobody writes them.
ALONE = {("convolution", "sm_90a")}
# Known to fall short of stores of 16 bytes: pairs are stored as mma.sync holds
# them (docs/cuda.md).
NARROW = {("convolution", "sm_100a")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--cuda", type=pathlib.Path, required=True,
                        help="the folder of ptxas, cuobjdump and nvdisasm")
    parser.add_argument("--preset", action="append", choices=WANTED)
    arguments = parser.parse_args()
    arguments.cuda = arguments.cuda.resolve()
    tally = device_run.Tally()
    for name, (nodes, shapes, stored) in models().items():
        kind = TensorProto.FLOAT16 if name.endswith("halves") \
            else TensorProto.BFLOAT16
        graph = helper.make_graph(
            nodes, name,
            [helper.make_tensor_value_info(key, kind, shape)
             for key, shape in shapes.items()],
            [helper.make_tensor_value_info("y", kind, None)],
            constants(name))
        with tempfile.TemporaryDirectory() as temporary:
            work = pathlib.Path(temporary)
            onnx.save(helper.make_model(
                graph, ir_version=10,
                opset_imports=[
                    helper.make_opsetid("", 23),
                    helper.make_opsetid("com.microsoft", 1)]), work / "m.onnx")
            for preset in arguments.preset or WANTED:
                try:
                    module, cubin = compile_model(arguments, work, preset, "a")
                    why = check_code(
                        arguments, name,
                        stored if (name, preset) not in NARROW else "", preset,
                        module, cubin)
                    tally.add(f"{name} on {preset}", why)
                    again, _ = compile_model(arguments, work, preset, "b")
                    tally.add(f"{name} on {preset}, again",
                              "" if module.read_bytes() == again.read_bytes()
                              else "the same compile gave other bytes")
                except RuntimeError as error:
                    tally.add(f"{name} on {preset}", str(error))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
