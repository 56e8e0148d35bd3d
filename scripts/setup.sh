#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what Ashlar is built and tested with. Does nothing, quickly, where
# everything is there. See --help.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/report.sh"

usage() {
  cat <<'EOF'
Usage: scripts/setup.sh [--runtime-only] [--check]

Installs the packages that Ashlar is built and tested with, on Debian 12:

  - system packages through apt-get (needs root: uses sudo where you are not);
    a few that only some tests need are left out where there are none;
  - Python packages into .deps/venv inside the repository (no root);
  - ONNX's schema, out of the Python package, into .deps/onnx (no root);
  - on x86-64, an OpenCL driver for the processor into .deps/opencl and NVIDIA's
    assembler and disassembler into .deps/cuda (no root).

It can be repeated at any time; what is there is not touched.

  --runtime-only  only what the runtime needs: no LLVM, no Python
  --check         install nothing; say what is missing and end with 1
EOF
}

runtime_packages=(
  cmake ninja-build g++ pkg-config
  libflatbuffers-dev flatbuffers-compiler libxxhash-dev
  libgtest-dev libgmock-dev libcli11-dev nlohmann-json3-dev libsodium23
)
# LLVM 22 for Debian 12 comes from its security suite.
compiler_packages=(
  libmlir-22-dev llvm-22-dev mlir-22-tools llvm-22-tools
  clang-22 libclang-rt-22-dev clang-format-22 lld-22 liblld-22-dev
  ccache zlib1g-dev libzstd-dev
  libprotobuf-dev protobuf-compiler libonnx-testdata
  python3 python3-dev python3-venv unzip git groff-base bubblewrap
  qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
  ocl-icd-libopencl1 spirv-tools openssl
)

# Tests that need them are skipped, and say so, where Debian has none: a second
# OpenCL driver, what translates kernels for it, and on x86-64 Intel's compiler
# for GPUs with a Level Zero driver that runs without one.
optional_packages=(pocl-opencl-icd llvm-spirv-15)
[ "$(uname -m)" != x86_64 ] || optional_packages+=(intel-opencl-icd libze1)

# The schema of the pinned onnx wheel; the importer is generated from it.
onnx_proto_sha256=8f39d0a1ae1abef5ca648922cdb06716d6bd1573c9e972b42854c16e9e352c16

runtime_only=no
check_only=no
for argument in "$@"; do
  case $argument in
    --runtime-only) runtime_only=yes ;;
    --check) check_only=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

# missing_packages NAME...: those of the named packages that are not installed.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    awk '$1 == "installed" { print $2 }' || true)
  printf '%s\n' "$@" | grep -vxF -f <(printf '%s\n' "$installed") || true
}

# known_packages NAME...: those that apt-get has in its lists.
known_packages() {
  local name
  for name in "$@"; do
    apt-cache show --no-all-versions "$name" >/dev/null 2>&1 &&
      printf '%s\n' "$name"
  done
  return 0
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

# apt_install LOG NAME...: false where it failed; what it said is in the log.
apt_install() {
  local log=$1
  shift
  quietly "$log" as_root apt-get install -y --no-install-recommends \
    -o DPkg::Lock::Timeout=120 "$@"
}

install_system_packages() {
  local wanted=("${runtime_packages[@]}") missing start
  [ $runtime_only = yes ] || wanted+=("${compiler_packages[@]}")
  command -v dpkg-query >/dev/null || fail \
    "this is not a Debian system: dpkg-query was not found" \
    "Install what corresponds to: ${wanted[*]}"
  mapfile -t missing < <(missing_packages "${wanted[@]}" | sed '/^$/d')
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ $check_only = yes ]; then
    printf 'missing package: %s\n' "${missing[@]}"
    incomplete=yes
    return 0
  fi

  say "Installing ${#missing[@]} system packages (needs root): ${missing[*]}"
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    fail "installing packages needs root, and there is no sudo" \
      "Run as root: apt-get install ${missing[*]}" \
      "and then this script again."
  fi
  # A question for the password must not hide behind the line of progress.
  [ "$(id -u)" -eq 0 ] || sudo -v || fail \
    "installing packages needs root, and sudo refused" \
    "Run as root: apt-get install ${missing[*]}" \
    "and then this script again."
  start=$(now)
  # A source that cannot be reached is no reason to stop: it may be another's.
  quietly "$logs/apt-update.log" as_root apt-get update ||
    note "  apt-get update failed (above); going on with the lists there are"
  if [ $runtime_only = no ] && ! apt-cache show libmlir-22-dev >/dev/null 2>&1; then
    fail "apt-get knows no package libmlir-22-dev" \
      "LLVM 22 for Debian 12 (bookworm) comes from the suite bookworm-security:" \
      "enable it in the apt sources."
  fi
  apt_install "$logs/apt.log" "${missing[@]}" ||
    fail "apt-get install failed" "The log: $logs/apt.log"
  note "  done in $(seconds_since "$start") s"
}

