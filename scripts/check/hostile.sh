#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Broken models and modules: --build DIR --mode plain|quick|full|sanitize.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../phase.sh"
needs ashlar-compile
arguments=(--bin "$build/bin")
[ "$mode" = plain ] || [ "$mode" = full ] || arguments+=(--every 10)
[ "$mode" != sanitize ] || arguments+=(--sanitized)
exec .deps/venv/bin/python test/Integration/hostile/run.py "${arguments[@]}"
