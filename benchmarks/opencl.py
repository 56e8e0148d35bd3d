#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The target opencl on a driver for processors, beside our own target cpu and
OpenVINO on the same core, one thread each.

In turns; the median of the turns' medians, and the least time of all. What a
load takes is what the driver compiles, most of it. Writes opencl.md and
opencl.json. `. scripts/opencl_env.sh` before it, so that there is a driver.
"""

import json
import os
import pathlib
import statistics
import tempfile

import precision
from measure.context import Context, Refused, only
from measure.contenders import Ours, OpenVINO

NAMES = ["mobilenet_v2", "minilm_l6", "resnet50", "ppocr_det", "bert_base"]
PROGRAMS = {"cpu": ("cpu", "cpu:0"), "opencl:avx2": ("opencl:avx2", "opencl:0"),
            "opencl:generic": ("opencl:generic", "opencl:0")}


class OnDevice(Ours):
    """Each turn is a process of its own, which loads the module."""

    def __init__(self, context, module, feeds, device):
        super().__init__(context, module, feeds, 1)
        self.command += [f"--device={device}", "--placement=strict"]
        self.least, self.loads = [], []

    def block(self, seconds):
        told = json.loads(self.context.run(
            *self.command, f"--min-time={seconds}"))
        self.least.append(told["min_ms"])
        self.loads.append(told["load_us"] / 1e6)
        return [told["median_ms"]]


class Peer(OpenVINO):
    def __init__(self, path, feeds):
        super().__init__(path, feeds, 1)
        self.least, self.loads = [], [self.open_s]

    def block(self, seconds):
        times = super().block(seconds)
        self.least.append(min(times))
        return times


def measure(context, model, path, folder):
    feeds = model.cases(path)[0].feeds
    rows, opened = {}, {}
    for who, (target, device) in PROGRAMS.items():
        module = folder / f"{model.name}.{target.replace(':', '-')}.ash"
        row = rows[who] = {}
        try:
            if not module.exists():
                context.compile(path, module, "--quiet", f"--target={target}",
                                *model.arguments())
            row["module_bytes"] = module.stat().st_size
            contract = context.inspect(module)["contract"]
            row["code_bytes"] = contract["code_bytes"]
            opened[who] = OnDevice(context, module, feeds, device)
        except Refused as why:
            row["refused"] = str(why)
    try:
        opened["openvino"] = Peer(path, feeds)
    except (Refused, ImportError) as why:
        rows["openvino"] = {"refused": str(why)}
    for who, found in context.in_turns(opened).items():
        row = rows.setdefault(who, {})
        row.update(found)
        if "ms" in found:
            row["least_ms"] = min(opened[who].least)
            row["load_s"] = statistics.median(opened[who].loads)
    rows["load average"] = os.getloadavg()[1]
    return rows


def table(results):
    lines = ["| model | who | median, ms | least, ms | of cpu's median | of "
             "cpu's least | load, s | module, MiB | code, KiB |",
             "|---" * 9 + "|"]
    for model, rows in results.items():
        cpu = rows["cpu"]
        for who, row in rows.items():
            if not isinstance(row, dict):
                continue
            if "refused" in row:
                cells = [f"refused: {row['refused']}"] + [""] * 6
            else:
                beside = [f"{row[key] / cpu[key]:.2f}"
                          if key in cpu and who != "cpu" else ""
                          for key in ("ms", "least_ms")]
                size = row.get("module_bytes")
                cells = [f"{row['ms']:.2f}", f"{row['least_ms']:.2f}", *beside,
                         f"{row['load_s']:.2f}",
                         f"{size / 2**20:.1f}" if size else "",
                         f"{row['code_bytes'] / 2**10:.0f}" if size else ""]
            lines.append(f"| {' | '.join([model, who, *cells])} |")
    return "\n".join(lines) + "\n"


def report(results):
    loads = [rows["load average"] for rows in results.values()]
    return (precision.heading().replace("medians of turns\n", "in turns\n")
            .split("- beside")[0] +
            f"- the machine's load while it was measured: {min(loads):.0f} to "
            f"{max(loads):.0f}\n\n" + table(results))


def main():
    parser = precision.parser_of(__doc__, NAMES)
    # In each turn the driver compiles anew.
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    models = {m.name: m for m in precision.model_list.all_models()}
    results = {}
    with tempfile.TemporaryDirectory() as folder, only(1):
        context = Context(arguments.bin.resolve(), None, pathlib.Path(folder),
                          arguments.seconds, arguments.rounds)
        for name in arguments.names:
            with models[name].prepare(context.work) as path:
                results[name] = measure(context, models[name], path,
                                        arguments.modules or context.work)
            print(table({name: results[name]}), flush=True)
    precision.write(arguments, "opencl", report, results)


if __name__ == "__main__":
    main()
