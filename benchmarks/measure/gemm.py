# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""sgemm: ours beside OpenBLAS and oneDNN, weights cold, in one process."""

import importlib.metadata
import json

from measure.context import Refused, geomean, library, only, processors
import matmul


def numpy_openblas():
    """NumPy's own OpenBLAS, newer than Debian's."""
    for file in importlib.metadata.files("numpy") or []:
        if "libscipy_openblas64" in file.name:
            return file.locate()
    raise Refused("NumPy has no OpenBLAS of its own")


def peers():
    """NAME=KIND:PATH of each library that is there."""
    found = []
    for name, kind, find in (
            ("openblas", "cblas", lambda: library("libopenblas.so.0")),
            ("openblas_numpy", "cblas64", numpy_openblas),
            ("onednn", "dnnl", lambda: library("libdnnl.so.2"))):
        try:
            found.append(f"{name}={kind}:{find()}")
        except Refused as why:
            print(f"  {name}: {why}", flush=True)
    return found


def l2_bytes(context):
    """Of one CPU; two megabytes, as many as any has, where nothing says it."""
    try:
        return int(context.run("getconf", "LEVEL2_CACHE_SIZE")) or 2 << 20
    except (Refused, OSError, ValueError):
        return 2 << 20


def environment(threads):
    return {"OPENBLAS_NUM_THREADS": str(threads),
            "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE",
            "LD_LIBRARY_PATH": str(library("libgfortran.so.5").parent)}


def measure_shape(context, shape, libraries, threads):
    m, n, k = shape
    work = context.work / "gemm"
    work.mkdir(parents=True, exist_ok=True)
    row = {"m": m, "n": n, "k": k, "threads": threads}
    contenders, weights = list(libraries), work / "b.raw"
    for name, kind, constant in (("ours", "ash2", False),
                                 ("ours_constant", "ash1", True)):
        model, module = work / f"{name}.onnx", work / f"{name}.ash"
        matmul.write_product(model, m, n, k, constant).tofile(weights)
        try:
            context.compile(model, module, "--quiet")
            contenders.append(f"{name}={kind}:{module}")
        except Refused as why:
            row[name] = {"refused": str(why)}
    with only(threads):
        told = context.run(
            context.native / "gemm", m, n, k,
            context.seconds * len(contenders), 4 * l2_bytes(context), threads,
            weights, *contenders, environment=environment(threads))
    row.update(json.loads(told))
    return row


def parse_shapes(text):
    """"128x768x3072,..." as tuples; ValueError for another form."""
    shapes = [tuple(int(s) for s in part.split("x"))
              for part in text.split(",")]
    if any(len(s) != 3 or min(s) < 1 for s in shapes):
        raise ValueError(text)
    return shapes


def measure(context, shapes=None):
    libraries = peers()
    rows = []
    threads = [1] + ([2] if len(processors()) > 1 else [])
    for shape in shapes or matmul.SQUARE + matmul.ODD:
        for count in threads:
            # Two threads are reported beside, for the square ones only.
            if count > 1 and shape not in matmul.SQUARE:
                continue
            rows.append(measure_shape(context, shape, libraries, count))
            print("  " + line(rows[-1]), flush=True)
    return {"rows": rows, **summary(rows)}


PEERS = ("openblas", "openblas_numpy", "onednn")


def best_peer_us(row):
    return min((row[p]["us"] for p in PEERS if p in row), default=None)


def ratios(rows, name, threads=1):
    return [best_peer_us(row) / row[name]["us"] for row in rows
            if row["threads"] == threads and best_peer_us(row)
            and "us" in row.get(name, {})]


def summary(rows):
    return {"ratio": geomean(ratios(rows, "ours")),
            "ratio_constant": geomean(ratios(rows, "ours_constant"))}


def gflops(row, name):
    us = row.get(name, {}).get("us")
    return 2e-3 * row["m"] * row["n"] * row["k"] / us if us else None


def line(row):
    text = f"{row['m']}x{row['n']}x{row['k']}, {row['threads']}:"
    for name in (*PEERS, "ours", "ours_constant"):
        if "us" in row.get(name, {}):
            text += f" {name} {gflops(row, name):.1f}"
    return text + " GFLOP/s"
