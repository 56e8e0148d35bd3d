// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SampleModules.h"

namespace ashlar::test {

using fb::SizeOpcode;
using fb::Storage;

/// Of one dimension.
static std::vector<Size> shape(Size size) {
  std::vector<Size> dimensions;
  dimensions.push_back(std::move(size));
  return dimensions;
}
static std::vector<Size> shape(int64_t size) { return shape(constant(size)); }

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
  b.addInput("x", shape(copyOf(elements)));
  b.addInput("y", shape(copyOf(elements)));
  b.addOutput("z", shape(copyOf(elements)));
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

ModuleBuilder randomModule() {
  ModuleBuilder b = sampleModule();
  fb::WeightT &weight = *b.module.weights[0];
  auto section = std::make_unique<fb::SectionT>();
  section->kind = fb::SectionKind::Random;
  section->offset = 1 << 20; // behind the file's end
  section->size = weight.size;
  weight.section = uint32_t(b.module.sections.size());
  b.module.sections.push_back(std::move(section));
  weight.random = std::make_unique<fb::RandomWeightT>();
  weight.random->seed = 7;
  weight.random->numbers = {3};
  weight.random->scales = {0.0001f};
  weight.random->elements = sampleCount;
  b.program().required_features.push_back(ASHLAR_MODULE_FEATURE_RANDOM_WEIGHTS);
  return b;
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

ModuleBuilder growingModule() {
  ModuleBuilder b = symbolicModule();
  fb::ProgramEntryT &entry = b.programEntry();
  for (uint32_t i = 0; i < 2; ++i) {
    auto buffer = std::make_unique<fb::ArenaBufferT>();
    buffer->size = expression({{SizeOpcode::Symbol, 0},
                               {SizeOpcode::Constant, sizeof(float)},
                               {SizeOpcode::Multiply, 0}},
                              sampleCount * int64_t(sizeof(float)));
    buffer->offset = i * sampleCount * sizeof(float);
    // Written by one dispatch, read by the next, a barrier between them.
    buffer->first = 2 * i;
    buffer->last = 2 * i + 2;
    entry.buffers.push_back(std::move(buffer));
  }
  for (auto &command : entry.commands)
    if (auto *dispatch = command.AsDispatch())
      for (auto &binding : dispatch->bindings)
        if (binding->storage == Storage::Arena)
          binding->buffer =
              binding->offset->constant < int64_t(sampleCount * sizeof(float))
                  ? 1
                  : 2;
  return b;
}

ModuleBuilder checkingModule() {
  constexpr int64_t bytes = sampleCount * sizeof(float);
  ModuleBuilder b;
  b.addKernelCode();
  uint32_t check = b.addKernel("check_f32", 2, 2);
  b.addInput("x", shape(sampleCount));
  b.addOutput("z", shape(sampleCount));
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

namespace {
/// Commands for controlModule.
class Rows {
public:
  static constexpr int64_t bytes = 16 * sizeof(float);

  explicit Rows(ModuleBuilder &b) : b(b) {}

  std::unique_ptr<fb::BindingT> at(Storage storage, int64_t offset,
                                   bool written = false) {
    return b.bind(storage, 0, constant(offset), constant(bytes), written);
  }
  std::unique_ptr<fb::BindingT> flag(int64_t number) {
    return b.bind(Storage::Input, 1, constant(number), constant(1), false);
  }
  template <typename T> static fb::CommandUnion command(T table) {
    fb::CommandUnion command;
    command.Set(std::move(table));
    return command;
  }
  static fb::CommandUnion copy(std::unique_ptr<fb::BindingT> source,
                               std::unique_ptr<fb::BindingT> target,
                               int64_t sourceStride = 0,
                               int64_t targetStride = 0) {
    fb::CopyT copy;
    copy.source = std::move(source);
    copy.target = std::move(target);
    copy.source_stride = sourceStride;
    copy.target_stride = targetStride;
    return command(std::move(copy));
  }
  fb::CommandUnion twice(uint32_t kernel) {
    fb::DispatchT dispatch;
    dispatch.kernel = kernel;
    dispatch.bindings.push_back(at(Storage::Arena, 0));
    dispatch.bindings.push_back(at(Storage::Arena, bytes, true));
    dispatch.parameters.push_back(constant(16));
    dispatch.parameters.push_back(constant(4));
    dispatch.groups = constant(4);
    return command(std::move(dispatch));
  }
  template <typename... Commands>
  static std::unique_ptr<fb::BlockT> block(Commands... commands) {
    auto block = std::make_unique<fb::BlockT>();
    (block->commands.push_back(std::move(commands)), ...);
    return block;
  }
  ModuleBuilder &b;
};
} // namespace

ModuleBuilder controlModule() {
  ModuleBuilder b;
  Rows rows(b);
  b.addKernelCode();
  uint32_t twice = b.addKernel("double_f32", 2, 2, 4 * sizeof(float));
  b.addInput("x", shape(sampleCount));
  b.addInput("c", shape(2), fb::ElementType::Bool);
  b.addOutput("z", shape(sampleCount));
  auto &commands = b.programEntry().commands;

  fb::CheckT check;
  check.condition = rows.flag(1);
  check.message = "the second flag must be set";
  commands.push_back(rows.command(std::move(check)));

  fb::IfT branches;
  branches.condition = rows.flag(0);
  branches.then = rows.block(rows.twice(twice));
  branches.otherwise = rows.block(rows.copy(
      rows.at(Storage::Arena, 0), rows.at(Storage::Arena, rows.bytes, true)));
  fb::LoopT all;
  all.iterations = constant(16);
  all.body =
      rows.block(rows.copy(rows.at(Storage::Input, 0),
                           rows.at(Storage::Arena, 0, true), rows.bytes, 0),
                 rows.command(std::move(branches)),
                 rows.copy(rows.at(Storage::Arena, rows.bytes),
                           rows.at(Storage::Output, 0, true), 0, rows.bytes));
  commands.push_back(rows.command(std::move(all)));

  fb::LoopT some;
  some.condition = rows.flag(0);
  some.iterations = constant(2);
  some.body = rows.block(rows.copy(rows.at(Storage::Output, 0),
                                   rows.at(Storage::Output, rows.bytes, true)));
  commands.push_back(rows.command(std::move(some)));
  b.contract().arena_bytes = 2 * uint64_t(rows.bytes);
  return b;
}

ModuleBuilder sizedModule() {
  ModuleBuilder b;
  b.addKernelCode();
  b.addInput("x", shape(sampleCount));
  b.addInput("n", shape(1), fb::ElementType::I64);
  b.addOutput("z", shape(sampleCount));
  constexpr int64_t bytes = sampleCount * sizeof(float);
  b.copy(b.bind(fb::Storage::Input, 0, constant(0), constant(bytes), false),
         b.bind(fb::Storage::Output, 0, constant(0), constant(bytes), true));
  auto size = std::make_unique<fb::OutputSizeT>();
  size->value = b.bind(fb::Storage::Input, 1, constant(0), constant(8), false);
  b.programEntry().output_sizes.push_back(std::move(size));
  return b;
}

ModuleBuilder mappedModule() {
  ModuleBuilder b;
  b.addKernelCode();
  uint32_t gather = b.addKernel("gather_f32", 2, 0);
  b.addInput("x", shape(sampleCount));
  b.addOutput("z", shape(sampleCount / 2));
  b.program().required_features.push_back(ASHLAR_MODULE_FORMAT_1_1);
  fb::KernelT &kernel = *b.program().kernels[gather];
  kernel.block = {8};
  kernel.cluster = {2, 1};
  kernel.shared_bytes = 1024;
  for (uint32_t i = 0; i < 2; ++i) {
    kernel.arguments.push_back(std::make_unique<fb::ParameterT>());
    kernel.arguments.back()->index = i;
  }
  kernel.arguments[0]->kind = fb::ParameterKind::TensorMap;
  auto map = std::make_unique<fb::TensorMapT>();
  map->type = fb::ElementType::F32;
  map->sizes.push_back(constant(8));
  map->sizes.push_back(constant(sampleCount / 16));
  map->strides.push_back(constant(sizeof(float)));
  map->strides.push_back(constant(16 * sizeof(float)));
  map->box = {8, 2};
  map->steps = {1, 1};
  map->swizzle = 32;
  kernel.arguments[0]->map = std::move(map);
  std::vector<std::unique_ptr<fb::BindingT>> bindings;
  constexpr int64_t bytes = sampleCount * sizeof(float);
  bindings.push_back(
      b.bind(Storage::Input, 0, constant(0), constant(bytes), false));
  bindings.push_back(
      b.bind(Storage::Output, 0, constant(0), constant(bytes / 2), true));
  b.dispatch(gather, std::move(bindings), {}, constant(sampleCount / 16));
  fb::DispatchT &dispatch = *b.programEntry().commands.back().AsDispatch();
  dispatch.grid.push_back(constant(4));
  dispatch.grid.push_back(constant(sampleCount / 64));
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
