#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program and ends it when it has used up its time of the processor, or
hangs; a machine that is merely busy makes nothing fail.

What counts is the time of all processes that come from the program, together.
It hangs when these have next to no time for --idle seconds, or run for --wall
seconds, which should be many times what they take. Then they are ended, and the
exit code is 124; otherwise it is the program's.

  limit_cpu.py --cpu=360 --idle=600 --wall=3600 -- bash slow.sh
"""

import argparse
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")
PR_SET_CHILD_SUBREAPER = 36
# Of the processor: who gets less in all of the idle time does nothing.
PROGRESS = 0.05
# Of wall time to time on two cores, for those who only say the latter.
PATIENCE = 20


def read_stat(pid):
    """Parent, time of the processor, children that were waited for included,
    and whether it still runs; None: it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name in parentheses may hold anything.
    words = text[text.rindex(")") + 2:].split()
    return int(words[1]), sum(map(int, words[11:15])) / TICKS, words[0] != "Z"


def runs(pid):
    stat = read_stat(pid)
    return bool(stat and stat[2])


def descendants(root):
    """{pid: seconds} of all that come from `root`, itself included."""
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = read_stat(name)
            if stat:
                table[int(name)] = stat
    found, frontier = {}, [root] if root in table else []
    children = {}
    for pid, (parent, _, _) in table.items():
        children.setdefault(parent, []).append(pid)
    while frontier:
        pid = frontier.pop()
        found[pid] = table[pid][1]
        frontier += children.get(pid, ())
    return found


def seconds_of(root):
    return sum(descendants(root).values())


def end(pids):
    for number, patience in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 0.0)):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        until = time.monotonic() + patience
        while time.monotonic() < until and any(map(runs, pids)):
            time.sleep(0.05)


class Limit:
    """Says when a process has had enough."""

    def __init__(self, cpu, idle, wall):
        self.cpu, self.idle, self.wall = cpu, idle, wall
        self.begin = self.moved = time.monotonic()
        self.used = self.counted = 0.0

    def why(self, used):
        """What is wrong once it has used so many seconds; None: nothing."""
        now = time.monotonic()
        # What a child used may vanish with it when nobody waits for it.
        self.used = max(self.used, used)
        if self.used - self.counted >= PROGRESS:
            self.counted, self.moved = self.used, now
        if self.used > self.cpu:
            return (f"used {self.used:.0f} s of the processor, more than "
                    f"{self.cpu:.0f}")
        if now - self.moved > self.idle:
            return f"did nothing for {self.idle:.0f} s"
        if now - self.begin > self.wall:
            return f"was not done after {self.wall:.0f} s"
        return None


def wait(child, seconds):
    """Waits for a Popen that may take `seconds` of two cores;
    subprocess.TimeoutExpired when that is used up or it hangs. Whoever calls
    ends it."""
    limit = Limit(2 * seconds, max(seconds, 60), PATIENCE * seconds)
    pause = 0.01
    while True:
        try:
            return child.wait(pause)
        except subprocess.TimeoutExpired:
            if limit.why(seconds_of(child.pid)):
                raise subprocess.TimeoutExpired(child.args, seconds) from None
            pause = min(2 * pause, 1.0)


def run(command, seconds):
    """subprocess.run with its output as text, within `seconds` of two cores."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile("w+", errors="replace") as out, \
            tempfile.TemporaryFile("w+", errors="replace") as err:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err)
        try:
            wait(child, seconds)
        except subprocess.TimeoutExpired:
            end(descendants(child.pid))
            child.wait()
            raise
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(words, child.returncode,
                                           out.read(), err.read())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", type=float, required=True)
    parser.add_argument("--idle", type=float, default=900)
    parser.add_argument("--wall", type=float, default=float("inf"))
    parser.add_argument("--report", type=pathlib.Path,
                        help="a file for the seconds used, and why it ended")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    # Orphans become ours, so that none is lost.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    limit = Limit(arguments.cpu, arguments.idle, arguments.wall)
    child = subprocess.Popen(arguments.command)
    me, why, code, pause = os.getpid(), None, None, 0.02

    def others():
        return {pid for pid in descendants(me) if pid != me}

    def stop(number, _):
        end(others())
        sys.exit(128 + number)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    while code is None and not why:
        try:
            code = child.wait(pause)
        except subprocess.TimeoutExpired:
            pause = min(2 * pause, 1.0)
        why = limit.why(seconds_of(me))
    if code is not None:
        why = None
    if others():
        end(others())
    # What became ours on its way out.
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    if arguments.report:
        arguments.report.write_text(f"{limit.used:.1f}\n{why or ''}\n")
    if why:
        print(f"{pathlib.Path(arguments.command[0]).name}: ended: it {why}",
              file=sys.stderr)
        return 124
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
