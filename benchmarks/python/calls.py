#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call from Python costs: a model of one op (y = -x, floats 2x3), one
thread, beside the C library called with bound arguments and ONNX Runtime.

    calls.py            needs the wheels, onnx, onnxruntime and a C compiler

Prints microseconds: the least and the median of rounds that take turns, so that
a busy machine disturbs all of them alike.
"""

import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

import ashlar

# Short ones, so that some are not interrupted where others work too.
ROUNDS, CALLS = 401, 250


def one_op():
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3])
             for name in "xy"]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g",
                              ports[:1], ports[1:])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def in_c(module):
    """(least, median) of bound_call.c, in microseconds."""
    source = pathlib.Path(__file__).with_name("bound_call.c")
    with tempfile.TemporaryDirectory() as folder:
        module.save(f"{folder}/m.ash")
        library = pathlib.Path(ashlar.get_library())
        subprocess.run(["cc", "-O2", source, "-I", ashlar.get_include(),
                        library, f"-Wl,-rpath,{library.parent}", "-o",
                        f"{folder}/bound_call"], check=True)
        said = subprocess.run([f"{folder}/bound_call", f"{folder}/m.ash"],
                              check=True, capture_output=True, text=True)
    return [float(number) / 1e3 for number in said.stdout.split()]


def main():
    model = one_op()
    module = ashlar.compile(model)
    session = module.session(threads=1)
    x, y = ashlar.empty((2, 3)), ashlar.empty((2, 3))
    x[:] = 1
    plain = np.ones((2, 3), np.float32)
    bound = session.bind({"x": x}, {"y": y})
    feed, aligned = {"x": plain}, {"x": x}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    theirs = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                          ["CPUExecutionProvider"])
    binding = theirs.io_binding()
    binding.bind_cpu_input("x", plain)
    binding.bind_output("y")
    cases = {
        "Ashlar, bound arguments": bound.run,
        "Ashlar, a dict of aligned arrays": lambda: session.run(aligned),
        "Ashlar, a dict of arrays": lambda: session.run(feed),
        "ONNX Runtime, io_binding": lambda:
            theirs.run_with_iobinding(binding),
        "ONNX Runtime, a dict of arrays": lambda: theirs.run(None, feed),
    }
    times = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, call in cases.items():
            begin = time.perf_counter()
            for _ in range(CALLS):
                call()
            times[name].append((time.perf_counter() - begin) / CALLS * 1e6)
    least, median = in_c(module)
    print("| call | least, us | median, us | above C, least |")
    print("|---|---|---|---|")
    print(f"| C, bound arguments | {least:.2f} | {median:.2f} | |")
    for name, found in times.items():
        print(f"| {name} | {min(found):.2f} | {statistics.median(found):.2f} "
              f"| {min(found) - least:.2f} |")


if __name__ == "__main__":
    main()
