# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare_sizes.py COMPILE RUN FOLDER N W: net.onnx compiled for one size, and open.ash at
that size: equal results, and little more memory."""
import re
import subprocess
import sys

compile_tool, run_tool, folder, n, w = sys.argv[1:]
shape = f"{n}x3x32x{w}"


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          text=True).stdout


run(compile_tool, folder + "/net.onnx", "-o", folder + "/fixed.ash",
    "--shape=x=" + shape, "--exact-convolution")
expected = [f"--expect={o}={folder}/{o}.npy" for o in "ysa"]
arena = []
for name, more in [("fixed", ["--output-dir=" + folder]),
                   ("open", expected + ["--rtol=1e-5", "--atol=1e-5"])]:
    said = run(run_tool, f"{folder}/{name}.ash", "--input=x=random:7",
               "--shape=x=" + shape, "--stats=json", *more)
    arena.append(int(re.search(r'"arena_bytes": ?(\d+)', said)[1]))
assert arena[1] <= 1.1 * arena[0], arena
