// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Module.h"

#include "CheckedMath.h"
#include "EntryPieces.h"
#include "IndexVerifier.h"
#include "SessionNeeds.h"
#include "SharedArena.h"
#include "SortPlain.h"
#include "TensorShape.h"

#include <algorithm>

namespace ashlar::runtime {

Module::Module(std::shared_ptr<Runtime> runtime,
               std::unique_ptr<ModuleFile> file, LoadOptions options)
    : runtime(std::move(runtime)), name(options.name), file(std::move(file)),
      options(std::move(options)) {}

Module::~Module() {
  for (uint32_t i = 0; i < executables.size(); ++i)
    if (executables[i]) {
      ashlar_device_t &device =
          *devices()[program().executables()->Get(i)->device()];
      device.ops.unloadExecutable(device.state, executables[i]);
    }
  for (const DeviceMemory &memory : deviceWeights)
    memory.device->ops.free(memory.device->state, memory.address, memory.size);
}

namespace {
/// Calls visit(binding, dispatch) for every binding of a program's entry or of
/// a block; dispatch is null where the binding is no kernel's.
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
        visit(*dispatch->bindings()->Get(b), dispatch);
      break;
    }
    case fb::Command::Copy:
      visit(*static_cast<const fb::Copy *>(command)->source(), nullptr);
      visit(*static_cast<const fb::Copy *>(command)->target(), nullptr);
      break;
    case fb::Command::Check:
      visit(*static_cast<const fb::Check *>(command)->condition(), nullptr);
      break;
    case fb::Command::If:
      visit(*static_cast<const fb::If *>(command)->condition(), nullptr);
      visitBlock(static_cast<const fb::If *>(command)->then());
      visitBlock(static_cast<const fb::If *>(command)->otherwise());
      break;
    case fb::Command::Loop:
      if (auto *condition = static_cast<const fb::Loop *>(command)->condition())
        visit(*condition, nullptr);
      visitBlock(static_cast<const fb::Loop *>(command)->body());
      break;
    default:
      break;
    }
  }
}
} // namespace

std::vector<std::vector<char>> Module::findWeights() const {
  std::vector<std::vector<char>> used(
      devices().size(), std::vector<char>(count(index().weights()), false));
  auto note = [&](const fb::Binding &binding, const fb::Dispatch *dispatch) {
    if (binding.storage() != fb::Storage::Weights)
      return;
    uint32_t device =
        dispatch
            ? deviceOf(program(), *program().kernels()->Get(dispatch->kernel()))
            : homeOf(program());
    used[device][binding.index()] = true;
  };
  for (const fb::ProgramEntry *entry : allEntries(program())) {
    forEachBinding(*entry, note);
    // The session reads these itself, at home.
    for (uint32_t j = 0; j < count(entry->output_sizes()); ++j)
      note(*entry->output_sizes()->Get(j)->value(), nullptr);
  }
  return used;
}

/// Bytes shared by several are counted once.
uint64_t Module::sizeOfWeights(const std::vector<char> &used) const {
  struct Range {
    uint64_t first, last;
  };
  std::vector<Range> ranges;
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i])
      continue;
    const fb::Weight *weight = index().weights()->Get(uint32_t(i));
    uint64_t begin =
        index().sections()->Get(weight->section())->offset() + weight->offset();
    ranges.push_back({begin, begin + weight->size()});
  }
  sortPlain<Range>(ranges, [](const Range &a, const Range &b) {
    return compare(a.first, b.first);
  });
  uint64_t bytes = 0, end = 0;
  for (auto [first, last] : ranges) {
    first = std::max(first, end);
    if (last > first)
      bytes += last - first;
    end = std::max(end, last);
  }
  return bytes;
}

Status Module::loadCode() {
  executables.resize(count(program().executables()));
  for (uint32_t i = 0; i < executables.size(); ++i) {
    if (variantOf(*program().executables()->Get(i)) != 0)
      continue;
    const fb::Executable &executable = *program().executables()->Get(forms[i]);
    const ashlar_device_t &device = *devices()[executable.device()];
    const fb::Section &section = *index().sections()->Get(executable.section());
    ASHLAR_RETURN_IF_ERROR(file->verifyHash(section, "code"));
    ASHLAR_RETURN_IF_ERROR(
        device.ops.loadExecutable(device.state, file->sectionData(section),
                                  section.size(), &executables[i]));
    file->release(section);
  }
  for (size_t i = 0; i < count(program().kernels()); ++i)
    ASHLAR_RETURN_IF_ERROR(findKernel(*program().kernels()->Get(uint32_t(i))));
  return {};
}

