# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How the phases of check.sh that are shell scripts begin: sourced with their
# arguments, it leaves them in the repository's folder with `build` and `mode`.

phase=$(basename "$0" .sh)
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
build=build mode=plain
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2 ;;
    --mode) mode=$2 ;;
    *) printf '%s: expected --build DIR --mode plain|quick|full|sanitize\n' \
      "$phase" >&2; exit 2 ;;
  esac
  shift 2
done

# skip WHY: ends the phase without a test.
skip() {
  printf 'SKIP %s: %s\n0 passed, 0 failed, 1 skipped\n' "$phase" "$1"
  exit 0
}

# needs TOOL...: skips the phase where a program of ours is not built.
needs() {
  local tool
  for tool in "$@"; do
    [ -x "$build/bin/$tool" ] || skip "$tool is not built"
  done
}
