// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && split-file %s %t
// RUN: ashlar-opt %t/import.mlir --ashlar-verify-stage=stage=import --split-input-file --verify-diagnostics
// RUN: ashlar-opt %t/simplify.mlir --ashlar-verify-stage=stage=simplify --split-input-file --verify-diagnostics
// RUN: ashlar-opt %t/place.mlir --ashlar-verify-stage=stage=place --split-input-file --verify-diagnostics
// RUN: ashlar-opt %t/precision.mlir --ashlar-verify-stage=stage=precision --split-input-file --verify-diagnostics
// RUN: ashlar-opt %t/fuse.mlir --ashlar-verify-stage=stage=fuse --split-input-file --verify-diagnostics
// RUN: ashlar-opt %t/tile.mlir --ashlar-verify-stage=stage=tile --split-input-file --verify-diagnostics
// RUN: ashlar-opt %t/schedule.mlir --ashlar-verify-stage=stage=schedule --split-input-file --verify-diagnostics

// Each refusal names the stage, what was expected and what was found.

//--- import.mlir
// Constants of more than 1 KiB are weights, and those stay in the file.
func.func @weight() -> (tensor<257xf32> {ashlar.name = "y", ashlar.type = "float"}) {
  // expected-error@unknown {{after the stage import: expected a resource for a constant of more than 1024 bytes, found an attribute of 1028}}
  %c = arith.constant dense<"0x0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F00000040"> : tensor<257xf32> loc("w")
  return %c : tensor<257xf32> loc("main")
} loc("main")

// -----

// Every op leads back to the model's own node.
func.func @location(%x: tensor<4xf32> {ashlar.name = "x", ashlar.type = "float"}) -> (tensor<4xf32> {ashlar.name = "y", ashlar.type = "float"}) {
  // expected-error-re@+1 {{after the stage import: expected the model's node as the location of 'linalg.add', found loc({{.*}})}}
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32> loc("main")
} loc("main")

// -----

