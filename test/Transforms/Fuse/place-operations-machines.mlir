// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places on made-up machines, whose files have no target: a device that is 50
// times as fast as the host, behind a bus.
// DEFINE: %{change} = %python %S/../../Driver/Inputs/break_machine.py %S/Inputs/fast.json
// DEFINE: %{remarks} = --remark-format=emitRemark --remarks-filter=place -o /dev/null 2>&1
// RUN: rm -rf %t && split-file %s %t

// A fast link: the whole chain moves, and what lies between two contractions
// comes along. Only its ends cross.
// RUN: ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%S/Inputs/fast.json | FileCheck %s --check-prefix=FAST
// FAST: tile.contract {{.*}}device = 1
// FAST: linalg.generic {{.*}}exec.device = 1
// FAST: tile.contract {{.*}}device = 1
// RUN: ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%S/Inputs/fast.json --ashlar-form-dispatches --ashlar-insert-transfers | FileCheck %s --check-prefix=CROSS --implicit-check-not=exec.device
// CROSS: exec.transfer %arg0 to 1
// CROSS-COUNT-3: exec.dispatch{{.*}}device = 1
// CROSS: exec.transfer {{.*}} to 0
// CROSS-NOT: exec.transfer

// A slow one: nothing moves, and remarks tell both prices.
// RUN: %{change} %t/slow.json 'links[0].bytes_per_second=1000000'
// RUN: ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/slow.json | FileCheck %s --check-prefix=SLOW --implicit-check-not='device = '
// SLOW: func.func @chain
// RUN: ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/slow.json %{remarks} | FileCheck %s --check-prefix=WHY
// WHY: [Analysis] Placement {{.*}} GreedyMicroseconds=209{{.*}} HostMicroseconds=[[HOST:.*]], Microseconds=[[HOST]], Moved=0, Operations=3
// WHY: [Missed] Placed {{.*}} Bytes=2097152, Remark="stays on the host, where all takes least: "{{.*}}, Times="{{[0-9.]+}} us here, {{[0-9.]+}} us on made-up:fast"
// A start of a tenth of a second is as good as a slow link.
// RUN: %{change} %t/late.json 'links[0].start_ns=100000000'
// RUN: ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/late.json | FileCheck %s --check-prefix=SLOW --implicit-check-not='device = '
// Without a link, what crosses is as fast as both memories.
// RUN: %{change} %t/near.json links=-
// RUN: ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/near.json | FileCheck %s --check-prefix=FAST

// The product in the middle is refused there: it stays, and with it what makes
// its operands, since fewer bytes cross before they are widened.
// RUN: %{change} %t/middle.json 'links[0].bytes_per_second=2e9'
// RUN: ashlar-opt %t/middle.mlir --ashlar-place-operations=devices=%t/middle.json | FileCheck %s --check-prefix=MIDDLE --implicit-check-not='device = '
// RUN: ashlar-opt %t/middle.mlir --ashlar-place-operations=devices=%t/middle.json %{remarks} | FileCheck %s --check-prefix=REFUSED
// MIDDLE: tile.contract {{.*}}xf32>) attributes {device = 1
// MIDDLE: arith.extf
// MIDDLE: tile.contract {{.*}}xf64>) attributes {maps
// MIDDLE: arith.truncf
// MIDDLE: tile.contract {{.*}}xf32>) attributes {device = 1
// REFUSED: [Missed] Placed {{.*}} Reason="made-up:fast: no unit of it takes f64 times f64 into f64"

// Bringing x pays for two readers, since it comes once, and not for one.
// RUN: %{change} %t/bus.json 'links[0].bytes_per_second=3e9'
// RUN: ashlar-opt %t/one.mlir --ashlar-place-operations=devices=%t/bus.json | FileCheck %s --check-prefix=ONE --implicit-check-not='device = '
// RUN: ashlar-opt %t/two.mlir --ashlar-place-operations=devices=%t/bus.json | FileCheck %s --check-prefix=TWO
// ONE: func.func @one
// TWO-COUNT-2: tile.contract {{.*}}device = 1

