#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The levels of --fuse beside each other: --build DIR --mode
# plain|quick|full|sanitize.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../phase.sh"
needs ashlar-compile ashlar-run ashlar-inspect
arguments=(--bin "$build/bin")
if [ "$mode" = plain ] || [ "$mode" = full ]; then
  arguments+=(--graphs 40 ppocr_cls mobilenet_v2 minilm_l6 hey_jarvis)
else
  arguments+=(--graphs 8)
fi
exec .deps/venv/bin/python test/Integration/fuse_levels.py "${arguments[@]}"