// Callers know arguments and results by their names.
// expected-error@+1 {{after the stage import: expected a string 'ashlar.name' on argument 0 of 'unnamed', found none}}
func.func @unnamed(%x: tensor<4xf32>) -> (tensor<4xf32> {ashlar.name = "y", ashlar.type = "float"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{after the stage import: expected a string 'ashlar.type' on result 0 of 'untyped', found none}}
func.func @untyped(%x: tensor<4xf32> {ashlar.name = "x", ashlar.type = "float"}) -> (tensor<4xf32> {ashlar.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{after the stage import: argument 0 of 'memory' is expected to be a tensor, found 'memref<4xf32>'}}
func.func @memory(%x: memref<4xf32> {ashlar.name = "x", ashlar.type = "float"}) {
  return
}

// -----

// Memory, vectors and calls belong to later stages or to none.
func.func @dialect() {
  // expected-error@unknown {{after the stage import: expected ops of linalg, tensor, arith, math and scf, found 'memref.alloc'}}
  %m = memref.alloc() : memref<4xf32> loc("m")
  return loc("main")
} loc("main")

// -----

// Every function is an entry point.
// expected-error@+1 {{after the stage import: expected a module of public func.func with one block each, found 'func.func' that is private, external or has more blocks}}
func.func private @helper()

// -----

// expected-error@+1 {{expected a module of public func.func with one block each, found 'memref.global'}}
memref.global @g : memref<4xf32>

//--- simplify.mlir
// Shape arithmetic is folded, so that sizes are known.
func.func @dynamic(%x: tensor<4xf32> {ashlar.name = "x", ashlar.type = "float"}) -> (tensor<4xf32> {ashlar.name = "y", ashlar.type = "float"}) {
  %n = arith.constant 4 : index
  // expected-error@+1 {{after the stage simplify: expected a static shape, found 'tensor<?xf32>'}}
  %e = tensor.empty(%n) : tensor<?xf32>
  return %x : tensor<4xf32>
}

// -----

// An op that is no constant knows where it comes from.
func.func @location(%x: tensor<4xf32> {ashlar.name = "x", ashlar.type = "float"}) -> (tensor<4xf32> {ashlar.name = "y", ashlar.type = "float"}) {
  // expected-error@unknown {{after the stage simplify: expected the model's node as the location of 'linalg.add', found loc(unknown)}}
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32> loc(unknown)
  return %y : tensor<4xf32>
}

//--- place.mlir
// From here on all code belongs to a program.
// expected-error@+1 {{after the stage place: expected nothing but modules of programs, found 'func.func' outside of them}}
func.func @main() {
  return
}

// -----

// A program is made for one target.
module {
  // expected-error@+1 {{after the stage place: expected 'exec.target' on a program, found none}}
  module @program_0 {
  }
}

// -----

module {
  // expected-error@+1 {{after the stage place: expected 'exec.target' on a program, found "cpu"}}
  module @program_0 attributes {exec.target = "cpu"} {
  }
}

// -----

module {
  // expected-note @below {{the program is here}}
  module @program_0 attributes {exec.target = #exec.target<"cpu", "host">} {
    // expected-error@+1 {{after the stage place: expected nothing but functions in a program, found 'memref.global'}}
    memref.global @g : memref<4xf32>
  }
}

// -----

// Somebody asked for a program.
// expected-error@+1 {{after the stage place: expected a program for every target, found an empty module}}
module {
}

//--- precision.mlir
// A rounding that no memory asks for does not stand before its extension.
func.func @chain(%x: f32) -> f32 {
  %0 = arith.truncf %x fastmath<contract> : f32 to bf16 // expected-note {{rounded here}}
  // expected-error@+1 {{after the stage precision: expected no rounding that is extended at once, found 'bf16' between 'f32' and 'f32'}}
  %1 = arith.extf %0 fastmath<contract> : bf16 to f32
  return %1 : f32
}

// -----

// How wide an index is depends on the machine.
func.func @main() -> tensor<4xf32> {
  // expected-error@+1 {{after the stage precision: expected integers or floats as elements, found 'tensor<2xindex>'}}
  %e = tensor.empty() : tensor<2xindex>
  %y = tensor.empty() : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

module @program_0 {
  // expected-error@+1 {{after the stage precision: expected integers or floats as elements, found 'tensor<4xcomplex<f32>>'}}
  func.func @main(%x: tensor<4xcomplex<f32>>) {
    return
  }
}

//--- fuse.mlir
// What computes is in a dispatch.
// expected-note @below {{the entry is here}}
func.func @compute(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{after the stage fuse: expected tensor constants, views, exec.dispatch, transfers, control flow and return in an entry, found 'linalg.add'}}
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A slice with gaps moves data.
// expected-note @below {{the entry is here}}
func.func @gaps(%x: tensor<4x4xf32>) -> tensor<4x2xf32> {
  // expected-error@+1 {{found 'tensor.extract_slice'}}
  %y = tensor.extract_slice %x[0, 0] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// A number is no operand of a kernel.
// expected-note @below {{the entry is here}}
func.func @scalar() {
  // expected-error@+1 {{found 'arith.constant'}}
  %c = arith.constant 1.0 : f32
  return
}

// -----

// A kernel is made from tensor code.
func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = exec.dispatch(%x) : (tensor<4xf32>) -> tensor<4xf32> { // expected-note {{the dispatch is here}}
  ^bb0(%u: tensor<4xf32>):
    // expected-error@+1 {{after the stage fuse: expected ops of linalg, tensor, arith, math and scf in a dispatch, found 'memref.alloc'}}
    %m = memref.alloc() : memref<4xf32>
    exec.yield %u : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{after the stage fuse: expected one block in 'blocks', found 2}}
func.func @blocks() {
  cf.br ^next
^next:
  return
}

//--- tile.mlir
// Dispatches are kernels by now.
// expected-note @below {{the entry is here}}
func.func @dispatch() {
  // expected-error@+1 {{after the stage tile: expected tensor constants, views, exec.invoke, transfers, control flow and return in an entry, found 'exec.dispatch'}}
  exec.dispatch() : () -> () {
  }
  return
}

// -----

// The runtime must know the grid and the scratch.
// expected-error@+1 {{after the stage tile: expected a grid of kernel 'k', found none}}
exec.kernel @k calls @k_body : (memref<4xf32>) -> memref<4xf32> scratch 0
func.func private @k_body(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<0xi8>, %b: index, %e: index) {
  return
}

// -----

// expected-error@+1 {{after the stage tile: expected scratch of kernel 'k', found none}}
exec.kernel @k calls @k_body : (memref<4xf32>) -> memref<4xf32>
    grid [#exec.size<1>]
func.func private @k_body(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<0xi8>, %b: index, %e: index) {
  return
}

// -----

// expected-error@+1 {{after the stage tile: expected a body of kernel 'k', found none}}
exec.kernel @k : (memref<4xf32>) -> memref<4xf32> grid [#exec.size<1>] scratch 0

// -----

// A body has arguments of one kernel.
// expected-note@+1 {{this kernel calls it, too}}
exec.kernel @k calls @body : (memref<4xf32>) -> memref<4xf32> grid [#exec.size<1>] scratch 0
// expected-error@+1 {{after the stage tile: expected kernel 'other' to call a function of its own}}
exec.kernel @other calls @body : (memref<4xf32>) -> memref<4xf32> grid [#exec.size<1>] scratch 0
func.func private @body(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<0xi8>, %b: index, %e: index) {
  return
}

// -----

// expected-error@+1 {{after the stage tile: expected an exec.kernel that calls 'k_body', found none}}
func.func private @k_body(%x: memref<4xf32>, %s: memref<0xi8>, %b: index, %e: index) {
  return
}

// -----

// Devices are those of the program.
// expected-note @below {{the program is here}}
module attributes {exec.companions = [#exec.target<"cpu", "host">]} {
  // expected-error @below {{after the stage tile: expected kernel 'k' on one of the program's 2 devices, found device 2}}
  exec.kernel @k calls @k_body : (memref<4xf32>) -> memref<4xf32> device 2 grid [#exec.size<1>] scratch 0
  func.func private @k_body(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<0xi8>, %b: index, %e: index) {
    return
  }
}

// -----

// Arguments are memory: buffers, then scratch of the size that is planned.
exec.kernel @k calls @k_body : (memref<4xf32>) -> memref<4xf32> // expected-note {{the kernel is here}}
    grid [#exec.size<1>] scratch 0
// expected-error@+1 {{after the stage tile: expected kernel 'k' to take as many bytes of scratch as it says, 0, found 'memref<64xi8>'}}
func.func private @k_body(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<64xi8>, %b: index, %e: index) {
  return
}

// -----

exec.kernel @k calls @k_body : (memref<4xf32>) -> memref<4xf32> // expected-note {{the kernel is here}}
    grid [#exec.size<1>] scratch 0
// expected-error@+1 {{after the stage tile: expected kernel 'k' to take a range of groups as index, found 'i32'}}
func.func private @k_body(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<0xi8>, %b: i32, %e: index) {
  return
}

// -----

exec.kernel @k calls @k_body : () -> () grid [#exec.size<1>] scratch 0 // expected-note {{the kernel is here}}
// expected-error@+1 {{after the stage tile: expected kernel 'k' to take buffers, parameters, scratch, first and last group, found 2 arguments behind the parameters}}
func.func private @k_body(%x: index, %y: index) {
  return
}

// -----

// Results go to memory.
exec.kernel @k calls @k_body : (memref<4xf32>) -> memref<4xf32> // expected-note {{the kernel is here}}
    grid [#exec.size<1>] scratch 0
// expected-error@+1 {{after the stage tile: expected kernel 'k' to return nothing, found 'index'}}
func.func private @k_body(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<0xi8>, %b: index, %e: index) -> index {
  return %b : index
}

// -----

// What a kernel allocates is not in the contract.
exec.kernel @k calls @k_body : (memref<4xf32>) -> memref<4xf32> // expected-note {{the kernel is here}}
    grid [#exec.size<1>] scratch 0
func.func private @k_body(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<0xi8>, %b: index, %e: index) {
  // expected-error@+1 {{after the stage tile: expected scratch instead of allocations in kernel 'k', found 'memref.alloc'}}
  %m = memref.alloc() : memref<4xf32>
  return
}

// -----

exec.kernel @k calls @k_body : (memref<4xf32>) -> memref<4xf32> // expected-note {{the kernel is here}}
    grid [#exec.size<1>] scratch 0
func.func private @k_body(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<0xi8>, %b: index, %e: index) {
  // expected-error@+1 {{after the stage tile: expected loops instead of linalg ops in kernel 'k', found 'linalg.exp'}}
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

exec.kernel @k calls @k_body : (memref<4xf32>) -> memref<4xf32> // expected-note {{the kernel is here}}
    grid [#exec.size<1>] scratch 0
func.func private @k_body(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<0xi8>, %b: index, %e: index) {
  // expected-error@+1 {{after the stage tile: expected no tensors in kernel 'k', found 'tensor.empty'}}
  %t = tensor.empty() : tensor<4xf32>
  return
}

//--- schedule.mlir
// Entries are programs by now.
// expected-error@+1 {{after the stage schedule: expected exec.program and kernels, found public function 'main'}}
func.func @main() {
  return
}

// -----

// Kernels are given whole cache lines.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected binding 0 at a multiple of 64 bytes, found 32}}
  exec.launch @k [#exec.binding<arena 0, offset = <32>, length = <64>, written = false>,
                  #exec.binding<output 0, offset = <0>, length = <64>, written = true>]
}

// -----

// Bytes that nobody wrote mean nothing.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: reads bytes 64 to 128 of arena 0, expected what one earlier command wrote there, found nothing}}
  exec.launch @k [#exec.binding<arena 0, offset = <64>, length = <64>, written = false>,
                  #exec.binding<output 0, offset = <0>, length = <64>, written = true>]
}

// -----

// Two values overlap while both are needed: the second write destroyed a part
// of the first.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<32xf32>}], outputs = [{tensor = tensor<32xf32>}], weights = []} {
  exec.copy <input 0, offset = <0>, length = <128>, written = false>
         to <arena 0, offset = <0>, length = <128>, written = true>
  exec.barrier
  // expected-note@+1 {{found bytes 64 to 128 of this command}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <64>, length = <64>, written = true>]
  exec.barrier
  // expected-error@+1 {{after the stage schedule: reads bytes 0 to 128 of arena 0, expected what one earlier command wrote there}}
  exec.copy <arena 0, offset = <0>, length = <128>, written = false>
         to <output 0, offset = <0>, length = <128>, written = true>
}

// -----

// Two halves are no whole value.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<32xf32>}], weights = []} {
  // expected-note@+1 {{found bytes 0 to 64 of this command}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <0>, length = <64>, written = true>]
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <64>, length = <64>, written = true>]
  exec.barrier
  // expected-error@+1 {{after the stage schedule: reads bytes 0 to 128 of arena 0, expected what one earlier command wrote there}}
  exec.copy <arena 0, offset = <0>, length = <128>, written = false>
         to <output 0, offset = <0>, length = <128>, written = true>
}

// -----

// Without a barrier commands run in any order: read after write,
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-note@+1 {{which is here}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <0>, length = <64>, written = true>]
  // expected-error@+1 {{after the stage schedule: reads bytes 0 to 64 of arena 0 without a barrier after another command that writes them}}
  exec.launch @k [#exec.binding<arena 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<output 0, offset = <0>, length = <64>, written = true>]
}

// -----

// write after read,
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <0>, length = <64>, written = true>]
  exec.barrier
  // expected-note@+1 {{which is here}}
  exec.launch @k [#exec.binding<arena 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<output 0, offset = <0>, length = <64>, written = true>]
  // expected-error@+1 {{after the stage schedule: writes bytes 0 to 64 of arena 0 without a barrier after another command that reads them}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <0>, length = <64>, written = true>]
}

// -----

// and write after write.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-note@+1 {{which is here}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <0>, length = <64>, written = true>]
  // expected-error@+1 {{after the stage schedule: writes bytes 0 to 64 of arena 0 without a barrier after another command that writes them}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <0>, length = <64>, written = true>]
}

// -----

// Of sizes that a caller chooses, the largest are looked at: two values in one
// place are found there.
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  exec.copy <input 0, offset = <0>, length = <affine_map<()[s0] -> (s0 * 4)>, largest = 64>, written = false>
         to <arena 0, offset = <0>, length = <affine_map<()[s0] -> (s0 * 4)>, largest = 64>, written = true, buffer = 0>
  exec.barrier
  // expected-note@+1 {{found bytes 32 to 96 of this command}}
  exec.copy <input 0, offset = <0>, length = <affine_map<()[s0] -> (s0 * 4)>, largest = 64>, written = false>
         to <arena 0, offset = <32>, length = <affine_map<()[s0] -> (s0 * 4)>, largest = 64>, written = true, buffer = 1>
  exec.barrier
  // expected-error@+1 {{after the stage schedule: reads bytes 0 to 64 of arena 0, expected what one earlier command wrote there}}
  exec.copy <arena 0, offset = <0>, length = <affine_map<()[s0] -> (s0 * 4)>, largest = 64>, written = false, buffer = 0>
         to <output 0, offset = <0>, length = <affine_map<()[s0] -> (s0 * 4)>, largest = 64>, written = true>
}

// -----

// Ranges are within their storage.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected a range within the 128 bytes of arena 0, found 64 bytes at 128}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <128>, length = <64>, written = true>]
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected a range within the 64 bytes of input 0, found 64 bytes at 64}}
  exec.launch @k [#exec.binding<input 0, offset = <64>, length = <64>, written = false>,
                  #exec.binding<output 0, offset = <0>, length = <64>, written = true>]
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected a range within the 128 bytes of arena 0, found 64 bytes at 9223372036854775744}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <9223372036854775744>, length = <64>, written = true>]
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: names output 1, but there are 1}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<output 1, offset = <0>, length = <64>, written = true>]
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: names weights 0, but there are 0}}
  exec.launch @k [#exec.binding<weights 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<output 0, offset = <0>, length = <64>, written = true>]
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = [dense<1.0> : tensor<4xf32>]} {
  // expected-error@+1 {{after the stage schedule: expected a range within the 16 bytes of weights 0, found 64 bytes at 0}}
  exec.launch @k [#exec.binding<weights 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<output 0, offset = <0>, length = <64>, written = true>]
}

// -----

// There is one arena.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: names arena 1, but there are 1}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 1, offset = <0>, length = <64>, written = true>]
}

// -----

// The caller's inputs and the weights are never written.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: writes bytes 0 to 64 of input 0; expected the arena or an output}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<input 0, offset = <0>, length = <64>, written = true>]
}

// -----

// A command knows what it writes.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected binding 1 to be written, it is a result of kernel 'k', found #exec.binding<output 0, offset = <0>, length = <64>, written = false>}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<output 0, offset = <0>, length = <64>, written = false>]
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected binding 0 to be read, it is an operand of kernel 'k'}}
  exec.launch @k [#exec.binding<arena 0, offset = <0>, length = <64>, written = true>,
                  #exec.binding<output 0, offset = <0>, length = <64>, written = true>]
}

// -----

// A range is as long as what the kernel takes.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected 64 bytes for binding 0 of kernel 'k', found 32}}
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <32>, written = false>,
                  #exec.binding<output 0, offset = <0>, length = <64>, written = true>]
}

// -----

// A kernel overwrites only what it said it may.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <0>, length = <64>, written = true>]
  exec.barrier
  // expected-error@+1 {{after the stage schedule: binding 1, bytes 0 to 64 of arena 0, overlaps binding 0, which 'aliases' of kernel 'k' does not allow}}
  exec.launch @k [#exec.binding<arena 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <0>, length = <64>, written = true>]
}

// -----

// Copies have two ranges of one length that do not overlap.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected as many bytes in the target as in the source, 64, found 32}}
  exec.copy <input 0, offset = <0>, length = <64>, written = false>
         to <output 0, offset = <0>, length = <32>, written = true>
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  exec.launch @k [#exec.binding<input 0, offset = <0>, length = <64>, written = false>,
                  #exec.binding<arena 0, offset = <0>, length = <64>, written = true>]
  exec.barrier
  // expected-error@+1 {{after the stage schedule: copies bytes 0 to 64 of arena 0 to bytes 32 to 96 of arena 0; expected ranges that do not overlap}}
  exec.copy <arena 0, offset = <0>, length = <64>, written = false>
         to <arena 0, offset = <32>, length = <64>, written = true>
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected a source that is read and a target that is written}}
  exec.copy <input 0, offset = <0>, length = <64>, written = true>
         to <output 0, offset = <0>, length = <64>, written = true>
}

