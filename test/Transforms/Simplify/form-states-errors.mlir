// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-states --split-input-file --verify-diagnostics

// expected-error @below {{--state=past=all: expected an output that is the input with something new joined behind it (Concat) or elements of it replaced (ScatterND, ScatterElements, TensorScatter), found no output of that name}}
func.func @unknown(%past: tensor<2xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64>}})
    -> (tensor<2xf32> {ashlar.name = "other"}) {
  return %past : tensor<2xf32>
}

// -----

func.func @computed(%past: tensor<2xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64>}})
    -> (tensor<2xf32> {ashlar.name = "all"}) {
  %e = tensor.empty() : tensor<2xf32>
  // expected-error @below {{found that it is computed by 'linalg.exp'}}
  %x = linalg.exp ins(%past : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  return %x : tensor<2xf32>
}

// -----

func.func @in_front(%past: tensor<2xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64>}}, %new: tensor<1xf32>)
    -> (tensor<3xf32> {ashlar.name = "all"}) {
  // expected-error @below {{found something joined in front of it: what was there would have to move}}
  %all = tensor.concat dim(0) %new, %past : (tensor<1xf32>, tensor<2xf32>) -> tensor<3xf32>
  return %all : tensor<3xf32>
}

// -----

func.func @twice(%past: tensor<2xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64>}})
    -> (tensor<4xf32> {ashlar.name = "all"}) {
  // expected-error @below {{found it joined with itself}}
  %all = tensor.concat dim(0) %past, %past : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %all : tensor<4xf32>
}

// -----

// expected-error @below {{found another input}}
func.func @other(%past: tensor<2xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64>}}, %x: tensor<2xf32>)
    -> (tensor<2xf32> {ashlar.name = "all"}) {
  return %x : tensor<2xf32>
}

// -----

func.func @type(%past: tensor<2xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64>}})
    -> (tensor<2xi32> {ashlar.name = "all"}) {
  // expected-error @below {{found elements of 'f32' that become 'i32'}}
  %x = arith.constant dense<1> : tensor<2xi32>
  return %x : tensor<2xi32>
}

// -----

func.func @larger(%past: tensor<2xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64: 2>}}, %new: tensor<1xf32>)
    -> (tensor<3xf32> {ashlar.name = "all"}) {
  // expected-error @below {{found the shape 3, which is larger than the largest, 2}}
  %all = tensor.concat dim(0) %past, %new : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
  return %all : tensor<3xf32>
}

// -----

// Elements that are replaced may be gone when another reader comes.
func.func @read_before(%past: tensor<8xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64>}}, %at: index, %new: f32)
    -> (tensor<8xf32> {ashlar.name = "all"}, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{found that what was there before has another reader, which may come after the change; let it read 'all'}}
  %all = scf.for %i = %c0 to %c1 step %c1 iter_args(%c = %past) -> (tensor<8xf32>) {
    %put = tensor.insert %new into %c[%at] : tensor<8xf32>
    scf.yield %put : tensor<8xf32>
  }
  %e = tensor.empty() : tensor<8xf32>
  // expected-note @below {{which is here}}
  %x = linalg.exp ins(%past : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %all, %x : tensor<8xf32>, tensor<8xf32>
}

// -----

// Dims that come back in another order are no dims of the place.
func.func @moved(%past: tensor<4x4xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64>}}, %at: index, %new: f32)
    -> (tensor<4x4xf32> {ashlar.name = "all"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = scf.for %i = %c0 to %c1 step %c1 iter_args(%c = %past) -> (tensor<4x4xf32>) {
    %put = tensor.insert %new into %c[%at, %i] : tensor<4x4xf32>
    scf.yield %put : tensor<4x4xf32>
  }
  %e = tensor.empty() : tensor<4x4xf32>
  // expected-error @below {{found that it is computed by 'linalg.transpose'}}
  %back = linalg.transpose ins(%all : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  return %back : tensor<4x4xf32>
}

// -----

// A loop that makes something else of the whole replaces no elements.
func.func @whole(%past: tensor<4xf32> {ashlar.name = "past", ashlar.state = {output = "all", shape = array<i64>}})
    -> (tensor<4xf32> {ashlar.name = "all"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{found that it is computed by 'scf.for'}}
  %all = scf.for %i = %c0 to %c1 step %c1 iter_args(%c = %past) -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %x = linalg.exp ins(%c : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %x : tensor<4xf32>
  }
  return %all : tensor<4xf32>
}