Status Module::findKernel(const fb::Kernel &kernel) {
  const ashlar_device_t &device = *devices()[deviceOf(program(), kernel)];
  KernelForm form = {kernel.symbol()->c_str(),
                     kernel.bindings(),
                     kernel.parameters(),
                     {},
                     {1, 1, 1},
                     kernel.shared_bytes().value_or(0),
                     {}};
  for (uint32_t i = 0; count(kernel.block()) && i < 3; ++i) {
    form.block[i] = i < count(kernel.block()) ? kernel.block()->Get(i) : 1;
    if (i < count(kernel.cluster()))
      form.cluster[i] = kernel.cluster()->Get(i);
  }
  for (uint32_t i = 0; i < count(kernel.arguments()); ++i) {
    const fb::Parameter &argument = *kernel.arguments()->Get(i);
    if (argument.map() && !device.ops.encode)
      return failure(ASHLAR_UNSUPPORTED,
                     concat("kernel ", kernel.name()->string_view(),
                            " takes tensor maps, which ", device.name,
                            " does not have"),
                     kernel.name()->string_view());
    form.arguments.push_back(
        {KernelForm::Argument::Kind(argument.kind()), argument.index()});
  }
  kernels.push_back(nullptr);
  return device.ops.findKernel(executables[kernel.executable()], form,
                               &kernels.back());
}

const uint8_t *Module::hostWeight(size_t number) const {
  const fb::Weight &weight = *index().weights()->Get(uint32_t(number));
  return file->sectionData(*index().sections()->Get(weight.section())) +
         weight.offset();
}

Status Module::loadWeights(uint32_t number, const std::vector<char> &used) {
  ashlar_device_t &device = *devices()[number];
  std::vector<DeviceAddress> &places = weights.emplace_back(used.size());
  if (!device.usesHostMemory())
    return copyWeights(device, used, places);
  // The mapping is read-only and verified programs never write weights.
  for (size_t i = 0; i < used.size(); ++i)
    if (used[i])
      places[i] = {const_cast<uint8_t *>(hostWeight(i)), 0};
  return {};
}

/// Through a queue of the load's own: all are under way before the first is
/// waited for.
Status Module::copyWeights(ashlar_device_t &device,
                           const std::vector<char> &used,
                           std::vector<DeviceAddress> &places) {
  const DeviceOps &ops = device.ops;
  ASHLAR_RETURN_IF_ERROR(ops.checkMemory(device.state, sizeOfWeights(used)));
  if (std::find(used.begin(), used.end(), char(true)) == used.end())
    return {};
  QueueOptions alone = {};
  alone.workers = 1;
  void *queue = nullptr, *event = nullptr;
  ASHLAR_RETURN_IF_ERROR(ops.createQueue(device.state, alone, &queue));
  Status status = ops.createEvent(device.state, &event);
  for (size_t i = 0; i < used.size() && status.ok(); ++i) {
    if (!used[i])
      continue;
    uint64_t size = index().weights()->Get(uint32_t(i))->size();
    status =
        ops.allocate(device.state, size, ASHLAR_MEMORY_WEIGHTS, &places[i]);
    if (!status.ok())
      break;
    deviceWeights.push_back({&device, places[i], size});
    status = ops.copy(queue, CopyKind::In, places[i],
                      {const_cast<uint8_t *>(hostWeight(i)), 0}, size);
  }
  bool came = false;
  if (status.ok())
    status = ops.record(queue, event);
  if (status.ok())
    status = ops.wait(event, UINT64_MAX, &came);
  // Finishes what is under way, so that the memory may go.
  ops.destroyQueue(queue);
  if (event)
    ops.destroyEvent(event);
  return status;
}

void Module::describeEntries() {
  auto describe = [&](const auto *tensors, std::vector<std::string> &out,
                      const ashlar_entry_t *sized) {
    for (size_t i = 0; i < count(tensors); ++i) {
      const auto *shape = tensors->Get(uint32_t(i))->shape();
      std::string text = count(shape) ? "" : "scalar";
      for (size_t j = 0; j < count(shape); ++j)
        text += concat(j ? "x" : "", sized && isBound(*sized, i, j) ? "<=" : "",
                       sizeText(*shape->Get(uint32_t(j)), index().symbols()));
      out.push_back(std::move(text));
    }
  };
  entries.resize(count(index().entries()));
  for (const fb::ProgramEntry *programEntry : allEntries(program())) {
    ashlar_entry_t &entry = entries[programEntry->entry()];
    entry.module = this;
    entry.entry = index().entries()->Get(programEntry->entry());
    entry.pieces.push_back(programEntry);
    entry.index = programEntry->entry();
  }
  for (ashlar_entry_t &entry : entries) {
    describe(entry.entry->inputs(), entry.inputShapes, nullptr);
    describe(entry.entry->outputs(), entry.outputShapes, &entry);
  }
}

