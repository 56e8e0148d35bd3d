# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long compiling takes: beside IREE and OpenVINO, and as models grow."""

import pathlib
import statistics

import growth
import model_list
from measure.context import Refused, TIMEOUT, first_error, measured_process
from measure.contenders import OpenVINO, iree_command, import_iree

NAMES = ("mobilenet_v2", "resnet50", "bert_base")
REPEATS = 3


def ours(context, path, flags, name="compiled"):
    """Seconds, in the middle of some, and the module."""
    module = context.work / f"{name}.ash"
    seconds = [context.compile(path, module, *flags, "--quiet").seconds
               for _ in range(REPEATS)]
    return statistics.median(seconds), module


def measure_model(context, model):
    row = {"model": model.name}
    with model.prepare(context.work) as path:
        feeds = model.cases(path)[0].feeds

        def by_ours():
            seconds, module = ours(context, path, model.arguments())
            row["kernels"] = len(
                context.inspect(module)["programs"][0]["kernels"])
            module.unlink()
            return seconds

        def by_openvino():
            return statistics.median(
                OpenVINO(path, feeds, 2).open_s for _ in range(REPEATS))

        def by_iree():
            mlir = import_iree(context, pathlib.Path(path), feeds)
            try:
                vmfb = context.work / "compiled.vmfb"
                result = measured_process.run(*iree_command(mlir, vmfb),
                                              timeout=TIMEOUT)
                if result.code:
                    raise Refused(first_error(result.err))
                vmfb.unlink()
                return result.seconds
            finally:
                mlir.unlink()

        for name, measure_one in (("ours", by_ours), ("openvino", by_openvino),
                                  ("iree", by_iree)):
            try:
                row[name] = {"s": measure_one()}
            except Refused as why:
                row[name] = {"refused": str(why)}
    return row


def measure(context):
    models = {m.name: m for m in model_list.all_models()}
    rows = []
    for name in NAMES:
        rows.append(measure_model(context, models[name]))
        print("  " + line(rows[-1]), flush=True)
    return {"rows": rows}


def line(row):
    return f"{row['model']}:" + "".join(
        f" {who} {row[who]['s']:.2f} s" if "s" in row[who]
        else f" {who} refused ({row[who]['refused'][:60]})"
        for who in ("ours", "openvino", "iree"))


def grow(context, kind, write, sizes):
    """One row for each size, at least as long as compiling goes well."""
    rows = []
    for size in sizes:
        path = context.work / f"{kind}_{size}.onnx"
        write(path, size)
        row = {"kind": kind, "size": size}
        try:
            row["s"], module = ours(context, path, ())
            row["kernels"] = len(
                context.inspect(module)["programs"][0]["kernels"])
            row["module_bytes"] = module.stat().st_size
            module.unlink()
        except Refused as why:
            row["refused"] = str(why)
        path.unlink()
        rows.append(row)
        print(f"  {kind} of {size}: " + (
            f"{row['s']:.2f} s, {row['kernels']} kernels" if "s" in row
            else row["refused"]), flush=True)
    return rows


def measure_growth(context):
    return {"rows": grow(context, "transformer", growth.write_transformer,
                         growth.LAYERS)
            + grow(context, "chain", growth.write_chain, growth.NODES)}


def growth_ratio(rows, kind):
    """The largest's time by the smallest's."""
    times = [r["s"] for r in rows if r["kind"] == kind and "s" in r]
    complete = all("s" in r for r in rows if r["kind"] == kind)
    return times[-1] / times[0] if len(times) > 1 and complete else None
