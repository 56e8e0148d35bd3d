// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t
// RUN: ashlar-opt --help | FileCheck %s --check-prefix=HELP
// RUN: ashlar-opt %s -h | FileCheck %s --check-prefix=HELP
// RUN: ashlar-opt --version | FileCheck %s --check-prefix=VERSION
// RUN: ashlar-opt --help-list | FileCheck %s --check-prefix=LIST
// RUN: ashlar-opt %s | FileCheck %s --check-prefix=PRINT
// RUN: ashlar-opt < %s -o %t/out.mlir && FileCheck %s --check-prefix=PRINT < %t/out.mlir
// RUN: sh -c 'ashlar-opt %s --nonsense >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=FLAG < %t/out
// RUN: sh -c 'ashlar-opt %s --pass-pipeline="builtin.module(nonsense)" >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=PIPELINE < %t/out
// RUN: sh -c 'ashlar-opt %s --ashlar-tile-kernels=nonsense=1 >%t/out 2>&1; test $? -eq 2' && FileCheck %s --check-prefix=OPTION < %t/out
// RUN: sh -c 'ashlar-opt %t/absent.mlir >%t/out 2>&1; test $? -eq 1' && FileCheck %s --check-prefix=ABSENT < %t/out
// RUN: echo nonsense > %t/bad.mlir
// RUN: sh -c 'ashlar-opt %t/bad.mlir >%t/out 2>&1; test $? -eq 1'

// One screen, an example first; all the rest is in a list of its own.
// HELP: Example:
// HELP-NEXT: ashlar-opt model.mlir --ashlar-fuse-pipeline
// HELP: --help-list
// HELP: Exit: 0 done, 1 the input was refused, 2 wrong usage
// VERSION: ashlar-opt {{[0-9]+\.[0-9]+\.[0-9]+}}
// LIST-DAG: --ashlar-fuse-pipeline
// LIST-DAG: --canonicalize
// LIST-DAG: --split-input-file

// PRINT: func.func private @f()

// Wrong usage ends with 2, wrong input with 1.
// FLAG: Unknown command line argument '--nonsense'
// PIPELINE: 'nonsense' does not refer to a registered pass
// OPTION: no such option nonsense
// ABSENT: No such file or directory
func.func private @f()
