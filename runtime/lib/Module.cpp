// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Module.h"

#include "CheckedMath.h"
#include "IndexVerifier.h"
#include "TensorShape.h"

#include <algorithm>

namespace ashlar::runtime {

Module::Module(std::shared_ptr<Runtime> runtime,
               std::unique_ptr<ModuleFile> file, LoadOptions options)
    : runtime(std::move(runtime)), name(options.name), file(std::move(file)),
      options(std::move(options)) {}

Module::~Module() {
  for (void *executable : executables)
    if (executable)
      device().ops.unloadExecutable(device().state, executable);
  for (const DeviceMemory &memory : deviceWeights)
    device().ops.free(device().state, memory.address, memory.size);
}

namespace {
/// Calls visit(binding) for every binding of a program's entry or of a block.
template <typename Table, typename Visit>
void forEachBinding(const Table &table, const Visit &visit) {
  auto visitBlock = [&](const fb::Block *block) {
    forEachBinding(*block, visit);
  };
  for (uint32_t i = 0; i < count(table.commands()); ++i) {
    const void *command = table.commands()->Get(i);
    switch (fb::Command(table.commands_type()->Get(i))) {
    case fb::Command::Dispatch: {
      auto *dispatch = static_cast<const fb::Dispatch *>(command);
      for (uint32_t b = 0; b < count(dispatch->bindings()); ++b)
        visit(*dispatch->bindings()->Get(b));
      break;
    }
    case fb::Command::Copy:
      visit(*static_cast<const fb::Copy *>(command)->source());
      visit(*static_cast<const fb::Copy *>(command)->target());
      break;
    case fb::Command::Check:
      visit(*static_cast<const fb::Check *>(command)->condition());
      break;
    case fb::Command::If:
      visit(*static_cast<const fb::If *>(command)->condition());
      visitBlock(static_cast<const fb::If *>(command)->then());
      visitBlock(static_cast<const fb::If *>(command)->otherwise());
      break;
    case fb::Command::Loop:
      if (auto *condition = static_cast<const fb::Loop *>(command)->condition())
        visit(*condition);
      visitBlock(static_cast<const fb::Loop *>(command)->body());
      break;
    default:
      break;
    }
  }
}
} // namespace

/// Weights that the program reads, bytes shared by several counted once.
void Module::measureWeights() {
  usedWeights.assign(count(index().weights()), false);
  auto note = [&](const fb::Binding &binding) {
    if (binding.storage() == fb::Storage::Weights)
      usedWeights[binding.index()] = true;
  };
  for (uint32_t i = 0; i < count(program().entries()); ++i)
    forEachBinding(*program().entries()->Get(i), note);
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (size_t i = 0; i < usedWeights.size(); ++i) {
    if (!usedWeights[i])
      continue;
    const fb::Weight *weight = index().weights()->Get(uint32_t(i));
    uint64_t begin =
        index().sections()->Get(weight->section())->offset() + weight->offset();
    ranges.push_back({begin, begin + weight->size()});
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t end = 0;
  for (auto [first, last] : ranges) {
    first = std::max(first, end);
    if (last > first)
      weightsBytes += last - first;
    end = std::max(end, last);
  }
}

Status Module::loadCode() {
  const ashlar_device_t &device = *choice.device;
  for (size_t i = 0; i < count(program().executables()); ++i) {
    const fb::Section &section = *index().sections()->Get(
        program().executables()->Get(uint32_t(i))->section());
    ASHLAR_RETURN_IF_ERROR(file->verifyHash(section, "code"));
    executables.push_back(nullptr);
    ASHLAR_RETURN_IF_ERROR(
        device.ops.loadExecutable(device.state, file->sectionData(section),
                                  section.size(), &executables.back()));
  }
  for (size_t i = 0; i < count(program().kernels()); ++i) {
    const fb::Kernel &kernel = *program().kernels()->Get(uint32_t(i));
    kernels.push_back(nullptr);
    ASHLAR_RETURN_IF_ERROR(
        device.ops.findKernel(executables[kernel.executable()],
                              kernel.symbol()->c_str(), &kernels.back()));
    scratchPerWorker =
        std::max(scratchPerWorker, alignUp(kernel.scratch_bytes(), 64));
  }
  return {};
}

Status Module::loadWeights() {
  const ashlar_device_t &device = *choice.device;
  weights.assign(usedWeights.size(), nullptr);
  if (!device.ops.sharesHostMemory)
    ASHLAR_RETURN_IF_ERROR(device.ops.checkMemory(device.state, weightsBytes));
  for (size_t i = 0; i < usedWeights.size(); ++i) {
    if (!usedWeights[i])
      continue;
    const fb::Weight &weight = *index().weights()->Get(uint32_t(i));
    const uint8_t *host =
        file->sectionData(*index().sections()->Get(weight.section())) +
        weight.offset();
    if (device.ops.sharesHostMemory) {
      // The mapping is read-only and verified programs never write weights.
      weights[i] = const_cast<uint8_t *>(host);
      continue;
    }
    ASHLAR_RETURN_IF_ERROR(
        device.ops.allocate(device.state, weight.size(), &weights[i]));
    deviceWeights.push_back({weights[i], weight.size()});
    ASHLAR_RETURN_IF_ERROR(
        device.ops.copyIn(device.state, weights[i], host, weight.size()));
  }
  return {};
}

void Module::describeEntries() {
  // What depends on data is at most what is said.
  auto dependsOnData = [](const fb::ProgramEntry *entry, size_t output,
                          size_t dimension) {
    for (uint32_t i = 0; entry && i < count(entry->output_sizes()); ++i) {
      const fb::OutputSize &size = *entry->output_sizes()->Get(i);
      if (size.output() == output && size.dimension() == dimension)
        return true;
    }
    return false;
  };
  auto describe = [&](const auto *tensors, std::vector<std::string> &out,
                      const fb::ProgramEntry *sized) {
    for (size_t i = 0; i < count(tensors); ++i) {
      const auto *shape = tensors->Get(uint32_t(i))->shape();
      std::string text = count(shape) ? "" : "scalar";
      for (size_t j = 0; j < count(shape); ++j)
        text += concat(j ? "x" : "", dependsOnData(sized, i, j) ? "<=" : "",
                       sizeText(*shape->Get(uint32_t(j)), index().symbols()));
      out.push_back(std::move(text));
    }
  };
  entries.resize(count(index().entries()));
  for (size_t i = 0; i < count(program().entries()); ++i) {
    const fb::ProgramEntry *programEntry =
        program().entries()->Get(uint32_t(i));
    ashlar_entry_t &entry = entries[programEntry->entry()];
    entry.module = this;
    entry.entry = index().entries()->Get(programEntry->entry());
    entry.program = programEntry;
    entry.index = programEntry->entry();
    describe(entry.entry->inputs(), entry.inputShapes, nullptr);
    describe(entry.entry->outputs(), entry.outputShapes, programEntry);
  }
}

Status Module::load() {
  ASHLAR_RETURN_IF_ERROR(
      chooseProgram(*runtime, index(), options.request, choice));
  if (choice.device->ops.runsNativeCode && !options.allowNativeCode)
    return Status(ASHLAR_UNSUPPORTED,
                  "the module holds machine code for this process: set "
                  "allow_native_code in the load options if you trust it",
                  name);
  if (options.verifyWeights)
    ASHLAR_RETURN_IF_ERROR(file->verifyWeights());
  measureWeights();
  for (size_t i = 0; i < count(program().executables()); ++i) {
    uint32_t section = program().executables()->Get(uint32_t(i))->section();
    if (!checkedAdd(codeBytes, index().sections()->Get(section)->size(),
                    codeBytes))
      return corrupt("the program names too much code", "executables");
  }
  ASHLAR_RETURN_IF_ERROR(options.budget->charge(
      name, {{ASHLAR_MEMORY_WEIGHTS, weightsBytes, weightsCharge},
             {ASHLAR_MEMORY_CODE, codeBytes, codeCharge}}));
  ASHLAR_RETURN_IF_ERROR(loadCode());
  ASHLAR_RETURN_IF_ERROR(loadWeights());
  describeEntries();
  return {};
}

void Module::query(ashlar_module_info_t &out) const {
  auto text = [](const flatbuffers::String *string) {
    return string ? string->c_str() : "";
  };
  out.name = name.c_str();
  out.target = text(program().target());
  out.preset = text(program().preset());
  out.device = device().name.c_str();
  out.placement_log = choice.log.c_str();
  out.entry_count = entries.size();
  out.program_count = count(index().programs());
  out.weights_bytes = weightsBytes;
  out.code_bytes = codeBytes;
  out.load_ns = loadNanoseconds;
  out.fallbacks = choice.fallbacks;
}

Status Module::findEntry(std::string_view wanted, ashlar_entry_t *&out) {
  std::string names;
  for (ashlar_entry_t &entry : entries) {
    if (entry.entry->name()->string_view() == wanted) {
      out = &entry;
      return {};
    }
    names += concat(names.empty() ? "" : ", ", entry.entry->name()->c_str());
  }
  return Status(ASHLAR_NOT_FOUND,
                concat("module ", name, " has no entry ", wanted, "; it has ",
                       names.empty() ? std::string("none") : names),
                "entry");
}

} // namespace ashlar::runtime
