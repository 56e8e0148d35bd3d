# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures as pictures."""

import matmul
import matplotlib

from measure import gemm

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# Equal figures give equal files.
matplotlib.rcParams.update({"svg.hashsalt": "ashlar", "font.size": 9,
                            "axes.spines.top": False,
                            "axes.spines.right": False})
LOOKS = {
    "ours": ("Ashlar", "#b5442e"), "ours_constant":
    ("Ashlar, B constant", "#e08a3c"), "openblas": ("OpenBLAS", "#5b7f95"),
    "openblas_numpy": ("NumPy's OpenBLAS", "#8fb0c2"),
    "onednn": ("oneDNN", "#3e5c4b"), "onnxruntime": ("ONNX Runtime",
                                                     "#5b7f95"),
    "openvino": ("OpenVINO", "#3e5c4b"), "iree": ("IREE", "#9a8fb0"),
}


def draw_gemm(results, path):
    rows = [r for r in results["gemm"]["rows"] if r["threads"] == 1]
    square = [r for r in rows if (r["m"], r["n"], r["k"]) in matmul.SQUARE]
    odd = [r for r in rows if r not in square]
    peak = results["machine"]["fma_f32_gflops"]
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.2), width_ratios=(1, 1.6), layout="constrained")
    for name in (*gemm.PEERS, "ours", "ours_constant"):
        label, color = LOOKS[name]
        left.plot([r["n"] for r in square],
                  [gemm.gflops(r, name) for r in square], "o-", ms=3.5,
                  label=label, color=color)
    left.axhline(peak, color="black", lw=0.8, ls="--",
                 label=f"FMA peak, measured: {peak:.0f}")
    left.set_xscale("log", base=2)
    left.set_xticks([r["n"] for r in square], [r["n"] for r in square])
    left.set(xlabel="M = N = K", ylabel="GFLOP/s, one thread", ylim=(0, None),
             title="Square products")
    left.legend(frameon=False, fontsize=8)

    places = range(len(odd))
    for shift, name in ((-0.2, "ours"), (0.2, "ours_constant")):
        label, color = LOOKS[name]
        right.bar([p + shift for p in places],
                  [gemm.best_peer_us(r) / r[name]["us"]
                   if "us" in r.get(name, {}) and gemm.best_peer_us(r) else 0
                   for r in odd], 0.4, label=label, color=color)
    right.axhline(1, color="black", lw=0.8)
    right.set_xticks(places, [f"{r['m']}x{r['n']}x{r['k']}" for r in odd],
                     rotation=60, ha="right", fontsize=7)
    right.set(ylabel="best peer's time by ours", title="Odd products")
    right.legend(frameon=False, fontsize=8)
    save(figure, path)


def draw_models(results, path):
    rows = [r for r in results["models"]["rows"] if r["threads"] == 1
            and "ms" in r["ours"]]
    names = ("ours", "onnxruntime", "openvino", "iree")
    figure, axes = plt.subplots(figsize=(8.5, 3.8), layout="constrained")
    # One who takes ten times as long would leave no room for the others.
    others = [r[n]["ms"] / r["ours"]["ms"] for r in rows for n in names[:3]
              if "ms" in r.get(n, {})]
    top = 1.2 * max(others)
    for i, name in enumerate(names):
        label, color = LOOKS[name]
        for k, row in enumerate(rows):
            if "ms" not in row.get(name, {}):
                continue
            place, ms = k + 0.2 * (i - 1.5), row[name]["ms"]
            height = ms / row["ours"]["ms"]
            axes.bar(place, min(height, top), 0.2, color=color, label=label)
            axes.text(place, min(height, top),
                      f"{ms:.3g}" + (" \u2191" if height > top else ""),
                      fontsize=6.5, ha="center", va="bottom")
            label = None  # once in the legend
    axes.axhline(1, color="black", lw=0.8)
    axes.set_ylim(0, 1.25 * top)
    axes.set_xticks(range(len(rows)), [r["model"] for r in rows])
    axes.set(ylabel="time by ours (labels: ms)",
             title="Models in f32, one thread; lower is faster")
    axes.legend(frameon=False, fontsize=8, ncols=4)
    save(figure, path)


def save(figure, path):
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw(results, folder):
    """{part: file name} of the pictures that there are figures for."""
    drawn = {}
    # A picture of a few shapes would show nothing.
    if len(results.get("gemm", {}).get("rows", [])) > 10:
        draw_gemm(results, folder / "gemm.svg")
        drawn["gemm"] = "gemm.svg"
    if any("ms" in r["ours"] for r in
           results.get("models", {}).get("rows", [])):
        draw_models(results, folder / "models.svg")
        drawn["models"] = "models.svg"
    return drawn
