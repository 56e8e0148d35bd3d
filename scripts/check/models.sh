#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Real models beside ONNX Runtime: --build DIR --mode plain|quick|full|sanitize.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../phase.sh"
needs ashlar-compile ashlar-run
arguments=(--bin "$build/bin" --work "$build/check/models")
# Under sanitizers the big models take too long; the small ones hold every
# operator of theirs.
[ "$mode" = plain ] || [ "$mode" = full ] || arguments+=(--small)
# Each of them once more on the device guard.
guarded=$build/lib/guarded
if [ -d "$guarded" ] && [ "$mode" != sanitize ]; then
  arguments+=(--guarded "$guarded")
fi
exec .deps/venv/bin/python test/Integration/compare_models.py "${arguments[@]}"
