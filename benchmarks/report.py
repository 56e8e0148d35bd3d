#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns the figures of compare_models.py --bench --json into a report."""

import argparse
import json
import math
import os
import pathlib
import subprocess

import onnxruntime

# What a reader wants to know of a processor, of all that it can do.
FEATURES = ["avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16",
            "amx_tile", "asimd", "sve"]


def processor():
    """The processor's name and those of its instruction sets that matter."""
    fields = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    flags = set((fields.get("flags") or fields.get("Features", "")).split())
    return (fields.get("model name", "unknown processor"),
            [f for f in FEATURES if f in flags])


def version(program):
    done = subprocess.run([program, "--version"], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL)
    return (done.stdout.strip() or "unknown version").splitlines()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    rows = [r for r in json.loads(arguments.figures.read_text())
            if "ours_ms" in r]

    name, features = processor()
    print("# Ashlar beside ONNX Runtime, one thread each\n")
    print(f"- {name}, {os.cpu_count()} CPUs, {' '.join(features)}")
    print(f"- {version(arguments.bin / 'ashlar-compile')}; "
          f"ONNX Runtime {onnxruntime.__version__}")
    print("- float32; three rounds in turns, median of the rounds' medians; "
          "ratio below 1: we are faster\n")
    print("| model | ours | theirs | ratio | worst difference | compile | "
          "compiler's peak | module |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        print(f"| {row['model']} | {row['ours_ms']:.2f} ms "
              f"| {row['theirs_ms']:.2f} ms "
              f"| {row['ours_ms'] / row['theirs_ms']:.2f} "
              f"| {max(row['cases'].values()):.1e} "
              f"| {row['compile_s']:.1f} s "
              f"| {row['compiler_peak_bytes'] / 2**20:.0f} MiB "
              f"| {row['module_bytes'] / 2**20:.1f} MiB |")
    if rows:
        mean = math.exp(sum(math.log(r["ours_ms"] / r["theirs_ms"])
                            for r in rows) / len(rows))
        print(f"\nGeometric mean of the ratios: {mean:.2f}")


if __name__ == "__main__":
    main()
