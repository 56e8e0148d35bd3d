#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# All tests, from a fresh clone to one closing line. See --help.
#
# A phase is a program in scripts/check/. It is called with --build DIR and
# --mode plain|quick|full|sanitize, and says what it found in lines of its
# output; one that knows no more to do in a mode does what it does in plain:
#
#   FAIL NAME: WHY        shown here at once
#   SKIP NAME: WHY        shown here at once
#   NOTE TEXT             shown here at once
#   N passed, N failed, N skipped     its last word, which is added up
#
# All else goes to its log only.

set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/report.sh"
cd "$root" || exit 1
exec </dev/null

usage() {
  cat <<'EOF'
Usage: scripts/check.sh [--quick | --full | --sanitize] [--minutes=N] [PHASE...]

Installs what is missing, builds, and runs all tests, or only the phases named.
Ends with 0 if nothing failed; the last line says how many passed, failed and
were skipped; each skipped test says why.

  phase      minutes  what it does
  build         20    configures and builds everything, warnings are errors
  format         1    the sources are formatted
  lit            3    every pass, stage and tool by its IR and its messages
  unit           2    unit tests, and the runtime's conformance suite
  operators      8    ONNX's own operator tests, against the committed list
  edges          3    operators on odd sizes, empty tensors, NaN and the like,
                      beside ONNX Runtime
  functions      1    exp, log, tanh, erf... against f64: errors as stated
  kernels        3    micro-kernels and stores of rows at their edges, beside
                      plain loops
  fuzz           3    random graphs beside the target reference, with open
                      sizes beside compiles for each
  streams        1    random networks on systolic machines, beside the processor
  targets        3    real models compiled for other processors
  opencl         5    operator tests and models on an OpenCL device; skipped
                      where there is none
  cuda           4    kernels in PTX: taken by NVIDIA's assembler, run by an
                      interpreter of ours, without a GPU
  rocm           3    code objects for AMD's GPUs, run by an emulator of ours
  hip            1    the device hip on a double of AMD's driver, without a GPU:
                      conformance, each call failing once, broken code objects
  models         6    real models beside ONNX Runtime: numbers must agree
  fuse           4  random graphs and models at every level of --fuse
  contract       4    real models: the budget counts what the contract says
  reproducible   2    the same input gives the same bytes; a killed compile
                      leaves nothing
  pictures       1    pages of ashlar-inspect, in a browser without a screen
  hostile        6    broken models and modules: refused clearly, never a crash
  install        3    what cmake --install leaves: the runtime, used from
                      outside; tools, manual pages, completions
  python         5    the Python wheels: built, installed where nothing else
                      is, their tests, ONNX's backend tests
  readme         1    what the documents show is what there is
  sanitized     14    the runtime's tests under ASan+UBSan, and TSan; not with
                      --quick

  --quick      about 5 minutes once built: the small models, every tenth
               operator test and broken model
  --full       more of what takes long: all models, all presets; hours
  --sanitize   the whole suite under ASan+UBSan, in build-sanitize; takes
               several times as long
  --minutes=N  without the above and without PHASE: all of it in about N minutes
               by the clock (65). A phase whose turn comes later than its
               share of them does what it does with --quick, and says so;
               0: everything, however long it takes
  --keep-going run the later phases even if the build failed

The minutes are the budget on two cores with no cache. What counts is time of
the processor: a phase is ended past three times its budget of it, or when it
hangs, and not for being on a busy machine. Logs: build/check/.
EOF
}

