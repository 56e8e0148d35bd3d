#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the wheels where nothing of ours is: a fresh virtual environment in a
# sandbox that has no network, no /usr/lib/llvm-*, none of the repository and, of
# the system's libraries, only those of a base system. Compiles, runs, compares.
#
#   bare_install.sh WHEELS DEPENDENCIES [ROOT]
#
# WHEELS: folder of ours. DEPENDENCIES: folder of the wheels they need. ROOT: a
# bootstrapped system (mmdebstrap); without it, this one's base libraries.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
wheels=$(cd "$1" && pwd) dependencies=$(cd "$2" && pwd) system=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home"
cp "$here/bare_install.py" "$here/../../examples/digits/digits.onnx" "$work/home"

sandbox=(bwrap --unshare-all --die-with-parent --clearenv --tmpfs /tmp
  --setenv PATH /usr/bin:/bin --setenv HOME /home --setenv LC_ALL C.UTF-8)
if [ -n "$system" ]; then
  sandbox+=(--bind "$system" / --proc /proc --dev /dev --tmpfs /tmp)
else
  # The whole of /usr less LLVM, headers, and every shared library that is not
  # one of the C library, the C++ library or Python's own.
  mkdir "$work/lib"
  for name in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 \
    libutil.so.1 libstdc++.so.6 libgcc_s.so.1 libz.so.1 libexpat.so.1 \
    libffi.so.8 libcrypto.so.3 libssl.so.3 libbz2.so.1.0 liblzma.so.5 \
    libsqlite3.so.0 libuuid.so.1 libreadline.so.8 libtinfo.so.6 \
    libresolv.so.2 libnsl.so.2 libtirpc.so.3 libselinux.so.1 \
    libpcre2-8.so.0 ld-linux-x86-64.so.2; do
    found=$(readlink -f "/lib/x86_64-linux-gnu/$name") &&
      [ -e "$found" ] && cp "$found" "$work/lib/$name"
  done
  sandbox+=(--ro-bind /usr/bin /usr/bin --symlink usr/bin /bin
    --ro-bind "$work/lib" /usr/lib/x86_64-linux-gnu --symlink usr/lib /lib
    --symlink usr/lib/x86_64-linux-gnu /lib64
    --proc /proc --dev /dev --ro-bind /etc/ssl /etc/ssl)
  for folder in /usr/lib/python3*; do
    sandbox+=(--ro-bind "$folder" "$folder")
  done
  sandbox+=(--ro-bind-try /usr/share/python-wheels /usr/share/python-wheels)
fi
sandbox+=(--bind "$work/home" /home --ro-bind "$wheels" /wheels
  --ro-bind "$dependencies" /dependencies --chdir /home)

"${sandbox[@]}" sh -euc '
  test ! -e /usr/lib/llvm-22
  /usr/bin/python3 -m venv venv
  venv/bin/pip install --quiet --disable-pip-version-check --no-index \
    --find-links=/dependencies /wheels/*.whl
  venv/bin/python bare_install.py
  for tool in check compile opt plan run bench inspect; do
    venv/bin/ashlar-$tool --version
  done
  venv/bin/ashlar-compile digits.onnx --shape=image=1x1x8x8 -o digits.ash
  venv/bin/ashlar-run digits.ash --input=image=random --print >/dev/null
'
for part in ashlar_compiler ashlar; do
  size=$(du -sb "$work"/home/venv/lib/python3*/site-packages/$part | cut -f1)
  echo "installed, $part: $size bytes"
  [ "$size" -le 300000000 ] || exit 1
done
