#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The sources are formatted, and every file that takes comments names its
# licence.

set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../phase.sh"
# Without git nothing would be listed, and all of nothing is well.
listed=$(git ls-files 2>&1) || skip "git lists no files: ${listed%%$'\n'*}"

failed=0
while read -r file; do
  [ -n "$file" ] || continue
  echo "FAIL format $file: not formatted; scripts/format.sh does it"
  failed=$((failed + 1))
done < <(scripts/format.sh --check 2>&1)

while read -r file; do
  [ -s "$file" ] || continue
  if ! head -n 5 "$file" | grep -q 'SPDX-License-Identifier'; then
    echo "FAIL licence $file: its first lines have no SPDX-License-Identifier"
    failed=$((failed + 1))
  fi
done < <(git ls-files -- '*.c' '*.h' '*.cpp' '*.td' '*.py' '*.sh' '*.cmake' \
  '*CMakeLists.txt' '*.fbs' '*.mlir')

passed=2
[ $failed -eq 0 ] || passed=0
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
