#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Behaves as ptxas towards the compiler, and says what FAKE_PTXAS asks for:
fine, spills, serial, refuses, or spills:N and serial:N, of the first N calls
with a FAKE_PTXAS_STATE. Its output is an ELF file without sections."""

import os
import re
import sys

if sys.argv[1:] == ["--version"]:
    print("ptxas: a fake\nCuda compilation tools, release 99.1, V99.1.2")
    sys.exit(0)
arguments = sys.argv[1:]
out = arguments[arguments.index("-o") + 1]
[source] = [a for a in arguments if a.endswith(".ptx")]
[arch] = [a for a in arguments if a.startswith("-arch=")]
says = os.environ.get("FAKE_PTXAS", "fine")
if says == "refuses":
    print("ptxas fatal   : Value 'sm_x' is not defined for option 'gpu-name'",
          file=sys.stderr)
    sys.exit(1)
if ":" in says:
    says, most = says.split(":")
    with open(os.environ["FAKE_PTXAS_STATE"], "a+") as state:
        state.write("another call\n")
        state.seek(0)
        calls = len(state.readlines())
    if calls > int(most):
        says = "fine"
for entry in open(source).read().split(".entry ")[1:]:
    name = re.match(r"\w+", entry).group()
    spilled = 12 if says == "spills" else 0
    print(f"""\
ptxas info    : Compiling entry function '{name}' for '{arch[6:]}'
ptxas info    : Function properties for {name}
    {spilled} bytes stack frame, {spilled} bytes spill stores, {spilled} bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 2048 bytes smem, 400 bytes cmem[0]
""", file=sys.stderr)
    if says == "serial" and "mma" in entry:
        print("ptxas info    : (C7510) Potential Performance Loss: "
              "wgmma.mma_async instructions are serialized due to insufficient "
              f"register resources for the wgmma pipeline in the function '{name}'",
              file=sys.stderr)
header = bytearray(64)
header[:9] = b"\x7fELF\x02\x01\x01\x33\x07"
header[18:20] = (190).to_bytes(2, "little")
header[52:54] = (64).to_bytes(2, "little")
open(out, "wb").write(header)
