# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# expect_at_sizes.sh COMPILE RUN MODEL OPEN.ash INPUT=SHAPE...: what the module of open
# sizes computes on random inputs of these shapes, beside the target reference
# compiled for them alone, with one thread and with three.
set -eu
compile=$1 run=$2 model=$3 open=$4
shift 4
shapes='' inputs=''
for input; do
  shapes="$shapes --shape=$input"
  inputs="$inputs --input=${input%%=*}=random:5"
done
"$compile" "$model" -o fixed.ash --target=reference $shapes
"$run" fixed.ash $inputs --output=y=y.npy
for threads in 1 3; do
  "$run" "$open" $inputs $shapes --expect=y=y.npy --rtol=1e-4 --atol=1e-5 \
    --threads=$threads
done
