#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# interpret.sh ASHLAR-OPT FILE MACHINE: all functions of FILE must have a strategy of the
# machine, which is right however it is scheduled.
set -euo pipefail
opt=$1; shift
chosen=$("$opt" "$1" --ashlar-choose-strategies=machine="$2")
expected=$(grep -c 'tile\.contract' "$1")
found=$(grep -c '#tile\.strategy' <<<"$chosen")
[[ $found == "$expected" ]] || { echo "$2: $found of $expected have a strategy"; exit 1; }
for way in "" ,ashlar-hoist-roles,canonicalize; do
  said=$("$opt" --ashlar-interpret-kernels="through=ashlar-expand-contracts$way schedules=1 tolerance=1e-5" \
    -o /dev/null - <<<"$chosen" 2>&1) || { echo "$2$way: $said"; exit 1; }
  run=$(grep -c "interpreted under" <<<"$said")
  [[ $run == "$expected" ]] || { echo "$2$way: $run of $expected ran: $said"; exit 1; }
done
