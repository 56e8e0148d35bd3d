#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands for ocloc towards the compiler: files of machine code as Intel's, of
which FAKE_OCLOC says what is in them: fine, spills, crowded (spills, but where
more registers are asked for), silent (success without a file) or refuses."""

import os
import pathlib
import struct
import sys

if len(sys.argv) == 1:
    print("ocloc is a tool, and this is a fake of it")
    sys.exit(0)
flags = sys.argv[1:]


def value(flag):
    return flags[flags.index(flag) + 1]


assert flags[0] == "compile" and "-spirv_input" in flags
assert value("--format") == "zebin"
assert "-exclude_ir" in flags and "-output_no_suffix" in flags
says = os.environ.get("FAKE_OCLOC", "fine")
if says == "refuses":
    print(f"Could not determine device target: {value('-device')}.\n"
          "Command was: ocloc compile")
    sys.exit(221)
if says == "silent":
    print("error: it has failed\nBuild succeeded.")
    sys.exit(0)

words = pathlib.Path(value("-file")).read_bytes()
kernels = []
at = 20
while at < len(words):
    word = struct.unpack_from("<I", words, at)[0]
    if word & 0xffff == 15:  # OpEntryPoint
        kernels.append(words[at + 12:].split(b"\0")[0].decode())
    at += 4 * (word >> 16)

info = "---\nversion: '1.20'\nkernels:\n"
for kernel in kernels:
    info += (f"  - name: {kernel}\n    execution_env:\n      grf_count: 256\n"
             "      simd_size: 16\n      slm_size: 4096\n")
    more = f"-ze-opt-large-grf-kernel {kernel}" in value("-options")
    if says == "spills" or (says == "crowded" and not more):
        info += ("    per_thread_memory_buffers:\n      - type: scratch\n"
                 "        usage: single_space\n        size: 512\n")
        print(f"warning: kernel {kernel}  compiled SIMD16 allocated 128 regs "
              "and spilled around 74\n")
sections = [(f".text.{kernel}", bytes(192)) for kernel in kernels]
sections.append((".ze_info", info.encode()))
names = b"\0" + b"".join(n.encode() + b"\0" for n, _ in sections) + b".names\0"
sections.append((".names", names))
image, headers = bytearray(64), bytearray(64)
for name, content in sections:
    kind = 3 if name == ".names" else 1  # a table of strings, or bytes
    headers += struct.pack("<IIQQQQIIQQ", names.index(name.encode() + b"\0"),
                           kind, 0, 0, len(image), len(content), 0, 0, 1, 0)
    image += content
image += bytes(-len(image) % 8)
struct.pack_into("<4sBBB9xHHIQQQIHHHHHH", image, 0, b"\x7fELF", 2, 1, 1, 1,
                 205, 1, 0, 0, len(image), 0, 64, 0, 0, 64,
                 len(sections) + 1, len(sections))
out = pathlib.Path(value("-out_dir"))
out.mkdir()
(out / f"{value('-output')}.bin").write_bytes(image + headers)
print("Build succeeded.")
