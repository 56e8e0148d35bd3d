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

# What a phase counts, and how it ends.
passed=0 failed=0 skipped=0

# must NAME WHY COMMAND...: counts whether the command does well.
must() {
  local name=$1 why=$2
  shift 2
  if "$@" 2>&1; then
    passed=$((passed + 1))
  else
    echo "FAIL $phase $name: $why"
    failed=$((failed + 1))
    return 1
  fi
}

# add COUNTS: the closing line of another program; none is a failure.
add() {
  local p f s
  read -r p f s < <(tr -dc '0-9 ' <<<"$1")
  passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1}))
  skipped=$((skipped + ${s:-0}))
}

closing() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
  exit
}