// -----

// The caller gets every output, whole.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
// expected-error@+1 {{after the stage schedule: expected a command that writes the 64 bytes of output 0, found none}}
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
// expected-error@+1 {{after the stage schedule: expected a command that writes the 64 bytes of output 0, found none}}
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  exec.copy <input 0, offset = <0>, length = <32>, written = false>
         to <output 0, offset = <0>, length = <32>, written = true>
}

// -----

// No plan is smaller than the bound.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
// expected-error@+1 {{after the stage schedule: expected an arena of at least its lower bound, 128 bytes, found 64}}
exec.program @main attributes {
    arena_bytes = 64 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
}

// -----

// Types of inputs, outputs and weights give their sizes.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
// expected-error@+1 {{after the stage schedule: expected the static tensor type of input 0, found 3 : i64}}
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [3 : i64], outputs = [{tensor = tensor<16xf32>}], weights = []} {
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
// expected-error@+1 {{after the stage schedule: expected the static tensor type of output 0, found {tensor = tensor<?xf32>}}}
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<?xf32>}], weights = []} {
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
// expected-error@+1 {{after the stage schedule: expected elements as weight 0, found 3 : i64}}
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = [3 : i64]} {
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected commands in a program, found 'arith.constant'}}
  %c = arith.constant 0 : i64
}

