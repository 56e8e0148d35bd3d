#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures and builds everything: --build DIR --mode plain|quick|full|sanitize.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../phase.sh"
preset=release
[ "$mode" != sanitize ] || preset=sanitize

if ! cmake --preset "$preset" -B "$build"; then
  echo "FAIL configure: CMake could not configure the build"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
if ! cmake --build "$build"; then
  echo "FAIL build: the build failed"
  echo "1 passed, 1 failed, 0 skipped"
  exit 1
fi
echo "2 passed, 0 failed, 0 skipped"
