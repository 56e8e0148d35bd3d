#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The same input gives the same bytes: --build DIR --mode plain|quick|full|sanitize.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../phase.sh"
needs ashlar-compile
.deps/venv/bin/python scripts/fetch_models.py >/dev/null
exec .deps/venv/bin/python test/Integration/reproducible.py --bin "$build/bin"
