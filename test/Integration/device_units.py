#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix units of a target, one at a time, at sizes that do not suit them.

A preset's machine file without its other units makes the compiler use the one
that is left, and without its other engines that of boxes (for which products
are a little larger), alone, with copies that workgroups share and with results
that leave by another, however small the product: random sizes, transposes,
batches and epilogues of f16 and bf16, weights of a few bits (unit_packed.py),
operands that are computed in front (unit_fronts.py), convolutions with strides
and pads, attentions with rows and keys that no tile divides, hidden or not,
and of which each call chooses how many, beside NumPy in f64. Units without
fragments have the last of these alone (unit_lanes.py): of many keys, and such
whose scores go through memory that threads share. Units of bytes have products
and convolutions of whole numbers, exact (unit_bytes.py), units of floats of a
byte those of numbers that these hold (unit_float8.py). What the unit cannot
take has no unit then, and is loops: right as well.
"""

import argparse
import json
import math
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import device_run
import unit_bytes
import unit_lanes
import unit_float8
import unit_fronts
import unit_packed
from unit_attention import (TYPES, attention, attention_op, long_attention,
                            open_attention)

KINDS = {"f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16,
         "tf32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE}
# ||found - wanted|| / ||wanted||: no element has more than one rounding, but in
# an attention that of its weights; units of TF32 leave bits of both factors out,
# sums of f64 are in another order.
MOST = {TensorProto.FLOAT16: 2 ** -11, TensorProto.BFLOAT16: 2 ** -8,
        TensorProto.FLOAT: 2 ** -10, TensorProto.DOUBLE: 2 ** -49}


def product(random, kind, sides=(1, 7, 16, 33, 64, 96, 130)):
    """A model, its inputs and what comes out."""
    batch = random.choice([0, 0, 2])
    m, n, k = (int(random.choice(sides)) for _ in range(3))
    transposed = bool(random.integers(2))
    lead = [int(batch)] if batch else []
    x = random.standard_normal([*lead, m, k]).astype(TYPES[kind])
    w = random.standard_normal([*lead, n, k] if transposed else
                               [*lead, k, n]).astype(TYPES[kind])
    nodes, last = [], "w"
    if transposed:
        rank = w.ndim
        nodes.append(helper.make_node(
            "Transpose", ["w"], ["t"],
            perm=[*range(rank - 2), rank - 1, rank - 2]))
        last = "t"
    with_bias = bool(random.integers(2))
    nodes.append(helper.make_node("MatMul", ["x", last],
                                  ["p" if with_bias else "y"]))
    feeds = {"x": x, "w": w}
    wanted = x.astype(np.float64) @ np.swapaxes(
        w.astype(np.float64), -1, -2 if transposed else -1)
    if with_bias:  # of a row; rounded before it is added, as the types say
        feeds["v"] = random.standard_normal(n).astype(TYPES[kind])
        nodes.append(helper.make_node("Add", ["p", "v"], ["y"]))
        wanted = wanted.astype(TYPES[kind]).astype(np.float64) + feeds[
            "v"].astype(np.float64)
    return f"{lead + [m, n, k]}{' transposed' * transposed}", nodes, feeds, \
        [], wanted


def boxes(random, kind):
    """What an engine takes whose rows begin at multiples of 16 bytes, or that
    is copied into such rows first."""
    return product(random, kind, (8, 40, 72, 135, 136, 264, 391, 392))


def stored(random, kind):
    """Several parts for each workgroup, whose results leave by an engine of
    boxes: whole ones, or such as the result's ends cut off."""
    batch = int(random.choice([1, 1, 3]))
    m, n, k = (int(random.choice(each)) for each in (
        [100, 193, 256, 300], [128, 131, 200, 264], [16, 40, 136]))
    lead = [batch] if batch > 1 else []
    feeds = {"x": random.standard_normal([*lead, m, k]),
             "w": random.standard_normal([*lead, k, n])}
    nodes, last = [helper.make_node("MatMul", ["x", "w"], ["p"])], "p"
    epilogue = str(random.choice(["", "bias", "bias, GELU, residual"]))
    if epilogue:
        feeds["b"] = random.standard_normal([n])
        nodes.append(helper.make_node("Add", [last, "b"], ["q"]))
        last = "q"
    if "GELU" in epilogue:
        feeds["r"] = random.standard_normal([*lead, m, n])
        nodes += [helper.make_node("Gelu", [last], ["g"]),
                  helper.make_node("Add", ["g", "r"], ["s"])]
        last = "s"
    nodes[-1].output[0] = "y"
    feeds = {name: x.astype(TYPES[kind]) for name, x in feeds.items()}

    def rounded(x):
        return x.astype(TYPES[kind]).astype(np.float64)
    x, w, b, r = (feeds[name].astype(np.float64) if name in feeds else 0
                  for name in "xwbr")
    wanted = x @ w
    if epilogue:
        wanted = rounded(wanted) + b
    if "GELU" in epilogue:
        wanted = rounded(wanted)
        wanted = rounded(wanted * 0.5 * (1 + np.vectorize(math.erf)(
            wanted / math.sqrt(2)))) + r
    return f"{lead + [m, n, k]}, {epilogue or 'alone'}", nodes, feeds, [], \
        wanted


