#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Broken models and modules: --build DIR --mode plain|quick|sanitize.

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
if [ ! -x "$build/bin/ashlar-compile" ]; then
  echo "SKIP hostile: ashlar-compile is not built"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
arguments=(--bin "$build/bin")
[ "$mode" = plain ] || arguments+=(--every 10)
[ "$mode" != sanitize ] || arguments+=(--sanitized)
exec .deps/venv/bin/python test/Integration/hostile/run.py "${arguments[@]}"
