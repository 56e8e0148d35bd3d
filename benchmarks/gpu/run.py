#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and measures what prepare.py compiled, on a machine with a GPU.

First the numbers of every case, in several processes, since the driver
compiles each module when it is loaded; then times, in one, the most important
first. Needs Python and NumPy; with PyTorch it makes data and references on the
GPU and measures PyTorch's own kernels on the same data. Exits with 1 when a
number is wrong or a case did not run.
"""

import argparse
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import threading
import time

import kinds
import report
import timing

HERE = pathlib.Path(__file__).resolve().parent
TIMED = ("table", "models", "large")


class Process:
    """A worker; started anew when it is gone."""

    def __init__(self, arguments):
        self.arguments, self.process = arguments, None
        self.is_useless = False  # none can be started

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, HERE / "worker.py", "--dir", self.arguments.dir,
             "--device", self.arguments.device], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, errors="replace",
            stderr=self.arguments.log)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, args=(self.process, self.lines),
                         daemon=True).start()
        try:
            return json.loads(self.lines.get(timeout=120))
        except (queue.Empty, TypeError):
            self.end()
            self.is_useless = True
            return None

    @staticmethod
    def read(process, lines):
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    def ask(self, mode, name, seconds):
        answer = {"mode": mode, "name": name, "ok": False}
        if not self.process and not self.start():
            return {**answer, "why": "no worker could be started: "
                    "see the log"}
        try:
            self.process.stdin.write(json.dumps(
                {"mode": mode, "name": name}) + "\n")
            self.process.stdin.flush()
            line = self.lines.get(timeout=seconds)
        except queue.Empty:
            self.end()
            return {**answer, "why": f"ended after {seconds:.0f} s"}
        except BrokenPipeError:
            line = None
        if line is None:
            code = self.end()
            return {**answer, "why": f"its process ended with {code}"}
        answer = json.loads(line)
        if answer.pop("lost"):
            self.end()
        return answer

    def end(self):
        if not self.process:
            return None
        self.process.kill()
        code = self.process.wait()
        self.process = None
        return code


class Run:
    def __init__(self, arguments):
        self.arguments = arguments
        self.began = time.monotonic()
        self.counts = True
        told = json.loads((arguments.dir / "cases.json").read_text())
        wanted = re.compile(arguments.only)
        self.cases = [c for c in told["cases"] if wanted.search(c["name"])]
        self.results = {"device": arguments.device, "preset": told["preset"],
                        "quick": told["quick"], "ceilings": {}, "cases": {}}
        for case in self.cases:
            self.results["cases"][case["name"]] = {
                k: case[k] for k in ("part", "group", "kind", "type", "sizes",
                                     "tolerance", "refused") if k in case}

    def left(self):
        return self.arguments.seconds - (time.monotonic() - self.began)

    def numbers(self):
        """Most important first: the table's, edges, models, operators."""
        waiting = queue.Queue()
        for case in self.cases:
            if "refused" not in case:
                waiting.put(case["name"])
        done = threading.Lock()
        # Times are the rest's.
        kept = 0 if self.arguments.numbers_only else self.left() / 3

        def work():
            process = Process(self.arguments)
            while self.left() > kept and not process.is_useless:
                try:
                    name = waiting.get_nowait()
                except queue.Empty:
                    break
                found = process.ask("numbers", name, min(
                    self.arguments.limit, max(self.left(), 1)))
                with done:
                    self.results["cases"][name]["numbers"] = found
                    if not found["ok"]:
                        print(f"FAIL {name}: {found['why']}", flush=True)
                    self.save()  # should somebody end this
            process.end()
        threads = [threading.Thread(target=work)
                   for _ in range(self.arguments.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = self.results["numbers_s"] = time.monotonic() - self.began
        print(f"numbers took {took:.0f} s", flush=True)
        self.save()
        missing = sum("numbers" not in r and "refused" not in r
                      for r in self.results["cases"].values())
        if missing:
            print(f"NOTE no time was left for {missing} cases", flush=True)

    def ask(self, process, step, case, limits=1):
        result = self.results["cases"][case["name"]]
        result[step] = process.ask(step, case["name"], min(
            limits * self.arguments.limit, max(self.left(), 1)))
        return result

    def times(self):
        process = Process(self.arguments)
        ceilings = self.results["ceilings"] = process.ask("ceilings", "", 60)
        measured = []
        print(report.heading(), flush=True)
        for case in self.cases:
            if case["part"] not in TIMED or not self.results["cases"][
                    case["name"]].get("numbers", {}).get("ok"):
                continue
            if self.left() < 5 or process.is_useless:
                print("NOTE no time is left for the rest", flush=True)
                break
            result = self.ask(process, "time", case)
            if result["time"]["ok"]:
                measured.append((case, result))
                if ceilings.get("gpu") and result["time"]["us"] < \
                        timing.SHORT_US and self.counts:
                    self.ask(process, "counted", case)
                    # If it goes wrong once, it does for all.
                    self.counts = result["counted"]["ok"]
            print(report.line(case, result, self.results), flush=True)
            self.save()
        for case, result in measured if self.arguments.compile else ():
            is_large = case["part"] == "large"
            if is_large and self.left() > 60 or case.get(
                    "kind") in kinds.FUSED and self.left() > 30:
                self.ask(process, "compiled", case, 3 if is_large else 1)
                print(report.line(case, result, self.results), flush=True)
                self.save()
        process.end()

    def save(self):
        self.results["seconds"] = time.monotonic() - self.began
        # Whoever ends this finds the last one whole.
        written = self.arguments.out.with_suffix(".new")
        written.write_text(json.dumps(self.results, indent=1))
        written.replace(self.arguments.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dir", type=pathlib.Path, required=True,
                        help="what prepare.py wrote")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", default="", help="names that this finds")
    parser.add_argument("--seconds", type=float, default=480,
                        help="for all of it")
    parser.add_argument("--limit", type=float, default=60,
                        help="seconds for one case")
    parser.add_argument("--jobs", type=int,
                        default=max(1, min(6, (os.cpu_count() or 2) // 2)),
                        help="processes that check numbers")
    parser.add_argument("--numbers-only", action="store_true")
    parser.add_argument("--times-only", action="store_true",
                        help="numbers are taken as right; for tuning")
    parser.add_argument("--compile", action="store_true", help="beside "
                        "torch.compile, too, where it may fuse")
    parser.add_argument("--out", type=pathlib.Path, help="default: "
                        "DIR/run.json; a log of the workers lies beside it")
    parser.add_argument("--write", type=pathlib.Path,
                        help="a folder that gets gpu.md and gpu.json")
    arguments = parser.parse_args()
    arguments.dir = arguments.dir.resolve()
    arguments.out = arguments.out or arguments.dir / "run.json"
    with open(arguments.out.with_suffix(".log"), "w") as arguments.log:
        run = Run(arguments)
        if arguments.times_only:
            for result in run.results["cases"].values():
                result["numbers"] = {"ok": True, "unchecked": True, "why": ""}
        else:
            run.numbers()
        if not arguments.numbers_only:
            run.times()
    print(report.log_end(arguments.out.with_suffix(".log")), end="")
    print(report.summary(run.results))
    print(f"all took {time.monotonic() - run.began:.0f} s; {arguments.out}")
    if arguments.write:
        report.write(run.results, arguments.write)
    return int(bool(report.failures(run.results)))


if __name__ == "__main__":
    sys.exit(main())
