#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs, compiled for a target and compared with `reference`.

Each seed is a graph of ONNX operators with inputs and weights, and flags to
compile it with. Results may be off by what rounding may do: by some roundings
of the largest result, and by what a disturbance of the inputs' last places
does. Where ONNX Runtime can run the graph, the reference is compared with it
in the same manner. A graph that fails is made smaller and kept in the layout
of ONNX's tests, with a file `again` that says how it was compiled.

With --open some sizes of inputs are left to the caller (test/Fuzz/opened.py):
one module, run at sizes of one and zero among others, must give what a compile
for each size alone gives, or refuse it.

  fuzz.py --build build --count=300             seeds 0 to 299
  fuzz.py --build build --count=300 --open      the same, with open sizes
  fuzz.py --build build --seed=123              one of them
  fuzz.py --build build --target=opencl:generic for another target than cpu
"""

import argparse
import collections
import pathlib
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from generate import choose_flags, generate  # noqa: E402
from graph import write_test  # noqa: E402
from opened import open_sizes  # noqa: E402
from sized import add_sized  # noqa: E402
from run import Case, Runner, judge  # noqa: E402
from shrink import shrink  # noqa: E402

# Those without an instruction that a machine of today may lack.
PRESETS = ["x86-64", "x86-64-v3", "x86-64-v4", "znver3", "znver4"]
CHUNK = 40


def presets_of_this_machine():
    """Modules for others are refused where they are loaded."""
    flags = set()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            flags = set(line.split(":")[1].split())
            break
    needs = {"x86-64": (), "x86-64-v3": ("avx2", "fma"), "znver3": (
        "avx2", "fma", "vaes"), "x86-64-v4": ("avx512f", "avx512vl"),
        "znver4": ("avx512f", "avx512_bf16")}
    return [p for p in PRESETS if flags.issuperset(needs[p])]


def write_finding(runner, case, kind, folder, seed, why):
    """Keeps a shrunken case."""
    folder = folder / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    expected = runner.reference_values(case, case.outputs)
    write_test(folder, case.model(), case.inputs.values(), expected or ())
    flags = " ".join(runner.write_machine(folder, case.all_flags()))
    text = "\n".join([
        f"{kind}: {why}",
        f"compiled with: {' '.join(case.all_flags())}",
        f"again: echo {folder} {flags} | {runner.program}", ""])
    (folder / "again").write_text(text)
    return folder


def describe(case):
    ops = collections.Counter(node.op_type for node in case.nodes)
    return ", ".join(f"{n} {op}" if n > 1 else op for op, n in ops.items())


def report(runner, arguments, seed, case, verdict):
    """A finding, made small."""
    kind, output, why = verdict
    if not arguments.no_shrink:
        case = shrink(runner, case, kind, output)
        [(_, answer)] = runner.run([case], oracle=kind == "oracle")
        kind, _, why = judge(case, answer) or verdict
    print(f"FAIL seed {seed}, {' '.join(case.all_flags())}: {kind}: {why}\n"
          f"     {len(case.nodes)} nodes: {describe(case)}")
    if arguments.keep:
        kept = write_finding(runner, case, kind, arguments.keep, seed, why)
        print(f"     kept in {kept}")
    print(f"     again: {sys.argv[0]} --build {arguments.build} "
          f"--seed={seed}{' --open' * arguments.open}"
          + (f" --target={arguments.target}" if arguments.target else ""),
          flush=True)


def make_case(seed, presets, is_open, target):
    graph, outputs = generate(seed)
    flags = choose_flags(seed, presets)
    if target:  # machines with other figures are those of processors
        flags = [target, *(flag for flag in flags[1:]
                           if not flag.startswith("--machine="))]
    opened = open_sizes(seed, graph.inputs) if is_open else None
    outputs = outputs + add_sized(seed, graph, opened)
    return Case.of(graph, outputs, flags, opened)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--target", help="all graphs for this one; else "
                        "presets of the target cpu, by the seed")
    parser.add_argument("--open", action="store_true",
                        help="leave sizes of inputs to the caller")
    parser.add_argument("--seconds", type=float,
                        help="begin no more graphs after that")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path,
                        help="a folder for what fails")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--no-oracle", action="store_true",
                        help="leave ONNX Runtime out")
    arguments = parser.parse_args()
    program = arguments.build.resolve() / "unittests" / "run-graphs"
    first, count = arguments.first, arguments.count
    if arguments.seed is not None:
        first, count = arguments.seed, 1
    presets = presets_of_this_machine()
    begin = time.monotonic()
    counts, reasons, nodes = collections.Counter(), collections.Counter(), 0
    sizes = collections.Counter()
    next_seed = first
    while next_seed < first + count:
        if arguments.seconds and time.monotonic() - begin > arguments.seconds:
            break
        with tempfile.TemporaryDirectory() as work:
            runner = Runner(program, work, arguments.jobs)
            seeds = range(next_seed, min(next_seed + CHUNK,
                                         first + count))
            cases = [make_case(seed, presets, arguments.open,
                               arguments.target) for seed in seeds]
            nodes += sum(len(case.nodes) for case in cases)
            answers = runner.run(cases, oracle=not arguments.no_oracle)
            for seed, case, (_, answer) in zip(seeds, cases, answers):
                verdict = judge(case, answer)
                for size in answer.get("sizes", ()):
                    sizes[size["status"]] += 1
                if verdict is None:
                    counts["passed"] += 1
                elif verdict[0] == "unsupported":
                    counts["skipped"] += 1
                    reasons[re.sub(r"\d+", "N", verdict[2])] += 1
                else:
                    counts["failed"] += 1
                    report(runner, arguments, seed, case, verdict)
        next_seed = seeds[-1] + 1
    for why, n in reasons.most_common(20):
        print(f"not supported: {n} x {why}")
    if arguments.open:
        print("sizes: " + ", ".join(f"{n} {what}" for what, n in sizes.items()))
    print(f"seeds {first} to {next_seed - 1}: {nodes} nodes, "
          f"{time.monotonic() - begin:.0f} s")
    print(f"{counts['passed']} passed, {counts['failed']} failed, "
          f"{counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
