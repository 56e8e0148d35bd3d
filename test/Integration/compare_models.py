#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs real models and compares them with ONNX Runtime.

For each model and each input, max |ours - theirs| / max |theirs| must not
exceed the tolerance (1e-4; 1e-3 where the expectation comes with the model;
model_list.py says where another is derived).
ONNX Runtime's answers are kept in .deps/expected. With --guarded, all of them
run once more on the device `guard`, whose memory is closed to all but
its own work: the same program must give the same bytes there. With --device,
programs run there (--compile-flag=--target=T makes some for it), and with
--like, which names another device of the same file, agree with those there as
well. With --bench, one thread of ours is timed beside one thread of ONNX
Runtime's, in turns.
"""

import argparse
import hashlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import numpy as np
import onnxruntime

import measured_process
import model_list

CACHE = model_list.ROOT / ".deps" / "expected"
LIKE = 1e-4  # of the largest value: between two devices
COMPILE_SECONDS = 30
COMPILER_MEMORY = 400 << 20  # beyond the weights
ROUNDS = 3


class Failure(Exception):
    pass


class Found(NamedTuple):
    """What a run of one case showed."""
    worst: float          # the largest difference from what is expected
    text: str = ""        # that was read
    guard_s: float = 0.0  # seconds on the device guard
    like: float = 0.0     # the largest difference from another device


def run(*command, timeout):
    """Runs a tool of ours, which must end with 0."""
    tool = pathlib.Path(command[0]).name
    try:
        result = measured_process.run(*command, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure(f"{tool} was ended after {timeout} s") from None
    if result.code:
        print(result.err)
        lines = [l for l in result.err.splitlines() if l.strip()]
        errors = [l for l in lines if l.startswith("error")] or lines
        raise Failure(f"{tool} ended with {result.code}: "
                      f"{errors[0][:300] if errors else 'without a word'}")
    return result


def ort_session(path, is_exact=True):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1

    def open_session():
        return onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"])

    if not is_exact:
        return open_session()
    # Without VNNI, sums of pairs of bytes saturate otherwise.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return open_session()
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
        # ONNX Runtime 1.31 cannot where two nodes have one weight; as it stands
        # in the model, the product is one of floats.
        options.graph_optimization_level = (
            onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        return open_session()


class Theirs:
    """ONNX Runtime on one model, opened when it is needed and not before."""

    def __init__(self, path):
        self.path = path
        self.opened = None
        with open(path, "rb") as file:
            self.hash = hashlib.file_digest(file, "sha256")

    @property
    def session(self):
        self.opened = self.opened or ort_session(self.path)
        return self.opened

    def outputs(self, case):
        """[(name, values)], from the cache where they are there."""
        key = self.hash.copy()
        key.update(f"{onnxruntime.__version__}, exact".encode())
        for name, values in case.feeds.items():
            key.update(name.encode())
            key.update(np.ascontiguousarray(values).data)
        file = CACHE / f"{key.hexdigest()[:32]}.npz"
        if file.exists():
            with np.load(file) as kept:
                return list(zip(kept["names"].tolist(),
                                [kept[f"v{k}"]
                                 for k in range(len(kept["names"]))]))
        names = [o.name for o in self.session.get_outputs()]
        values = self.session.run(names, case.feeds)
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = CACHE / f"{file.name}.new"
        with open(unfinished, "wb") as out:
            np.savez(out, names=np.array(names),
                     **{f"v{k}": v for k, v in enumerate(values)})
        unfinished.rename(file)
        return list(zip(names, values))

    def median_ms(self, case, seconds):
        session = ort_session(self.path, is_exact=False)
        names = [o.name for o in session.get_outputs()]
        for _ in range(2):
            session.run(names, case.feeds)
        times, end = [], time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < end:
            start = time.perf_counter()
            session.run(names, case.feeds)
            times.append(1e3 * (time.perf_counter() - start))
        return statistics.median(times)


def difference(ours, theirs):
    """max |ours - theirs| / max |theirs|; Failure where it has no meaning."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise Failure(f"expected {theirs.dtype} {theirs.shape}, found "
                      f"{ours.dtype} {ours.shape}")
    if not model_list.is_finite(theirs):
        raise Failure("ONNX Runtime's own answer is not finite")
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    error = np.abs(ours - theirs).max(initial=0)
    scale = np.abs(theirs).max(initial=0) or 1.0
    return float(error / scale) if np.isfinite(error) else float("inf")


def check_guarded(library, command, names, work):
    """The same command on the device guard, whose runtime is in the folder
    `library`: every output equals that of the processor byte for byte. The
    seconds that it took."""
    outputs = [work / f"out-{index}.npy" for index in range(len(names))]
    before = [file.read_bytes() for file in outputs]
    for file in outputs:
        file.unlink()
    result = run("env", f"LD_LIBRARY_PATH={library}", *command,
                 "--device=guard:0", timeout=600)
    for name, file, bytes_ in zip(names, outputs, before):
        if file.read_bytes() != bytes_:
            raise Failure(f"output {name} is another one on guard:0")
    return result.seconds


