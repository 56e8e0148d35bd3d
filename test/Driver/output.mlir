// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir -p %t/there
// RUN: echo old > %t/there/old.ash && chmod 600 %t/there/old.ash
// RUN: ln -s there/old.ash %t/link.ash && ln -s there/new.ash %t/dangling.ash
// RUN: ashlar-compile %s -o %t/link.ash && ashlar-compile %s -o %t/dangling.ash
// RUN: test -L %t/link.ash && test -L %t/dangling.ash
// RUN: ashlar-run %t/there/old.ash --input=arg0=random
// RUN: ashlar-run %t/there/new.ash --input=arg0=random
// RUN: stat -c %%a %t/there/old.ash | FileCheck %s --check-prefix=MODE
// RUN: ln -s loop.ash %t/loop.ash
// RUN: not ashlar-compile %s -o %t/loop.ash 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: sh -c 'ashlar-compile %s -o - >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=STDOUT < %t/out
// RUN: sh -c 'ashlar-compile %s --until=fuse >/dev/full 2>%t/out; test $? -eq 1' && FileCheck %s --check-prefix=FULL < %t/out
// RUN: sh -c 'for n in 4 5 6 7 8 9 10 11 12; do (ulimit -n $n; ashlar-compile %s -o %t/few.ash; echo ended with $?); done 2>&1' | FileCheck %s --check-prefix=FILES
// RUN: env TMPDIR=%t/absent ashlar-compile %s -o %t/there/without-temporary.ash
// RUN: ls %t/there | FileCheck %s --check-prefix=THERE

// A link stays, what it names is replaced or made, with its permissions.
// MODE: 600
// LOOP: error: cannot write '{{.*}}loop.ash': Too many levels of symbolic links

// A module on stdout could not be mapped.
// STDOUT: ashlar-compile: -o -: a module is mapped when it is loaded, so it needs a file

// What the machine refuses is no fault of ours: it ends with 1.
// FULL: ashlar-compile: cannot write the output: No space left on device
// FILES-NOT: ended with 70
// FILES: error: {{.*}}Too many open files
// FILES-NEXT: ended with 1
// FILES-NOT: ended with 70

// No folder for temporary files is needed, and nothing else is left.
// THERE: new.ash
// THERE-NEXT: old.ash
// THERE-NEXT: without-temporary.ash
// THERE-NOT: {{.}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
