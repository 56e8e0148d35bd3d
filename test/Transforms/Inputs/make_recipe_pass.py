# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the pass of docs/add-a-pass.md apart from the tree, as a plugin.

  make_recipe_pass.py BUILD OUT: OUT/pass.so

Its definition goes into a copy of the stage's Passes.td, and its source is
compiled as its neighbour in the folder is.
"""

import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
RECIPE = ROOT / "examples" / "add-a-pass"
STAGE = pathlib.Path("ashlar") / "Transforms" / "Simplify"
NEIGHBOUR = "FoldChannelScales.cpp"
# A pass of the tree is registered by its stage; one apart registers itself.
PLUGIN = r"""
#include "RemoveDoubleNegations.cpp"
namespace ashlar {
#define GEN_PASS_DECL_REMOVEDOUBLENEGATIONSPASS
#include "ashlar/Transforms/Simplify/Passes.h.inc"
}
#include "mlir/Tools/Plugins/PassPlugin.h"
extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "recipe", "1", [] {
            PassRegistration<RemoveDoubleNegations>();
          }};
}
"""


def main():
    build, out = map(pathlib.Path, sys.argv[1:])
    folder = out / "include" / STAGE
    folder.mkdir(parents=True)
    source = ROOT / "include" / STAGE
    text = (source / "Passes.td").read_text()
    end = text.rindex("#endif")
    definition = (RECIPE / "RemoveDoubleNegations.td").read_text()
    (folder / "Passes.td").write_text(f"{text[:end]}{definition}\n{text[end:]}")
    (folder / "Passes.h").write_text((source / "Passes.h").read_text())
    commands = json.loads((build / "compile_commands.json").read_text())
    words = next(shlex.split(c["command"]) for c in commands
                 if c["file"].endswith(f"/{NEIGHBOUR}"))
    compiler = next(i for i, w in enumerate(words)
                    if "++" in pathlib.Path(w).name)
    # All but its own output and the header compiled beforehand.
    keep = [words[compiler]]
    for word, after in zip(words, words[1:] + [""]):
        if word == "-isystem":
            keep += [word, after]
        elif word.startswith(("-I", "-D", "-std", "-f")) and "pch" not in word:
            keep.append(word)
    tablegen = build_tool("mlir-tblgen")
    mlir = subprocess.run([build_tool("llvm-config"), "--includedir"],
                          check=True, text=True,
                          capture_output=True).stdout.strip()
    subprocess.run([tablegen, "-gen-pass-decls", "-name", "Simplify",
                    f"-I{mlir}", folder / "Passes.td", "-o",
                    folder / "Passes.h.inc"], check=True)
    (out / "Plugin.cpp").write_text(PLUGIN)
    subprocess.run([keep[0], f"-I{out / 'include'}", f"-I{RECIPE}",
                    *keep[1:], "-O0", "-shared", out / "Plugin.cpp", "-o",
                    out / "pass.so"], check=True)


def build_tool(name):
    return f"/usr/lib/llvm-22/bin/{name}"


if __name__ == "__main__":
    main()
