#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# All that is asked of a machine with a GPU, in one call. See --help.

set -u
here=$(cd "$(dirname "$0")" && pwd)

usage() {
  cat <<'EOT'
Usage: run.sh [--dir=DIR] [--device=cuda:0] [--seconds=N] [--write=FOLDER]
              [OPTION of run.py...]

Checks and measures what prepare.py compiled, in one call of under nine
minutes: the numbers of all cases, then times, beside PyTorch's where there is
PyTorch. Prints a table, and writes run.json.

  --dir=DIR       what prepare.py wrote: the folder of this script if it is
                  such, or else build/gpu of the repository
  --device=D      which GPU (cuda:0)
  --seconds=N     for all of it (500); what has not ended 25 seconds later is
                  ended, and what was found until then is written
  --write=FOLDER  gpu.md and gpu.json for people and programs, there

Others are run.py's (--numbers-only, --only=REGEX, --compile and the like; see
python3 DIR/run.py --help). Needs NVIDIA's driver, glibc, and a Python with
NumPy: $PYTHON, python3, or that of the repository's tests.

Ends with 0; 1: a number is wrong or was not looked at; 2: it could not begin.
EOT
}

say() { echo "run.sh: $*" >&2; }

dir='' seconds=500
for argument in "$@"; do
  shift
  case $argument in
    -h | --help) usage; exit 0 ;;
    --dir=*) dir=${argument#*=} ;;
    --seconds=*) seconds=${argument#*=} ;;
    --dir | --seconds) usage >&2; exit 2 ;;
    *) set -- "$@" "$argument" ;;
  esac
done
case $seconds in
  '' | 0* | *[!0-9]*)
    say "--seconds=$seconds: expected a whole number above 0"; exit 2 ;;
esac
repository=$here/../..
if [ -z "$dir" ]; then
  dir=$here
  [ -e "$dir/cases.json" ] || dir=$repository/build/gpu
fi
if [ ! -e "$dir/cases.json" ]; then
  say "$dir: no compiled modules there; benchmarks/gpu/prepare.py" \
    "--build build --out DIR makes such a folder where the compiler is"
  exit 2
fi

# $PYTHON is taken for what it says.
python=''
for each in ${PYTHON:-python3 "$repository/.deps/venv/bin/python"}; do
  if "$each" -c 'import numpy' 2>/dev/null; then
    python=$each
    break
  fi
done
if [ -z "$python" ]; then
  say "no Python with NumPy: ${PYTHON:-python3} has none; name one by PYTHON"
  exit 2
fi

# In a group of its own, so that all of it is ended, on a terminal's word, too.
timeout -k 5 $((seconds + 25)) \
  "$python" -u "$dir/run.py" --dir "$dir" --seconds "$seconds" "$@" &
child=$!
trap 'kill $child' INT TERM HUP
wait $child
code=$?
case $code in
  124 | 137)
    say "ended after $((seconds + 25)) s; what was found until then is in" \
      "run.json"
    code=1 ;;
esac
exit $code
