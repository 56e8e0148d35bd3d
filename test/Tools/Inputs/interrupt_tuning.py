# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt_tuning.py BENCH MODEL TABLE: asks ashlar-bench --tune to stop while it
measures, as Ctrl-C does; it must end soon, say so and clean up."""

import os
import signal
import subprocess
import sys
import tempfile

bench, model, table = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    process = subprocess.Popen(
        [bench, model, f"--tune={table}", "--shape=x=48x64",
         "--seconds=60"],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": folder})
    said = ""
    while "measuring" not in said:
        line = process.stderr.readline()
        assert line, f"ended before it measured: {said}"
        said += line
    process.send_signal(signal.SIGINT)
    said += process.communicate(timeout=600)[1]
    assert process.returncode == 1, (process.returncode, said)
    assert "error: stopped; no table was written" in said, said
    assert os.listdir(folder) == [], os.listdir(folder)
