// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-outline-kernels --split-input-file | FileCheck %s

// Bodies that differ in nothing but locations share one kernel, which knows the
// nodes of both. It takes memrefs, the result's last, and counts its work.
// CHECK-LABEL: func.func @shared
// CHECK: %[[A:.*]] = exec.invoke @k0_first_Exp(%{{.*}}) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: %[[B:.*]] = exec.invoke @k0_first_Exp(%[[A]]) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: return %[[B]]
// CHECK: exec.kernel @k0_first_Exp calls @k0_first_Exp_body : (memref<8xf32>) -> memref<8xf32>
// CHECK-SAME: {flops = #exec.size<8>, nodes = ["first/Exp", "second"]}
// CHECK-NEXT: func.func private @k0_first_Exp_body(%[[IN:.*]]: memref<8xf32>, %[[OUT:.*]]: memref<8xf32>
// CHECK: %[[X:.*]] = bufferization.to_tensor %[[IN]] restrict
// CHECK: %[[Y:.*]] = linalg.exp ins(%[[X]]
// CHECK: bufferization.materialize_in_destination %[[Y]] in restrict writable %[[OUT]]
// CHECK-NOT: func.func
func.func @shared(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = exec.dispatch(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%u: tensor<8xf32>):
    %e = tensor.empty() : tensor<8xf32>
    %m = linalg.exp ins(%u : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    exec.yield %m : tensor<8xf32>
  } loc("first/Exp")
  %b = exec.dispatch(%a) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%u: tensor<8xf32>):
    %e = tensor.empty() : tensor<8xf32>
    %m = linalg.exp ins(%u : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    exec.yield %m : tensor<8xf32>
  } loc("second")
  return %b : tensor<8xf32>
}

// -----

// The same ops in the same order, which read other values, are other kernels.
// CHECK-LABEL: func.func @crossed
// CHECK: exec.invoke @k0_kernel
// CHECK: exec.invoke @k1_kernel
func.func @crossed(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %a = exec.dispatch(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%u: tensor<8xf32>, %v: tensor<8xf32>):
    %e = tensor.empty() : tensor<8xf32>
    %m = linalg.sub ins(%u, %v : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    exec.yield %m : tensor<8xf32>
  } loc("kernel")
  %b = exec.dispatch(%a, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%u: tensor<8xf32>, %v: tensor<8xf32>):
    %e = tensor.empty() : tensor<8xf32>
    %m = linalg.sub ins(%v, %u : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    exec.yield %m : tensor<8xf32>
  } loc("kernel")
  return %b : tensor<8xf32>
}

// -----

// Other types, attributes or constants are other kernels.
// CHECK-LABEL: func.func @different
// CHECK: exec.invoke @k0_kernel
// CHECK: exec.invoke @k1_kernel
// CHECK: exec.invoke @k2_kernel
func.func @different(%x: tensor<8xf32>, %y: tensor<9xf32>)
    -> (tensor<8xf32>, tensor<9xf32>, tensor<8xf32>) {
  %a = exec.dispatch(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%u: tensor<8xf32>):
    %c = arith.constant 1.0 : f32
    %m = linalg.fill ins(%c : f32) outs(%u : tensor<8xf32>) -> tensor<8xf32>
    exec.yield %m : tensor<8xf32>
  }
  %b = exec.dispatch(%y) : (tensor<9xf32>) -> tensor<9xf32> {
  ^bb0(%u: tensor<9xf32>):
    %c = arith.constant 1.0 : f32
    %m = linalg.fill ins(%c : f32) outs(%u : tensor<9xf32>) -> tensor<9xf32>
    exec.yield %m : tensor<9xf32>
  }
  %d = exec.dispatch(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%u: tensor<8xf32>):
    %c = arith.constant 2.0 : f32
    %m = linalg.fill ins(%c : f32) outs(%u : tensor<8xf32>) -> tensor<8xf32>
    exec.yield %m : tensor<8xf32>
  }
  return %a, %b, %d : tensor<8xf32>, tensor<9xf32>, tensor<8xf32>
}

// -----

