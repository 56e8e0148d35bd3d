#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The runtime as an embedder meets it: configured alone, installed into an
# empty folder, found by CMake and by pkg-config, linked by a C program that
# runs the digits example; no LLVM, no stray symbols, no more bytes than
# promised. Then the whole, from the build at hand: installed_tools.py.

set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../phase.sh"
root=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

# Apart from the compiler: neither LLVM nor protobuf may be asked for.
must configures "the runtime does not configure alone" \
  cmake -S runtime -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON -DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON -DCMAKE_INSTALL_PREFIX="$prefix" \
  -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_TESTING=OFF || closing
must builds "the runtime does not build alone" \
  cmake --build "$work/build" || closing
must installs "cmake --install failed" cmake --install "$work/build" || closing

library=$(find "$prefix/lib" -name 'libashlar*.so.*' -type f | head -n 1)
must shared "no libashlar*.so.N was installed" test -n "$library" || closing

# small NAME LIBRARY DEVICES: 251 KiB and 100 for each device, stripped; null is
# but a skeleton.
small() {
  local size allowed=$((251 + 100 * $3))
  cp "$2" "$work/stripped.so"
  strip "$work/stripped.so"
  size=$(stat -c %s "$work/stripped.so")
  echo "stripped, $1: $size bytes"
  must "size-$1" "stripped, the library has $size bytes, over $allowed KiB" \
    test "$size" -le $((allowed * 1024))
}
# The three that have kernels of GPUs share most of their code.
small alone "$library" 4
# As the whole build makes it, with another compiler and linker.
if [ -f "$build/cmake_install.cmake" ] && [ "$mode" != sanitize ]; then
  must whole-installs "cmake --install of the whole build failed" \
    cmake --install "$build" --prefix "$work/whole" --component AshlarRuntime &&
    small whole \
      "$(find "$work/whole" -name 'libashlar*.so.*' -type f | head -n 1)" 4
fi
# Devices can be left out.
if must one-device "the runtime does not build with ASHLAR_DEVICES=cpu" \
  sh -c "cmake -S runtime -B '$work/one' -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DASHLAR_DEVICES=cpu >/dev/null && cmake --build '$work/one' >/dev/null"; then
  one=$(find "$work/one/lib" -name 'libashlar*.so.*' -type f | head -n 1)
  small cpu "$one" 1
  strings "$one" | grep -q systolic
  must left-out "the simulator is part of a runtime without it" test $? -ne 0
fi
said=$(cmake -S runtime -B "$work/none" -G Ninja -DASHLAR_DEVICES='cpu;toaster' \
  2>&1 | tr -s ' \n' ' ')
must unknown-device "an unknown device is not refused by name: $said" \
  sh -c "case \$0 in *\"no device 'toaster'\"*'cpu, systolic, opencl, cuda, level-zero, hip'*) ;; *) exit 1 ;; esac" \
  "$said"
said=$(cmake -S runtime -B "$work/none" -G Ninja -DASHLAR_DEVICES=systolic \
  2>&1 | tr -s ' \n' ' ')
must device-beside "a device whose programs need another: $said" \
  sh -c "case \$0 in *\"of 'systolic'\"*'add cpu'*) ;; *) exit 1 ;; esac" \
  "$said"
echo "links: $(ldd "$library" | awk '{print $1}' | tr '\n' ' ')"
ldd "$library" | grep -qE 'LLVM|MLIR|protobuf'
must links "the library links LLVM, MLIR or protobuf" test $? -ne 0
stray=$(nm -D --defined-only "$library" | awk '{print $3}' |
  sed 's/@.*//' | grep -vE '^(ashlar_|ASHLAR_)' | head -n 5 | tr '\n' ' ')
must symbols "symbols that are not ours are visible: $stray" test -z "$stray"

# What it allocates for itself it counts, in one place.
uncounted=$(nm -A -C --undefined-only "$prefix"/lib/libashlar_runtime.a |
  grep 'U operator new' | grep -v 'OwnMemory.cpp' | head -n 5)
must counts "memory that ashlar_stats_own_memory does not see: $uncounted" \
  test -z "$uncounted"

# It takes no random numbers, so that an embedder need not give it any.
random=$(nm -D --undefined-only "$library" | awk '{print $2}' | sed 's/@.*//' |
  grep -E 'rand|entropy' | tr '\n' ' ')
must random "the library takes random numbers: $random" test -z "$random"

mkdir "$work/client"
cp runtime/examples/embed.c "$work/client/"
cat >"$work/client/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(client LANGUAGES C)
find_package(AshlarRuntime REQUIRED)
add_executable(embed embed.c)
target_link_libraries(embed PRIVATE Ashlar::AshlarRuntime)
EOF
must find-package "find_package(AshlarRuntime) does not work from outside" \
  sh -c "cmake -S '$work/client' -B '$work/client/build' -G Ninja \
    -DCMAKE_PREFIX_PATH='$prefix' && cmake --build '$work/client/build'"
pc=$(find "$prefix" -name 'ashlar*.pc' | head -n 1)
if must pkg-config "no .pc file was installed" test -n "$pc"; then
  must pkg-config-links "the C program does not build through pkg-config" \
    sh -c "cc -Wall -Wextra -Werror -o '$work/embed' runtime/examples/embed.c \
      \$(PKG_CONFIG_PATH='$(dirname "$pc")' \
         pkg-config --cflags --libs '$(basename "$pc" .pc)')"
fi

if [ -x "$build/bin/ashlar-compile" ] && [ -x "$work/embed" ]; then
  must compiles "the digits example does not compile" \
    "$build/bin/ashlar-compile" "$root/examples/digits/digits.onnx" \
    --shape=image=1x1x8x8 -o "$work/digits.ash" &&
    must runs "the C program does not run the digits example" \
      env LD_LIBRARY_PATH="$prefix/lib" "$work/embed" "$work/digits.ash"
else
  echo "SKIP embed.c is not run: ashlar-compile or embed is not built"
  skipped=$((skipped + 1))
fi
# The compiler and the tools: moved, found on PATH, described.
if [ -f "$build/cmake_install.cmake" ] && [ -x "$build/bin/ashlar-compile" ]
then
  tools=$(.deps/venv/bin/python test/Integration/install/installed_tools.py \
    --build "$build" --work "$work/tools")
  grep -v '^[0-9]* passed' <<<"$tools"
  add "$(tail -n 1 <<<"$tools")"
else
  echo "SKIP the installed tools: the compiler is not built"
  skipped=$((skipped + 1))
fi
closing
