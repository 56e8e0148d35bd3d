#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Real models beside ONNX Runtime: --build DIR --mode plain|quick|sanitize.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=build mode=plain
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2 ;;
    --mode) mode=$2 ;;
  esac
  shift 2
done
if [ ! -x "$build/bin/ashlar-compile" ] || [ ! -x "$build/bin/ashlar-run" ]; then
  echo "SKIP models: ashlar-compile and ashlar-run are not built"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
arguments=(--bin "$build/bin" --work "$build/check/models")
# Under sanitizers the big models take too long; the small ones hold every
# operator of theirs.
[ "$mode" = plain ] || arguments+=(--small)
exec .deps/venv/bin/python test/Integration/compare_models.py "${arguments[@]}"