# Behind the others, and one at a time: what cannot be had keeps nothing back.
install_optional_packages() {
  local missing name start
  mapfile -t missing < <(missing_packages "${optional_packages[@]}" | sed '/^$/d')
  [ ${#missing[@]} -gt 0 ] || return 0
  mapfile -t missing < <(known_packages "${missing[@]}")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ $check_only = yes ]; then
    printf 'missing package, for some tests: %s\n' "${missing[@]}"
    return 0
  fi
  say "Installing ${#missing[@]} system packages for some tests: ${missing[*]}"
  start=$(now)
  for name in "${missing[@]}"; do
    apt_install "$logs/apt-$name.log" "$name" ||
      note "  no $name (the log: $logs/apt-$name.log); its tests are skipped"
  done
  note "  done in $(seconds_since "$start") s"
}

# The first Python on PATH, or else Debian's, that is new enough and can make
# a virtual environment (Debian's own lacks that without python3-venv).
find_python() {
  local candidate
  for candidate in python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    if "$candidate" -c 'import sys, venv, ensurepip
sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

install_python_packages() {
  local list="$root/scripts/requirements.txt" venv="$deps/venv" stamp python start
  stamp=$(sha256sum "$list" | cut -d' ' -f1)
  # The environment itself may have lost its Python: ask it, briefly.
  if [ "$(cat "$venv/.installed" 2>/dev/null)" = "$stamp" ] &&
    [ -x "$venv/bin/python" ] && "$venv/bin/python" -S -c '' 2>/dev/null; then
    return 0
  fi
  if [ $check_only = yes ]; then
    printf 'missing: the Python packages in .deps/venv\n'
    incomplete=yes
    return 0
  fi

  say "Installing the Python packages of the tests into .deps/venv"
  python=$(find_python) || fail \
    "no Python 3.11 or later that can make a virtual environment" \
    "On Debian: apt-get install python3 python3-venv"
  start=$(now)
  if ! { [ -x "$venv/bin/python" ] && "$venv/bin/python" -m pip --version; } \
    >/dev/null 2>&1; then
    rm -rf "$venv"
    "$python" -m venv "$venv" || fail "$python -m venv failed"
  fi
  # The list is complete, hence --no-deps. One of its wheels, of which we use
  # data only, names an upper limit on Python: hence --ignore-requires-python.
  quietly "$logs/pip.log" "$venv/bin/python" -m pip install \
    --disable-pip-version-check --no-deps --ignore-requires-python \
    --no-cache-dir --only-binary :all: -r "$list" ||
    fail "pip could not install the packages" "The log: $logs/pip.log"
  printf '%s\n' "$stamp" >"$venv/.installed"
  note "  done in $(seconds_since "$start") s"
}

copy_onnx_schema() {
  local target="$deps/onnx/onnx-ml.proto" source
  if [ -f "$target" ] && is_expected_schema "$target"; then
    return 0
  fi
  if [ $check_only = yes ]; then
    printf 'missing: .deps/onnx/onnx-ml.proto\n'
    incomplete=yes
    return 0
  fi
  source=$(echo "$deps"/venv/lib/python3*/site-packages/onnx/onnx-ml.proto)
  [ -f "$source" ] || fail "the onnx package has no onnx-ml.proto" \
    "Remove .deps/venv and run this script again."
  is_expected_schema "$source" || fail \
    "onnx-ml.proto is not the one of the pinned onnx package" \
    "expected sha256 $onnx_proto_sha256" \
    "found    sha256 $(sha256sum "$source" | cut -d' ' -f1)" \
    "Remove .deps/venv and run this script again."
  mkdir -p "$deps/onnx"
  cp "$source" "$target.new"
  mv "$target.new" "$target"
}

# install_apart NAME WHAT: the packages of requirements_NAME.txt in .deps/NAME,
# of which there are no wheels for other machines than x86-64; tests that need
# them are skipped there. False where there is nothing to do. Who has made of
# them what it needs says so: finish_apart NAME.
install_apart() {
  local name=$1 what=$2 list="$root/scripts/requirements_$1.txt" target
  target="$deps/$name"
  [ "$(uname -m)" = x86_64 ] || return 1
  [ "$(cat "$target/.installed" 2>/dev/null)" != "$(stamp_apart "$name")" ] ||
    return 1
  if [ $check_only = yes ]; then
    printf 'missing: %s in .deps/%s\n' "$what" "$name"
    incomplete=yes
    return 1
  fi
  say "Installing $what into .deps/$name"
  rm -rf "$target"
  quietly "$logs/pip-$name.log" "$deps/venv/bin/python" -m pip install \
    --disable-pip-version-check --no-deps --no-cache-dir \
    --only-binary :all: --prefix "$target" -r "$list" ||
    fail "pip could not install $what" "The log: $logs/pip-$name.log"
}

# A moved clone needs it anew: paths are told to others.
stamp_apart() {
  local list="$root/scripts/requirements_$1.txt"
  printf '%s %s' "$(sha256sum "$list" | cut -d' ' -f1)" "$deps/$1"
}

finish_apart() {
  stamp_apart "$1" >"$deps/$1/.installed"
}

# The loader finds it by .deps/opencl/icd: scripts/opencl_env.sh.
install_opencl_driver() {
  local target="$deps/opencl" driver
  install_apart opencl "an OpenCL driver for the processor" || return 0
  driver=$(echo "$target"/lib/libintelocl.so.*.*)
  [ -f "$driver" ] || fail "the package intel-opencl-rt has no libintelocl.so"
  # Copies of what stands beside them, and a plug-in for a linker: 400 MB.
  rm -f "$target"/lib/{libintelocl.so,libcommon_clang.so,icx-lto.so}
  mkdir -p "$target/icd"
  printf '%s\n' "$driver" >"$target/icd/intel.icd"
  finish_apart opencl
}

# Of NVIDIA's compiler the assembler alone, which tests give our PTX, and what
# shows the machine code.
install_ptxas() {
  local target="$deps/cuda" tool found
  install_apart cuda "NVIDIA's assembler and disassembler" || return 0
  mkdir -p "$target/bin"
  for tool in ptxas cuobjdump nvdisasm; do
    found=$(echo "$target"/lib/python*/site-packages/nvidia/*/bin/"$tool")
    [ -f "$found" ] || fail "no package of requirements_cuda.txt has $tool"
    mv "$found" "$target/bin/"
    chmod +x "$target/bin/$tool"
  done
  rm -rf "${target:?}/lib"
  finish_apart cuda
}

is_expected_schema() {
  [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$onnx_proto_sha256" ]
}

deps="$root/.deps"
logs="$deps/logs"
incomplete=no
install_system_packages
if [ $runtime_only = no ]; then
  install_optional_packages
  install_python_packages
  copy_onnx_schema
  install_opencl_driver
  install_ptxas
fi
[ $incomplete = no ]
