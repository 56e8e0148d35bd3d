#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a process holds that loads a model and runs it once, beside the peers.

Resident memory is the process's own peak less what it held with its library
loaded and no model, one thread, weights included. Beside it stand the figures of
our contract: arena, its lower bound, peak; and how many operations are left after
each one's optimisation. With --growth, the planner over 100 to 100,000
buffers. Writes benchmarks/results/memory.md and memory.json.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "Integration")]
import model_list  # noqa: E402

NAMES = ["resnet50", "mobilenet_v2", "bert_base", "minilm_l6", "ppocr_det",
         "ppocr_rec", "ppocr_cls"]

# Run by the peers' own interpreter: {"before", "peak", "nodes"}.
PEER = '''
import json, sys
def memory(name):
    for line in open("/proc/self/status"):
        if line.startswith(name):
            return int(line.split()[1]) << 10
import numpy as np
library, path, shapes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
def fill(name, declared, kind):
    shape = shapes.get(name, [d if isinstance(d, int) else 1 for d in declared])
    return np.ones(shape, kind)
if library == "onnxruntime":
    import onnxruntime
    before = memory("VmRSS:")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
    session.run(None, {i.name: fill(i.name, i.shape, kinds[i.type]) for i in session.get_inputs()})
    nodes = None
else:
    import openvino
    before = memory("VmRSS:")
    core = openvino.Core()
    model = core.read_model(path)
    known = {n: s for n, s in shapes.items() if any(n in i.get_names() for i in model.inputs)}
    if known:
        model.reshape(known)
    compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    inputs = {i.get_any_name(): np.ones([int(d) for d in i.shape], i.get_element_type().to_dtype()) for i in compiled.inputs}
    compiled.create_infer_request().infer(inputs)
    nodes = None
peak = memory("VmHWM:")
if library != "onnxruntime":
    # All of them are called ExecutionNode; what they are is said beside it.
    kinds = [op.get_rt_info()["layerType"].value
             for op in compiled.get_runtime_model().get_ordered_ops()]
    nodes = sum(not any(word in kind for word in ("Const", "Input", "Output")) for kind in kinds)
print(json.dumps({"before": before, "peak": peak, "nodes": nodes}))
'''


def text_of(*command):
    return subprocess.run([str(word) for word in command], check=True,
                          capture_output=True, text=True).stdout


def measure_ours(tools, resident, model, path, work, flags):
    module = work / "model.ash"
    text_of(tools / "ashlar-compile", path, "-o", module, "--quiet", *flags,
            *model.arguments())
    before, peak = map(int, text_of(resident, module).split())
    program = json.loads(text_of(tools / "ashlar-inspect", module,
                                 "--json"))["programs"][0]
    module.unlink()
    kernels = program["kernels"]
    return {"resident_bytes": peak - before, "contract": program["contract"],
            "launches": sum(k["launches"] for k in kernels),
            "moved_bytes": sum(k["bytes"] * k["launches"] for k in kernels)}


def measure_peer(python, library, model, path):
    shapes = {name: list(shape) for name, shape in model.shapes.items()}
    try:
        found = json.loads(text_of(python, "-c", PEER, library, path,
                                   json.dumps(shapes)))
    except subprocess.CalledProcessError as error:
        print(f"{model.name}: {library}: {error.stderr[-300:]}",
              file=sys.stderr)
        return None
    return {"resident_bytes": found["peak"] - found["before"],
            "nodes": found["nodes"]}


def measure_growth(tools, work):
    rows = []
    for count in [100, 300, 1000, 3000, 10000, 30000, 100000]:
        problem = work / "buffers.csv"
        problem.write_text(text_of(tools / "ashlar-plan",
                                   f"--generate=network:{count}:1"))
        said = subprocess.run([tools / "ashlar-plan", problem], check=True,
                              capture_output=True, text=True).stderr
        peak, bound, optimal, seconds = re.search(
            r"peak=(\d+) lower_bound=(\d+) optimal=(\w+) seconds=([\d.]+)",
            said).groups()
        rows.append({"buffers": count, "peak": int(peak),
                     "lower_bound": int(bound), "optimal": optimal == "yes",
                     "seconds": float(seconds)})
    return rows


