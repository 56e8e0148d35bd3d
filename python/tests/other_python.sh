#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What somebody with another Python has who installs the wheels: a fresh virtual
# environment of it with what pip takes along, and what the tests need. Says the
# versions, which differ by Python.
#
#   other_python.sh WHEELS FOLDER PYTHON [PACKAGE...]
#
# WHEELS: folder of ours. FOLDER: where the environment is made. PACKAGE: more to
# install, such as pandas; tests of what is not there are skipped. Then:
#
#   FOLDER/bin/python -m pytest python/tests

set -euo pipefail
wheels=$1 folder=$2 python=$3
shift 3
# Or pip takes what lies there for installed.
unset PYTHONPATH
rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
  --only-binary :all: "$wheels"/*.whl onnx onnxruntime pytest "$@"
"$folder/bin/python" - <<'EOT'
import importlib.metadata as metadata
import platform
print(f"Python {platform.python_version()} with " + ", ".join(
    f"{name} {metadata.version(name)}"
    for name in ("numpy", "ml_dtypes", "onnx", "onnxruntime",
                 "nanobind-backend")))
EOT
