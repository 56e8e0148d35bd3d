# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models, ours and the peers in turns, on one thread and on two."""

import pathlib

import numpy as np

import model_list
from compare_models import difference
from measure import floors
from measure.context import Refused, only, processors
from measure.contenders import IREE, OnnxRuntime, Ours, OpenVINO

NAMES = ("resnet50", "mobilenet_v2", "bert_base", "minilm_l6", "ppocr_det",
         "ppocr_rec", "ppocr_cls")
# Beyond it, somebody computes something else. Ours are held to 1e-4 by the
# tests; here only gross faults matter.
TOLERANCE = 1e-2


def open_all(context, model, path, case, threads, peers):
    """{name: contender or Refused}"""
    module = context.work / f"{model.name}.ash"

    def ours():
        if not module.exists():
            context.compile(path, module, *model.arguments(), "--quiet")
        return Ours(context, module, case.feeds, threads)

    makers = {
        "ours": ours,
        "onnxruntime": lambda: OnnxRuntime(path, case.feeds, threads),
        "openvino": lambda: OpenVINO(path, case.feeds, threads),
        "iree": lambda: IREE(context, pathlib.Path(path), case.feeds),
    }
    return context.opened({who: makers[who] for who in ("ours", *peers)})


def check_peers(opened):
    """A peer that computes something else is none."""
    reference = opened["onnxruntime"]
    if isinstance(reference, Refused):
        return
    expected = [np.asarray(e) for e in reference.outputs()]
    for name in ("openvino", "iree"):
        peer = opened.get(name)
        if peer is None or isinstance(peer, Refused):
            continue
        worst = max(difference(np.asarray(found).reshape(e.shape), e)
                    for found, e in zip(peer.outputs(), expected))
        if not worst <= TOLERANCE:
            opened[name] = Refused(f"its answer differs by {worst:.1e}")


def measure_model(context, model, threads, peers):
    row = {"model": model.name, "threads": threads}
    with model.prepare(context.work) as path, only(threads):
        case = model.cases(path)[0]
        opened = open_all(context, model, path, case, threads, peers)
        check_peers(opened)
        row.update(context.in_turns(opened))
        if not isinstance(opened["ours"], Refused):
            row["work"] = floors.work_of(context,
                                         context.work / f"{model.name}.ash")
    return row


def measure(context, names=NAMES):
    models = {m.name: m for m in model_list.all_models()}
    rows = []
    for name in names:
        for threads in [1] + ([2] if len(processors()) > 1 else []):
            rows.append(measure_model(
                context, models[name], threads,
                PEERS if threads == 1 else PEERS[:2]))
            print("  " + line(rows[-1]), flush=True)
        (context.work / f"{name}.ash").unlink(missing_ok=True)
    return {"rows": rows}


PEERS = ("onnxruntime", "openvino", "iree")


def ratio(row):
    """The best peer's time by ours."""
    best = min((row[p]["ms"] for p in PEERS if "ms" in row.get(p, {})),
               default=None)
    ours = row.get("ours", {}).get("ms")
    return best / ours if best and ours else None


def speedup(rows, name, who="ours"):
    """From one thread to two."""
    ms = {row["threads"]: row.get(who, {}).get("ms") for row in rows
          if row["model"] == name}
    return ms[1] / ms[2] if ms.get(1) and ms.get(2) else None


def line(row):
    text = f"{row['model']}, {row['threads']}:"
    for name in ("ours", *PEERS):
        if "ms" in row.get(name, {}):
            text += f" {name} {row[name]['ms']:.2f} ms"
        elif name in row:
            text += f" {name} refused ({row[name]['refused'][:60]})"
    found = ratio(row)
    return text + (f"; ratio {found:.2f}" if found else "")