def draw_growth(rows):
    """Time over buffers, both axes in powers of ten, as SVG."""
    width, height, edge = 560, 340, 56
    low = math.floor(min(math.log10(max(r["seconds"], 1e-6)) for r in rows))
    high = math.ceil(max(math.log10(max(r["seconds"], 1e-6)) for r in rows))

    def x(count):
        return edge + (math.log10(count) - 2) / 3 * (width - 2 * edge)

    def y(seconds):
        share = (math.log10(max(seconds, 1e-6)) - low) / max(high - low, 1)
        return height - edge - share * (height - 2 * edge)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for power in range(2, 6):
        parts.append(f'<text x="{x(10 ** power):.0f}" y="{height - edge + 18}" '
                     f'text-anchor="middle">{10 ** power:,}</text>')
    for power in range(low, high + 1):
        parts.append(f'<line x1="{edge}" x2="{width - edge}" '
                     f'y1="{y(10.0 ** power):.1f}" y2="{y(10.0 ** power):.1f}" '
                     'stroke="#ddd"/>'
                     f'<text x="{edge - 6}" y="{y(10.0 ** power) + 4:.1f}" '
                     f'text-anchor="end">{10.0 ** power:g} s</text>')
    # n log n through the last point: what must not be left upwards.
    last = rows[-1]
    unit = last["seconds"] / (last["buffers"] * math.log2(last["buffers"]))
    for color, points in [
            ("#bbb", [(r["buffers"], unit * r["buffers"] *
                       math.log2(r["buffers"])) for r in rows]),
            ("#1f6fb4", [(r["buffers"], r["seconds"]) for r in rows])]:
        line = " ".join(f"{x(n):.1f},{y(s):.1f}" for n, s in points)
        parts.append(f'<polyline points="{line}" fill="none" '
                     f'stroke="{color}" stroke-width="2"/>')
    parts.append(f'<text x="{width / 2}" y="24" text-anchor="middle">seconds '
                 'to plan that many buffers; grey: n log n</text></svg>')
    return "\n".join(parts) + "\n"


def mib(count):
    return f"{count / (1 << 20):.1f}"


def write_report(rows, growth, folder):
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception "
             "-->", "# Memory of a process that runs a model", "",
             "MiB above the process with its library and no model, one "
             "thread; the ratio is ours by the smaller peer's.", "",
             "| model | ours | ONNX Runtime | OpenVINO | ratio | arena | lower "
             "bound | contract's peak | moved | kernels | OpenVINO's nodes |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    ratios = []
    for row in rows:
        ours, peers = row["ours"], row["peers"]
        known = [p["resident_bytes"] for p in peers.values() if p]
        ratio = ours["resident_bytes"] / min(known) if known else None
        if ratio:
            ratios.append(ratio)
        contract = ours["contract"]
        cells = [row["model"], mib(ours["resident_bytes"])]
        cells += [mib(p["resident_bytes"]) if p else "-"
                  for p in peers.values()]
        cells += [f"{ratio:.2f}" if ratio else "-",
                  mib(contract["arena_bytes"]),
                  mib(contract["arena_lower_bound_bytes"]),
                  mib(contract["peak_bytes"]), mib(ours["moved_bytes"]),
                  str(ours["launches"]),
                  str(peers["openvino"]["nodes"]) if peers["openvino"]
                  else "-"]
        lines.append("| " + " | ".join(cells) + " |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines += ["", f"Geometric mean of the ratios: {mean:.2f} (must 0.50, "
                  "goal 0.35)."]
    if growth:
        lines += ["", "## The planner's growth", "",
                  "![seconds over buffers](planner-growth.svg)", "",
                  "| buffers | seconds | peak over lower bound |", "|---|---|---|"]
        lines += [f"| {r['buffers']} | {r['seconds']:.3f} | "
                  f"{r['peak'] / max(r['lower_bound'], 1):.4f} |"
                  for r in growth]
        (folder / "planner-growth.svg").write_text(draw_growth(growth))
    (folder / "memory.md").write_text("\n".join(lines) + "\n")
    (folder / "memory.json").write_text(
        json.dumps({"models": rows, "growth": growth}, indent=1) + "\n")
    print("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--peers", type=pathlib.Path,
                        default=ROOT / ".deps" / "peers" / "venv",
                        help="made by benchmarks/peers/setup.sh")
    parser.add_argument("--output", type=pathlib.Path,
                        default=ROOT / "benchmarks" / "results")
    parser.add_argument("--only", help="names, with commas between them")
    parser.add_argument("--growth", action="store_true",
                        help="the planner, too")
    parser.add_argument("--flags", default="",
                        help="for ashlar-compile, such as --exact-convolution")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else NAMES
    models = {model.name: model for model in model_list.all_models()}
    arguments.output.mkdir(parents=True, exist_ok=True)
    tools = arguments.build / "bin"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        resident = work / "resident"
        library = arguments.build / "lib"
        text_of("cc", "-O2", "-I", ROOT / "runtime" / "include", "-o", resident,
                ROOT / "benchmarks" / "native" / "resident.c", "-L", library,
                "-lashlar_runtime", f"-Wl,-rpath,{library.resolve()}")
        rows = []
        for name in names:
            model = models[name]
            with model.prepare(work) as path:
                python = arguments.peers / "bin" / "python3"
                rows.append({
                    "model": name,
                    "ours": measure_ours(tools, resident, model, path, work,
                                         arguments.flags.split()),
                    "peers": {library: measure_peer(python, library, model,
                                                    path)
                              for library in ["onnxruntime", "openvino"]}})
        growth = measure_growth(tools, work) if arguments.growth else []
    write_report(rows, growth, arguments.output)


if __name__ == "__main__":
    main()
