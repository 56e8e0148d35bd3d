// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SampleModules.h"
#include "SystolicMachines.h"
#include "systolic/StreamBuilder.h"

namespace ashlar::test {

using namespace systolic;

static Kernel productOfEight() {
  auto at = [](uint32_t binding) {
    return ashlar_systolic_address(binding, 0);
  };
  const uint32_t acc = ASHLAR_SYSTOLIC_ACCUMULATOR;
  const uint32_t load = queueBit(ASHLAR_SYSTOLIC_LOAD),
                 store = queueBit(ASHLAR_SYSTOLIC_STORE),
                 vector = queueBit(ASHLAR_SYSTOLIC_VECTOR),
                 execute = queueBit(ASHLAR_SYSTOLIC_EXECUTE);
  StreamBuilder b("product", 3);
  b.region("the product", ASHLAR_SYSTOLIC_CONTRACTION, 512);
  b.configExecute(ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
  b.configLoad(0, 32, 8);
  b.configStore(32);
  // Floats arrive in the accumulator, and leave it as inputs.
  b.load(at(0), {acc, 8, 8});
  b.load(at(1), {acc | 8, 8, 8});
  b.sync(load, vector);
  b.configVector(ASHLAR_SYSTOLIC_F32);
  b.vector(ASHLAR_SYSTOLIC_COPY, {0, 16, 8}, acc);
  b.sync(vector, execute);
  b.preload({8, 8, 8}, {acc | 32, 8, 8});
  b.compute({0, 8, 8}, Matrix::none(), true);
  b.sync(execute, vector);
  b.vectorImmediate(ASHLAR_SYSTOLIC_MAXIMUM_IMMEDIATE, {acc | 32, 8, 8},
                    acc | 32, 0);
  b.sync(vector, store);
  b.store(at(2), {acc | ASHLAR_SYSTOLIC_FULL_WIDTH | 32, 8, 8});
  return b.kernel;
}

/// Adds the code, for a device of the program, and its kernel; returns the
/// number of that.
static uint32_t addProduct(ModuleBuilder &b, uint64_t memoryBytes,
                           uint32_t device, uint64_t &codeBytes) {
  systolic::Image image;
  image.machine = small(8, ASHLAR_SYSTOLIC_BF16);
  image.machine.memory_bytes = memoryBytes;
  image.kernels.push_back(productOfEight());
  std::string code = writeImage(image);
  auto executable = std::make_unique<fb::ExecutableT>();
  executable->format = ASHLAR_SYSTOLIC_FORMAT;
  executable->device = device;
  executable->section =
      b.addSection(fb::SectionKind::Code, {code.begin(), code.end()});
  b.program().executables.push_back(std::move(executable));
  codeBytes += code.size();
  uint32_t kernel = b.addKernel("product", 3, 0);
  b.program().kernels[kernel]->executable =
      uint32_t(b.program().executables.size() - 1);
  return kernel;
}

static uint32_t addFactor(ModuleBuilder &b) {
  std::vector<float> values;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      values.push_back(float((i + j) % 5 - 2));
  return b.addWeight("w", values);
}

static void addMatrices(ModuleBuilder &b) {
  auto shape = [] {
    std::vector<Size> dimensions;
    dimensions.push_back(constant(8));
    dimensions.push_back(constant(8));
    return dimensions;
  };
  b.addInput("x", shape());
  b.addOutput("z", shape());
}

ModuleBuilder systolicModule(uint64_t memoryBytes) {
  ModuleBuilder b;
  b.program().target = b.program().device_type = "systolic";
  b.program().preset = "small";
  uint32_t w = addFactor(b);
  uint32_t kernel = addProduct(b, memoryBytes, 0, b.contract().code_bytes);
  addMatrices(b);
  auto bind = [&](fb::Storage storage, uint32_t index, bool written) {
    return b.bind(storage, index, constant(0), constant(256), written);
  };
  std::vector<std::unique_ptr<fb::BindingT>> bindings;
  bindings.push_back(bind(fb::Storage::Input, 0, false));
  bindings.push_back(bind(fb::Storage::Weights, w, false));
  bindings.push_back(bind(fb::Storage::Output, 0, true));
  b.dispatch(kernel, std::move(bindings), {}, constant(1));
  return b;
}

ModuleBuilder sharedModule() {
  ModuleBuilder b;
  b.addKernelCode();
  uint32_t twice = b.addKernel("double_f32", 2, 2, sampleChunk * sizeof(float));
  uint32_t w = addFactor(b);
  auto companion = std::make_unique<fb::CompanionT>();
  companion->target = companion->device_type = "systolic";
  companion->preset = "small";
  b.program().companions.push_back(std::move(companion));
  auto costs = std::make_unique<fb::CompanionContractT>();
  costs->weights_bytes = b.contract().weights_bytes;
  b.contract().weights_bytes = 0;
  costs->arena_bytes = costs->arena_lower_bound_bytes = 512;
  uint32_t product = addProduct(b, 1 << 20, 1, costs->code_bytes);
  addMatrices(b);
  auto bind = [&](fb::Storage storage, uint32_t index, int64_t offset,
                  bool written) {
    return b.bind(storage, index, constant(offset), constant(256), written);
  };
  auto run = [&](uint32_t kernel, std::vector<Size> parameters, int64_t groups,
                 auto... bindings) {
    std::vector<std::unique_ptr<fb::BindingT>> list;
    (list.push_back(std::move(bindings)), ...);
    b.dispatch(kernel, std::move(list), std::move(parameters),
               constant(groups));
  };
  b.copy(bind(fb::Storage::Input, 0, 0, false),
         bind(fb::Storage::Arena, 1, 0, true));
  b.barrier();
  run(product, {}, 1, bind(fb::Storage::Arena, 1, 0, false),
      bind(fb::Storage::Weights, w, 0, false),
      bind(fb::Storage::Arena, 1, 256, true));
  b.barrier();
  b.copy(bind(fb::Storage::Arena, 1, 256, false),
         bind(fb::Storage::Arena, 0, 0, true));
  b.barrier();
  std::vector<Size> parameters;
  parameters.push_back(constant(64));
  parameters.push_back(constant(sampleChunk));
  run(twice, std::move(parameters), 64 / sampleChunk,
      bind(fb::Storage::Arena, 0, 0, false),
      bind(fb::Storage::Output, 0, 0, true));
  fb::ContractT &contract = b.contract();
  contract.arena_bytes = contract.arena_lower_bound_bytes = 256;
  contract.companions.push_back(std::move(costs));
  return b;
}

ModuleBuilder awayModule() {
  ModuleBuilder b = sharedModule();
  fb::ProgramT &program = b.program();
  std::swap(program.device_type, program.companions[0]->device_type);
  std::swap(program.target, program.companions[0]->target);
  for (auto &executable : program.executables)
    executable->device = 1 - executable->device;
  program.home = 1;
  program.required_features.push_back(ASHLAR_MODULE_FORMAT_1_1);
  return b;
}

ModuleBuilder orderedModule() {
  ModuleBuilder b = sharedModule();
  // The copies are the companion's work; barriers 1 and 3 its own.
  auto order = [&](size_t command, uint32_t device, uint32_t after) {
    fb::OrderT order;
    order.device = device;
    order.after = after;
    b.programEntry().commands[command].Set(std::move(order));
  };
  order(1, 1, 0);
  order(5, 0, 1);
  b.program().required_features.push_back(ASHLAR_MODULE_FORMAT_1_1);
  return b;
}

} // namespace ashlar::test
