#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs, loads and compiles a small model many times and watches what this
process holds: what grows for ever is a leak.

  leaks.py [--runs=100000] [--loads=100000] [--compiles=100000]

Looked at are the resident memory, what malloc has lent out (which sees a leak
of some bytes a step), Python's blocks, files, threads, child processes and
temporary files. The first half of the steps may grow: caches fill.
"""

import argparse
import ctypes
import gc
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

import ashlar
from conftest import unary

# What may come and go, whatever the number of steps: pages that an allocator
# keeps; and what it has lent: buffers of threads that end at their own time.
RESIDENT_SLACK = 4 << 20
LENT_SLACK = 64 << 10
BLOCKS_SLACK = 500
# And for each step: less than the smallest thing that could be lost.
LENT_PER_STEP = 1


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
        "uordblks", "fordblks", "keepcost")]


def _lent_by_malloc():
    try:
        ask = ctypes.CDLL(None).mallinfo2  # glibc 2.33
    except AttributeError:
        return 0
    ask.restype = _Mallinfo
    found = ask()
    return found.uordblks + found.hblkhd


def _entries(*folders):
    return sum(len(os.listdir(folder)) for folder in folders)


def holdings(folder):
    """By name, what this process holds now; `folder` is where it may leave
    temporary files."""
    gc.collect()
    statm = pathlib.Path("/proc/self/statm").read_text().split()
    children = pathlib.Path("/proc/self/task", str(os.getpid()),
                            "children").read_text().split()
    return {"resident": int(statm[1]) * os.sysconf("SC_PAGE_SIZE"),
            "lent": _lent_by_malloc(), "blocks": sys.getallocatedblocks(),
            "files": _entries("/proc/self/fd"),
            "threads": _entries("/proc/self/task"),
            "children": len(children), "temporary": _entries(folder)}


def allowed(steps):
    """By how much each may have grown after so many steps."""
    return {"resident": RESIDENT_SLACK,
            "lent": LENT_SLACK + LENT_PER_STEP * steps,
            "blocks": BLOCKS_SLACK + steps // 50, "files": 0, "threads": 1,
            "children": 0, "temporary": 0}


def watch(name, times, step, folder):
    """Whether the second half of so many steps leaves all as it was."""
    if times < 2:
        return True
    begin = said = time.monotonic()
    before = {}
    for done in range(times):
        if done == times // 2:
            before = holdings(folder)
        step()
        if time.monotonic() - said > 60:
            said = time.monotonic()
            print(f"  {name}: {done + 1} of {times} times in "
                  f"{said - begin:.0f} s, holds {holdings(folder)}",
                  flush=True)
    second = times - times // 2
    grown = {what: now - before[what]
             for what, now in holdings(folder).items()}
    good = all(grown[what] <= most for what, most in allowed(second).items())
    print(f"{'' if good else 'LEAK '}{name}: {times} times in "
          f"{time.monotonic() - begin:.0f} s; the second half grew by "
          + ", ".join(f"{what} {grown[what]}" for what in grown), flush=True)
    return good


def steps(folder):
    """(name, function) of what is done again and again; `folder`: a place for
    a module's file."""
    model, x = unary("Neg", [2, 3]), np.ones((2, 3), np.float32)
    module = ashlar.compile(model)
    session = module.session(threads=1)
    wrong = x.astype(np.float64)
    path = f"{folder}/m.ash"
    module.save(path)

    def refuse():
        try:
            session.run({"x": wrong})
        except ashlar.Error:
            pass

    def load():
        loaded = ashlar.load(path, allow_native_code=True)
        loaded.session(threads=1).run(x)

    def refuse_load():
        try:
            ashlar.load(b"nothing", allow_native_code=True)
        except ashlar.Error:
            pass

    return {"run": lambda: session.run({"x": x}),
            "run_async": lambda: session.run_async(x).wait(),
            "bind": lambda: session.bind(x).run(),
            "call": lambda: module(x),
            "refused run": refuse,
            "load": load,
            "refused load": refuse_load,
            "compile": lambda: ashlar.compile(model)(x)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("runs", "loads", "compiles"):
        parser.add_argument(f"--{name}", type=int, default=100_000)
    arguments = parser.parse_args()
    # Temporary files of whatever runs here go where they are counted.
    with tempfile.TemporaryDirectory() as kept, \
            tempfile.TemporaryDirectory() as temporary:
        os.environ["TMPDIR"] = tempfile.tempdir = temporary
        good = True
        for name, step in steps(kept).items():
            times = (arguments.compiles if name == "compile" else
                     arguments.loads if "load" in name else arguments.runs)
            good &= watch(name, times, step, temporary)
        tempfile.tempdir = None
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
