#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The binding and the runtime under AddressSanitizer and UBSan.
#
#   asan.sh build FOLDER             builds them there
#   asan.sh run FOLDER PYTHON ...    runs a Python with them
#
# Python itself is not instrumented, so the sanitizer is loaded in front of it;
# its own leaks are nobody's concern here. The compiler is the one installed.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
what=$1 folder=$2
shift 2
flags='-fsanitize=address,undefined -fno-sanitize-recover=all -shared-libsan'
case $what in
  build)
    cmake -S "$root/python/runtime" -B "$folder" -G Ninja \
      -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang-22 \
      -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_C_FLAGS="$flags" \
      -DCMAKE_CXX_FLAGS="$flags -fno-omit-frame-pointer" \
      -DPython_EXECUTABLE="$root/.deps/venv/bin/python"
    cmake --build "$folder"
    cmake --install "$folder" --component AshlarPython --prefix "$folder/site"
    cp "$root"/python/runtime/ashlar/* "$folder/site/ashlar/"
    ;;
  run)
    export PYTHONPATH=$folder/site:${PYTHONPATH:-}
    export LD_LIBRARY_PATH=$folder/site/ashlar/lib PYTHONMALLOC=malloc
    LD_PRELOAD=$(clang++-22 -print-file-name=libclang_rt.asan-x86_64.so)
    export LD_PRELOAD
    # Drivers for GPUs open libraries in a way that ends a sanitized process.
    export OCL_ICD_VENDORS=${OCL_ICD_VENDORS:-/dev/null}
    export ASAN_OPTIONS=detect_leaks=0:exitcode=86:allocator_may_return_null=1
    exec "$@"
    ;;
esac
