#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Measures us beside ONNX Runtime, in one run, in turns, and writes a report.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/scripts/report.sh"

usage() {
  cat <<'EOF'
Usage: benchmarks/run.sh [--bin DIR] [--out FILE.md] [--seconds S] [MODEL...]

Compiles the models, checks their numbers, and times one thread of ours beside
one thread of ONNX Runtime's: three rounds in turns, the median of the rounds'
medians. Writes a table in Markdown, with the machine it was measured on, and
the same figures as JSON beside it.

  --bin DIR      the programs to measure (default: build/bin)
  --out FILE.md  the report (default: build/benchmarks/report.md)
  --seconds S    of each round (default: 2)
  MODEL...       only these (default: the models of the report)

Nothing else should run on the machine meanwhile.
EOF
}

bin=$root/build/bin out=$root/build/benchmarks/report.md seconds=2 models=()
while [ $# -gt 0 ]; do
  case $1 in
    --bin) bin=$(cd "$2" && pwd); shift ;;
    --out) out=$(realpath -m "$2"); shift ;;
    --seconds) seconds=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) models+=("$1") ;;
  esac
  shift
done
[ ${#models[@]} -gt 0 ] || models=(
  ppocr_det ppocr_rec ppocr_cls resnet50 mobilenet_v2 bert_base minilm_l6
  light_squeezenet_random light_shufflenet_random light_inception_v1_random
  light_densenet121_random
)
cd "$root"
scripts/setup.sh
[ -x "$bin/ashlar-bench" ] ||
  fail "there is no ashlar-bench in $bin" "Build first: cmake --build build"
mkdir -p "$(dirname "$out")"
figures=${out%.md}.json

say "Measuring ${#models[@]} models, about $((${#models[@]} * 20)) s"
.deps/venv/bin/python test/Integration/compare_models.py --bin "$bin" --bench \
  --seconds "$seconds" --json "$figures" "${models[@]}"
.deps/venv/bin/python benchmarks/report.py "$figures" --bin "$bin" >"$out"
say "The report: $out"
