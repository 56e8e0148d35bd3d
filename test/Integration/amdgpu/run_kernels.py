#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels for AMD's GPUs on the emulator: products, convolutions and attentions
of each matrix unit at sizes that do not suit it, beside NumPy in f64; rows,
sums and small networks beside ONNX Runtime; the network for digits beside the
target cpu. That the emulator sees what is wrong is tried on code without its
waits, without its barriers, and with an input that is too short.
"""

import argparse
import itertools
import json
import math
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, parser

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import device_run  # noqa: E402
import device_units  # noqa: E402
import emulate  # noqa: E402
import unit_float8  # noqa: E402
import unit_lanes  # noqa: E402
from memory import Fault  # noqa: E402

ROOT = HERE.parents[2]
PRESETS = ["gfx942", "gfx90a", "gfx1100", "gfx1201"]
# Multiplications of a case: an instruction takes some 40 us here.
MOST = 100_000
# Of queries times keys, in elements: of an attention of a matrix unit.
MOST_OF_SCORES = 2_000_000
# By name: inputs and the body of a graph of f32 with the output y.
GRAPHS = {
    "softmax": ("float[5,333] x", "float[5,333] y", "y = Softmax(x)"),
    "norm": ("float[3,200] x, float[200] s, float[200] b", "float[3,200] y",
             "y = LayerNormalization(x, s, b)"),
    "sum of rows": ("float[7,1000] x", "float[7] y",
                    "y = ReduceSum<keepdims = 0>(x, axis)"),
    "largest of columns": ("float[65,17] x", "float[17] y",
                           "y = ReduceMax<keepdims = 0>(x, first)"),
    "functions": ("float[3,65] x", "float[3,65] y",
                  "e = Exp(x) \n t = Tanh(e) \n g = Gelu(t) \n y = Div(g, e)"),
    "transpose": ("float[33,70] x", "float[70,33] y",
                  "y = Transpose<perm = [1, 0]>(x)"),
    "product and rows": ("float[20,40] x, float[40,33] w", "float[20,33] y",
                         "p = MatMul(x, w) \n y = Softmax(p)"),
}


def is_any(_case):
    return True


def is_short_for_lanes(case):
    """Whether lanes of a wave compute it fast enough: a convolution of operands
    that are decoded in front is no unit's."""
    _, _, constants, wanted = case
    [weights] = [one.dims for one in constants if one.name == "wq"]
    columns = weights[0] if len(weights) == 4 else weights[-1]
    return wanted.size * math.prod(weights) // columns <= MOST


def small(make, random, kind, unit, fits):
    """The next case that is not long. Where a step of the unit has more terms
    than scores, one lane computes all of a head."""
    while True:
        name, *case = make(random, kind)
        if not fits(case):
            continue
        feeds = case[1]
        first = next(iter(feeds.values()))
        most = MOST_OF_SCORES if first.shape[-1] >= unit["k"] else MOST
        if case[3].size * first.shape[-1] <= MOST and (
                "k" not in feeds
                or feeds["q"].size * feeds["k"].size <= most):
            return name, case


def is_short_of_keys(case):
    """Whether lanes of a wave, which have all tiles of keys to themselves,
    are soon done."""
    feeds = case[1]
    keys = sum(feeds[name].shape[2] for name in ("k", "pk") if name in feeds)
    return feeds["q"].shape[1] * feeds["q"].shape[2] * keys <= 1000


def decoded_pairs(machine):
    """Floats of a byte that no unit multiplies: they become f16 in front."""
    own = {(each["left"], each["right"])
           for unit in machine["units"] for each in unit["types"]}
    return [pair for pair in (("f8e4m3", "f8e5m2"),
                              ("f8e5m2fnuz", "f8e4m3fnuz"))
            if pair not in own]


