// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An object is two files. No other output may take the place of either.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: sh -c 'ashlar-compile %s -o m.o --emit=static --trace=m.h >out 2>&1; test $? -eq 1' && FileCheck %s --check-prefix=TRACE < out
// TRACE: error: --trace=m.h is the header of -o m.o; give the trace another name
// RUN: sh -c 'ashlar-compile %s -o m.o --emit=static --remarks=./m.h >out 2>&1; test $? -eq 1' && FileCheck %s --check-prefix=REMARKS < out
// REMARKS: error: --remarks=./m.h is the header of -o m.o; give the remarks another name
// RUN: sh -c 'ashlar-compile %s -o m.o --emit=riscv-object --target=systolic:gemmini --trace=m.h >out 2>&1; test $? -eq 1' && FileCheck %s --check-prefix=TRACE < out
// RUN: sh -c 'ashlar-compile %s -o m.o --emit=static --trace=m.o >out 2>&1; test $? -eq 1' && FileCheck %s --check-prefix=OBJECT < out
// OBJECT: error: --trace=m.o is the module itself; give the trace another name
// RUN: not ls m.o m.h
// RUN: touch m.o && ln -s m.o m.h
// RUN: sh -c 'ashlar-compile %s -o m.o --emit=static >out 2>&1; test $? -eq 1' && FileCheck %s --check-prefix=LINK < out
// LINK: error: the header of -o, m.h is the module itself; give the object another name
// RUN: sh -c 'rm -f m.o m.h'

// Where the object cannot be written, the header of before stays, too: a limit
// of files that only the header keeps.
// RUN: echo before > m.h && cp m.h m.o
// RUN: sh -c 'trap "" XFSZ; ulimit -f 3; ashlar-compile %s -o m.o --emit=static >out 2>&1; test $? -ne 0' && FileCheck %s --check-prefix=FULL < out
// FULL: error: cannot write 'm.o': File too large
// RUN: echo before | cmp - m.h && echo before | cmp - m.o
// RUN: ashlar-compile %s -o m.o --emit=static && grep SCRATCH m.h
func.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %y = linalg.exp ins(%x : tensor<4x64xf32>)
                  outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}
