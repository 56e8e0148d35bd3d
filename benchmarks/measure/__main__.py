# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures us beside our peers, in turns, and writes a report with pictures.

Run by benchmarks/run.sh, which sets up the peers and builds the programs.
"""

import argparse
import datetime
import json
import pathlib
import tempfile

from measure import (bf16, calls, compile_time, gemm, kinds, low_types,
                     machine, models, pictures, report)
from measure.context import Context

PARTS = {
    "gemm": ("matrix products in f32", gemm.measure),
    "bf16": ("matrix products in bf16", bf16.measure),
    "models": ("models", models.measure),
    "kinds": ("kernels of their own kind", kinds.measure),
    "models_bf16": ("models in bf16", low_types.measure_bf16),
    "models_int8": ("models in 8 bits", low_types.measure_int8),
    "call": ("a call of one operator", calls.measure),
    "load": ("loading BERT-base", calls.measure_loads),
    "rebind": ("binding other sizes", calls.measure_rebinds),
    "compile": ("compiling", compile_time.measure),
    "growth": ("compiling models that grow", compile_time.measure_growth),
}


def main():
    parser = argparse.ArgumentParser(
        prog="measure", description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--native", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--models", default=",".join(models.NAMES))
    parser.add_argument("--shapes", type=gemm.parse_shapes)
    parser.add_argument("--merge", action="store_true")
    arguments = parser.parse_args()
    parts = arguments.only.split(",")
    names = tuple(arguments.models.split(","))
    for given, known, what in ((parts, PARTS, "part"),
                               (names, models.NAMES, "model")):
        for name in given:
            if name not in known:
                parser.error(f"no {what} {name}; there are: "
                             f"{', '.join(known)}")

    results = {"dates": {}}
    data = arguments.out / "results.json"
    if arguments.merge and data.exists():
        results = json.loads(data.read_text())
        if results["seconds"] != arguments.seconds:
            parser.error(f"the other parts were measured with --seconds="
                         f"{results['seconds']:g}; give the same")
    results |= {"seconds": arguments.seconds,
                "versions": machine.versions(arguments.bin)}
    with tempfile.TemporaryDirectory(dir=arguments.native) as work:
        context = Context(arguments.bin.resolve(), arguments.native.resolve(),
                          pathlib.Path(work), arguments.seconds)
        print("The machine", flush=True)
        results["machine"] = machine.measure(context)
        for part in parts:
            title, measure = PARTS[part]
            print(title[0].upper() + title[1:], flush=True)
            more = {"models": (names,), "gemm": (arguments.shapes,)}
            results[part] = measure(context, *more.get(part, ()))
            results["dates"][part] = datetime.date.today().isoformat()

    arguments.out.mkdir(parents=True, exist_ok=True)
    data.write_text(json.dumps(results, indent=1) + "\n")
    drawn = pictures.draw(results, arguments.out)
    (arguments.out / "results.md").write_text(report.markdown(results, drawn))
    if arguments.merge:
        report.write_machines(arguments.out.parent)
    print(report.summary(results))


if __name__ == "__main__":
    main()
