// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile --help | FileCheck %s --check-prefix=HELPED
// RUN: not ashlar-compile %s -o %t.a --output %t.b 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-compile --version | FileCheck %s --check-prefix=VERSION
// RUN: ashlar-compile --help | FileCheck %s --check-prefix=HELP
// RUN: sh -c 'ashlar-compile >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=MODEL < %t/out
// RUN: sh -c 'ashlar-compile %s >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=OUTPUT < %t/out
// RUN: sh -c 'ashlar-compile %s --nonsense >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=FLAG < %t/out
// RUN: sh -c 'ashlar-compile %s --until=fusion >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=STAGE < %t/out
// RUN: sh -c 'ashlar-compile %s --until=fuse --target=, >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=TARGET < %t/out
// RUN: sh -c 'ashlar-compile %s --until=fuse --shape=x >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=SHAPE < %t/out
// RUN: sh -c 'ashlar-compile %s --until=fuse --shape=x=2 --shape=x=3 >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=TWICE < %t/out
// RUN: sh -c 'ashlar-compile %s --until=fuse --value=x >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=VALUE < %t/out
// RUN: sh -c 'ashlar-compile %s --until=fuse --value=x=2 --value=x=3 >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=VALUES < %t/out
// RUN: sh -c 'ashlar-compile %s --until=fuse --threads=many >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=THREADS < %t/out
// RUN: sh -c 'ashlar-compile %s --until=fuse --quiet --verbose >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=QUIET < %t/out
// RUN: sh -c 'ashlar-compile --help >/dev/full; test $? -eq 1'
// QUIET: --verbose excludes --quiet
// RUN: ashlar-compile --list-operators | FileCheck %s --check-prefix=LIST
// RUN: ashlar-compile --list-targets | FileCheck %s --check-prefix=TARGETS
// RUN: not ashlar-compile %s --until=fuse --value=x=2 2>&1 | FileCheck %s --check-prefix=MLIRVALUE
// RUN: not ashlar-compile --until=fuse --value=x=2 %s 2>&1 | FileCheck %s --check-prefix=MLIRVALUE
// RUN: sh -c 'ashlar-compile %s --until=fuse --fuse=some >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=FUSE < %t/out
// RUN: ashlar-compile %s -o %t/y.ash --verbose 2>&1 | FileCheck %s --check-prefix=VERBOSE
// RUN: ashlar-compile %s -o %t/y.ash 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty

// Asking is no error; help begins with an example and knows targets, stages and
// exit codes.
// VERSION: ashlar-compile {{[0-9]+\.[0-9]+\.[0-9]+}}
// HELP: Example:
// HELP-NEXT: ashlar-compile model.onnx -o model.ash
// HELP: Targets:
// HELP: Stages:
// HELP: Exit:

// Wrong usage is said in a line and ends with 2, before anything is read.
// MODEL: MODEL is required
// OUTPUT: ashlar-compile: -o FILE.ash is missing
// FLAG: --nonsense
// STAGE: ashlar-compile: --until=fusion: expected import, simplify, place, precision, fuse, tile, schedule or emit
// TARGET: ashlar-compile: --target=,: expected T[:PRESET][+...][,...]
// SHAPE: ashlar-compile: --shape=x: expected NAME=1x3x224x224
// TWICE: ashlar-compile: --shape gives 'x' twice
// VALUE: ashlar-compile: --value=x: expected NAME=16000 or NAME=0,2
// VALUES: ashlar-compile: --value gives 'x' twice
// FUSE: ashlar-compile: --fuse=some: expected none, basic or all
// THREADS: --threads: Value many not in range 1 to 4096

// The importer's own table: operator, opsets with a definition, types.
// LIST: {{^}}Add{{[[:space:]]}}1 6 7 13 14{{[[:space:]]}}float uint8 int8
// LIST: {{^}}Cast{{[[:space:]]}}6 9 13
// LIST-SAME: float8e4m3fn
// LIST: {{^}}com.microsoft.MatMulNBits{{[[:space:]]}}1

// What --target takes, from the compiler's own list.
// TARGETS: {{^}}cpu:host{{$}}
// TARGETS: {{^}}reference:
// TARGETS: {{^}}systolic:gemmini{{$}}

// MLIRVALUE: --value is for inputs of ONNX models

// Verbose shows each stage with its time; without it, success is silent.
// VERBOSE: import ...
// VERBOSE-NEXT: import {{.*}} s
// VERBOSE-NEXT: simplify ...
// VERBOSE-NEXT: simplify {{.*}} s
// VERBOSE-NEXT: place ...
// VERBOSE-NEXT: place {{.*}} s
// VERBOSE-NEXT: precision ...
// VERBOSE-NEXT: precision {{.*}} s
// VERBOSE-NEXT: fuse ...
// VERBOSE-NEXT: fuse {{.*}} s
// VERBOSE-NEXT: tile ...
// VERBOSE-NEXT: tile {{.*}} s
// VERBOSE-NEXT: schedule ...
// VERBOSE-NEXT: schedule {{.*}} s
// VERBOSE-NEXT: emit ...
// VERBOSE-NEXT: emit {{.*}} s
// SILENT-NOT: {{.}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// The targets are those that are registered.
// HELPED: Targets: cpu:host|
// HELPED: {{^ +}}reference:generic
// HELPED: {{^ +}}systolic:
// HELPED-SAME: gemmini

// OUTPUTS: ashlar-compile: --output is given 2 times; expected it once at most