def check_like(command, device, names, work):
    """The same command on another device of the file: the largest difference
    from there."""
    outputs = [work / f"out-{index}.npy" for index in range(len(names))]
    before = [np.load(file) for file in outputs]
    run(*command, f"--device={device}", timeout=600)
    worst = 0.0
    for name, file, ours in zip(names, outputs, before):
        found = difference(ours, np.load(file))
        worst = max(worst, found)
        if found > LIKE:
            raise Failure(f"output {name} differs from {device}'s by "
                          f"{found:.2e}, over {LIKE:.2g}")
    return worst


def check_case(tools, model, path, module, theirs, case, work, guarded=None,
               on_device=(), like=None):
    """Runs one case, on the device `like` as well where one is named: what
    was Found."""
    expected = theirs.outputs(case)
    if case.expected is not None:
        expected = [(name, values) for (name, _), values
                    in zip(expected, case.expected)]
    command = [tools / "ashlar-run", module]
    for index, (name, values) in enumerate(case.feeds.items()):
        np.save(work / f"in-{index}.npy", values)
        command.append(f"--input={name}={work / f'in-{index}.npy'}")
    for index, (name, _) in enumerate(expected):
        (work / f"out-{index}.npy").unlink(missing_ok=True)
        command.append(f"--output={name}={work / f'out-{index}.npy'}")
    run(*command, *on_device, timeout=600)
    worst, text = 0.0, ""
    for index, (name, values) in enumerate(expected):
        ours = np.load(work / f"out-{index}.npy")
        found = difference(ours, values)
        worst = max(worst, found)
        if found > case.tolerance:
            raise Failure(f"output {name} differs by {found:.2e}, "
                          f"over {case.tolerance:.2g}")
    guard_s = (check_guarded(guarded, command, [name for name, _ in expected],
                             work) if guarded else 0)
    if model.name == "ppocr_rec" and case.label == "word":
        text = model_list.read_text(path, ours)
        wanted = model_list.read_text(path, values)
        if text != wanted:
            raise Failure(f"read {text!r}, expected {wanted!r}")
    beside = check_like(command, like, [name for name, _ in expected],
                        work) if like else 0.0
    return Found(worst, text, guard_s, beside)


def bench(tools, module, theirs, case, seconds, on_device):
    """One thread each, in turns: the medians of the rounds, in ms."""
    ours_ms, theirs_ms = [], []
    for _ in range(ROUNDS):
        result = run(tools / "ashlar-bench", module, "--json", "--threads=1",
                     *on_device, f"--min-time={seconds}", timeout=600)
        ours_ms.append(json.loads(result.out)["median_ms"])
        theirs_ms.append(theirs.median_ms(case, seconds))
    return statistics.median(ours_ms), statistics.median(theirs_ms)


def on_device(arguments):
    """What ashlar-run and ashlar-bench are told of the device."""
    return [f"--device={arguments.device}"] if arguments.device else []


def check_model(arguments, model, work):
    """Compiles a model once and runs all its cases: one row of the table."""
    row = {"model": model.name, "passed": 0, "failed": 0, "cases": {}}
    with model.prepare(work) as path:
        module = work / f"{model.name}.ash"
        row["model_bytes"] = path.stat().st_size
        try:
            result = run(
                arguments.bin / "ashlar-compile", path, "-o", module,
                *model.arguments(), *arguments.compile_flag,
                *([f"--save-temps={arguments.save_temps / model.name}"]
                  if arguments.save_temps else []), timeout=600)
            row.update(compile_s=round(result.seconds, 2),
                       compiler_peak_bytes=result.peak_bytes,
                       module_bytes=module.stat().st_size)
            theirs = Theirs(path)
            cases = model.cases(path)
            guarded = arguments.guarded
        except Failure as failure:
            fail(arguments, row, model.name, failure)
            return row
        for case in cases:
            try:
                found = check_case(
                    arguments.bin, model, path, module, theirs, case, work,
                    guarded, on_device(arguments), arguments.like)
                row["guard_s"] = round(row.get("guard_s", 0) + found.guard_s,
                                       2)
                if arguments.like:
                    row["like"] = max(row.get("like", 0), found.like)
                row["cases"][case.label] = found.worst
                row["passed"] += 1
                if found.text:
                    row["reads"] = found.text
            except (Failure, OSError, ValueError) as failure:
                fail(arguments, row, f"{model.name}, {case.label}", failure)
        if arguments.bench and not row["failed"]:
            try:
                row["ours_ms"], row["theirs_ms"] = bench(
                    arguments.bin, module, theirs, cases[0],
                    arguments.seconds, on_device(arguments))
            except Failure as failure:
                fail(arguments, row, f"{model.name}, timing", failure)
        check_limits(arguments, row, model.name)
        if not arguments.keep:
            module.unlink()
    return row


