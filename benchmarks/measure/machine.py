# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""On what is measured, and with which versions."""

import importlib.metadata
import json
import os
import pathlib
import subprocess

from measure.context import Refused, library, only

# What a reader wants to know of a processor, of all that it can do.
FEATURES = ["avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16",
            "amx_tile", "asimd", "sve"]
PEERS = ("onnxruntime", "openvino", "iree-base-compiler", "numpy")


def processor():
    """The processor's name and those of its instruction sets that matter."""
    fields = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    flags = set((fields.get("flags") or fields.get("Features", "")).split())
    return (fields.get("model name", "unknown processor"),
            [f for f in FEATURES if f in flags])


def kind():
    """Of which machines tables stand side by side: by the widest products."""
    _, features = processor()
    for feature, name in (("amx_tile", "amx"), ("avx512f", "avx512"),
                          ("avx2", "avx2")):
        if feature in features:
            return name
    return "other"


def measure(context):
    """Name, and what it does at best: benchmarks/native/machine.c."""
    name, features = processor()
    with only(1):
        measured = json.loads(context.run(
            context.native / "machine", min(context.seconds, 0.3) / 2))
    return {"processor": name, "features": features,
            "cpus": os.cpu_count(), **measured}


def versions(tools):
    told = subprocess.run([tools / "ashlar-compile", "--version"],
                          capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    found = {"ashlar": told.stdout.strip() or "unknown version"}
    for name in PEERS:
        found[name] = importlib.metadata.version(name)
    # Debian's have their version in the names of their files.
    for name, pattern in (("openblas", "libopenblasp-r*.so"),
                          ("onednn", "libdnnl.so.2.*")):
        try:
            file = library(pattern).name
        except Refused:
            continue
        found[name] = file.split("-r")[-1].removesuffix(".so").removeprefix(
            "libdnnl.so.")
    return found