// Each of three devices has what it is good at; between two of them a tensor
// goes through the host. A program for one of them alone is another.
// RUN: sed -e 's/"fast"/"bytes"/' -e 's/"left": "f32", "right": "f32", "accumulator": "f32"/"left": "s8", "right": "s8", "accumulator": "s32"/' %S/Inputs/fast.json > %t/bytes.json
// RUN: ashlar-opt %t/three.mlir --ashlar-place-operations=devices=%S/Inputs/fast.json+%t/bytes.json | FileCheck %s --check-prefix=THREE
// RUN: ashlar-opt %t/three.mlir --ashlar-place-operations=devices=%t/bytes.json+%S/Inputs/fast.json | FileCheck %s --check-prefix=TURNED
// THREE: tile.contract {{.*}}xf32>) attributes {device = 1
// THREE: arith.fptosi
// THREE: tile.contract {{.*}}xi32>) attributes {device = 2
// TURNED: tile.contract {{.*}}xf32>) attributes {device = 2
// TURNED: tile.contract {{.*}}xi32>) attributes {device = 1

// Of equals the first that can.
// RUN: sed -e 's/"fast"/"twin"/' %S/Inputs/fast.json > %t/twin.json
// RUN: ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/twin.json+%S/Inputs/fast.json | FileCheck %s --check-prefix=FAST

// A host that nobody asked for keeps only what no device takes.
// RUN: ashlar-opt %t/chain.mlir '--ashlar-place-operations=devices=%t/slow.json host-stands-in' | FileCheck %s --check-prefix=FAST