def check_limits(arguments, row, name):
    """What a compile may cost, and how far behind a run may be. Machines and
    their load differ, so this fails only with --strict."""
    found = []
    if row["compile_s"] > COMPILE_SECONDS:
        found.append(f"compiled in {row['compile_s']} s, over "
                     f"{COMPILE_SECONDS} s")
    most = row["model_bytes"] + COMPILER_MEMORY
    if row["compiler_peak_bytes"] > most:
        found.append(f"the compiler took {row['compiler_peak_bytes'] >> 20} "
                     f"MiB, over {most >> 20} MiB")
    if row.get("ours_ms", 0) > 5 * row.get("theirs_ms", 1):
        found.append("slower than five times ONNX Runtime")
    for what in found:
        if arguments.strict:
            fail(arguments, row, name, what)
        else:
            print(f"NOTE {name}: {what}", flush=True)


def fail(arguments, row, name, why):
    row["failed"] += 1
    print(f"FAIL {name}: {why}\n     again: {sys.argv[0]} --bin "
          f"{arguments.bin} {row['model']}", flush=True)


HEADER = (f"{'model':26} {'compile':>8} {'peak':>9} {'module':>9} "
          f"{'worst':>8}   {'ours':>9} {'theirs':>9} {'ratio':>6}")


def line(row):
    """One row of the table."""
    text = f"{row['model']:26} "
    if "compile_s" in row:
        text += (f"{row['compile_s']:6.2f} s "
                 f"{row['compiler_peak_bytes'] >> 20:5} MiB "
                 f"{row['module_bytes'] >> 20:5} MiB ")
    if row["cases"]:
        text += f"{max(row['cases'].values()):8.1e}   "
    if "ours_ms" in row:
        text += (f"{row['ours_ms']:6.2f} ms {row['theirs_ms']:6.2f} ms "
                 f"{row['ours_ms'] / row['theirs_ms']:6.2f}")
    if "like" in row:
        text += f"  like {row['like']:.1e}"
    if row["failed"]:
        text += f"  {row['failed']} failed"
    if "reads" in row:
        text += f"  reads: {row['reads']}"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="only these models (default: all)")
    parser.add_argument("--bin", type=pathlib.Path, required=True,
                        help="the folder of ashlar-compile and ashlar-run")
    parser.add_argument("--work", type=pathlib.Path,
                        help="a folder for what is written (default: a "
                        "temporary one)")
    parser.add_argument("--small", action="store_true",
                        help="only the models that take little time")
    parser.add_argument("--guarded", type=pathlib.Path, metavar="DIR",
                        help="run them on the device guard, too: DIR has the "
                        "runtime that knows it (build/lib/guarded)")
    parser.add_argument("--bench", action="store_true",
                        help="time one thread of ours beside one of theirs")
    parser.add_argument("--seconds", type=float, default=0.7,
                        help="of each of the three rounds of --bench")
    parser.add_argument("--strict", action="store_true",
                        help="fail where time or memory is over its limit")
    parser.add_argument("--keep", action="store_true",
                        help="keep the modules in the work folder")
    parser.add_argument("--compile-flag", action="append", default=[],
                        help="one more flag for ashlar-compile, repeatable")
    parser.add_argument("--save-temps", type=pathlib.Path, metavar="DIR",
                        help="keep what the compiler makes on the way in "
                        "DIR/NAME")
    parser.add_argument("--device", help="run on this device, such as "
                        "opencl:0")
    parser.add_argument("--like", metavar="DEVICE", help="and compare with "
                        "this one, which the file has a program for as well")
    parser.add_argument("--json", type=pathlib.Path,
                        help="write the table's figures there")
    parser.add_argument("--list", action="store_true", help="name the models")
    arguments = parser.parse_args()
    models = model_list.all_models()
    known = [model.name for model in models]
    if arguments.list:
        print("\n".join(known))
        return 0
    for name in arguments.names:
        if name not in known:
            parser.error(f"no model {name}; --list names them")
    if arguments.names:
        models = [m for m in models if m.name in arguments.names]
    elif arguments.small:
        models = [m for m in models if m.small]
    arguments.bin = arguments.bin.resolve()
    if arguments.guarded:
        arguments.guarded = arguments.guarded.resolve()
        if not list(arguments.guarded.glob("libashlar_runtime.so*")):
            parser.error(f"{arguments.guarded} has no runtime with the device "
                         "guard: build the runtime's tests")
    # Some of ONNX's models name an unused initializer; that is no news.
    onnxruntime.set_default_logger_severity(3)

    print(HEADER)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        work = (arguments.work or pathlib.Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        for model in models:
            rows.append(check_model(arguments, model, work))
            print(line(rows[-1]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    if arguments.guarded:
        print(f"guarded: {sum(r.get('guard_s', 0) > 0 for r in rows)} models, "
              f"{sum(r.get('guard_s', 0) for r in rows):.0f} s")
    passed = sum(row["passed"] for row in rows)
    failed = sum(row["failed"] for row in rows)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
