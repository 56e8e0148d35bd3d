#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stubs of the binding, as nanobind writes them from what is installed:
stubs.py compares them with the committed ones, --update writes those."""

import pathlib
import subprocess
import sys
import tempfile

STUBS = pathlib.Path(__file__).parents[1] / "runtime/ashlar/_native.pyi"
LICENCE = "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"


def generated():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "_native.pyi"
        subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-P",
                        "-m", "ashlar._native", "-o", path], check=True)
        return LICENCE + path.read_text()


if __name__ == "__main__":
    if "--update" in sys.argv:
        STUBS.write_text(generated())
    elif generated() != STUBS.read_text():
        sys.exit(f"{STUBS} is not what the binding is; stubs.py --update")
