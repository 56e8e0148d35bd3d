# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails unless the processes whose numbers a file has are gone, or dead and
not yet waited for, within ten seconds."""

import pathlib
import sys
import time


def runs(number):
    try:
        text = pathlib.Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


numbers = pathlib.Path(sys.argv[1]).read_text().split()
assert len(numbers) == 2
end = time.monotonic() + 10
while any(map(runs, numbers)):
    if time.monotonic() > end:
        sys.exit(f"still there: {[n for n in numbers if runs(n)]}")
    time.sleep(0.05)