// -----

// expected-error@+1 {{after the stage schedule: expected exec.program and kernels, found 'memref.global'}}
memref.global @g : memref<4xf32>

// -----

// After a condition there is what both branches leave.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 64 : i64, arena_lower_bound_bytes = 64 : i64,
    inputs = [{tensor = tensor<16xf32>}, {tensor = tensor<i1>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  exec.if <input 1, offset = <0>, length = <1>, written = false> {
    exec.copy <input 0, offset = <0>, length = <64>, written = false> to <arena 0, offset = <0>, length = <64>, written = true>
  } else {
  }
  // expected-error@+1 {{after the stage schedule: reads bytes 0 to 64 of arena 0, expected what one earlier command wrote there, found nothing}}
  exec.copy <arena 0, offset = <0>, length = <64>, written = false> to <output 0, offset = <0>, length = <64>, written = true>
}

// -----

// A step finds what every step leaves, not only what was there before.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 128 : i64, arena_lower_bound_bytes = 128 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  exec.copy <input 0, offset = <0>, length = <64>, written = false> to <arena 0, offset = <0>, length = <64>, written = true>
  exec.barrier
  exec.loop attributes {iterations = 3 : i64} {
    // expected-error@+1 {{after the stage schedule: reads bytes 0 to 64 of arena 0, expected what one earlier command wrote there, found nothing}}
    exec.copy <arena 0, offset = <0>, length = <64>, written = false> to <arena 0, offset = <64>, length = <64>, written = true>
    exec.barrier
    exec.copy <input 0, offset = <0>, length = <32>, written = false> to <arena 0, offset = <0>, length = <32>, written = true>
  }
}

