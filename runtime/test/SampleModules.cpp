// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SampleModules.h"

namespace ashlar::test {

using fb::SizeOpcode;
using fb::Storage;

// Builds z = 2 * (x + w) + y for a number of elements.
static ModuleBuilder buildSample(const Size &elements, const Size &bytes,
                                 const Size &groups) {
  constexpr uint64_t part = sampleCount * sizeof(float);
  ModuleBuilder b;
  std::vector<float> weight;
  for (int64_t i = 0; i < sampleCount; ++i)
    weight.push_back(sampleStep * float(i));
  uint32_t w = b.addWeight("w", weight);
  b.addKernelCode();
  uint32_t add = b.addKernel("add_f32", 3, 2);
  uint32_t twice = b.addKernel("double_f32", 2, 2, sampleChunk * sizeof(float));
  auto shape = [&] {
    std::vector<Size> dimensions;
    dimensions.push_back(copyOf(elements));
    return dimensions;
  };
  b.addInput("x", shape());
  b.addInput("y", shape());
  b.addOutput("z", shape());
  auto at = [&](Storage storage, uint32_t index, uint64_t offset,
                bool written) {
    return b.bind(storage, index, constant(int64_t(offset)), copyOf(bytes),
                  written);
  };
  auto run = [&](uint32_t kernel, auto... bindings) {
    std::vector<std::unique_ptr<fb::BindingT>> list;
    (list.push_back(std::move(bindings)), ...);
    std::vector<Size> parameters;
    parameters.push_back(copyOf(elements));
    parameters.push_back(constant(sampleChunk));
    b.dispatch(kernel, std::move(list), std::move(parameters), copyOf(groups));
  };
  run(add, at(Storage::Input, 0, 0, false), at(Storage::Weights, w, 0, false),
      at(Storage::Arena, 0, 0, true));
  b.barrier();
  run(twice, at(Storage::Arena, 0, 0, false),
      at(Storage::Arena, 0, part, true));
  b.barrier();
  run(add, at(Storage::Arena, 0, part, false), at(Storage::Input, 1, 0, false),
      at(Storage::Output, 0, 0, true));
  fb::ContractT &contract = b.contract();
  contract.arena_bytes = 2 * part;
  contract.arena_lower_bound_bytes = 2 * part;
  contract.outputs_bytes = part;
  contract.scratch_bytes_per_worker = sampleChunk * sizeof(float);
  contract.peak_bytes = contract.weights_bytes + contract.code_bytes +
                        contract.arena_bytes + contract.outputs_bytes +
                        contract.scratch_bytes_per_worker;
  return b;
}

ModuleBuilder sampleModule() {
  return buildSample(constant(sampleCount),
                     constant(sampleCount * int64_t(sizeof(float))),
                     constant(sampleCount / sampleChunk));
}

ModuleBuilder symbolicModule() {
  ModuleBuilder b =
      buildSample(symbol(0, sampleCount),
                  expression({{SizeOpcode::Symbol, 0},
                              {SizeOpcode::Constant, sizeof(float)},
                              {SizeOpcode::Multiply, 0}},
                             sampleCount * int64_t(sizeof(float))),
                  expression({{SizeOpcode::Symbol, 0},
                              {SizeOpcode::Constant, sampleChunk},
                              {SizeOpcode::CeilDivide, 0}},
                             sampleCount / sampleChunk));
  auto n = std::make_unique<fb::SymbolT>();
  n->name = "N";
  n->minimum = 1;
  n->maximum = sampleCount;
  b.module.symbols.push_back(std::move(n));
  return b;
}

ModuleBuilder checkingModule() {
  constexpr int64_t bytes = sampleCount * sizeof(float);
  ModuleBuilder b;
  b.addKernelCode();
  uint32_t check = b.addKernel("check_f32", 2, 2);
  std::vector<Size> shape;
  shape.push_back(constant(sampleCount));
  b.addInput("x", std::move(shape));
  shape.clear();
  shape.push_back(constant(sampleCount));
  b.addOutput("z", std::move(shape));
  std::vector<std::unique_ptr<fb::BindingT>> bindings;
  bindings.push_back(
      b.bind(Storage::Input, 0, constant(0), constant(bytes), false));
  bindings.push_back(
      b.bind(Storage::Output, 0, constant(0), constant(bytes), true));
  std::vector<Size> parameters;
  parameters.push_back(constant(sampleCount));
  parameters.push_back(constant(sampleChunk));
  b.dispatch(check, std::move(bindings), std::move(parameters),
             constant(sampleCount / sampleChunk));
  return b;
}

ModuleBuilder spinningModule(int64_t spins, int64_t groups) {
  ModuleBuilder b;
  b.addKernelCode();
  uint32_t spin = b.addKernel("spin", 0, 1);
  std::vector<Size> parameters;
  parameters.push_back(constant(spins));
  b.dispatch(spin, {}, std::move(parameters), constant(groups));
  return b;
}

} // namespace ashlar::test
