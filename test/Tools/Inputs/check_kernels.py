# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds what ashlar-bench --kernels --json says to what must be true of it."""

import json
import sys

with open(sys.argv[1]) as file:
    said = json.load(file)
kernels = said["kernels"]
times = [kernel["median_us"] for kernel in kernels]
assert times == sorted(times, reverse=True) and times[-1] >= 0, times
assert 0 < sum(times) <= said["traced_run_us"] * 1.5, said
# One row is one part; thousands of them may be shared.
threads = {node: kernel["threads"]
           for kernel in kernels for node in kernel["nodes"]}
assert all(number in (1, 2) for number in threads.values()), threads
assert threads["MatMul:one"] == 1, threads