// What is wrong with a file or a name is said before anything is placed.
// RUN: not ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%S/Inputs/fast.json+%t/slow.json 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: devices={{.*}}: made-up:fast is named twice; expected each device once
// RUN: %{change} %t/bad.json 'links[0].bytes_per_second=0'
// RUN: not ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/bad.json 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: bad.json': links[0].bytes_per_second: expected a number from 1 to {{.*}}, found 0
// RUN: %{change} %t/bad.json 'links[0].bytes_per_second=-5'
// RUN: not ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/bad.json 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: links[0].bytes_per_second: expected a number from 1 to {{.*}}, found -5
// RUN: %{change} %t/bad.json 'links[0].start_ns=-1'
// RUN: not ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/bad.json 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: links[0].start_ns: expected a number from 0 to {{.*}}, found -1
// RUN: %{change} %t/bad.json 'links[0].to="disk"'
// RUN: not ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/bad.json 2>&1 | FileCheck %s --check-prefix=WHERE
// WHERE: links[0].to: expected host, through which all devices of a program reach each other, found 'disk'
// RUN: %{change} %t/bad.json 'links[0].bytes_per_second=1e13'
// RUN: not ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/bad.json 2>&1 | FileCheck %s --check-prefix=MOST
// MOST: links[0].bytes_per_second: expected at most those of 'main', in which it ends, 1024000000000, found 10000000000000
// RUN: %{change} %t/bad.json 'links=[{"name": "a", "to": "host", "bytes_per_second": 5, "start_ns": 0, "source": "x"}, {"name": "b", "to": "host", "bytes_per_second": 5, "start_ns": 0, "source": "x"}]'
// RUN: not ashlar-opt %t/chain.mlir --ashlar-place-operations=devices=%t/bad.json 2>&1 | FileCheck %s --check-prefix=SECOND
// SECOND: links[1].to: expected one link to the host, found a second one beside 'a'
//--- chain.mlir
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
func.func @chain(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %w = arith.constant dense<0.5> : tensor<512x512xf32>
  %e = tensor.empty() : tensor<512x512xf32>
  %y = tile.contract a(%x : tensor<512x512xf32>) b(%w : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 512>, reduced = array<i64: 512>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<512x512xf32>
  %z = linalg.generic {indexing_maps = [#c, #c], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.tanh %in : f32
    linalg.yield %r : f32
  } -> tensor<512x512xf32>
  %u = tile.contract a(%z : tensor<512x512xf32>) b(%w : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 512>, reduced = array<i64: 512>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<512x512xf32>
  return %u : tensor<512x512xf32>
}
//--- middle.mlir
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
func.func @middle(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %w = arith.constant dense<0.5> : tensor<512x512xf32>
  %v = arith.constant dense<0.5> : tensor<512x512xf64>
  %e = tensor.empty() : tensor<512x512xf32>
  %d = tensor.empty() : tensor<512x512xf64>
  %y = tile.contract a(%x : tensor<512x512xf32>) b(%w : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 512>, reduced = array<i64: 512>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<512x512xf32>
  %p = linalg.generic {indexing_maps = [#c, #c], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<512x512xf32>) outs(%d : tensor<512x512xf64>) {
  ^bb0(%in: f32, %out: f64):
    %r = arith.extf %in : f32 to f64
    linalg.yield %r : f64
  } -> tensor<512x512xf64>
  %q = tile.contract a(%p : tensor<512x512xf64>) b(%v : tensor<512x512xf64>) outs(%d : tensor<512x512xf64>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 512>, reduced = array<i64: 512>} {
  ^bb0(%sum: f64):
    tile.yield %sum : f64
  } -> tensor<512x512xf64>
  %z = linalg.generic {indexing_maps = [#c, #c], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<512x512xf64>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%in: f64, %out: f32):
    %r = arith.truncf %in : f64 to f32
    linalg.yield %r : f32
  } -> tensor<512x512xf32>
  %u = tile.contract a(%z : tensor<512x512xf32>) b(%w : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 512>, reduced = array<i64: 512>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<512x512xf32>
  return %u : tensor<512x512xf32>
}
//--- one.mlir
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
func.func @one(%x: tensor<512x512xf32>) -> (tensor<512x16xf32>) {
  %w0 = arith.constant dense<0.5> : tensor<512x16xf32>
  %w1 = arith.constant dense<0.25> : tensor<512x16xf32>
  %e = tensor.empty() : tensor<512x16xf32>
  %y0 = tile.contract a(%x : tensor<512x512xf32>) b(%w0 : tensor<512x16xf32>) outs(%e : tensor<512x16xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 16>, reduced = array<i64: 512>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<512x16xf32>
  return %y0 : tensor<512x16xf32>
}
//--- two.mlir
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
func.func @two(%x: tensor<512x512xf32>) -> (tensor<512x16xf32>, tensor<512x16xf32>) {
  %w0 = arith.constant dense<0.5> : tensor<512x16xf32>
  %w1 = arith.constant dense<0.25> : tensor<512x16xf32>
  %e = tensor.empty() : tensor<512x16xf32>
  %y0 = tile.contract a(%x : tensor<512x512xf32>) b(%w0 : tensor<512x16xf32>) outs(%e : tensor<512x16xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 16>, reduced = array<i64: 512>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<512x16xf32>
  %y1 = tile.contract a(%x : tensor<512x512xf32>) b(%w1 : tensor<512x16xf32>) outs(%e : tensor<512x16xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 16>, reduced = array<i64: 512>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<512x16xf32>
  return %y0, %y1 : tensor<512x16xf32>, tensor<512x16xf32>
}
//--- three.mlir
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
func.func @three(%x: tensor<512x512xf32>) -> tensor<512x512xi32> {
  %w = arith.constant dense<0.5> : tensor<512x512xf32>
  %v = arith.constant dense<3> : tensor<512x512xi8>
  %e = tensor.empty() : tensor<512x512xf32>
  %d = tensor.empty() : tensor<512x512xi8>
  %f = tensor.empty() : tensor<512x512xi32>
  %y = tile.contract a(%x : tensor<512x512xf32>) b(%w : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 512>, reduced = array<i64: 512>} {
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<512x512xf32>
  %p = linalg.generic {indexing_maps = [#c, #c], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<512x512xf32>) outs(%d : tensor<512x512xi8>) {
  ^bb0(%in: f32, %out: i8):
    %r = arith.fptosi %in : f32 to i8
    linalg.yield %r : i8
  } -> tensor<512x512xi8>
  %q = tile.contract a(%p : tensor<512x512xi8>) b(%v : tensor<512x512xi8>) outs(%f : tensor<512x512xi32>)
      attributes {maps = [#a, #b, #c], parallel = array<i64: 512, 512>, reduced = array<i64: 512>} {
  ^bb0(%sum: i32):
    tile.yield %sum : i32
  } -> tensor<512x512xi32>
  return %q : tensor<512x512xi32>
}
