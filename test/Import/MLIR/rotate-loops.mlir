// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s --until=import | FileCheck %s

// What a loop's first block computes is computed in front of it and at the end
// of each step; the block itself only reads a flag.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[S:.*]] = linalg.reduce {{.*}} ins(%[[X]]
// CHECK: %[[C:.*]] = linalg.{{.*}} ins(%[[S]]
// CHECK: scf.while (%{{.*}} = %[[C]], %{{.*}} = %[[X]])
// CHECK-NEXT: %[[GO:.*]] = tensor.extract
// CHECK-NEXT: scf.condition(%[[GO]])
// CHECK: ^bb0(%{{.*}}: tensor<i1>{{.*}}: tensor<4xf32>
// CHECK: %[[Y:.*]] = linalg.add
// CHECK: linalg.reduce {{.*}} ins(%[[Y]]
// CHECK: scf.yield
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %limit = arith.constant dense<100.0> : tensor<f32>
  %r = scf.while (%v = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%v : tensor<4xf32>)
        outs(%f : tensor<f32>) dimensions = [0]
    %b = tensor.empty() : tensor<i1>
    %c = linalg.map ins(%s, %limit : tensor<f32>, tensor<f32>)
        outs(%b : tensor<i1>)
        (%p: f32, %q: f32, %o: i1) {
          %l = arith.cmpf olt, %p, %q : f32
          linalg.yield %l : i1
        }
    %go = tensor.extract %c[] : tensor<i1>
    scf.condition(%go) %v : tensor<4xf32>
  } do {
  ^bb0(%v: tensor<4xf32>):
    %e = tensor.empty() : tensor<4xf32>
    %w = linalg.add ins(%v, %v : tensor<4xf32>, tensor<4xf32>)
        outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
