# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program and tells its time and its peak of resident memory.

A process that was forked from a large one counts that one's memory as its own
peak, even after exec. So the program is started by a small interpreter that
does nothing else.
"""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]
                       / "scripts"))
import limit_cpu  # noqa: E402

LAUNCHER = """
import json, os, sys, time
start = time.monotonic()
child = os.fork()
if child == 0:
    try:
        os.execvp(sys.argv[2], sys.argv[2:])
    except OSError as error:
        os.write(2, f"{sys.argv[2]}: {error.strerror}\\n".encode())
        os._exit(127)
_, status, usage = os.wait4(child, 0)
os.write(int(sys.argv[1]), json.dumps({
    "code": os.waitstatus_to_exitcode(status),
    "seconds": time.monotonic() - start,
    "peak_bytes": usage.ru_maxrss << 10}).encode())
"""


@dataclasses.dataclass
class Result:
    code: int  # negative: ended by that signal
    seconds: float
    peak_bytes: int
    out: str
    err: str


def run(*command, timeout):
    """Runs a program to its end; subprocess.TimeoutExpired when it has used
    `timeout` seconds of two cores, or hangs."""
    words = [str(word) for word in command]
    reader, writer = os.pipe()
    with open(reader, "rb") as report, tempfile.TemporaryFile() as out, \
            tempfile.TemporaryFile() as err:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LAUNCHER, str(writer), *words],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            pass_fds=[writer], start_new_session=True)
        os.close(writer)
        try:
            limit_cpu.wait(child, timeout)
        except subprocess.TimeoutExpired:
            # A group of our own, made two lines above.
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise
        told = json.loads(report.read())
        out.seek(0)
        err.seek(0)
        return Result(told["code"], told["seconds"], told["peak_bytes"],
                      out.read().decode(errors="replace"),
                      err.read().decode(errors="replace"))