// -----

// A copy that moves stays within its storage in every iteration.
exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 64 : i64, arena_lower_bound_bytes = 64 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  exec.loop attributes {iterations = 5 : i64} {
    // expected-error@+1 {{after the stage schedule: expected a range within the 64 bytes of input 0, found 80 bytes at 0}}
    exec.copy <input 0, offset = <0>, length = <16>, written = false> to <arena 0, offset = <0>, length = <16>, written = true> {source_stride = 16 : i64}
  }
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 64 : i64, arena_lower_bound_bytes = 64 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: moves, but is in no loop with a known number of iterations}}
  exec.copy <input 0, offset = <0>, length = <16>, written = false> to <arena 0, offset = <0>, length = <16>, written = true> {source_stride = 16 : i64}
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
exec.program @main attributes {
    arena_bytes = 64 : i64, arena_lower_bound_bytes = 64 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = []} {
  // expected-error@+1 {{after the stage schedule: expected a condition of one byte that is read, found #exec.binding<input 0, offset = <0>, length = <4>, written = false>}}
  exec.check <input 0, offset = <0>, length = <4>, written = false>, "message"
}

// -----

exec.kernel @k : (memref<16xf32>) -> memref<16xf32>
// expected-error@+1 {{after the stage schedule: expected eight bytes as 'value' of an output's size, found}}
exec.program @main attributes {
    arena_bytes = 64 : i64, arena_lower_bound_bytes = 64 : i64,
    inputs = [{tensor = tensor<16xf32>}], outputs = [{tensor = tensor<16xf32>}], weights = [],
    output_sizes = [{output = 0 : i64, dimension = 0 : i64, value = #exec.binding<input 0, offset = <0>, length = <4>, written = false>}]} {
  exec.copy <input 0, offset = <0>, length = <64>, written = false> to <output 0, offset = <0>, length = <64>, written = true>
}
