#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures us beside our peers, in one run, in turns, and writes a report.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/report.sh"

usage() {
  cat <<'EOT'
Usage: benchmarks/run.sh [--only PART,...] [--models NAME,...]
                         [--shapes MxNxK,...] [--seconds S] [--build DIR]
                         [--out DIR] [--merge]

Sets up ONNX Runtime, OpenVINO, IREE, OpenBLAS and oneDNN in .deps/peers (the
first time 1.3 GB), builds what is missing, and measures: medians, everyone in
turns, on one thread and, beside it, on two. Writes results.md, results.json
and pictures.

  --only PART,...    of gemm, bf16, models, kinds, models_bf16, models_int8,
                     call, load, rebind, compile, growth
  --models NAME,...  of resnet50, mobilenet_v2, bert_base, minilm_l6,
                     ppocr_det, ppocr_rec, ppocr_cls
  --shapes MxNxK,... only these products, and any others
  --seconds S        of each contender on each item (default: 2)
  --build DIR        our build (default: build)
  --out DIR          the report (default: benchmarks/results/KIND, KIND of amx,
                     avx512, avx2; with --only, --models or --shapes:
                     build/benchmarks)
  --merge            with --only: keep the other parts of the report in
                     benchmarks/results/KIND

All of it takes about 40 minutes, no part more than five. Nothing else should run meanwhile.
EOT
}

build=$root/build out='' merge='' seconds=2 arguments=() whole=yes
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --merge) merge=--merge; shift; continue ;;
    --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
  esac
  [ $# -ge 2 ] || { usage >&2; exit 2; }
  case $1 in
    --build) build=$(realpath -m "$2") ;;
    --out) out=$(realpath -m "$2") ;;
    --seconds) seconds=$2 ;;
    --only | --models | --shapes) arguments+=("$1" "$2") whole=no ;;
    *) usage >&2; exit 2 ;;
  esac
  shift 2
done
cd "$root"
scripts/setup.sh
benchmarks/peers/setup.sh
measure() {
  PYTHONPATH=$root/benchmarks PYTHONDONTWRITEBYTECODE=1 \
    .deps/peers/venv/bin/python "$@"
}
[ $whole = no ] || merge=--merge
if [ -z "$out" ]; then
  out=$build/benchmarks
  [ -z "$merge" ] || out=$root/benchmarks/results/$(measure -c \
    'from measure import machine; print(machine.kind())')
fi
if [ ! -x "$build/bin/ashlar-bench" ]; then
  say "Building Ashlar"
  quietly "$root/.deps/logs/cmake.log" cmake --preset release -B "$build"
  quietly "$root/.deps/logs/build.log" cmake --build "$build"
fi

# Compiled for the processor that is measured, by whatever compiler there is.
native=$build/benchmarks/native
mkdir -p "$native"
compile() {
  "${CC:-cc}" -O3 -march=native -o "$native/$1" "benchmarks/native/$1.c" \
    -Iruntime/include "${@:2}"
}
compile machine
for program in gemm call rebind; do
  compile $program -L"$build/lib" -Wl,-rpath,"$build/lib" -lashlar_runtime \
    -ldl -lm
done

say "Measuring; nothing else should run on this machine meanwhile"
measure -m measure --bin "$build/bin" \
  --native "$native" --out "$out" --seconds "$seconds" $merge \
  ${arguments[@]+"${arguments[@]}"}
say "The report: $out/results.md"