def open_stored(random, kind):
    """The same with rows of which each call chooses how many."""
    name, nodes, feeds, constants, wanted = stored(random, kind)
    shapes = {each: [*x.shape] for each, x in feeds.items()}
    for each in shapes.keys() & {"x", "r"}:
        shapes[each][-2] = "M"
    most = wanted.shape[-2] + random.integers(200)
    return f"open {name}", nodes, feeds, constants, wanted, shapes, \
        f"--dim=M=1..{most}"


def stored_convolution(random, kind):
    """Channels last on both sides, whose results leave by an engine of boxes:
    of one line of pixels or of several, whole ones or cut off."""
    n, c, o, *shape = (int(random.choice(each)) for each in (
        [1, 3], [16, 40], [64, 128, 136, 200], [7, 14, 20, 33],
        [7, 8, 14, 28, 33]))
    side, stride = int(random.choice([1, 3])), int(random.choice([1, 1, 2]))
    pad = side // 2
    x = random.standard_normal([n, c, *shape]).astype(TYPES[kind])
    w = random.standard_normal([o, c, side, side]).astype(TYPES[kind])
    b = random.standard_normal([o]).astype(TYPES[kind])
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["u"], pads=[pad] * 4,
                              strides=[stride] * 2),
             helper.make_node("Relu", ["u"], ["v"]),
             helper.make_node("Transpose", ["v"], ["y"], perm=[0, 2, 3, 1])]
    feeds = {"x": x}
    unit_bytes.turn_channels(nodes, feeds)
    constants = [helper.make_tensor(name, kind, each.shape, each.tobytes(),
                                    raw=True)
                 for name, each in (("w", w), ("b", b))]
    around = np.pad(x.astype(np.float64),
                    ((0, 0), (0, 0), (pad,) * 2, (pad,) * 2))
    total = unit_bytes.sums(around, w.astype(np.float64), stride)
    wanted = np.maximum(0, total.transpose(0, 2, 3, 1) + b.astype(np.float64))
    return (f"convolution {[n, c, o, *shape, side]} by {stride}", nodes, feeds,
            constants, wanted)


def packed(random, kind):
    """Weights of a few bits; there are none for f64."""
    if kind == TensorProto.DOUBLE:
        return product(random, kind)
    return unit_packed.product(random, kind, TYPES[kind])


def computed(random, kind):
    return unit_fronts.product(random, kind, TYPES[kind])


