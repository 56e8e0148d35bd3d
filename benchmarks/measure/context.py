# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all parts of a measurement share: places, programs, processors."""

import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import time

import measured_process
from measure import ROOT

PEERS = ROOT / ".deps" / "peers"
DEBIAN = PEERS / "debian" / "usr" / "lib"
# A program that takes longer has failed.
TIMEOUT = 900


class Refused(Exception):
    """Somebody cannot do what is measured; the others go on."""


def first_error(text):
    """What a program says is wrong, without the place in our own files."""
    said = [l for l in text.splitlines() if l.strip()] or ["without a word"]
    line = next((l for l in said if "error" in l.lower()), said[0])
    return line[max(line.lower().find("error"), 0):][:200]


@dataclasses.dataclass
class Context:
    bin: pathlib.Path      # ashlar-compile and the other tools
    native: pathlib.Path   # the programs of benchmarks/native
    work: pathlib.Path     # models, modules, what peers make of them
    seconds: float         # of each contender on each item
    rounds: int = 5        # turns of each contender

    def run(self, *command, environment=None, timeout=TIMEOUT):
        """Runs a program to its end; Refused with its own words otherwise."""
        words = [str(word) for word in command]
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, timeout=timeout,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **(environment or {})})
        except subprocess.TimeoutExpired:
            raise Refused(f"ended after {timeout} s") from None
        if done.returncode:
            raise Refused(first_error(done.stderr or done.stdout))
        return done.stdout

    def compile(self, model, module, *flags):
        """Compiles with ours and returns its measured_process.Result."""
        result = measured_process.run(
            self.bin / "ashlar-compile", model, "-o", module, *flags,
            timeout=TIMEOUT)
        if result.code:
            raise Refused(first_error(result.err))
        return result

    @staticmethod
    def opened(makers):
        """{who: contender or why it is Refused} of {who: what makes it}."""
        found = {}
        for who, make in makers.items():
            try:
                found[who] = make()
            except Refused as why:
                found[who] = why
        return found

    def in_turns(self, opened):
        """Runs contenders, {who: contender or why it is Refused}, in turns;
        {who: {"ms": the median of its turns' medians} or {"refused": why}}."""
        opened, times = dict(opened), {who: [] for who in opened}
        for _ in range(self.rounds):
            for who, contender in opened.items():
                if isinstance(contender, Refused):
                    continue
                # Whoever ran before may still have threads that spin.
                time.sleep(0.02)
                try:
                    times[who].append(statistics.median(
                        contender.block(self.seconds / self.rounds)))
                except Refused as why:
                    opened[who] = why
        return {who: {"refused": str(contender)}
                if isinstance(contender, Refused)
                else {"ms": statistics.median(times[who])}
                for who, contender in opened.items()}

    def inspect(self, module):
        return json.loads(
            self.run(self.bin / "ashlar-inspect", module, "--json"))


def processors():
    return sorted(os.sched_getaffinity(0))


@contextlib.contextmanager
def only(threads):
    """This process and what it starts stay on the last `threads` CPUs: on the
    first one the system has most of its own to do."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors()[-threads:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def geomean(values):
    values = list(values)
    return statistics.geometric_mean(values) if values else None


def library(pattern):
    """A library among Debian's, by its name; Refused where there is none."""
    found = sorted(DEBIAN.rglob(pattern))
    if not found:
        raise Refused(f"there is no {pattern} in {DEBIAN}")
    return found[0]
