# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model compiled for several targets at once, and what that took."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

# A warning by which the compiler says so of a kernel on a matrix unit, with
# the assembler where there is one.
KEPT = re.compile(r"warning: .*kernel (\S+?)(?: by \S+ [\d.]+)?: (\d+) bytes of "
                  r"a thread are kept")


@dataclasses.dataclass
class Compiled:
    code: int
    said: str
    processor: float  # seconds, those of programs that the compiler runs too
    wall: float
    bytes: int = 0
    programs: list = dataclasses.field(default_factory=list)

    def error(self):
        """The first that was said; "" where there is none."""
        if not self.code:
            return ""
        return next((line.strip()[:400] for line in self.said.splitlines()
                     if "error:" in line),
                    f"the compiler ended with {self.code}: "
                    f"{self.said.strip()[-300:]}")

    def kept(self):
        """(kernel, bytes) of those on matrix units that keep in memory what
        should be in registers."""
        return KEPT.findall(self.said)


def compile_model(bin_folder, model, path, module, targets, *flags):
    command = [bin_folder / "ashlar-compile", path, "-o", module,
               f"--target={','.join(targets)}", *flags, *model.arguments()]
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        child = subprocess.Popen([str(word) for word in command],
                                 stdin=subprocess.DEVNULL, stdout=log,
                                 stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        done = Compiled(child.returncode, log.read(),
                        used.ru_utime + used.ru_stime,
                        time.monotonic() - begin)
    if done.code == 0:
        done.bytes = pathlib.Path(module).stat().st_size
        done.programs = json.loads(subprocess.run(
            [bin_folder / "ashlar-inspect", module, "--json"], check=True,
            stdout=subprocess.PIPE, text=True).stdout)["programs"]
    return done


def write_table(path, head, rows):
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    path.write_text("".join(f"| {' | '.join(map(str, line))} |\n"
                            for line in lines))