// The result may take the place of operands that only the last op reads, each
// element for the element in the same place: not of one that is broadcast, has
// another width, or that an earlier op reads.
// CHECK-LABEL: func.func @aliases
// CHECK: exec.kernel @k0_kernel
// CHECK-SAME: aliases = array<i64: 1>
#id = affine_map<(i) -> (i)>
#first = affine_map<(i) -> (0)>
func.func @aliases(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>,
                   %w: tensor<8xf64>) -> tensor<8xf32> {
  %r = exec.dispatch(%x, %y, %z, %w) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>) -> tensor<8xf32> {
  ^bb0(%x0: tensor<8xf32>, %y0: tensor<8xf32>, %z0: tensor<8xf32>, %w0: tensor<8xf64>):
    %e = tensor.empty() : tensor<8xf32>
    %m = linalg.exp ins(%x0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %s = linalg.generic {indexing_maps = [#id, #id, #first, #id, #id, #id],
                         iterator_types = ["parallel"]}
        ins(%m, %y0, %z0, %w0, %x0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf64>, tensor<8xf32>)
        outs(%e : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f64, %f: f32, %o: f32):
      %g = arith.addf %a, %b : f32
      %h = arith.addf %g, %c : f32
      linalg.yield %h : f32
    } -> tensor<8xf32>
    exec.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----

// A sum writes its result before it has read all operands.
// CHECK-LABEL: func.func @noAliases
// CHECK: exec.kernel @k0_kernel
// CHECK-NOT: aliases
func.func @noAliases(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = exec.dispatch(%x, %y, %z) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%x0: tensor<8x8xf32>, %y0: tensor<8x8xf32>, %z0: tensor<8x8xf32>):
    %m = linalg.matmul ins(%x0, %y0 : tensor<8x8xf32>, tensor<8x8xf32>)
                       outs(%z0 : tensor<8x8xf32>) -> tensor<8x8xf32>
    exec.yield %m : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// -----

// A tensor without elements has no address: its place is memref<0> and nothing
// is stored.
// CHECK-LABEL: func.func @empty
// CHECK: func.func private @k0_kernel_body(%{{.*}}: memref<0xf32>, %{{.*}}: memref<0xf32>
// CHECK-NOT: bufferization
// CHECK: return
func.func @empty(%x: tensor<3x0x5xf32>) -> tensor<3x0x5xf32> {
  %r = exec.dispatch(%x) : (tensor<3x0x5xf32>) -> tensor<3x0x5xf32> {
  ^bb0(%u: tensor<3x0x5xf32>):
    %e = tensor.empty() : tensor<3x0x5xf32>
    %m = linalg.exp ins(%u : tensor<3x0x5xf32>) outs(%e : tensor<3x0x5xf32>) -> tensor<3x0x5xf32>
    exec.yield %m : tensor<3x0x5xf32>
  }
  return %r : tensor<3x0x5xf32>
}

// -----

// A loop ends where a size says, which is said at the loop; what it carries and
// the slices of its steps are as large as their sizes.
#n = #exec.size<affine_map<()[s0] -> (s0)>, largest = 8>
#t = #exec.size<affine_map<()[s0, s1] -> (s1)>, largest = 4>
// CHECK-LABEL: func.func @steps
// CHECK: func.func private @k0_kernel_body
// CHECK-SAME: %[[N:[a-z0-9]+]]: index {exec.size = #exec.size<#{{.*}}, largest = 8>}
// CHECK-SAME: %[[T:[a-z0-9]+]]: index {exec.size = #exec.size<#{{.*}}, largest = 4>}
// CHECK: %[[X:.*]] = bufferization.to_tensor {{.*}} to tensor<?xf32>
// CHECK: %[[ROWS:.*]] = bufferization.to_tensor {{.*}} to tensor<?x?xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[T]] step %{{.*}} iter_args(%[[S:.*]] = %[[X]]) -> (tensor<?xf32>)
// CHECK: tensor.extract_slice %[[ROWS]][%[[I]], 0] [1, %[[N]]] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
// CHECK: %[[R:.*]] = linalg.add
// CHECK: scf.yield %[[R]] : tensor<?xf32>
func.func @steps(%x: tensor<8xf32> {exec.sizes = [#n]}, %rows: tensor<4x8xf32> {exec.sizes = [#t, #n]}) -> tensor<8xf32> {
  %a = exec.dispatch(%x, %rows) {exec.sizes = [[#n]]} : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<8xf32> {
  ^bb0(%u: tensor<8xf32>, %v: tensor<4x8xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant {exec.attribute_sizes = {value = [#t]}} 4 : index
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %u) -> tensor<8xf32> {
      %row = tensor.extract_slice %v[%i, 0] [1, 8] [1, 1] {exec.sizes = [[#n]], exec.attribute_sizes = {static_sizes = [#exec.size<1>, #n]}} : tensor<4x8xf32> to tensor<8xf32>
      %m = linalg.add {exec.sizes = [[#n]]} ins(%s, %row : tensor<8xf32>, tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %m : tensor<8xf32>
    } {exec.sizes = [[#n]], exec.attribute_sizes = {upperBound = [#t]}}
    exec.yield %r : tensor<8xf32>
  }
  return %a : tensor<8xf32>
}