def convolution(random, kind):
    """Pads differ on each side, windows have holes and may see nothing else
    than pads; half of them have channels last, in numbers that an engine of
    boxes takes."""
    is_boxes = bool(random.integers(2))
    n, c, o, *shape = (int(random.choice(each)) for each in (
        [1, 2], [16, 40] if is_boxes else [3, 8, 40],
        [16, 32] if is_boxes else [8, 20], [7, 9, 12], [7, 10]))
    side, stride, hole = (int(random.choice(each)) for each in (
        [1, 3, 3, 5, 7], [1, 2], [1, 1, 2]))
    reach = (side - 1) * hole + 1
    least = max(0, reach - min(shape))
    pads = [int(random.integers(least, max(least, side // 2) + 2))
            for _ in range(4)]
    x = random.standard_normal([n, c, *shape]).astype(TYPES[kind])
    w = random.standard_normal([o, c, side, side]).astype(TYPES[kind])
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], strides=[stride] * 2,
                              pads=pads, dilations=[hole] * 2)]
    feeds = {"x": x}
    if is_boxes:
        unit_bytes.turn_channels(nodes, feeds)
    weight = helper.make_tensor("w", kind, w.shape, w.tobytes(), raw=True)
    around = np.pad(x.astype(np.float64), ((0, 0), (0, 0), pads[::2],
                                           pads[1::2]))
    windows = np.lib.stride_tricks.sliding_window_view(
        around, (reach, reach), axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride, ::hole, ::hole]
    wanted = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.float64))
    return (f"convolution {[n, c, o, *shape, side]} by {stride} and {hole} "
            f"in {pads}"), nodes, feeds, [weight], wanted