Status Module::plan() {
  ASHLAR_RETURN_IF_ERROR(
      chooseProgram(*runtime, index(), options.request, choice));
  usedWeights = findWeights();
  for (const std::vector<char> &of : usedWeights) {
    weightsOf.push_back(sizeOfWeights(of));
    weightsBytes += weightsOf.back();
  }
  for (uint32_t i = 0; i < count(program().executables()); ++i) {
    const fb::Executable &executable = *program().executables()->Get(i);
    forms.push_back(i);
    if (variantOf(executable) != 0)
      continue;
    (void)findForm(program(), i, *devices()[executable.device()], forms[i]);
    uint32_t section = program().executables()->Get(forms[i])->section();
    if (!checkedAdd(codeBytes, index().sections()->Get(section)->size(),
                    codeBytes))
      return corrupt("the program names too much code", "executables");
  }
  scratchPerWorker.resize(devices().size());
  for (size_t i = 0; i < count(program().kernels()); ++i) {
    const fb::Kernel &kernel = *program().kernels()->Get(uint32_t(i));
    uint64_t &most = scratchPerWorker[deviceOf(program(), kernel)];
    most = std::max(most, alignUp(kernel.scratch_bytes(), 64));
  }
  describeEntries();
  if (choice.fallbacks)
    options.budget->countFallbacks(choice.fallbacks);
  runtime->logger().log(choice.fallbacks ? ASHLAR_LOG_WARNING : ASHLAR_LOG_INFO,
                        name.c_str(), choice.log);
  return {};
}

std::vector<Budget::Request> Module::requests() const {
  std::vector<Budget::Request> list = {
      {ASHLAR_MEMORY_CODE, codeBytes, nullptr, hostMemory()}};
  for (size_t i = 0; i < weightsOf.size(); ++i)
    list.push_back(
        {ASHLAR_MEMORY_WEIGHTS, weightsOf[i], nullptr, devices()[i]});
  return list;
}

Status Module::checkFit(uint32_t sessions, uint32_t workers, bool all,
                        Budget &sessionBudget, SharedArena *arena) const {
  SessionNeeds needs;
  ASHLAR_RETURN_IF_ERROR(sessionNeeds(*this, workers, all, needs));
  std::vector<Budget::Request> own = requests();
  std::vector<Budget::Request> each = needs.requests(*this, all, !arena);
  for (Budget::Request &request : each)
    if (!checkedMultiply(request.bytes, uint64_t(sessions), request.bytes))
      return invalidArgument(concat(sessions, " sessions need more bytes than "
                                              "can be counted"),
                             "sessions");
  // Both at once, for they may be below one limit.
  for (Budget::Request &request : each) {
    request.in = &sessionBudget;
    own.push_back(request);
  }
  for (uint32_t i = 0; arena && i < needs.arenas.size(); ++i) {
    const ashlar_device_t *device = devices()[deviceOfArena(program(), i)];
    own.push_back({ASHLAR_MEMORY_ARENA,
                   arena->missing(i, device, needs.arenas[i],
                                  i == 0 ? needs.arenaRoom : 0),
                   nullptr, device, arena->budget.get()});
  }
  return options.budget->charge(name, own, /*keep=*/false);
}

Status Module::cost(uint32_t workers, bool all, bool hasArenas,
                    ashlar_module_cost_t &out) const {
  SessionNeeds needs;
  ASHLAR_RETURN_IF_ERROR(sessionNeeds(*this, workers, all, needs));
  out.weights_bytes = weightsBytes;
  out.code_bytes = codeBytes;
  for (const Budget::Request &request : needs.requests(*this, false, hasArenas))
    if (!checkedAdd(out.session_bytes, request.bytes, out.session_bytes))
      return corrupt("a session's sizes overflow");
  // Arenas at their largest.
  ASHLAR_RETURN_IF_ERROR(sessionNeeds(*this, workers, true, needs));
  for (const Budget::Request &request : needs.requests(*this, true, hasArenas))
    if (!checkedAdd(out.session_peak_bytes, request.bytes,
                    out.session_peak_bytes))
      return corrupt("a session's sizes overflow");
  return {};
}

Status Module::load() {
  bool isNative = std::any_of(
      devices().begin(), devices().end(),
      [](const ashlar_device_t *d) { return d->ops.runsNativeCode; });
  if (isNative && !options.allowNativeCode)
    return failure(ASHLAR_UNSUPPORTED,
                   "the module holds machine code for this process: set "
                   "allow_native_code in the load options if you trust it",
                   name);
  std::vector<Budget::Request> asked = requests();
  charges.resize(asked.size());
  for (size_t i = 0; i < asked.size(); ++i)
    asked[i].out = &charges[i];
  ASHLAR_RETURN_IF_ERROR(options.budget->charge(name, asked));
  // Only now, for it reads the whole file.
  if (options.verifyWeights)
    ASHLAR_RETURN_IF_ERROR(file->verifyWeights());
  ASHLAR_RETURN_IF_ERROR(loadCode());
  for (uint32_t i = 0; i < usedWeights.size(); ++i)
    ASHLAR_RETURN_IF_ERROR(loadWeights(i, usedWeights[i]));
  return {};
}

void Module::query(ashlar_module_info_t &out) const {
  auto text = [](const flatbuffers::String *string) {
    return string ? string->c_str() : "";
  };
  out.name = name.c_str();
  out.target = text(program().target());
  out.preset = text(program().preset());
  out.device = devices().front()->name.c_str();
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
  return failure(ASHLAR_NOT_FOUND,
                 concat("module ", name, " has no entry ", wanted, "; it has ",
                        names.empty() ? std::string("none") : names),
                 "entry");
}

} // namespace ashlar::runtime
