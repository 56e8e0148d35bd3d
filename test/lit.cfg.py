# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How lit runs the tests below this folder."""

import os

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "ashlar"
config.test_format = lit.formats.ShTest(execute_external=False)
# .onnxtxt: ONNX's text format, see Import/ONNX/make_onnx.py.
config.suffixes = [".mlir", ".onnxtxt", ".test"]
config.excludes = ["Inputs", "Unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.ashlar_obj_root, "test")

# Parts of the suite that a build or a machine may lack; `REQUIRES: onnx`.
if os.path.exists(config.ashlar_python):
    config.available_features.add("onnx")

python = f"'{config.ashlar_python}' -B"
make_onnx = os.path.join(config.test_source_root, "Import", "ONNX",
                         "make_onnx.py")
config.substitutions.append(("%make-onnx", f"{python} '{make_onnx}'"))
config.substitutions.append(("%python", python))
config.substitutions.append(("%ashlar-build", config.ashlar_obj_root))
llvm_config.add_tool_substitutions(
    [
        ToolSubst("ashlar-opt"),
        ToolSubst("ashlar-plan"),
        ToolSubst("ashlar-compile"),
        ToolSubst("ashlar-run", unresolved="ignore"),
        ToolSubst("ashlar-bench", unresolved="ignore"),
        ToolSubst("ashlar-inspect", unresolved="ignore"),
        ToolSubst("ashlar-check", unresolved="ignore"),
        ToolSubst("check-planted", unresolved="ignore"),
        ToolSubst("FileCheck"),
        ToolSubst("not"),
        ToolSubst("split-file"),
        ToolSubst("llvm-objdump"),
        ToolSubst("llvm-readelf"),
    ],
    [config.ashlar_tools_dir, os.path.join(config.ashlar_obj_root, "unittests"),
     config.llvm_tools_dir],
)
# What the machine has installed decides nothing.
config.environment["ASHLAR_PTXAS"] = "none"
config.environment["ASHLAR_OCLOC"] = "none"
# What the sanitizers' options say must reach the programs under test.
llvm_config.with_system_environment(
    ["ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"])
