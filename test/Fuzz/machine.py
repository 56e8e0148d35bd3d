# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machines that nobody has: a preset's instructions with other memories and
workers, for which contractions are cut otherwise."""

import json
import pathlib

import numpy as np

MACHINES = (pathlib.Path(__file__).resolve().parents[2]
            / "lib" / "Targets" / "CPU" / "Machines")


def machine_model(preset, seed):
    """The text of a machine file. Always the same."""
    random = np.random.default_rng([seed, 2])
    machine = json.loads((MACHINES / f"{preset}.json").read_text())
    machine["name"] = f"random-{seed}"
    machine["describes"] = []
    workers = int(random.choice([1, 2, 3, 7, 16]))
    machine["workers"]["count"] = workers
    # Of far too small to far too large, each level no smaller than the last.
    factor = 2.0 ** float(random.integers(-4, 3))
    for memory in machine["memories"]:
        memory["shared_by"] = 1 if memory["name"] in ("l1", "l2") else workers
        if "bytes" in memory:
            unit = memory["line_bytes"] * memory["ways"]
            memory["bytes"] = max(1, int(memory["bytes"] * factor) // unit
                                  ) * unit
    for engine in machine.get("copy_engines", []):
        if "multicast" in engine:
            engine["multicast"] = min(engine["multicast"], workers)
    return json.dumps(machine)