def check_kind(arguments, preset, machine, unit, suite, kind, random, tally,
               fits=is_any):
    """Models of a kind where the machine has this unit alone."""
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        (work / "machine.json").write_text(json.dumps(
            {**machine, "units": [unit]}))
        for make in suite.MODELS * arguments.cases:
            name, case = small(make, random, kind, unit, fits)
            if next(arguments.turns) % arguments.every:
                continue
            why = device_units.run(arguments, work / "machine.json", work,
                                   suite, kind, *case)
            spelled = " times ".join(kind) if isinstance(
                kind, tuple) else TensorProto.DataType.Name(kind)
            tally.add(f"{preset}, {unit['name']}, {spelled}, {name}", why)


def check_units(arguments, preset, tally):
    path = ROOT / f"lib/Targets/ROCm/Machines/{preset}.json"
    machine = json.loads(path.read_text())
    arguments.target = f"rocm:{preset}"
    arguments.device = f"emulator:rocm:{preset}"
    units = [unit for unit in machine["units"] if "fragment" in unit
             and unit["types"][0]["left"] != "f32"]
    for unit in units:
        suite, kinds = device_units.kinds_of(unit)
        random = np.random.default_rng(arguments.seed)
        for kind in kinds:
            check_kind(arguments, preset, machine, unit, suite, kind, random,
                       tally)
    halves = next(unit for unit in units if "f16" in {
        each["left"] for each in unit["types"]})
    random = np.random.default_rng(arguments.seed)
    for pair in decoded_pairs(machine):
        check_kind(arguments, preset, machine, halves, unit_float8, pair,
                   random, tally, is_short_for_lanes)
    lanes = next(unit for unit in machine["units"] if unit_lanes.takes(unit)
                 and "fragment" not in unit)
    for kind in unit_lanes.KINDS:
        check_kind(arguments, preset, machine, lanes, unit_lanes, kind,
                   np.random.default_rng(arguments.seed), tally,
                   is_short_of_keys)


def check_graph(arguments, preset, name, tally):
    inputs, output, body = GRAPHS[name]
    text = (f'<ir_version: 10, opset_import: ["" : 20]> g ({inputs}) => '
            f"({output}) {{ {body} }}")
    model = parser.parse_model(text)
    for constant, value in (("axis", [1]), ("first", [0])):
        if constant in body:
            model.graph.initializer.append(helper.make_tensor(
                constant, TensorProto.INT64, [1], value))
    random = np.random.default_rng(arguments.seed)
    feeds = {one.name: random.standard_normal(
        [d.dim_value for d in one.type.tensor_type.shape.dim]).astype(
            np.float32) for one in model.graph.input}
    arguments.device = f"emulator:rocm:{preset}"
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        onnx.save(model, work / "m.onnx")
        [wanted] = onnxruntime.InferenceSession(
            model.SerializeToString()).run(None, feeds)
        why, found = device_run.run(arguments, work, feeds,
                                    f"--target=rocm:{preset}")
    if not why:
        error = np.abs(found - wanted).max() / np.abs(wanted).max()
        why = "" if error <= 2e-6 else f"differs by {error:.2e}"
    tally.add(f"{preset}, {name}", why)


def check_digits(arguments, preset, precision, tally):
    """Each image to itself on all targets."""
    images = np.load(ROOT / "examples/digits/test_images.npy")[:2].astype(
        np.float32).reshape(2, 1, 8, 8)
    flags = ["--shape=image=2x1x8x8", f"--precision={precision}"]
    found = {}
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        (work / "m.onnx").write_bytes(
            (ROOT / "examples/digits/digits.onnx").read_bytes())
        for target, device in (("cpu:x86-64-v3", "cpu:0"),
                               (f"rocm:{preset}",
                                f"emulator:rocm:{preset}")):
            arguments.device = device
            why, found[target] = device_run.run(
                arguments, work, {"image": images}, f"--target={target}",
                *flags, output="probabilities")
            if why:
                return tally.add(f"digits on {target}", why)
    here, there = found.values()
    error = np.abs(here - there).max()
    most = 2e-6 if precision == "f32" else 2e-2
    tally.add(f"{preset}, digits, {precision}",
              "" if error <= most else f"differs from cpu by {error:.2e}")


# What the emulator sees ------------------------------------------------------


