#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The same input gives the same bytes: --build DIR --mode plain|quick|sanitize.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=build
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2 ;;
  esac
  shift 2
done
if [ ! -x "$build/bin/ashlar-compile" ]; then
  echo "SKIP reproducible: ashlar-compile is not built"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
.deps/venv/bin/python scripts/fetch_models.py >/dev/null
exec .deps/venv/bin/python test/Integration/reproducible.py --bin "$build/bin"