mode=plain build=build keep_going=no minutes_of_all=65 only=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) mode=quick ;;
    --full) mode=full ;;
    --sanitize) mode=sanitize build=build-sanitize ;;
    --minutes=*)
      minutes_of_all=${1#*=}
      if ! [[ $minutes_of_all =~ ^[0-9]{1,4}$ ]]; then
        printf '%s: expected a number of minutes, 0 for no limit\n' "$1" >&2
        exit 2
      fi
      minutes_of_all=$((10#$minutes_of_all))
      ;;
    --keep-going) keep_going=yes ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *)
      if ! ls "scripts/check/$1".* >/dev/null 2>&1; then
        printf 'unknown phase: %s\n\n' "$1" >&2
        usage >&2
        exit 2
      fi
      only+=("$1")
      ;;
  esac
  shift
done

# What a sanitizer finds must not look like a refusal, which ends with 1.
# libMLIR and lld are not instrumented, so containers and allocators that cross
# the border cannot be watched.
export ASAN_OPTIONS=${ASAN_OPTIONS:-exitcode=86:detect_container_overflow=0:allow_user_poisoning=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-exitcode=86:halt_on_error=1:print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-exitcode=86:halt_on_error=1}

# Of drivers, the one of scripts/setup.sh alone: the address sanitizer ends a
# process in which Intel's for GPUs open libraries (RTLD_DEEPBIND).
if [ $mode = sanitize ]; then
  . scripts/opencl_env.sh
  export ZE_ENABLE_ALT_DRIVERS=none
fi

passed=0 failed=0 skipped=0 failures=() planned=0 shortened=()
logs="$root/$build/check"
mkdir -p "$logs"

wanted() {
  [ ${#only[@]} -eq 0 ] || printf '%s\n' "${only[@]}" | grep -qx "$1"
}

# failure TEXT: shows a failure of a phase itself, which the end shows again.
failure() {
  printf '   FAIL %s\n' "$1"
  failures+=("FAIL $1")
}

# Of all phases of a plain run, as below.
minutes_planned=$(($(sed -nE 's/^(if ! )?phase [a-z]+ ([0-9]+) .*/\2/p' \
  scripts/check.sh | paste -sd+)))

# shorten NAME: whether the phases before this one took so much more than their
# share of --minutes that it has to be quick.
shorten() {
  [ $mode = plain ] && [ ${#only[@]} -eq 0 ] && [ "$minutes_of_all" -gt 0 ] ||
    return 1
  case $1 in format | build) return 1 ;; esac
  local share=$((minutes_of_all * planned / minutes_planned)) gone
  gone=$(awk -v s="$(seconds_since "$whole")" 'BEGIN { print int(s / 60) }')
  [ "$gone" -gt "$share" ] || return 1
  note "   NOTE as with --quick: $gone of $minutes_of_all minutes are gone, its" \
    "turn was at $share (--minutes=0: no limit)"
  shortened+=("$1")
}

# phase NAME MINUTES TITLE [FULL]: runs scripts/check/NAME.*, adds up what it
# says. FULL are the minutes with --full, if it does more there. Past its budget
# it is told; past three times its budget it is ended. Both count time of the
# processor, so that nothing is ended for being slow on a busy machine; by the
# clock, only what does nothing for a quarter of an hour or is not done in
# thirty times its budget.
phase() {
  local name=$1 minutes=$2 title=$3 program start status count log cores used
  local extent=$mode
  wanted "$name" || return 0
  program=$(ls "scripts/check/$name".* 2>/dev/null | head -n 1)
  log="$logs/$name.log"
  case $mode in
    sanitize) minutes=$((minutes * 4)) ;;
    full) minutes=${4:-$minutes} ;;
  esac
  cores=$(nproc)
  [ "$cores" -ge 2 ] || cores=2
  say "== $name: $title"
  ! shorten "$name" || extent=quick
  planned=$((planned + $2))
  start=$(now)
  case $program in
    *.py) set -- .deps/venv/bin/python "$program" ;;
    *) set -- bash "$program" ;;
  esac
  rm -f "$log.used"
  .deps/venv/bin/python scripts/limit_cpu.py \
    --cpu=$((minutes * 60 * cores * 3)) --idle=900 \
    --wall=$((minutes * 60 * 30)) --report="$log.used" -- \
    "$@" --build "$build" --mode "$extent" 2>&1 </dev/null |
    tee "$log" | grep --line-buffered -E '^(FAIL|SKIP|NOTE) ' | sed -u 's/^/   /'
  status=${PIPESTATUS[0]}
  used=$(head -n 1 "$log.used" 2>/dev/null || echo 0)

  count=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
  local p=0 f=0 s=0
  [ -z "$count" ] || read -r p f s < <(tr -dc '0-9 ' <<<"$count")
  mapfile -t -O ${#failures[@]} failures < <(grep '^FAIL ' "$log" | cut -c "1-400")
  if [ "$status" -eq 124 ]; then
    failure "$name: ended: it $(sed -n 2p "$log.used" 2>/dev/null)"
    f=$((f + 1))
  elif [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
    failure "$name: ended with $status"
    f=$((f + 1))
  elif [ -z "$count" ]; then
    failure "$name: said nothing of what it did"
    f=$((f + 1))
  fi
  if [ "$f" -gt 0 ]; then
    # What was not shown yet.
    grep -vE '^([0-9]+ passed, [0-9]+ failed|(FAIL|SKIP|NOTE) )' "$log" |
      tail -n 30 | sed 's/^/   | /'
    note "   the whole log: $log"
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  note "   $name: passed $p, failed $f, skipped $s; $(seconds_since "$start") s," \
    "$used s of the processor of $((minutes * 120)) s"
  if awk "BEGIN { exit !($used > $minutes * 120) }"; then
    note "   $name took longer than its budget"
  fi
  [ "$f" -eq 0 ]
}

closing() {
  printf '\n'
  [ ${#shortened[@]} -eq 0 ] || note "As with --quick, for want of time: ${shortened[*]}"
  [ "$failed" -gt 0 ] || [ "$passed" -eq 0 ] || say "${GREEN}All is well.${PLAIN} ($(seconds_since "$whole") s)"
  if [ "$failed" -gt 0 ]; then
    say "${RED}Something failed.${PLAIN} ($(seconds_since "$whole") s; logs in $build/check)"
    # Again where a reader of the end, or of a part of the output, finds them.
    [ ${#failures[@]} -eq 0 ] || printf '%s\n' "${failures[@]}" | head -n 30
  fi
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" -eq 0 ]
}

whole=$(now)
say "== setup"
if ! scripts/setup.sh; then
  failed=1
  closing
  exit 1
fi
note "   $(seconds_since "$whole") s"

phase format 1 "the sources are formatted"
if ! phase build 20 "everything builds" && [ $keep_going = no ]; then
  closing
  exit 1
fi
phase lit 3 "every pass, stage and tool by its IR and its messages"
phase unit 2 "unit tests and the runtime's conformance suite"
phase operators 8 "ONNX's own operator tests"
phase edges 3 "operators at their edges, beside ONNX Runtime"
phase functions 1 "errors of functions against f64"
phase kernels 3 "micro-kernels and stores of rows at their edges, beside plain loops"
phase fuzz 3 "random graphs beside the target reference"
phase streams 1 "random networks on systolic machines"
phase targets 3 "real models for processors that this machine need not be" 60
phase opencl 5 "operator tests and models on an OpenCL device" 240
phase cuda 4 "kernels in PTX, without a GPU" 60
phase rocm 3 "code objects for AMD's GPUs, without one" 15
phase hip 1 "the device hip, on a double of its driver"
phase models 6 "real models beside ONNX Runtime"
phase fuse 4 "equal results at every level of fusion"
phase contract 4 "memory contracts, to the byte"
phase reproducible 2 "the same bytes each time, nothing left of a killed run"
phase pictures 1 "what ashlar-inspect draws, in a browser"
phase hostile 6 "broken models and modules"
phase install 3 "what is installed, used from outside"
phase python 5 "the Python wheels, as installed" 90
phase readme 1 "what the documents show is what there is"
# Last, for it builds the runtime anew: what is left of the time is its.
phase sanitized 14 "the runtime under sanitizers"
closing
