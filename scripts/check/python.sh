#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The Python wheels: built, installed where nothing of ours is, and tested as
# installed. A sample of ONNX's backend tests and of the search for leaks; with
# --full all of both, and the tests under other Pythons, under ASan and with
# Python's debug allocator.

set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../phase.sh"
needs ashlar-compile
[ "$mode" != sanitize ] ||
  skip "the wheels hold no sanitizers; --full has an ASan run of the binding"
root=$PWD
python=$root/.deps/venv/bin/python
work=$build/python
mkdir -p "$work"

# tests NAME COMMAND...: pytest, whose own last line is put into ours.
tests() {
  local name=$1 report=$work/$1.xml
  shift
  rm -f "$report"
  "$@" -m pytest -q -p no:cacheprovider --junitxml="$report" \
    python/tests 2>&1 | tee "$work/$name.log" | sed -n "s/^FAILED /FAIL python $name: /p"
  add "$("$python" - "$report" <<'EOT'
import sys
import xml.etree.ElementTree as tree
try:
    suite = tree.parse(sys.argv[1]).getroot()[0].attrib
except OSError:
    print("0 passed, 1 failed, 0 skipped")
else:
    count = {key: int(suite[key]) for key in
             ("tests", "failures", "errors", "skipped")}
    wrong = count["failures"] + count["errors"]
    print(f"{count['tests'] - wrong - count['skipped']} passed, {wrong} failed, "
          f"{count['skipped']} skipped")
EOT
)"
  tail -n 30 "$work/$name.log"
}

must wheels "the wheels were not built" scripts/wheels.sh --build "$build" \
  --out "$work/dist" || closing
rm -rf "$work/site"
must install "pip does not install the wheels" "$python" -m pip install \
  --quiet --disable-pip-version-check --no-deps --no-index --no-compile \
  --target "$work/site" "$work"/dist/*.whl || closing
# As installed, and not what lies in the tree.
export PYTHONPATH=$root/$work/site PYTHONDONTWRITEBYTECODE=1
case $work in /*) PYTHONPATH=$work/site ;; esac

tests installed "$python"
must stubs "the stubs are not what the binding is" \
  "$python" python/tests/stubs.py
must types "mypy finds mistakes" "$python" -m mypy --python-version 3.10 \
  --ignore-missing-imports --cache-dir "$work/mypy" \
  python/runtime/ashlar python/compiler/ashlar_compiler
printf '[mypy]\n[mypy-ashlar.*]\nignore_errors = True\n' >"$work/mypy.ini"
must user-types "mypy does not read a user's program as it should" \
  env MYPYPATH="$work/site" "$python" -m mypy --strict --ignore-missing-imports \
  --config-file "$work/mypy.ini" --cache-dir "$work/mypy-user" \
  python/tests/typed_user.py
must abi3 "the binding asks for more of Python than its file name says" \
  "$python" python/tests/abi3.py "$work"/dist/ashlar_runtime-*.whl
must reference "docs/python-reference.md is not what the docstrings say" \
  "$python" python/tests/reference.py

every=30
[ "$mode" != quick ] || every=100
[ "$mode" != full ] || every=1
said=$("$python" python/tests/onnx_backend.py --every "$every" 2>&1)
grep -v ' skipped$' <<<"$said"
add "$(tail -n 1 <<<"$said")"

# A bare environment. What the wheels depend on is fetched once.
system=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' \
  2>/dev/null)
dependencies=$work/dependencies-$system
if ! command -v bwrap >/dev/null || ! bwrap --unshare-all --ro-bind / / true; then
  echo "SKIP python bare: bubblewrap makes no sandbox here"
  skipped=$((skipped + 1))
elif [ ! -d "$dependencies" ] && ! "$python" -m pip download --quiet \
  --disable-pip-version-check --only-binary :all: --no-deps \
  --python-version "$system" --dest "$dependencies.new" \
  $(grep -E '^(numpy|ml_dtypes|nanobind-backend)==' scripts/requirements.txt) \
  2>&1 || ! { [ -d "$dependencies" ] || mv "$dependencies.new" "$dependencies"; }
then
  echo "SKIP python bare: what the wheels depend on cannot be fetched"
  skipped=$((skipped + 1))
else
  must bare "the wheels do not work where nothing else is" \
    bash python/tests/bare_install.sh "$work/dist" "$dependencies"
fi

[ "$mode" = full ] || closing
# What grows: 100,000 compiles, loads and runs, of which the tests do a sample.
# ASHLAR_LEAK_COMPILES: fewer of the compiles, which take an hour of one core.
must leaks "something grows for ever" "$python" python/tests/leaks.py \
  --compiles="${ASHLAR_LEAK_COMPILES:-100000}"
# Other Pythons: those of ASHLAR_PYTHONS, such as "python3.10 /opt/bin/python3",
# or all that have the usual names.
for other in ${ASHLAR_PYTHONS:-python3.10 python3.11 python3.12 python3.13 \
  python3.14}; do
  version=$("$other" -c 'import sys, venv, ensurepip
print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
  if [ -z "$version" ]; then
    echo "SKIP python other: there is no $other that makes an environment"
    skipped=$((skipped + 1))
    continue
  fi
  # So that examples run as well: rapidocr-onnxruntime has none for 3.13.
  more='pandas scikit-learn scikit-image'
  case $version in 3.1[0-2]) more+=' rapidocr-onnxruntime' ;; esac
  # shellcheck disable=SC2086
  if said=$(bash python/tests/other_python.sh "$work/dist" \
    "$work/venv-$version" "$other" $more 2>&1); then
    echo "NOTE $said"
    tests "python-$version" env -u PYTHONPATH "$work/venv-$version/bin/python"
  else
    echo "$said"
    echo "SKIP python other: pip does not install for Python $version"
    skipped=$((skipped + 1))
  fi
done
# What only an allocator that watches can see.
PYTHONMALLOC=debug PYTHONFAULTHANDLER=1 tests debug "$python"
if must asan-builds "the binding does not build with ASan" \
  bash python/tests/asan.sh build "$work/asan"; then
  tests asan bash python/tests/asan.sh run "$work/asan" "$python"
fi
closing
