#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tenants and memory over time, and what a call costs beside others.

Compiles three models, builds native/serving.c against the runtime, runs it and
writes results/serving.md, results/calls.svg, docs/pictures/serving.svg and a
trace of it, docs/pictures/serving-trace.json.gz and .svg.
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLORS = {"steady": "#5b7f95", "growing": "#b5442e", "greedy": "#3e5c4b"}
ONE_OP = """func.func @main(%x: tensor<16xf32>, %y: tensor<16xf32>)
    -> tensor<16xf32> {
  %0 = tensor.empty() : tensor<16xf32>
  %1 = linalg.add ins(%x, %y : tensor<16xf32>, tensor<16xf32>)
                  outs(%0 : tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
"""


def compile_models(build, models, work):
    """The four modules that serving.c wants, in its order."""
    one = work / "add.mlir"
    one.write_text(ONE_OP)
    wanted = [
        ("steady", models / "mobilenet_v2.onnx", []),
        ("growing", models / "ppocr_rec.onnx",
         ["--shape=x=1x3x48xW", "--dim=W=32..1600"]),
        ("greedy", ROOT / "examples/digits/digits.onnx",
         ["--shape=image=1x1x8x8"]),
        ("one_op", one, []),
    ]
    files = []
    for name, source, flags in wanted:
        files.append(work / f"{name}.ash")
        subprocess.run([build / "bin/ashlar-compile", source, "-o", files[-1],
                        "--quiet", *flags], check=True)
    return files


