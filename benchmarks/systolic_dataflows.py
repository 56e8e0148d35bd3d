#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What dataflows, packings and the rest of a schedule are worth on tpu-128.

Simulated cycles of the contractions of whole models: as they are compiled,
with one dataflow for all, and with one thing left out at a time. Cycles do not
depend on the computer that runs this.
"""

import argparse
import json
import math
import pathlib
import tempfile

from systolic_models import KNOWN, MODELS, ROOT, run

NAMES = ["resnet50", "mobilenet_v2", "bert_base", "ppocr_det"]
BATCHED = ["resnet50", "bert_base"]  # whose files leave the batch open
# "The best single fixed dataflow, itself with back-to-back folds and tap
# packing": each contraction a stream of its own, results alone.
FIXED = {flow: [f"--dataflow={flow}", "--without=columns", "--apart"]
         for flow in ("ws", "os", "is")}
LEFT_OUT = {
    # Results side by side have packed taps, so that both go.
    "taps --without=columns": ("packing filter taps into K, and results side "
                               "by side", {"resnet50": 627}),
    "shadow": ("back-to-back folds", {"resnet50": 252, "bert_base": 349}),
    "columns": ("results side by side in N", {"resnet50": 33,
                                              "ppocr_det": 554}),
    "overlap": ("transfers beside the rest (in turns, each with its latency)", {"resnet50": 93,
                                              "bert_base": 311}),
}


def kernels(bin_, model, batch, work):
    """The file of a model's streams before they are written."""
    path = work / f"{model}-{batch}.mlir"
    shapes = {name: (batch, *shape[1:])
              for name, shape in KNOWN[model][0].items()}
    path.write_text(run(
        bin_ / "ashlar-compile", MODELS / f"{model}.onnx", "--until=schedule",
        "--target=systolic:tpu-128", "--precision=bf16",
        *(f"--shape={n}=" + "x".join(map(str, s)) for n, s in shapes.items())))
    return path


def cycles(bin_, path, *flags):
    rows = json.loads(run(bin_ / "systolic-layers", "tpu-128", "--json",
                          f"--kernels={path}", *flags))
    return sum(row["times"] * row["contraction_cycles"] for row in rows)


def row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def dataflow_table(ours, fixed):
    lines = [row("model", "ours", *FIXED, "best fixed by ours"),
             "|---" * (len(FIXED) + 3) + "|"]
    for model in NAMES:
        each = fixed[model]
        lines.append(row(model, f"{ours[model]:,}",
                         *(f"{each[flow]:,}" for flow in FIXED),
                         f"{min(each.values()) / ours[model]:.2f}"))
    ratios = {flow: geomean([fixed[m][flow] / ours[m] for m in NAMES])
              for flow in FIXED}
    best = geomean([min(fixed[m].values()) / ours[m] for m in NAMES])
    lines.append(row("geomean of theirs by ours", "",
                     *(f"{ratios[flow]:.2f}" for flow in FIXED),
                     f"{best:.2f}"))
    return lines


def left_out_table(ours, without):
    lines = [row("left out", *NAMES), "|---" * (len(NAMES) + 1) + "|",
             row("nothing", *(f"{ours[m]:,}" for m in NAMES))]
    for part, (what, expected) in LEFT_OUT.items():
        cells = []
        for model in NAMES:
            more = round((without[part][model] - ours[model]) / 1000)
            issue = f" ({expected[model]:+}k)" if model in expected else ""
            cells.append(f"{more:+,}k{issue}")
        lines.append(row(what, *cells))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT /
                        "benchmarks/results/systolic-dataflows.md")
    arguments = parser.parse_args()
    bin_ = arguments.bin.resolve()
    ours, eight, fixed = {}, {}, {}
    without = {part: {} for part in LEFT_OUT}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for model in NAMES:
            path = kernels(bin_, model, 1, work)
            ours[model] = cycles(bin_, path)
            fixed[model] = {flow: cycles(bin_, path, *flags)
                            for flow, flags in FIXED.items()}
            for part in LEFT_OUT:
                without[part][model] = cycles(
                    bin_, path, *f"--without={part}".split())
            print(model, ours[model], fixed[model], flush=True)
        for model in BATCHED:
            eight[model] = cycles(bin_, kernels(bin_, model, 8, work))
    lines = [
        "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->",
        "# Dataflows and packings on `tpu-128`", "",
        "By `benchmarks/systolic_dataflows.py`: simulated cycles of the "
        "contractions in the streams of whole models (bf16, batch 1); "
        "depthwise convolutions are not among them.", "",
        "## One dataflow for all", "",
        "Ours takes for each contraction what is fastest, and joins "
        "contractions into streams; with a fixed dataflow (weight-, output-, "
        "input-stationary) each is a stream of its own with back-to-back "
        "folds, packed taps and overlapping transfers, and results stand "
        "alone.", "",
        *dataflow_table(ours, fixed), "",
        "## One thing left out at a time", "",
        "Cycles more than with everything; in brackets what an estimate said "
        "beforehand, of schedules whose layers never wait for each other.", "",
        *left_out_table(ours, without), "",
        "Without packed taps the first convolution of ResNet50 goes "
        "output-stationary, where many shallow folds cost no more than a few "
        "deep ones: the estimate, weight-stationary, loses much more there.",
        "",
        "## Batch 8 in one, or one by one", "",
        row("model", "batch 8", "8 times batch 1", "gain"), "|---|---|---|---|",
        *(row(m, f"{eight[m]:,}", f"{8 * ours[m]:,}",
              f"{8 * ours[m] / eight[m]:.2f}") for m in BATCHED)]
    arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
