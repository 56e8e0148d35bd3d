#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a fresh clone to a compiled model that reads handwritten digits.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/report.sh"

usage() {
  cat <<'EOF'
Usage: scripts/quickstart.sh [--python]

Installs what Ashlar needs, builds it, compiles the model in examples/digits
for this machine's CPU, runs it on real pictures and shows what it saw.
The first time takes a quarter to half an hour on two cores, most of it the
build; later times take seconds. scripts/setup.sh --help says what is installed.

  --python  also makes the Python wheels and installs them, from their folder,
            into a virtual environment: build/quickstart/venv
EOF
}

wheels=no
case ${1:-} in
  '') ;;
  --python) wheels=yes ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

cd "$root"
whole=$(now)

say "1/4  Packages"
start=$(now)
scripts/setup.sh
note "     everything is there ($(seconds_since "$start") s)"

say "2/4  Build"
start=$(now)
if [ ! -f build/build.ninja ]; then
  note "     the first build takes ten to thirty minutes on two cores"
  quietly build/logs/configure.log cmake --preset release ||
    fail "CMake could not configure the build"
fi
quietly build/logs/build.log cmake --build build --target \
  ashlar-compile ashlar-run ashlar-bench ashlar-inspect ||
  fail "the build failed"
note "     the programs are in build/bin ($(seconds_since "$start") s)"

say "3/4  Compile a model, run it on pictures it has never seen"
printf '\n'
.deps/venv/bin/python examples/digits/run.py --bin build/bin --work build/quickstart

say "4/4  What it costs to run: the memory contract, exact before it runs"
printf '\n$ build/bin/ashlar-inspect build/quickstart/digits.ash\n'
build/bin/ashlar-inspect build/quickstart/digits.ash

if [ $wheels = yes ]; then
  say "And in Python"
  scripts/wheels.sh
  rm -rf build/quickstart/venv
  .deps/venv/bin/python -m venv build/quickstart/venv
  note "  pip install build/wheels/dist/*.whl"
  quietly build/logs/pip.log build/quickstart/venv/bin/pip install \
    --disable-pip-version-check build/wheels/dist/*.whl ||
    fail "pip could not install the wheels" "The log: build/logs/pip.log"
  printf '\n$ build/quickstart/venv/bin/python\n'
  build/quickstart/venv/bin/python - <<'EOT'
import numpy, ashlar
lines = """module = ashlar.compile("examples/digits/digits.onnx", shapes={"image": (1, 1, 8, 8)})
y = module(numpy.zeros((1, 1, 8, 8), numpy.float32))"""
print(">>> " + lines.replace("\n", "\n>>> "))
exec(lines)
print(">>> module\n%r\n>>> y.shape\n%r" % (module, y.shape))
EOT
fi

cat <<EOF

${GREEN}Done in $(seconds_since "$whole") s.${PLAIN} Next:

  compile your own model    build/bin/ashlar-compile MODEL.onnx -o model.ash
  measure it                build/bin/ashlar-bench build/quickstart/digits.ash
  see what it became        build/bin/ashlar-compile examples/digits/digits.onnx \\
                              --shape=image=1x1x8x8 --until=fuse
  call it from C            runtime/examples/embed.c
  run all tests             scripts/check.sh
  read on                   docs/README.md
EOF