def measure(library, files, work, seconds, trace):
    """The figures; then once more, shorter, for the trace."""
    program = work / "serving"
    subprocess.run(
        ["cc", "-O2", "-Wall", f"-I{ROOT}/runtime/include",
         ROOT / "benchmarks/native/serving.c", "-o", program, f"-L{library}",
         "-lashlar_runtime", f"-Wl,-rpath,{library}", "-lpthread"], check=True)
    result = subprocess.run([program, *files, str(seconds)], check=True,
                            capture_output=True, text=True)
    subprocess.run([program, *files, "4", trace], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(result.stdout)


def draw(results, path):
    """Lines of each tenant's bytes and of the process's, over seconds."""
    width, height, left, bottom = 860, 340, 60, 40
    samples = results["samples"]
    end = samples[-1][0]
    mib = 1 << 20
    top = max(max(s[1:]) for s in samples + [[0, results["limit_bytes"]]]) / mib
    top *= 1.08

    def x(second):
        return left + (width - left - 130) * second / end

    def y(size):
        return height - bottom - (height - bottom - 20) * size / mib / top

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    step = 10 if top < 120 else 50
    for tick in range(0, int(top) + 1, step):
        at = y(tick * mib)
        lines.append(f'<path d="M{left} {at:.1f}H{width - 130}" '
                     'stroke="#ddd"/>'
                     f'<text x="{left - 8}" y="{at + 4:.1f}" '
                     f'text-anchor="end">{tick}</text>')
    for tick in range(0, int(end) + 1, max(1, int(end / 10))):
        lines.append(f'<text x="{x(tick):.1f}" y="{height - bottom + 18}" '
                     f'text-anchor="middle">{tick}</text>')
    lines.append(f'<text x="{left}" y="12">MiB charged</text>'
                 f'<text x="{(left + width - 130) / 2}" y="{height - 6}" '
                 'text-anchor="middle">seconds</text>')
    series = [("resident memory", "#999", 1)] + [
        (name, color, i + 2) for i, (name, color) in enumerate(COLORS.items())]
    limit = y(results["limit_bytes"])
    lines.append(f'<path d="M{left} {limit:.1f}H{width - 130}" '
                 'stroke="black" stroke-dasharray="4 3"/>'
                 f'<text x="{width - 124}" y="{limit + 4:.1f}">'
                 'limit of each tenant</text>')
    for row, (name, color, column) in enumerate(series):
        points = " ".join(f"{x(s[0]):.1f},{y(s[column]):.1f}" for s in samples)
        lines.append(f'<polyline points="{points}" fill="none" '
                     f'stroke="{color}" stroke-width="1.6"/>')
        lines.append(f'<text x="{width - 124}" y="{60 + 16 * row}" '
                     f'fill="{color}">{name}</text>')
    path.write_text("\n".join(lines + ["</svg>", ""]))


def draw_calls(calls, path):
    """What a call takes of the processor over sessions, as bars."""
    width, height, left, bottom = 480, 240, 50, 36
    top = max(max(of["processor_ns"] for of in calls), 1000) * 1.1
    scale = (height - bottom - 16) / top
    step = (width - left - 10) / len(calls)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for tick in range(0, int(top) + 1, 250):
        at = height - bottom - tick * scale
        lines.append(f'<path d="M{left} {at:.1f}H{width - 10}" '
                     'stroke="#ddd"/>'
                     f'<text x="{left - 6}" y="{at + 4:.1f}" '
                     f'text-anchor="end">{tick}</text>')
    for i, of in enumerate(calls):
        size = of["processor_ns"] * scale
        lines.append(f'<rect x="{left + (i + 0.2) * step:.1f}" '
                     f'y="{height - bottom - size:.1f}" '
                     f'width="{0.6 * step:.1f}" height="{size:.1f}" '
                     f'fill="{COLORS["steady"]}"/>'
                     f'<text x="{left + (i + 0.5) * step:.1f}" '
                     f'y="{height - bottom + 15}" text-anchor="middle">'
                     f'{of["sessions"]}</text>')
    lines.append(f'<text x="{left}" y="11">ns of the processor a call</text>'
                 f'<text x="{(left + width) / 2}" y="{height - 5}" '
                 'text-anchor="middle">sessions, on at most two threads'
                 '</text>')
    path.write_text("\n".join(lines + ["</svg>", ""]))


def without_short(trace):
    """What takes 10 us or more, so that the file is small."""
    whole = json.loads(trace.read_text())
    whole["traceEvents"] = [e for e in whole["traceEvents"]
                            if e["ph"] != "X" or e["dur"] >= 10]
    return json.dumps(whole, separators=(",", ":"))


def joined(events, scale):
    """Begin, end and whether it waits; what no eye tells apart is one."""
    spans = []
    for e in sorted(events, key=lambda e: e["ts"]):
        begin, finish = e["ts"], e["ts"] + e["dur"]
        is_wait = e["name"] == "wait"
        if (spans and spans[-1][2] == is_wait
                and (begin - spans[-1][1]) * scale < 0.3):
            spans[-1][1] = max(finish, spans[-1][1])
        elif not spans or (finish - begin) * scale > 0.3:
            spans.append([begin, finish, is_wait])
    return spans


def draw_trace(trace, path):
    """Runs and waits of each session, and the bytes of each tenant, as
    Perfetto shows them."""
    events = json.loads(trace.read_text())["traceEvents"]
    groups = {e["pid"]: e["args"]["name"] for e in events
              if e["name"] == "process_name"}
    lanes = {}
    for e in events:
        group = groups.get(e["pid"], "")
        if e["ph"] == "X" and group.startswith("runtime/"):
            lanes.setdefault((group.split("/")[1], e["tid"]), []).append(e)
    end = max(e["ts"] + e["dur"] for each in lanes.values() for e in each)
    width, left, row = 860, 110, 26
    height = row * len(lanes) + 50
    scale = (width - left - 20) / end
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    step = 5000 if end < 60000 else 20000
    for tick in range(0, int(end) + 1, step):
        at = left + tick * scale
        lines.append(f'<path d="M{at:.1f} 10V{height - 34}" stroke="#ddd"/>'
                     f'<text x="{at:.1f}" y="{height - 20}" '
                     f'text-anchor="middle">{tick // 1000}</text>')
    for i, ((name, _), each) in enumerate(sorted(lanes.items())):
        top = 14 + i * row
        lines.append(f'<text x="{left - 8}" y="{top + 13}" text-anchor="end">'
                     f'{name}</text>')
        for begin, finish, is_wait in joined(each, scale):
            color = "#ddd8c8" if is_wait else COLORS[name]
            lines.append(f'<rect x="{left + begin * scale:.1f}" y="{top}" '
                         f'width="{max((finish - begin) * scale, 0.2):.1f}" '
                         f'height="{row - 8}" fill="{color}"/>')
    lines.append(f'<text x="{(left + width) / 2}" y="{height - 5}" '
                 'text-anchor="middle">milliseconds of a trace: runs in '
                 'colour, waits for a worker in grey</text>')
    path.write_text("\n".join(lines + ["</svg>", ""]))


def report(results, seconds, path):
    mib = 1 << 20
    lines = [
        "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->",
        "# Tenants in one process", "",
        "`benchmarks/serving.py` writes this page and "
        "[the picture](../../docs/pictures/serving.svg). Steady runs "
        "MobileNetV2, growing PP-OCR's recognition at wider and wider "
        "lines, greedy two sessions of the digits example, for "
        f"{seconds} seconds on {os.cpu_count()} processors with "
        "`worker_limit` 2.", "",
        "| tenant | runs | peak, MiB | a run, µs | its wait, µs |",
        "|---|---|---|---|---|"]
    for name, of in results["tenants"].items():
        lines.append(f"| {name} | {of['runs']} | {of['peak_bytes'] / mib:.1f} "
                     f"| {of['mean_run_us']:.0f} | {of['mean_wait_us']:.0f} |")
    after = results["resident_after_unload_bytes"] / mib
    of_files = results["of_files_after_unload_bytes"] / mib
    lines += ["", "Resident memory after all is unloaded, beside that before "
              f"anything was loaded: {after:+.2f} MiB, {of_files:.2f} of "
              "them pages of files, the libraries' code that has run since; "
              "the rest is what malloc and the system's threads keep, for "
              "budgets are at zero.", "",
              "A call of prepared bindings of one addition of 16 floats, from "
              "sessions of one worker that two threads take by turns:", "",
              "| sessions | threads | ns a call of a thread | of the processor |",
              "|---|---|---|---|"]
    for of in results["calls"]:
        lines.append(f"| {of['sessions']} | {of['threads']} "
                     f"| {of['ns_per_call']:.0f} "
                     f"| {of['processor_ns']:.0f} |")
    lines += ["", "[The picture of it](calls.svg): that the time per call of a "
              "thread stays level means that sessions do not wait for each "
              "other."]
    off, on = results["trace"]["off_us"], results["trace"]["on_us"]
    lines += ["", "A run of MobileNetV2 on one worker, medians of "
              f"{results['trace']['runs']} runs each by turns: {off:.0f} µs "
              "of the processor "
              f"without a trace, {on:.0f} µs with one on "
              f"({100 * (on / off - 1):+.1f} %)."]
    if results["load"] > os.cpu_count():
        lines += ["", "Other work kept the machine busy meanwhile (load "
                  f"{results['load']:.0f} on {os.cpu_count()} processors): "
                  "times are upper bounds."]
    path.write_text("\n".join(lines + [""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--models", type=pathlib.Path,
                        default=ROOT / ".deps/models")
    parser.add_argument("--library", type=pathlib.Path,
                        help="folder of libashlar_runtime.so; default: the "
                        "build's")
    parser.add_argument("--modules", type=pathlib.Path,
                        help="folder with steady.ash, growing.ash, greedy.ash "
                        "and one_op.ash, to compile nothing")
    parser.add_argument("--seconds", type=float, default=20)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    library = (arguments.library or build / "lib").resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        if arguments.modules:
            files = [arguments.modules / f"{name}.ash" for name in
                     ("steady", "growing", "greedy", "one_op")]
        else:
            files = compile_models(build, arguments.models, work)
        trace = work / "trace.json"
        results = measure(library, files, work, arguments.seconds, trace)
        draw_trace(trace, ROOT / "docs/pictures/serving-trace.svg")
        (ROOT / "docs/pictures/serving-trace.json.gz").write_bytes(
            gzip.compress(without_short(trace).encode(), mtime=0))
    results["load"] = os.getloadavg()[0]
    draw(results, ROOT / "docs/pictures/serving.svg")
    draw_calls(results["calls"], ROOT / "benchmarks/results/calls.svg")
    report(results, f"{arguments.seconds:g}",
           ROOT / "benchmarks/results/serving.md")


if __name__ == "__main__":
    main()
