// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-compile %s -o %t.ash --target=cpu:x86-64-v4 --shape=open=2xN --dim=N=1..40 --save-temps=%t.temps --quiet
// RUN: FileCheck %s --input-file=%t.temps/cpu-x86-64-v4/k0_one.opt.ll --check-prefix=ONE
// RUN: FileCheck %s --input-file=%t.temps/cpu-x86-64-v4/k1_two.opt.ll --check-prefix=TWO
// RUN: FileCheck %s --input-file=%t.temps/cpu-x86-64-v4/k2_open.opt.ll --check-prefix=OPEN
// RUN: ashlar-inspect %t.ash --disassemble=k0_one | FileCheck %s --check-prefix=CODE

// One element behind a whole vector is stored as a scalar: LLVM would store
// the four bytes that it was cut from.
// ONE: call <16 x i32> @llvm.masked.load
// ONE: %[[NARROW:.*]] = trunc <16 x i32> {{.*}} to <16 x i8>
// ONE: %[[LAST:.*]] = extractelement <16 x i8> %[[NARROW]], i64 0
// ONE: store i8 %[[LAST]], ptr %{{.*}}, align 1
// ONE-NOT: call void @llvm.masked.store
// CODE: vpmovdb
// CODE-NOT: {{(movl|vmovd|vmovss|vextractps).*\)$}}
// CODE: {{movb|vpextrb}} {{.*}}, {{.*}}(%{{.*}})
// CODE-NOT: {{(movl|vmovd|vmovss|vextractps).*\)$}}

// Two are stored with a mask.
// TWO: call void @llvm.masked.store{{.*}} <16 x i1> <i1 true, i1 true, i1 false

// So is what only the call says the length of.
// OPEN: call void @llvm.masked.store{{.*}} <16 x i1> %
#rows = affine_map<(m, n) -> (m, n)>
func.func @main(%one: tensor<2x17xi32>, %two: tensor<2x18xi32>, %open: tensor<2x?xi32> {ashlar.name = "open"})
    -> (tensor<2x17xi8>, tensor<2x18xi8>, tensor<2x?xi8>) {
  %a = tensor.empty() : tensor<2x17xi8>
  %0 = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%one : tensor<2x17xi32>) outs(%a : tensor<2x17xi8>) {
  ^bb0(%u: i32, %o: i8):
    %t = arith.trunci %u : i32 to i8
    linalg.yield %t : i8
  } -> tensor<2x17xi8> loc("one")
  %b = tensor.empty() : tensor<2x18xi8>
  %1 = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%two : tensor<2x18xi32>) outs(%b : tensor<2x18xi8>) {
  ^bb0(%u: i32, %o: i8):
    %t = arith.trunci %u : i32 to i8
    linalg.yield %t : i8
  } -> tensor<2x18xi8> loc("two")
  %c1 = arith.constant 1 : index
  %n = tensor.dim %open, %c1 : tensor<2x?xi32>
  %c = tensor.empty(%n) : tensor<2x?xi8>
  %2 = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%open : tensor<2x?xi32>) outs(%c : tensor<2x?xi8>) {
  ^bb0(%u: i32, %o: i8):
    %t = arith.trunci %u : i32 to i8
    linalg.yield %t : i8
  } -> tensor<2x?xi8> loc("open")
  return %0, %1, %2 : tensor<2x17xi8>, tensor<2x18xi8>, tensor<2x?xi8>
}
