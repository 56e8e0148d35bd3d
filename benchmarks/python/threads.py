#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the runs of several threads with a session each add up, from Python and
from C: runs in a second of one thread and of several, with bound arguments.

    threads.py [--threads=2] [--rounds=9]     needs the wheels, onnx and a C
                                              compiler

Prints the most of rounds that take turns, so that a busy machine disturbs all
of them alike.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

import ashlar

DIGITS = pathlib.Path(__file__).parents[2] / "examples/digits/digits.onnx"
SECONDS = 0.5


def products(count, size):
    """`count` products of matrices of size x size in a row."""
    weights = np.random.default_rng(0).standard_normal(
        (size, size)).astype(np.float32) / size ** 0.5
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT,
                                           [size, size])
             for name in ("v0", f"v{count}")]
    graph = helper.make_graph(
        [helper.make_node("MatMul", [f"v{i}", "w"], [f"v{i + 1}"])
         for i in range(count)], "g", ports[:1], ports[1:],
        [onnx.numpy_helper.from_array(weights, "w")])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def in_python(module, threads):
    """Runs in a second of so many threads."""
    over = threading.Event()
    begin = threading.Barrier(threads + 1)
    counted = []

    def go():
        info = module.inputs[0]
        x = ashlar.empty(info.maximum, info.dtype)
        x[:] = 0
        run = module.session(threads=1).bind(x).run
        run()
        runs = 0
        begin.wait()
        while not over.is_set():
            run()
            runs += 1
        counted.append(runs)
    all_threads = [threading.Thread(target=go) for _ in range(threads)]
    for thread in all_threads:
        thread.start()
    begin.wait()
    first = time.perf_counter()
    time.sleep(SECONDS)
    over.set()
    for thread in all_threads:
        thread.join()
    return sum(counted) / (time.perf_counter() - first)


def build(folder):
    """The program that does the same in C."""
    source = pathlib.Path(__file__).with_name("thread_calls.c")
    library = pathlib.Path(ashlar.get_library())
    program = f"{folder}/thread_calls"
    subprocess.run(["cc", "-O2", source, "-I", ashlar.get_include(), library,
                    f"-Wl,-rpath,{library.parent}", "-pthread", "-o", program],
                   check=True)
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    several = arguments.threads
    models = {
        "digits, 8x8 pictures": ashlar.compile(
            DIGITS, shapes={"image": (1, 1, 8, 8)}, threads=1),
        "2 products 96x96": ashlar.compile(products(2, 96)),
        "2 products 256x256": ashlar.compile(products(2, 256)),
        "4 products 1024x1024": ashlar.compile(products(4, 1024)),
    }
    print(f"| model | one run, us | C, 1 thread | C, {several} | | Python, 1 "
          f"thread | Python, {several} | |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        for name, module in models.items():
            path = f"{folder}/m.ash"
            module.save(path)
            most = {}
            for _ in range(arguments.rounds):
                for count in (1, several):
                    said = subprocess.run(
                        [program, path, str(count), str(SECONDS)], check=True,
                        capture_output=True, text=True).stdout
                    most["C", count] = max(most.get(("C", count), 0),
                                           float(said))
                    most["Python", count] = max(
                        most.get(("Python", count), 0),
                        in_python(module, count))
            row = [f"{1e6 / most['C', 1]:.1f}"]
            for language in ("C", "Python"):
                one, all_ = most[language, 1], most[language, several]
                row += [f"{one:.0f}", f"{all_:.0f}", f"x{all_ / one:.2f}"]
            print(f"| {name} | {' | '.join(row)} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