def open_boxes(random, kind):
    """Rows of which each call chooses how many, where an engine takes them."""
    batch = int(random.choice([0, 0, 2]))
    m, n, k = (int(random.choice([8, 40, 72, 135, 136, 264])) for _ in range(3))
    n, k = -(-n // 8) * 8, -(-k // 8) * 8
    lead = [batch] * bool(batch)
    x, w = (random.standard_normal(shape).astype(TYPES[kind])
            for shape in ([*lead, m, k], [k, n]))
    shapes = {"x": ["B"] * bool(batch) + ["M", k], "w": [k, n]}
    wanted = x.astype(np.float64) @ w.astype(np.float64)
    ranges = [f"B=1..{batch + random.integers(3)}"] * bool(batch)
    ranges.append(f"M=1..{m + random.integers(200)}")
    return f"open {lead + [m, n, k]}", [
        helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": x, "w": w}, \
        [], wanted, shapes, f"--dim={','.join(ranges)}"


MODELS = [product, packed, convolution, attention, attention_op,
          open_attention, computed]
# Of open sizes each must come by the engine.
OPEN_BOXES = [open_boxes, open_attention]
BOXES = [boxes, convolution, attention_op, *OPEN_BOXES]
RESULTS = [stored, open_stored, stored_convolution]
FLAGS = {TensorProto.FLOAT: ["--precision=tf32"]}


def why_differs(kind, nodes, found, wanted):
    """Empty: it does not."""
    found = found.view(TYPES[kind]).astype(np.float64)
    norm = np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
    roundings = 1 + any(node.op_type in ("Softmax", "Attention")
                        for node in nodes)
    # NaN is in no range.
    return "" if norm <= roundings * MOST[kind] else \
        f"differs by {norm:.2e} in norm"


def run(arguments, machine, work, suite, kind, nodes, feeds, constants, wanted,
        shapes=None, *flags):
    """Why it is wrong; empty: it is not."""
    of = helper.np_dtype_to_tensor_dtype
    result = kind if isinstance(kind, int) else of(wanted.dtype)
    graph = helper.make_graph(
        nodes, "unit",
        [helper.make_tensor_value_info(
            name, of(feed.dtype), shapes[name] if shapes else feed.shape)
         for name, feed in feeds.items()],
        [helper.make_tensor_value_info("y", result, None)], constants)
    onnx.save(helper.make_model(
        graph, ir_version=10, opset_imports=[
            helper.make_opsetid("", 23),
            helper.make_opsetid("com.microsoft", 1)]),
        work / "m.onnx")
    kept = []
    if arguments.save_temps:
        kept.append(tempfile.mkdtemp(dir=arguments.save_temps))
    why, found = device_run.run(
        arguments, work, feeds, f"--target={arguments.target.split(':')[0]}",
        f"--machine={machine}", *flags,
        *(f"--save-temps={one}" for one in kept),
        *getattr(suite, "FLAGS", {}).get(kind, []))
    if why:
        return why
    if found.shape != wanted.shape:
        return f"expected the shape {wanted.shape}, found {found.shape}"
    return suite.why_differs(kind, nodes, found, wanted)


def kinds_of(unit):
    """Its types, and where their models come from."""
    types = [(each["left"], each["right"]) for each in unit["types"]]
    if "fragment" not in unit:
        return unit_lanes, unit_lanes.KINDS
    if types[0][0] in unit_bytes.TYPES:
        return unit_bytes, types
    if types[0][0] in unit_float8.TYPES:
        # Of four pairs those of two types, which have all there is.
        return unit_float8, [pair for pair in types if pair[0] != pair[1]]
    return sys.modules[__name__], [KINDS[left] for left, _ in types]


BOX, SHARED = b"cp.async.bulk.tensor.", b".multicast::cluster"
STORED = b".global.shared::cta.bulk_group"
SECOND = b"k1_"  # the name of a second kernel


def with_engine(machine, engine):
    """The file with an engine of boxes alone, beside what threads copy."""
    return {**machine, "copy_engines": [
        engine if other["name"] == engine["name"] else other
        for other in machine["copy_engines"]
        if other["name"] == engine["name"] or other["from"] == engine["to"] or
        not other.get("asynchronous")]}


def with_clusters(machine, engine, count):
    """The file with an engine that is so slow that copies are worth sharing,
    among so many workgroups at most."""
    slow = {**engine, "bytes_per_cycle": 2, "multicast": count}
    machine = {**machine, "copy_engines": [
        {**other, "bytes_per_cycle": 0.1} if other["to"] == engine["to"]
        else other for other in machine["copy_engines"]]}
    grids = [scope for scope in machine["scopes"] if scope["kind"] == "grid"]
    scopes = [{**scope, "count": count} if scope is grids[-1] else scope
              for scope in machine["scopes"]]
    return with_engine({**machine, "scopes": scopes}, slow)


def with_stores(machine, engine, clusters):
    """The file of a machine of few workers, so that each has several parts,
    whose engine for results is soon at work; copies are shared, or are not."""
    near = machine["memories"][0]["name"]
    machine = {**machine,
               "workers": {**machine["workers"], "count": 2},
               "memories": [{**memory, "shared_by": min(
                   memory["shared_by"], 2)} for memory in machine["memories"]],
               "copy_engines": [
                   {**other, "start_cycles": 0} if other is engine else
                   {**other, "multicast": 1} if "multicast" in other else other
                   for other in machine["copy_engines"]]}
    loads = [other for other in machine["copy_engines"]
             if "boxes" in other and other["to"] == near]
    return with_clusters(machine, loads[0], 2) if clusters else \
        with_engine(machine, loads[0])


def without_launches(machine):
    """The file of a machine on which a second kernel costs nothing: keys of few
    rows are shared out."""
    return {**machine, "costs": {**machine["costs"], "launch_ns": 0}}


def machines(machine):
    """The file with one unit each, with one engine of boxes, with copies that
    workgroups share, with an engine that results leave by, and with a second
    kernel for nothing: what is to be said
    of it, the file, what there must be in a module, and the unit."""
    for unit in machine["units"]:
        if "fragment" not in unit:
            if unit_lanes.takes(unit):
                yield unit["name"], {**machine, "units": [unit]}, [], unit
            continue
        alone, name = {**machine, "units": [unit]}, unit["name"]
        yield name, alone, [], unit
        # Of machines whose copies go on by themselves: others compute long
        # attentions too slowly here.
        if "registers" in unit["left_from"] and any(
                engine.get("asynchronous")
                for engine in machine["copy_engines"]):
            yield (f"{name}, keys shared out", without_launches(alone),
                   [SECOND], unit)
        near = machine["memories"][0]["name"]
        for engine in machine["copy_engines"]:
            if "boxes" not in engine:
                continue
            if engine["to"] != near:
                if {each["left"] for each in unit["types"]} == {"f16", "bf16"}:
                    for clusters in (False, True):
                        yield (f"{name}, results by {engine['name']}" +
                               ", in clusters" * clusters,
                               with_stores(alone, engine, clusters),
                               [STORED] + [SHARED] * clusters, unit)
                continue
            yield (f"{name} by {engine['name']}", with_engine(alone, engine),
                   [BOX], unit)
            for count in (2, 4) if engine.get("multicast", 1) > 1 else ():
                yield (f"{name} by {engine['name']} in clusters of {count}",
                       with_clusters(alone, engine, count), [BOX, SHARED], unit)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--target", required=True, help="with its preset")
    parser.add_argument("--machine", type=pathlib.Path, required=True,
                        help="the preset's file")
    parser.add_argument("--device", required=True)
    parser.add_argument("--cases", type=int, default=8,
                        help="of each unit, type and kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="units whose name has this")
    parser.add_argument("--save-temps", type=pathlib.Path, metavar="DIR",
                        help="keep what the compiler makes on the way in "
                        "folders there")
    arguments = parser.parse_args()
    if arguments.save_temps:
        arguments.save_temps.mkdir(parents=True, exist_ok=True)
    machine = json.loads(arguments.machine.read_text())
    tally = device_run.Tally()
    for said, alone, needed, unit in machines(machine):
        if arguments.only not in said:
            continue
        random = np.random.default_rng(arguments.seed)
        suite, kinds = kinds_of(unit)
        # Of an instruction's name, or of a function's that stands for one.
        dot = "_" if arguments.target.startswith("level-zero") else "."
        first = unit["types"][0]["left"].removeprefix("f8")
        if dot == "_":
            first = first.replace("s", "i")  # OpenCL's name of signed bytes
        instruction = f"{dot}{first}{dot}".encode()
        # What a module must have, and the models of which one must.
        is_used = {(each, None): False for each in [*needed, instruction]
                   if each != STORED and "fragment" in unit}
        if STORED in needed:
            is_used |= {(STORED, make): False
                        for make in RESULTS}
        if needed == [BOX] and suite.BOXES is BOXES:
            is_used |= {(BOX, make): False for make in OPEN_BOXES}
        with tempfile.TemporaryDirectory() as temporary:
            work = pathlib.Path(temporary)
            (work / "machine.json").write_text(json.dumps(alone))
            for kind in kinds:
                models = suite.BOXES if needed else suite.MODELS
                if SECOND in needed:
                    models = [long_attention]
                if STORED in needed:
                    models = RESULTS
                # Of two numbers of workgroups, half as many each.
                times = -(-arguments.cases // (2 if SHARED in needed else 1))
                for make in models * times:
                    name, *case = make(random, kind)
                    why = run(arguments, work / "machine.json", work, suite,
                              kind, *case)
                    spelled = " times ".join(kind) if isinstance(
                        kind, tuple) else np.dtype(TYPES[kind]).name
                    tally.add(f"{said}, {spelled}, {name}", why)
                    code = (work / "m.ash").read_bytes()
                    for each, of in is_used:
                        is_used[each, of] |= of in (None, make) and each in code
        for (each, of), found in is_used.items():
            # Few cases of a kind may not have parts to share, or suit.
            may_lack = arguments.cases < 8 and (
                each in (SHARED, SECOND) or of in OPEN_BOXES) or \
                each == STORED and arguments.cases < (
                    8 if SHARED in needed else 4)
            cases = f"no {of.__name__}" if of else "no case"
            tally.add(said, "" if found or may_lack else
                      f"{cases} has {each.decode()} in its code")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
