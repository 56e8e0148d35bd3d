# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How our shell scripts speak: what they do, how long it took, why they stop.
# To be sourced; sets no option of the shell that sources it.

# Colour only where a person looks.
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  BOLD=$'\e[1m' DIM=$'\e[2m' RED=$'\e[31m' GREEN=$'\e[32m' PLAIN=$'\e[0m'
else
  BOLD='' DIM='' RED='' GREEN='' PLAIN=''
fi

# say TEXT: one line about what happens now.
say() { printf '%s\n' "${BOLD}$*${PLAIN}"; }

# note TEXT: one line of detail.
note() { printf '%s\n' "${DIM}$*${PLAIN}"; }

# fail TEXT...: says why on stderr, one argument a line, and ends with 1.
fail() {
  printf '%s\n' "${RED}error:${PLAIN} $1" >&2
  shift
  [ $# -eq 0 ] || printf '       %s\n' "$@" >&2
  exit 1
}

# now: seconds with milliseconds, for seconds_since.
now() { date +%s.%N; }

# seconds_since START: the time that has passed, as `12.3`.
seconds_since() {
  awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'
}

# quietly LOG COMMAND...: runs the command into LOG; shows the log's end if it
# fails. On a terminal, the log's last line is shown while it runs.
quietly() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
    "$@" >"$log" 2>&1 </dev/null &
    local child=$! width line
    width=$(tput cols 2>/dev/null || echo 80)
    while kill -0 "$child" 2>/dev/null; do
      line=$(tail -n 1 "$log" 2>/dev/null | tr -d '\r' | cut -c "1-$((width - 4))")
      printf '\r\e[K  %s' "$line"
      sleep 0.3
    done
    wait "$child" || status=$?
    printf '\r\e[K'
  else
    "$@" >"$log" 2>&1 </dev/null || status=$?
  fi
  if [ "$status" -ne 0 ]; then
    tail -n 40 "$log" >&2
    printf '%s\n' "(the whole log: $log)" >&2
  fi
  return "$status"
}
