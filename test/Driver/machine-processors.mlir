// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DEFINE: %{target} =
// DEFINE: %{file} =
// DEFINE: %{change} =
// DEFINE: %{refuse} = %python %S/Inputs/break_machine.py %S/../../lib/Targets/%{file}.json %t.json %{change} && not ashlar-compile %s --until=import --target=%{target} --machine=%t.json 2>&1

// A processor or a feature that LLVM has no code for is refused by its field,
// with those that there are or where they stand; LLVM's own words, which say
// that it goes on with another, do not come up.
// REDEFINE: %{target} = cuda
// REDEFINE: %{file} = CUDA/Machines/sm_80
// REDEFINE: %{change} = 'code.processor="sm_999"'
// RUN: %{refuse} | FileCheck %s --check-prefix=CUDA --implicit-check-not=ignoring
// CUDA: error: --machine: '{{.*}}.json': code.processor: expected one that LLVM makes code for:{{.*}} sm_80 {{.*}}sm_90a{{.*}}; found 'sm_999'
// REDEFINE: %{change} = 'code.features=["+ptx83"]'
// RUN: %{refuse} | FileCheck %s --check-prefix=FEATURE --implicit-check-not=ignoring
// FEATURE: error: --machine: '{{.*}}.json': code.features: expected some of those that 'llc -mtriple=nvptx64-nvidia-cuda -mattr=help' lists, found '+ptx83'
// RUN: sh -c 'ashlar-compile %s --until=import --target=cuda --machine=%t.json 2>/dev/null; test $? -eq 1'

// REDEFINE: %{target} = rocm
// REDEFINE: %{file} = ROCm/Machines/gfx942
// REDEFINE: %{change} = 'code.processor="gfx999"'
// RUN: %{refuse} | FileCheck %s --check-prefix=ROCM --implicit-check-not=ignoring
// ROCM: code.processor: expected one that LLVM makes code for:{{.*}} gfx90a {{.*}}; found 'gfx999'

// REDEFINE: %{target} = opencl
// REDEFINE: %{file} = OpenCL/Machines/generic
// REDEFINE: %{change} = 'code.processor="tigerlake"'
// RUN: %{refuse} | FileCheck %s --check-prefix=OPENCL --implicit-check-not=ignoring
// OPENCL: code.processor: expected one that LLVM makes code for:{{.*}} generic{{.*}}; found 'tigerlake'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
