# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What we hold ourselves to, and what was reached.

A ratio is the best peer's time by ours: above 1, ours are faster. Limits are
upper bounds of our own figures. `reached` is None where nothing was measured.
"""

import dataclasses

from measure import compile_time, kinds, low_types, models
from measure.context import geomean


@dataclasses.dataclass
class Goal:
    work: str
    kind: str  # "at least" or "at most"
    must: float
    goal: float
    unit: str
    reached: float | None

    def state(self):
        if self.reached is None:
            return "not measured"
        better = (self.reached >= self.must if self.kind == "at least"
                  else self.reached <= self.must)
        best = (self.reached >= self.goal if self.kind == "at least"
                else self.reached <= self.goal)
        return "goal" if best else "must" if better else "missed"


# Must and goal of each model's ratio.
MODELS = {
    "resnet50": (1.08, 1.30), "mobilenet_v2": (1.05, 1.30),
    "bert_base": (1.05, 1.20), "minilm_l6": (1.05, 1.25),
    "ppocr_det": (1.0, 1.30), "ppocr_rec": (1.0, 1.30),
    "ppocr_cls": (1.0, 1.30),
}
# Shorter runs have too little for two threads.
LONG_MS = 5


def of_models(results):
    rows = results.get("models", {}).get("rows", [])
    found = [Goal(f"{name}, beside the best peer", "at least", *bounds, "x",
                  next((models.ratio(r) for r in rows
                        if r["model"] == name and r["threads"] == 1), None))
             for name, bounds in MODELS.items()]
    gains = [models.speedup(rows, r["model"]) for r in rows
             if r["threads"] == 1 and r.get("ours", {}).get("ms", 0) > LONG_MS]
    return found + [
        Goal("from one thread to two, models above 5 ms", "at least", 1.7,
             1.9, "x", geomean(g for g in gains if g))]


def of_kinds(results):
    return [Goal(f"{r['model']}, beside the best peer", "at least",
                 *kinds.BOUNDS, "x", models.ratio(r))
            for r in results.get("kinds", {}).get("rows", [])] + [
        Goal(f"models in {title}, beside {peer}", "at least", 1.05, 1.5, "x",
             low_types.ratio(results.get(part, {})))
        for part, title, peer in (
            ("models_bf16", "bf16", "OpenVINO's bf16"),
            ("models_int8", "8 bits", "ONNX Runtime"))]


def of_compiling(results):
    rows = results.get("compile", {}).get("rows", [])
    found = [Goal(f"compiling {r['model']}, beside IREE", "at least", 3, 10,
                  "x", r["iree"]["s"] / r["ours"]["s"])
             for r in rows if "s" in r["iree"] and "s" in r["ours"]]
    grown = results.get("growth", {}).get("rows", [])
    more = growth_of(grown, "transformer"), growth_of(grown, "chain")
    return found + [
        Goal("compiling 48 layers by compiling 2", "at most", 24, 3, "x",
             more[0]),
        Goal("compiling 10,000 nodes by compiling 1,250", "at most", 8.8, 8,
             "x", more[1])]


def growth_of(rows, kind):
    return compile_time.growth_ratio(rows, kind)


def all_goals(results):
    gemm, bf16 = results.get("gemm", {}), results.get("bf16", {})
    call = results.get("call", {}).get("ours", {})
    load = next(iter(results.get("load", {}).get("rows", [])), {})
    rebind = next(iter(results.get("rebind", {}).get("rows", [])), {})
    return [
        Goal("sgemm, weights cold, both operands given", "at least", 0.97,
             0.97, "x", gemm.get("ratio")),
        Goal("sgemm, weights cold, a constant operand", "at least", 0.97,
             1.15, "x", gemm.get("ratio_constant")),
        Goal("bf16 products, a constant operand", "at least", 1.3, 1.6, "x",
             bf16.get("ratio")),
        *of_models(results),
        *of_kinds(results),
        Goal("a call of one operator, arguments checked once", "at most", 1,
             0.3, "us", call.get("bound_us")),
        Goal("a call of one operator", "at most", 1, 0.3, "us",
             call.get("run_us")),
        Goal("loading BERT-base", "at most", 5, 1, "ms",
             load["ours"]["load_us"] / 1e3 if load else None),
        Goal("binding other sizes to PP-OCR's recogniser", "at most", 50, 20,
             "us", rebind.get("bind_us")),
        *of_compiling(results),
    ]
