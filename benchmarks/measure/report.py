# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures as Markdown."""

import json

from measure import floors, gemm, goals, models


def cell(entry, key, form="{:.2f}"):
    if not entry:
        return ""
    return form.format(entry[key]) if key in entry else "refused"


def table(head, rows):
    marks = ["---"] + ["--:"] * (len(head) - 1)
    lines = [head, marks, *rows]
    return "\n".join("| " + " | ".join(map(str, l)) + " |" for l in lines)


def number(value, form="{:.2f}"):
    return "" if value is None else form.format(value)


def goals_table(results):
    return table(["work", "reached", "must", "goal", "state"], [
        [g.work, number(g.reached, "{:.3g}") + (" " + g.unit if g.reached
                                                else ""),
         f"{g.kind} {g.must:g}", f"{g.goal:g}", g.state()]
        for g in goals.all_goals(results) if g.reached is not None])


def dates(results):
    """When the parts were measured, the parts of a day together."""
    days = {}
    for part, day in results["dates"].items():
        days.setdefault(day, []).append(part)
    return "; ".join(f"{day}: {', '.join(parts)}"
                     for day, parts in sorted(days.items()))


def write_machines(folder):
    """Goals of all kinds of machines side by side."""
    found = {path.parent.name: json.loads(path.read_text())
             for path in sorted(folder.glob("*/results.json"))}
    reached = {kind: {g.work: g for g in goals.all_goals(results)
                      if g.reached is not None}
               for kind, results in found.items()}
    works = {work: g for all_of in reached.values()
             for work, g in all_of.items()}
    text = ["# Kinds of machines side by side\n"]
    for kind, results in found.items():
        text.append(f"- [{kind}]({kind}/results.md): "
                    f"{results['machine']['processor']}, "
                    f"{results['machine']['cpus']} CPUs")
    text.append("\n" + table(["work", *found, "must", "goal"], [
        [work, *(f"{reached[kind][work].reached:.3g} {g.unit}"
                 if work in reached[kind] else "not measured"
                 for kind in found), f"{g.kind} {g.must:g}", f"{g.goal:g}"]
        for work, g in works.items()]))
    (folder / "machines.md").write_text("\n".join(text) + "\n")


def machine_lines(results):
    m, v = results["machine"], results["versions"]
    return "\n".join([
        f"- {m['processor']}, {m['cpus']} CPUs, {' '.join(m['features'])}",
        f"- measured at best: f32 FMA {m['fma_f32_gflops']:.0f} GFLOP/s on "
        f"one core at {m['clock_hz'] / 1e9:.2f} GHz; reads "
        f"{m['memory'][0]['read_bytes_per_second'] / 1e9:.0f} GB/s from L1, "
        f"{m['memory'][-1]['read_bytes_per_second'] / 1e9:.0f} from memory",
        "- " + "; ".join(f"{name} {what}" for name, what in v.items()),
        f"- {dates(results)}; {results['seconds']:g} s of each contender on "
        "each item, in turns, medians",
    ])


def gemm_table(part):
    names = [*gemm.PEERS, "ours", "ours_constant"]
    rows = []
    for row in part["rows"]:
        best = gemm.best_peer_us(row)
        quotients = [best / row[n]["us"] if best and "us" in row.get(n, {})
                     else None for n in ("ours", "ours_constant")]
        rows.append([f"{row['m']} x {row['n']} x {row['k']}", row["threads"],
                     *(number(gemm.gflops(row, n), "{:.1f}") for n in names),
                     *(number(q) for q in quotients)])
    return table(["M x N x K", "threads", "OpenBLAS", "NumPy's OpenBLAS",
                  "oneDNN", "ours", "ours, B constant", "ratio",
                  "ratio, B constant"], rows)


def models_table(part):
    rows = part["rows"]
    return table(
        ["model", "threads", "ours, ms", "ONNX Runtime", "OpenVINO", "IREE",
         "ratio", "ours 1 to 2 threads", "ONNX Runtime", "OpenVINO"],
        [[r["model"], r["threads"],
          *(cell(r.get(n), "ms") for n in ("ours", *models.PEERS)),
          number(models.ratio(r)),
          *(number(models.speedup(rows, r["model"], who)) if r["threads"] > 1
            else "" for who in ("ours", "onnxruntime", "openvino"))]
         for r in rows])


