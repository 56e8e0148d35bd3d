#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs, loads and compiles a small model many times and watches the process's
own memory: what grows for ever is a leak.

  leaks.py [--runs=100000] [--loads=100000] [--compiles=300]
"""

import argparse
import gc
import os
import sys
import tempfile

import numpy as np

import ashlar
from conftest import unary

# What may come and go: the allocator's own.
SLACK = 4 << 20


def resident():
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def watch(name, times, step):
    """Whether the second half of so many steps leaves memory as it was."""
    for _ in range(times // 2):
        step()
    before, files = resident(), len(os.listdir("/proc/self/fd"))
    for _ in range(times - times // 2):
        step()
    grown = resident() - before
    more = len(os.listdir("/proc/self/fd")) - files
    print(f"{name}: {times} times, the second half grew by {grown} bytes and "
          f"{more} open files")
    return grown <= SLACK and more <= 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--loads", type=int, default=100_000)
    parser.add_argument("--compiles", type=int, default=300)
    arguments = parser.parse_args()
    model, x = unary("Neg", [2, 3]), np.ones((2, 3), np.float32)
    module = ashlar.compile(model)
    session = module.session(threads=1)
    wrong = x.astype(np.float64)

    def run():
        session.run({"x": x})

    def run_async():
        session.run_async(x).wait()

    def bind():
        session.bind(x).run()

    def refuse():
        try:
            session.run({"x": wrong})
        except ashlar.Error:
            pass

    def call():
        module(x)

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/m.ash"
        module.save(path)

        def load():
            loaded = ashlar.load(path, allow_native_code=True)
            loaded.session(threads=1).run(x)

        good = all([
            watch("run", arguments.runs, run),
            watch("run_async", arguments.runs // 5, run_async),
            watch("bind", arguments.runs // 5, bind),
            watch("refused", arguments.runs // 5, refuse),
            watch("call", arguments.runs // 5, call),
            watch("load", arguments.loads, load),
            watch("compile", arguments.compiles,
                  lambda: ashlar.compile(model)(x)),
        ])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
