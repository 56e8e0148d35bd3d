// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ashlar-opt %s --ashlar-form-states --split-input-file --verify-diagnostics

// expected-error @below {{--state=past=all: expected an output that is the input with something new joined behind it (Concat), found no output of that name}}
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
