// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t && echo old > %t/file
// RUN: not ashlar-compile %s -o %t/no/folder.ash 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not ashlar-compile %s -o %t 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not ashlar-compile %s -o %t/file/below.ash 2>&1 | FileCheck %s --check-prefix=BELOW
// RUN: mkfifo %t/pipe
// RUN: not ashlar-compile %s -o %t/pipe 2>&1 | FileCheck %s --check-prefix=PIPE
// RUN: sh -c "test -p %t/pipe"
// RUN: not ashlar-compile %s -o %t/y.ash --save-temps=%t/file/temps 2>&1 | FileCheck %s --check-prefix=TEMPS
// RUN: cp %s %t/model.mlir
// RUN: not ashlar-compile %t/model.mlir -o %t/y.ash --remarks=%t/model.mlir 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: cmp %s %t/model.mlir
// RUN: not ashlar-compile %t/model.mlir -o %t/y.ash --remarks=%t/./y.ash 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: not ashlar-compile %t/model.mlir --until=fuse --remarks=%t/model.mlir 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: rm %t/model.mlir
// RUN: ls %t | FileCheck %s --check-prefix=LEFT

// The message names the file and the reason.
// MISSING: error: cannot write '{{.*}}no/folder.ash': No such file or directory
// FOLDER: error: cannot write '{{.*}}': it is a folder
// BELOW: error: cannot write '{{.*}}below.ash': Not a directory
// TEMPS: error: --save-temps: cannot make the folder '{{.*}}file/temps/cpu-host': Not a directory

// What is no file must not be replaced by one.
// PIPE: error: cannot write '{{.*}}pipe': it is a device or a pipe; expected the name of a file

// The remarks take the place neither of the model nor of the module, whether
// that is there already or not.
// MODEL: error: --remarks={{.*}}model.mlir is the model itself; give the remarks another name
// MODULE: error: --remarks={{.*}}y.ash is the module itself; give the remarks another name

// Nothing half-written stays.
// LEFT: file
// LEFT-NEXT: pipe
// LEFT-NOT: {{.}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
