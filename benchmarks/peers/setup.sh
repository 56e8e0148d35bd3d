#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Puts whom we are measured beside into .deps/peers: Python packages into an
# environment, Debian's libraries unpacked and not installed. Does nothing,
# quickly, where everything is there.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/scripts/report.sh"
peers=$root/.deps/peers
logs=$root/.deps/logs

# OpenBLAS and oneDNN with what they need beyond a compiler's own libraries.
debian_packages=(
  libopenblas0-pthread libgfortran5 libquadmath0 libdnnl2 libgomp1
  ocl-icd-libopencl1
)

install_python_packages() {
  local stamp
  stamp=$(cat "$root/scripts/requirements.txt" \
    "$root/benchmarks/peers/requirements.txt" | sha256sum | cut -d' ' -f1)
  [ "$(cat "$peers/venv/.installed" 2>/dev/null)" != "$stamp" ] || return 0
  say "Installing the peers' Python packages into .deps/peers (1.3 GB)"
  # The Python of the tests' environment is new enough.
  [ -x "$peers/venv/bin/python" ] ||
    "$("$root/.deps/venv/bin/python" -c \
      'import sys; print(sys.base_prefix + "/bin/python3")')" \
      -m venv "$peers/venv" || fail "python -m venv failed"
  quietly "$logs/peers-pip.log" "$peers/venv/bin/python" -m pip install \
    --disable-pip-version-check --no-deps --ignore-requires-python \
    --no-cache-dir --only-binary :all: -r "$root/scripts/requirements.txt" \
    -r "$root/benchmarks/peers/requirements.txt" ||
    fail "pip could not install the packages" "The log: $logs/peers-pip.log"
  printf '%s\n' "$stamp" >"$peers/venv/.installed"
}

unpack_debian_packages() {
  local target=$peers/debian folder file
  [ ! -f "$target/.unpacked" ] || return 0
  say "Unpacking Debian's OpenBLAS and oneDNN into .deps/peers"
  folder=$(mktemp -d)
  # apt-get's own user must be able to write there.
  chmod 755 "$folder"
  (cd "$folder" &&
    quietly "$logs/peers-apt.log" apt-get download "${debian_packages[@]}") ||
    fail "apt-get download failed" "The log: $logs/peers-apt.log" \
      "Without package lists, run: apt-get update (as root)"
  mkdir -p "$target"
  for file in "$folder"/*.deb; do
    dpkg-deb -x "$file" "$target"
  done
  rm -r "$folder"
  touch "$target/.unpacked"
}

mkdir -p "$peers" "$logs"
install_python_packages
unpack_debian_packages