def break_code(session, words, replacement=0xbf800000):
    """Of instructions that begin so, one after the other: nothing in its
    place."""
    code = session.code.code
    for at, (text, size) in sorted(code.text.items()):
        if size == 4 and text.startswith(words):
            yield at, text, replacement


def check_breaks(arguments, tally, terms, words):
    """A product by four waves, whose code lacks each of these instructions in
    turn; some are not needed for these sizes, most are. With rows that begin at
    multiples of 4 bytes alone, loads go to the LDS by themselves."""
    preset = "gfx942"
    model = helper.make_model(helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, terms]),
         helper.make_tensor_value_info("w", TensorProto.FLOAT, [terms, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 64])]),
        opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    machine = json.loads(
        (ROOT / f"lib/Targets/ROCm/Machines/{preset}.json").read_text())
    # As if it had few units, so that a workgroup has several waves.
    machine["workers"]["count"] = 2
    for memory in machine["memories"]:
        memory["shared_by"] = min(2, memory["shared_by"])
    random = np.random.default_rng(0)
    feeds = {"x": random.standard_normal([64, terms]).astype(np.float32),
             "w": random.standard_normal([terms, 64]).astype(np.float32)}
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(temporary)
        onnx.save(model, work / "m.onnx")
        (work / "machine.json").write_text(json.dumps(machine))
        arguments.device = f"emulator:rocm:{preset}"
        why, found = device_run.run(arguments, work, feeds, "--target=rocm",
                                    f"--machine={work / 'machine.json'}")
        wanted = feeds["x"].astype(np.float64) @ feeds["w"]
        if not why and np.abs(found - wanted).max() > 1e-4:
            why = "other numbers"
        tally.add(f"a product of {terms} terms by several waves", why)
        if why:
            return

        def seen(change, feeds=feeds):
            module = emulate.Module(work / "m.ash")
            session = emulate.Session(module, module.program("rocm", preset),
                                      work)
            change(session)
            try:
                with np.errstate(all="ignore"):
                    session.run(feeds)
            except Fault:
                return True
            return False

        def without(words):
            module = emulate.Module(work / "m.ash")
            session = emulate.Session(module, module.program("rocm", preset),
                                      work)
            places = [at for at, _, _ in break_code(session, words)]
            count = 0
            for place in places:
                def change(own, place=place):
                    image = own.code.code.image
                    image[place:place + 4] = [0, 0, 0x80, 0xbf]
                    own.code.code.text[place] = ("s_nop 0", 4)
                count += seen(change)
            return count, len(places)
        for each in words:
            count, all = without(each)
            tally.add(f"{terms} terms without {each}",
                      "" if all and 2 * count >= all else
                      f"the emulator sees {count} of {all}")
        short = {**feeds, "x": feeds["x"][:-1]}
        tally.add("an input that is too short",
                  "" if seen(lambda session: None, short) else "not seen")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--presets", default=",".join(PRESETS))
    parser.add_argument("--cases", type=int, default=1,
                        help="of each unit, type and kind")
    parser.add_argument("--every", type=int, default=1, metavar="N",
                        help="of the cases of units, one in N (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true",
                        help="units and rows alone")
    parser.add_argument("--full", action="store_true",
                        help="digits on all presets, not on the first alone")
    parser.add_argument("--save-temps", type=pathlib.Path, metavar="FOLDER",
                        help="what the compiler writes of cases of units")
    arguments = parser.parse_args()
    arguments.turns = itertools.count(arguments.seed)
    tally = device_run.Tally()
    presets = arguments.presets.split(",")
    for preset in presets:
        check_units(arguments, preset, tally)
        for name in GRAPHS:
            check_graph(arguments, preset, name, tally)
        if arguments.full or (preset == presets[0] and not arguments.quick):
            check_digits(arguments, preset, "f32", tally)
            check_digits(arguments, preset, "bf16", tally)
    if not arguments.quick:
        check_breaks(arguments, tally, 256, ("s_barrier", "s_waitcnt"))
        check_breaks(arguments, tally, 255, ("s_waitcnt vmcnt(0)",))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
