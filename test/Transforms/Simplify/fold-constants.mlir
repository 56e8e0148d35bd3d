// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-fold-constants --split-input-file | FileCheck %s
// RUN: ashlar-opt %s --ashlar-fold-constants=maximum-elements=2 --split-input-file | FileCheck %s --check-prefix=LIMIT

// What depends on constants only is one constant, and what made it is gone.
// With a limit, larger results stay.
// CHECK-LABEL: func.func @arithmetic
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<[11, 22, 33]> : tensor<3xi64>
// CHECK-NEXT: return %[[C]]
// LIMIT-LABEL: func.func @arithmetic
// LIMIT: linalg.generic
#same = affine_map<(i) -> (i)>
func.func @arithmetic() -> tensor<3xi64> {
  %a = arith.constant dense<[1, 2, 3]> : tensor<3xi64>
  %b = arith.constant dense<[10, 20, 30]> : tensor<3xi64>
  %e = tensor.empty() : tensor<3xi64>
  %c = linalg.generic {indexing_maps = [#same, #same, #same],
                       iterator_types = ["parallel"]}
      ins(%a, %b : tensor<3xi64>, tensor<3xi64>) outs(%e : tensor<3xi64>) {
  ^bb0(%x: i64, %y: i64, %o: i64):
    %s = arith.addi %x, %y : i64
    linalg.yield %s : i64
  } -> tensor<3xi64>
  return %c : tensor<3xi64>
}

// -----

// Views of constants are constants: shape arithmetic consists of these.
// CHECK-LABEL: func.func @slice
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<[7, 9]> : tensor<2xi64>
// CHECK-NEXT: return %[[C]]
func.func @slice() -> tensor<2xi64> {
  %a = arith.constant dense<[5, 7, 9, 11]> : tensor<4xi64>
  %s = tensor.extract_slice %a[1] [2] [1] : tensor<4xi64> to tensor<2xi64>
  return %s : tensor<2xi64>
}

// -----

// What depends on an argument stays.
// CHECK-LABEL: func.func @argument
// CHECK: linalg.generic
#same = affine_map<(i) -> (i)>
func.func @argument(%a: tensor<3xi64>) -> tensor<3xi64> {
  %b = arith.constant dense<[10, 20, 30]> : tensor<3xi64>
  %e = tensor.empty() : tensor<3xi64>
  %c = linalg.generic {indexing_maps = [#same, #same, #same],
                       iterator_types = ["parallel"]}
      ins(%a, %b : tensor<3xi64>, tensor<3xi64>) outs(%e : tensor<3xi64>) {
  ^bb0(%x: i64, %y: i64, %o: i64):
    %s = arith.addi %x, %y : i64
    linalg.yield %s : i64
  } -> tensor<3xi64>
  return %c : tensor<3xi64>
}

// -----

// A broadcast of few elements to many would only become bytes in the file.
// CHECK-LABEL: func.func @broadcast
// CHECK: linalg.generic
func.func @broadcast() -> tensor<100x3xi64> {
  %a = arith.constant dense<[1, 2, 3]> : tensor<3xi64>
  %e = tensor.empty() : tensor<100x3xi64>
  %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<3xi64>) outs(%e : tensor<100x3xi64>) {
  ^bb0(%x: i64, %o: i64):
    linalg.yield %x : i64
  } -> tensor<100x3xi64>
  return %c : tensor<100x3xi64>
}

// -----

// A fill is an initial value, made where it is used.
// CHECK-LABEL: func.func @fill
// CHECK: linalg.fill
func.func @fill() -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %f : tensor<4xf32>
}

// -----

// Code that nothing reads goes.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT: return
func.func @dead(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}

// -----

// What is dead in a loop's body goes only when all has been folded: an op that
// takes its memory is another one, and its value is its own.
// CHECK-LABEL: func.func @after_a_loop
// CHECK-DAG: arith.constant dense<[5, 7]> : tensor<2xi64>
// CHECK-DAG: arith.constant dense<[50, 70]> : tensor<2xi64>
func.func @after_a_loop(%x: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %a = arith.constant dense<[2, 3]> : tensor<2xi64>
  %b = arith.constant dense<[3, 4]> : tensor<2xi64>
  %c = arith.constant dense<[10, 10]> : tensor<2xi64>
  %e = tensor.empty() : tensor<2xi64>
  %y = scf.for %i = %zero to %ten step %one iter_args(%s = %x) -> (tensor<2xi64>) {
    %p = linalg.sub ins(%a, %b : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>) -> tensor<2xi64>
    %q = linalg.sub ins(%b, %a : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>) -> tensor<2xi64>
    %r = linalg.add ins(%p, %s : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>) -> tensor<2xi64>
    %t = linalg.add ins(%q, %r : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>) -> tensor<2xi64>
    scf.yield %t : tensor<2xi64>
  }
  %u = linalg.add ins(%a, %b : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>) -> tensor<2xi64>
  %v = linalg.mul ins(%u, %c : tensor<2xi64>, tensor<2xi64>) outs(%e : tensor<2xi64>) -> tensor<2xi64>
  return %y, %u, %v : tensor<2xi64>, tensor<2xi64>, tensor<2xi64>
}
