#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed and error of each precision, beside OpenVINO's.

One thread each, in turns; medians of the rounds. An error is the largest
difference to ONNX Runtime's f32, relative to its largest element, over all
inputs of the model. Writes benchmarks/results/precision.md and precision.json.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "Integration"), str(ROOT / "benchmarks")]
import compare_models  # noqa: E402
import model_list  # noqa: E402
from measure import accuracy, machine, unseen  # noqa: E402
from measure.context import Context, Refused, only  # noqa: E402
from measure.contenders import Ours, OpenVINO  # noqa: E402

NAMES = ["resnet50", "mobilenet_v2", "bert_base", "minilm_l6", "ppocr_det",
         "ppocr_rec", "ppocr_cls"]
PRECISIONS = {"f32": [], "bf16": ["--precision=bf16"],
              "f16": ["--precision=f16"], "auto": ["--precision=auto"]}

OURS = list(PRECISIONS)
BESIDE = {
    "beside OpenVINO's f32": lambda who: who in OURS and "openvino f32",
    "beside OpenVINO's bf16": lambda who: who in OURS and "openvino bf16",
    "beside our f32": lambda who: who in OURS[1:] and "f32",
    "beside our bf16": lambda who: who == "auto" and "bf16"}


def open_ours(context, model, path, precision, modules, row,
              calibration=unseen.CALIBRATION):
    """The module, which may be there already; auto is calibrated on inputs
    like those it meets."""
    module = modules / f"{model.name}.{precision}.ash"
    if not module.exists():
        flags = PRECISIONS[precision]
        if precision == "auto":
            folder = unseen.calibrate(context, model, calibration)
            flags = [*flags, f"--calibration={folder}",
                     f"--tolerance={unseen.TOLERANCE}"]
        start = time.perf_counter()
        context.compile(path, module, "--quiet", *model.arguments(), *flags)
        row["compile_s"] = round(time.perf_counter() - start, 2)
    row["module_bytes"] = module.stat().st_size
    return module


def measure(context, model, path, chosen, modules, peers):
    cases, theirs = model.cases(path), compare_models.Theirs(path)
    rows, opened = {}, {}
    for precision in chosen:
        row = rows[precision] = {}
        try:
            module = open_ours(context, model, path, precision, modules, row)
            row["error"] = max(
                accuracy.error(accuracy.outputs(
                    context, module, case, [n for n, _ in expected]), expected)
                for case in cases for expected in [theirs.outputs(case)])
            opened[precision] = Ours(context, module, cases[0].feeds, 1)
        except Refused as why:
            row["refused"] = str(why)
    for precision in ["f32", "bf16"] if peers else []:
        row = rows[f"openvino {precision}"] = {}
        try:
            found = []
            for case in reversed(cases):
                peer = OpenVINO(path, case.feeds, 1, precision)
                found.append(accuracy.error(peer.outputs(),
                                            theirs.outputs(case)))
            row["error"] = max(found)
            opened[f"openvino {precision}"] = peer
        except Refused as why:
            row["refused"] = str(why)
    for who, found in context.in_turns(opened).items():
        rows[who].update(found)
    return rows


def table(results, kind, beside):
    """`beside`: {title: who is compared -> with whom, or None}."""
    head = ["model", kind, "ms", *beside, "error", "module"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for model, rows in results.items():
        for who, row in rows.items():
            if "refused" in row:
                cells = [f"refused: {row['refused']}"] + [""] * (len(head) - 3)
            else:
                others = [rows.get(of(who), {}) for of in beside.values()]
                cells = [
                    f"{row['ms']:.2f}",
                    *(f"{other['ms'] / row['ms']:.2f}" if "ms" in other else ""
                      for other in others),
                    f"{row['error']:.1e}" if "error" in row else "",
                    f"{row['module_bytes'] / 2**20:.1f} MiB"
                    if "module_bytes" in row else ""]
            lines.append(f"| {' | '.join([model, who, *cells])} |")
    return "\n".join(lines) + "\n"


def heading():
    name, features = machine.processor()
    if "amx_tile" not in features:
        features = [*features, "no AMX"]
    return (f"- {name}, {', '.join(features)}; one thread, medians of turns\n"
            "- beside somebody: their time by that of the row, above 1 the row "
            "is faster\n\n")


def parser_of(description, names):
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("names", nargs="*", default=names)
    parser.add_argument("--bin", type=pathlib.Path,
                        default=ROOT / "build" / "bin")
    parser.add_argument("--seconds", type=float, default=2.5,
                        help="of each contender on each model")
    parser.add_argument("--output", type=pathlib.Path,
                        default=ROOT / "benchmarks" / "results")
    parser.add_argument("--modules", type=pathlib.Path,
                        help="where ours are kept, and taken from if there")
    parser.add_argument("--merge", action="store_true",
                        help="keep what the report says of other models")
    return parser


def write(arguments, name, table_of, results):
    """Into files of this name. What they say of other models stays."""
    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / f"{name}.json"
    if data.exists() and arguments.merge:
        results = {**json.loads(data.read_text()), **results}
    data.write_text(json.dumps(results, indent=1) + "\n")
    (folder / f"{name}.md").write_text(table_of(results))


def write_report(arguments, name, kind, beside, measure_model):
    """`measure_model(context, model, path)` of each model, into files of this
    name; `kind` is what its rows differ in."""
    models = {m.name: m for m in model_list.all_models()}
    results = {}
    with tempfile.TemporaryDirectory() as folder, only(1):
        context = Context(arguments.bin.resolve(), None, pathlib.Path(folder),
                          arguments.seconds)
        for model in arguments.names:
            with models[model].prepare(context.work) as path:
                results[model] = measure_model(context, models[model], path)
            print(table({model: results[model]}, kind, beside), flush=True)
    write(arguments, name, lambda r: heading() + table(r, kind, beside),
          results)


def count_unseen(arguments):
    models = {m.name: m for m in model_list.all_models()}
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        context = Context(arguments.bin.resolve(), None, work, 0)
        for name in arguments.names:
            with models[name].prepare(work) as path:
                try:
                    wide, mixed = (open_ours(
                        context, models[name], path, precision,
                        arguments.modules or work, {}, arguments.calibration)
                        for precision in ("f32", "auto"))
                    rows[name] = unseen.measure(
                        context, models[name], path, arguments.unseen, wide,
                        mixed)
                except Refused as why:
                    rows[name] = {"refused": str(why)}
            print(unseen.table({name: rows[name]}), flush=True)
    write(arguments, "precision-unseen", unseen.table, rows)


def main():
    parser = parser_of(__doc__, NAMES)
    parser.add_argument("--precisions", default=",".join(PRECISIONS))
    parser.add_argument("--no-peers", action="store_true",
                        help="leave OpenVINO out")
    parser.add_argument("--unseen", type=int, metavar="N",
                        help="instead: on how many of N inputs that it has not "
                        "seen --precision=auto keeps its tolerance")
    parser.add_argument("--calibration", type=int, metavar="N",
                        default=unseen.CALIBRATION,
                        help="inputs that auto is calibrated on (%(default)s)")
    arguments = parser.parse_args()
    if arguments.unseen:
        return count_unseen(arguments)
    write_report(arguments, "precision", "precision", BESIDE,
                 lambda context, model, path: measure(
                     context, model, path, arguments.precisions.split(","),
                     arguments.modules or context.work,
                     not arguments.no_peers))


if __name__ == "__main__":
    main()
