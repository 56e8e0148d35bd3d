#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Formats the C and C++ sources with clang-format-22 and gives files that lack
# it their licence line; with --check only says which C and C++ sources are not
# formatted, and ends with 1 if there are any.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

formatter=$(command -v clang-format-22 || true)
[ -n "$formatter" ] || {
  echo "error: clang-format-22 was not found; scripts/setup.sh installs it" >&2
  exit 1
}
mapfile -t sources < <(git ls-files -co --exclude-standard -- \
  '*.c' '*.h' '*.cpp' | while read -r f; do [ -f "$f" ] && echo "$f"; done)
[ ${#sources[@]} -gt 0 ] || exit 0

# Puts the licence line before what has none; not into files with a shebang.
add_licences() {
  local file mark licence='SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception'
  git ls-files -co --exclude-standard -- '*.c' '*.h' '*.cpp' '*.td' '*.fbs' \
    '*.cmake' '*CMakeLists.txt' | while read -r file; do
    [ -s "$file" ] || continue
    ! head -n 5 "$file" | grep -q SPDX-License-Identifier || continue
    case $file in
      *.cmake | *CMakeLists.txt) mark='#' ;;
      *) mark='//' ;;
    esac
    sed -i "1i $mark $licence" "$file"
    echo "licence: $file"
  done
}

case ${1:-} in
  '')
    add_licences
    printf '%s\n' "${sources[@]}" | xargs -P 2 -n 32 "$formatter" -i
    ;;
  --check)
    printf '%s\n' "${sources[@]}" | xargs -P 2 -n 1 sh -c \
      '"$0" --dry-run --Werror "$1" >/dev/null 2>&1 || { echo "$1"; exit 1; }' \
      "$formatter"
    ;;
  -h | --help) echo "Usage: scripts/format.sh [--check]" ;;
  *) echo "Usage: scripts/format.sh [--check]" >&2; exit 2 ;;
esac
