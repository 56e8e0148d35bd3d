#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What run.py says of its results: lines, a summary, gpu.md and gpu.json."""

import collections
import json
import math
import pathlib
import sys

import kinds

LICENCE = "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->\n"


def failures(results):
    """What is wrong or did not run: [(name, why)]."""
    found = []
    for name, result in results["cases"].items():
        if "refused" in result:
            continue
        if "numbers" not in result:
            found.append((name, "numbers: no time was left for them"))
        for step in ("numbers", "time"):
            if step in result and not result[step]["ok"]:
                found.append((name, f"{step}: {result[step]['why']}"))
    return found


def number(value, form):
    return "" if value is None else format(value, form)


def figures(result, results):
    """What was found of a case, of all ways of measuring it: the times of the
    counters where there are any."""
    timed = result["time"]
    counted = result.get("counted", {})
    has_counts = counted.get("ok", False)
    source = counted if has_counts else timed
    peers = dict(source["peers_us"])
    compiled = result.get("compiled", {})
    if compiled.get("ok"):
        peers.update(compiled["peers_us"])
    peer = min(peers, key=peers.get, default=None)
    ours = source["us"]
    flops, bytes_ = kinds.work(result)
    copy = results["ceilings"].get("copy_gbytes")
    return {"us": ours, "peer": peer, "peer_us": peers.get(peer),
            "ratio": peers[peer] / ours if peer else None,
            "tflops": flops / ours / 1e6 if flops else None,
            "gbytes": bytes_ / ours / 1e3 if bytes_ else None,
            "of_copy": bytes_ / ours / 1e3 / copy if copy and bytes_ else
            None,
            "from": "counters" if has_counts else timed["from"]}


def cells(name, result, results):
    timed = result.get("time", {})
    if not timed.get("ok"):
        return [name, timed.get("why", "not measured")] + [""] * 9
    found = figures(result, results)
    return [name, number(found["us"], ".1f"), found["from"],
            found["peer"] or "", number(found["peer_us"], ".1f"),
            number(found["ratio"], ".3g"), number(found["tflops"], ".1f"),
            number(found["gbytes"], ".0f"), number(found["of_copy"], ".2f"),
            str(timed["kernels"]), number(timed["wall_us"], ".1f"),
            number(result["numbers"].get("norm",
                                         result["numbers"].get("worst")),
                   ".1e")]


HEADER = ["case", "ours, us", "by", "peer", "peer, us", "ratio", "TFLOP/s",
          "GB/s", "of a copy", "kernels", "host, us", "error"]


WIDTHS = [-40, 10, -8, -13, 10, 6, 7, 6, 9, 7, 10, 8]


def columns(texts):
    return " ".join(f"{text:{'<' if width < 0 else '>'}{abs(width)}}"
                    for text, width in zip(texts, WIDTHS)).rstrip()


def heading():
    return columns(HEADER)


def line(case, result, results):
    found = cells(case["name"], result, results)
    if not result.get("time", {}).get("ok"):
        return f"FAIL {found[0]}: {found[1]}"
    return columns(found)


def log_end(file):
    """What the workers said last, should it matter."""
    lines = file.read_text(errors="replace").splitlines()
    return "".join(f"log: {l}\n" for l in lines[-12:])


def geometric_mean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values \
        else None


def by_part(results):
    counts = collections.defaultdict(collections.Counter)
    for result in results["cases"].values():
        verdict = "refused" if "refused" in result else (
            "not run" if "numbers" not in result else
            "right" if result["numbers"]["ok"] else "wrong or failed")
        counts[result["part"]][verdict] += 1
    return counts


def summary(results):
    lines = []
    for part, counts in by_part(results).items():
        lines.append(f"{part}: " + ", ".join(
            f"{n} {what}" for what, n in counts.items()))
    groups = collections.defaultdict(list)
    for result in results["cases"].values():
        if result.get("time", {}).get("ok"):
            groups[result.get("group", "models")].append(
                figures(result, results)["ratio"])
    lines += [f"{group}: ratio {geometric_mean(ratios):.3f} "
              f"({len(ratios)} cases)" for group, ratios in groups.items()
              if any(ratios)]
    lines += [f"ceiling {k}: {v if isinstance(v, str) else round(v, 1)}"
              for k, v in results["ceilings"].items()
              if k.endswith(("tflops", "gbytes")) or k in ("gpu", "torch")]
    wrong = failures(results)
    lines += [f"FAIL {name}: {why}" for name, why in wrong[:60]]
    if len(wrong) > 60:
        lines.append(f"and {len(wrong) - 60} more")
    bad = {name for name, _ in wrong}
    passed = sum("refused" not in r and name not in bad
                 for name, r in results["cases"].items())
    return "\n".join([*lines, f"{passed} passed, {len(bad)} failed"])


ABOUT = ["# Kernels on a GPU\n",
         "- {gpu}, PyTorch {torch}, preset `{preset}`; written by",
         "  `benchmarks/gpu/run.py`, see [README](../gpu/README.md)",
         "- ours: the GPU's time of a run, medians of 20; by: whose clock;",
         "  host: a whole run as its caller sees it; peer: PyTorch's fastest",
         "- ratio: the peer's time by ours, above 1 ours are faster; TFLOP/s,",
         "  GB/s: the least work there is, by our time",
         "- ceilings, by PyTorch: copies {copy:.0f} GB/s, products of bf16",
         "  {bf16:.0f} TFLOP/s, of f32 {f32:.1f} TFLOP/s",
         "- error: ||found - wanted|| / ||wanted|| beside f64; of models the",
         "  largest error by the largest value, in bf16 the former\n\n"]


def write(results, folder):
    # What was timed, a case a line.
    timed = {name: result for name, result in results["cases"].items()
             if "time" in result}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(result)}"
                       for name, result in timed.items())
    rest = json.dumps({**results, "cases": 0}, indent=1)
    (folder / "gpu.json").write_text(
        rest.replace('"cases": 0', '"cases": {\n' + lines + "\n }") + "\n")
    found = results["ceilings"]
    text = LICENCE + "\n".join(ABOUT).format(
        gpu=found.get("gpu", results["device"]), preset=results["preset"],
        torch=found.get("torch", "none"), copy=found.get("copy_gbytes", 0),
        bf16=found.get("bf16_tflops", 0), f32=found.get("f32_tflops", 0))
    text += "| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|\n"
    for name, result in results["cases"].items():
        if "time" in result:
            text += "| " + " | ".join(cells(name, result, results)) + " |\n"
    text += "\n## Numbers\n\n"
    for part, counts in by_part(results).items():
        text += f"- {part}: " + ", ".join(
            f"{n} {what}" for what, n in counts.items()) + "\n"
    for name, why in failures(results):
        text += f"- FAIL {name}: {why}\n"
    (folder / "gpu.md").write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: report.py RUN.json FOLDER: writes gpu.md and "
                         "gpu.json there from what run.py left")
    write(json.loads(pathlib.Path(sys.argv[1]).read_text()),
          pathlib.Path(sys.argv[2]))
