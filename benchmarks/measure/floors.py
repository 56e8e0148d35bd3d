# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What no program can be faster than: operations at the measured peak of one
core, and weights, inputs and outputs moved once at the measured bandwidth."""

import json
import math


def work_of(context, module):
    """{"flops", "bytes"} of one run of a module's first program.

    Bytes are what must be read and written at least once. Convolutions by
    Winograd's form count the products that they do, fewer than the model says.
    """
    facts = json.loads(context.run(context.bin / "ashlar-inspect", module,
                                   "--json"))
    program = facts["programs"][0]
    sizes = {"f32": 4, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "bool": 1,
             "u8": 1, "i8": 1, "f64": 8}
    entry = facts["entries"][0]
    return {
        "flops": sum(k["flops"] * k["launches"] for k in program["kernels"]),
        "bytes": program["contract"]["weights_bytes"] + sum(
            sizes[t["type"]] * math.prod(t["shape"])
            for t in entry["inputs"] + entry["outputs"]),
    }


def bandwidth(machine, size):
    """Bytes per second from the nearest memory that holds so much."""
    return next((m["read_bytes_per_second"] for m in machine["memory"]
                 if m["bytes"] >= size),
                machine["memory"][-1]["read_bytes_per_second"])


def floor_ms(machine, work):
    """(by operations, by bytes), on one core."""
    return (work["flops"] / machine["fma_f32_gflops"] / 1e6,
            work["bytes"] / bandwidth(machine, work["bytes"]) * 1e3)


def rows(results):
    """[model, ours, operations, bytes, the floor's share of our time] of what
    ran on one thread."""
    found = []
    for row in results["models"]["rows"]:
        ours = row.get("ours", {}).get("ms")
        if row["threads"] != 1 or "work" not in row or not ours:
            continue
        compute, moved = floor_ms(results["machine"], row["work"])
        found.append([row["model"], f"{ours:.2f}",
                      f"{row['work']['flops'] / 1e9:.3f}", f"{compute:.2f}",
                      f"{row['work']['bytes'] / 2**20:.1f}", f"{moved:.2f}",
                      f"{max(compute, moved) / ours:.2f}"])
    return found
