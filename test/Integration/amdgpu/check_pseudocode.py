#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The emulator's short cuts (fast.py) beside AMD's pseudocode, on random bits
and on those where floats and counts end."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import decode  # noqa: E402
import fast  # noqa: E402
import pseudocode  # noqa: E402
from numbers_of_lanes import Number  # noqa: E402

EDGES = [0, 1, 31, 32, 33, 0x7f800000, 0xff800000, 0x80000000, 0x3f800000,
         0x00800000, 0x7f7fffff, 0x33800000, 0xffffffff, 0x80000001]


def words(random, count):
    """Of which some are floats that are near each other."""
    some = random.integers(0, 1 << 32, count, dtype=np.uint64)
    near = (random.standard_normal(count).astype(np.float32).view(np.uint32))
    return np.where(random.random(count) < 0.4, near, np.where(
        random.random(count) < 0.3, random.choice(EDGES, count), some)).astype(
            np.uint32)


def said(text, sources, old, scc=None):
    count = len(old)
    state = {f"S{i}": Number(word.astype(np.uint64), "u", 32)
             for i, word in enumerate(sources)}
    state["D0"] = Number(old.astype(np.uint64), "u", 32)
    state["SCC"] = Number(np.uint64(0 if scc is None else scc), "u", 1)
    with np.errstate(all="ignore"):
        pseudocode.Run(state, count).block(pseudocode.parse(text))
    return state


def same(found, wanted):
    """NaNs may have any bits."""
    with np.errstate(all="ignore"):
        both = np.isnan(found.view(np.float32)) & np.isnan(
            wanted.view(np.float32))
    return (found == wanted) | both


def check_vectors(table, random):
    for name, make in fast.VECTORS.items():
        if name not in table:
            yield name, "" if name in ("V_ADD_U32", "V_SUB_U32",
                                       "V_SUBREV_U32", "V_ADD_NC_U32",
                                       "V_SUB_NC_U32") else "no pseudocode"
            continue
        count = make.__code__.co_argcount - 1
        sources = [words(random, 4000) for _ in range(count)]
        old = words(random, 4000)
        with np.errstate(all="ignore"):
            found = np.broadcast_to(make(*sources, old), 4000)
        wanted = said(table[name], sources, old)["D0"].bits().astype(np.uint32)
        wanted = np.broadcast_to(wanted, 4000)
        bad = np.flatnonzero(~same(np.ascontiguousarray(found),
                                   np.ascontiguousarray(wanted)))
        yield name, "" if not len(bad) else (
            f"{[hex(x[bad[0]]) for x in sources]}: {found[bad[0]]:#x}, AMD "
            f"says {wanted[bad[0]]:#x}")


def check_scalars(table, random):
    for name, make in {**fast.SCALARS, **fast.PAIRS}.items():
        if name not in table:
            continue
        size = 64 if name in fast.PAIRS else 32
        why = ""
        for a, b in zip(words(random, 60), words(random, 60)):
            scc = int(random.integers(2))
            a, b = (int(x) << (size - 32) | 5 for x in (a, b))
            state = {"S0": Number(np.uint64(a), "u", size),
                     "S1": Number(np.uint64(b), "u", size),
                     "D0": Number(np.uint64(0), "u", size),
                     "SCC": Number(np.uint64(scc), "u", 1)}
            with np.errstate(all="ignore"):
                pseudocode.Run(state, ()).block(pseudocode.parse(table[name]))
            wanted = int(state["D0"].bits()), int(state["SCC"].bits())
            if make(a, b, scc) != wanted:
                why = f"{a:#x}, {b:#x}: {make(a, b, scc)}, AMD says {wanted}"
        yield name, why


def main():
    passed = failed = 0
    for architecture in decode.TABLES:
        table = decode.load_pseudocode(architecture)
        random = np.random.default_rng(0)
        for check in (check_vectors, check_scalars):
            for name, why in check(table, random):
                passed, failed = passed + (not why), failed + bool(why)
                if why:
                    print(f"FAIL {architecture}, {name}: {why}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