def one_thread_table(*peers):
    """Of a part on one thread beside some peers."""
    names = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
    return lambda part: table(
        ["model", "ours, ms", *(names[p] for p in peers), "ratio"],
        [[r["model"], *(cell(r.get(n), "ms") for n in ("ours", *peers)),
          number(models.ratio(r))] for r in part["rows"]])


def compile_table(part):
    return table(["model", "ours, s", "IREE", "OpenVINO", "kernels"], [
        [r["model"], *(cell(r[n], "s") for n in ("ours", "iree", "openvino")),
         r.get("kernels", "")] for r in part["rows"]])


def growth_table(part):
    return table(["model", "size", "s", "kernels", "module, MiB"], [
        [r["kind"], r["size"], cell(r, "s"), r.get("kernels", ""),
         number(r.get("module_bytes", 0) / 2**20, "{:.1f}")]
        for r in part["rows"]])


def refusals(results):
    """Why somebody has no figure, each once."""
    found = []
    for part in ("gemm", "bf16", "models", "kinds", "models_bf16",
                 "models_int8", "compile"):
        for row in results.get(part, {}).get("rows", []):
            for who, entry in row.items():
                if isinstance(entry, dict) and "refused" in entry:
                    name = row.get("model") or row.get("name") or (
                        f"{row['m']}x{row['n']}x{row['k']}")
                    text = f"- {name}, {who}: {entry['refused']}"
                    if text not in found:
                        found.append(text)
    return found


def markdown(results, pictures):
    text = ["# Ashlar beside its peers\n", machine_lines(results),
            "\nA ratio is the best peer's time by ours: above 1, ours are "
            "faster.\n", goals_table(results)]

    def section(part, title, make):
        if results.get(part, {}).get("rows"):
            text.append(f"\n## {title}\n")
            if part in pictures:
                text.append(f"![{title}]({pictures[part]})\n")
            text.append(make(results[part]))

    section("models", "Models, f32", models_table)
    if results.get("models") and floors.rows(results):
        text.append("\n## Floors of the models, one thread\n\nOperations at "
                    "the measured peak, and weights, inputs and outputs once "
                    "at the measured\nbandwidth of the nearest memory that "
                    "holds them; reached is the longer of the two by our "
                    "time.\n\n" + table(
                        ["model", "ours, ms", "Gflop", "at peak, ms", "MiB",
                         "moved, ms", "reached"], floors.rows(results)))
    section("kinds", "Kernels of their own kind",
            one_thread_table("onnxruntime", "openvino"))
    section("models_bf16", "Models, bf16", one_thread_table("openvino"))
    section("models_int8", "Models, 8 bits", one_thread_table("onnxruntime"))
    section("gemm", "Matrix products, f32, GFLOP/s, weights cold", gemm_table)
    section("bf16", "Matrix products, bf16, constant weights", lambda part:
            table(["a layer", "ours, ms", "OpenVINO"], [
                [r["name"], cell(r["ours"], "ms", "{:.3f}"),
                 cell(r["openvino"], "ms", "{:.3f}")] for r in part["rows"]]))
    call = results.get("call", {})
    if "ours" in call:
        text.append("\n## A call of one operator, us\n\n" + table(
            ["ours, C", "ours, arguments checked once",
             "ONNX Runtime, Python"],
            [[f"{call['ours']['run_us']:.3f}",
              f"{call['ours']['bound_us']:.3f}",
              f"{call['onnxruntime']['run_us']:.2f}"]]))
    section("load", "Loading, page cache warm, us", lambda part: table(
        ["model", "ours", "ONNX Runtime"],
        [[r["model"], f"{r['ours']['load_us']:.0f}",
          f"{r['onnxruntime']['load_us']:.0f}"] for r in part["rows"]]))
    section("rebind", "Binding tensors to a session, us", lambda part: table(
        ["model", "of other sizes than before"],
        [[r["model"], f"{r['bind_us']:.1f}"] for r in part["rows"]]))
    section("compile", "Compiling", compile_table)
    section("growth", "Compiling models that grow", growth_table)
    why = refusals(results)
    if why:
        text.append("\n## Who refused what\n\n" + "\n".join(why))
    return "\n".join(text) + "\n"


def summary(results):
    """One line for each goal that was measured."""
    return "\n".join(
        f"{g.state():7} {g.work}: {g.reached:.3g} {g.unit}, must be "
        f"{g.kind} {g.must:g}, goal {g.goal:g}"
        for g in goals.all_goals(results) if g.reached is not None)
