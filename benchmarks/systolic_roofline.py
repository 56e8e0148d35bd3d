#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the contractions of models under the roof of each systolic preset.

A point is a contraction (a region of a stream): multiply-adds for each byte
that passes the memory port, and multiply-adds a cycle of its interval. The
roof is what the arrays do at once, and what the port's bytes allow: where
requests in flight are limited, those of full size, of loads or of stores.
"""

import argparse
import json
import pathlib
import tempfile

import matplotlib

from systolic_models import KNOWN, MODELS, ROOT, run, write_models

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# Equal figures give equal files.
matplotlib.rcParams.update({"svg.hashsalt": "ashlar", "font.size": 9,
                            "axes.spines.top": False,
                            "axes.spines.right": False})
# Colour, and whether it is a model of bytes.
LOOKS = {"resnet50": ("#b5442e", False), "mobilenet_v2": ("#e08a3c", False),
         "bert_base": ("#5b7f95", False), "ppocr_det": ("#3e5c4b", False),
         "resnet50_int8": ("#b5442e", True)}
OF_BYTES = ["tpu-256", "gemmini"]
PRESETS = ["tpu-128", "tpu-v5e", "tpu-256", "gemmini"]
NAMED = 3  # outliers of a model that get their names


def points(use, each_way):
    """(name, intensity, multiply-adds a cycle, cycles) of each contraction."""
    both = max if each_way else sum
    for stream in use["streams"]:
        for region in stream["regions"]:
            moved = both((region["loaded_bytes"], region["stored_bytes"]))
            if region["multiply_adds"] and moved and region["cycles"]:
                yield (region["name"], region["multiply_adds"] / moved,
                       region["multiply_adds"] / region["cycles"],
                       region["cycles"] * stream["launches"])


def machine(preset):
    """Multiply-adds a cycle of all arrays, bytes a cycle of the port, and
    whether those are of loads or stores alone."""
    path = ROOT / f"lib/Targets/Systolic/Machines/{preset}.json"
    model = json.loads(path.read_text())
    array = next(u for u in model["units"] if u["name"] == "array")
    load = next(e for e in model["copy_engines"] if e["name"] == "load")
    rate, limits = load["bytes_per_cycle"], model["systolic"]
    requests = limits.get("requests_in_flight")
    if requests:
        size = limits["request_bytes"]
        latency = model["memories"][-1]["latency_cycles"]
        rate = min(rate, requests * size / (latency + size / rate))
    return (array["n"] * array["k"] * model["workers"]["count"], rate,
            bool(requests))


def draw(preset, uses, path):
    peak, rate, each_way = machine(preset)
    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    all_points = [p for use in uses.values() for p in points(use, each_way)]
    low = min(p[1] for p in all_points) / 2
    high = max(max(p[1] for p in all_points), peak / rate) * 2
    axes.plot([low, peak / rate, high], [low * rate, peak, peak],
              color="black", lw=1)
    axes.text(high, peak, f"{peak:,} a cycle", ha="right", va="bottom",
              fontsize=8)
    axes.text(low, low * rate * 1.3, f"{rate:.0f} bytes a cycle"
              + each_way * " each way", fontsize=8)
    for model, use in uses.items():
        those = list(points(use, each_way))
        color = LOOKS[model][0]
        most = max(p[3] for p in those)
        axes.scatter([p[1] for p in those], [p[2] for p in those],
                     s=[6 + 60 * p[3] / most for p in those], color=color,
                     alpha=0.6, lw=0,
                     label=f"{model}: {use['utilisation']:.0%} of the arrays")
        # Those that lose most: cycles beyond what the roof asks for.
        lost = sorted(those, key=lambda p: p[3] *
                      (1 - p[2] / min(peak, p[1] * rate)), reverse=True)
        for name, x, y, _ in lost[:NAMED]:
            axes.annotate(name.split(",")[-1].strip()[-28:], (x, y), (4, -8),
                          textcoords="offset points", fontsize=6, color=color)
    axes.set(xscale="log", yscale="log",
             xlabel="multiply-adds for each byte "
             + ("loaded or stored, the more of both" if each_way else
                "of device memory"),
             ylim=(min(p[2] for p in all_points) / 2, 2 * peak),
             ylabel="multiply-adds a cycle", title=f"Contractions on {preset}")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def uses_of(bin_, preset, work):
    uses = {}
    for model, (color, takes_bytes) in LOOKS.items():
        if takes_bytes != (preset in OF_BYTES):
            continue
        source, flags = MODELS / f"{model}.onnx", []
        if not takes_bytes:
            flags = ["--precision=bf16"] + [
                f"--shape={n}=" + "x".join(map(str, s))
                for n, s in KNOWN[model][0].items()]
        elif not source.exists():
            source = work / source.name
            write_models.WRITERS[model](source)
        module = work / f"{model}.ash"
        run(bin_ / "ashlar-compile", source, "-o", module, "--quiet",
            f"--target=systolic:{preset}", *flags)
        uses[model] = json.loads(run(bin_ / "ashlar-inspect", module,
                                     "--utilisation", "--json"))[0]
    return uses


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--out", type=pathlib.Path,
                        default=ROOT / "benchmarks/results")
    parser.add_argument("--presets", default=",".join(PRESETS))
    arguments = parser.parse_args()
    for preset in arguments.presets.split(","):
        with tempfile.TemporaryDirectory() as work:
            uses = uses_of(arguments.bin.resolve(), preset,
                           pathlib.Path(work))
        path = arguments.out / f"systolic-roofline-{preset}.svg"
        draw(preset, uses, path)
        print(path, flush=True)


if __name__ == "__main__":
    main()
