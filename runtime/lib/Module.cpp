// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loading and unloading of a module: the file is mapped and verified, a program
// chosen, weights and code charged to a budget and brought to its devices.

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
    : runtime(std::move(runtime)), name(options.name),
      options(std::move(options)),
      content(*this->options.budget, std::move(file), name,
              this->options.shareContent) {}

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

Vector<Vector<char>> Module::findWeights() const {
  Vector<Vector<char>> used(devices().size(),
                            Vector<char>(count(index().weights()), false));
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

DeviceAddress Module::weight(uint32_t device, uint32_t number) const {
  const WeightPlace &place =
      weights[device * count(index().weights()) + number];
  if (place.block)
    return place.block->address + place.offset;
  // The mapping is read-only and verified programs never write weights.
  return {const_cast<uint8_t *>(content.file().at(place.offset)), 0};
}

/// Bytes that several have in common are there once, and counted once.
void Module::takeWeights(uint32_t device, const Vector<char> &used) {
  struct Range {
    uint64_t first, last;
    uint32_t number;
  };
  Vector<Range> ranges;
  for (uint32_t i = 0; i < used.size(); ++i)
    if (used[i]) {
      const fb::Weight &weight = *index().weights()->Get(i);
      uint64_t first =
          index().sections()->Get(weight.section())->offset() + weight.offset();
      ranges.push_back({first, first + weight.size(), i});
    }
  sortPlain<Range>(ranges, [](const Range &a, const Range &b) {
    return compare(a.first, b.first);
  });
  bool inBlocks = content.isShared || !devices()[device]->usesHostMemory();
  for (size_t i = 0, j; i < ranges.size(); i = j) {
    uint64_t first = ranges[i].first, last = ranges[i].last;
    for (j = i + 1; j < ranges.size() && ranges[j].first < last; ++j)
      last = std::max(last, ranges[j].last);
    weightsBytes += last - first;
    ContentBlock *block = nullptr;
    if (inBlocks)
      block = content.take(1 + device, *devices()[device], first, last - first);
    else
      content.lot(1 + device).bytes += last - first;
    for (size_t k = i; k < j; ++k)
      weights[device * used.size() + ranges[k].number] = {
          block, ranges[k].first - (block ? first : 0)};
  }
}

Status Module::loadCode() {
  for (uint32_t i = 0; i < executables.size(); ++i) {
    if (!executables[i])
      continue;
    ASHLAR_RETURN_IF_ERROR(loadExecutable(i, *executables[i]));
  }
  for (size_t i = 0; i < count(program().kernels()); ++i)
    ASHLAR_RETURN_IF_ERROR(findKernel(*program().kernels()->Get(uint32_t(i))));
  return {};
}

/// In the first form that the device accepts, or where its driver does not take
/// that after all, being too old for it, in the next.
Status Module::loadExecutable(uint32_t number, ContentBlock &block) {
  const ModuleFile &file = content.file();
  const auto &list = *program().executables();
  for (uint32_t form = forms[number], next;; form = next) {
    const fb::Section &section =
        *index().sections()->Get(list.Get(form)->section());
    ASHLAR_RETURN_IF_ERROR(file.verifyHash(section, "code"));
    Status status;
    if (!block.executable)
      status = block.device.ops.loadExecutable(
          block.device.state, file.sectionData(section), section.size(),
          &block.executable);
    file.release(section.offset(), section.size());
    if (status.code() != ASHLAR_UNSUPPORTED ||
        !findForm(program(), number, form + 1, block.device, next))
      return status;
    runtime->logger().log(ASHLAR_LOG_WARNING, name.c_str(),
                          concat(list.Get(form)->format()->string_view(),
                                 ": not taken, ", status.message(),
                                 "; going on with ",
                                 list.Get(next)->format()->string_view()));
  }
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
  return device.ops.findKernel(executables[kernel.executable()]->executable,
                               form, &kernels.back());
}

void Module::makeWeights(uint32_t device, const ContentBlock *block) {
  uint32_t all = count(index().weights());
  Vector<Vector<char>> used = findWeights();
  for (uint32_t i = 0; i < all; ++i)
    if (used[device][i] && index().weights()->Get(i)->random() &&
        (!block || weights[device * all + i].block == block))
      content.file().make(*index().weights()->Get(i));
}

namespace {
/// A load's own queue and event. Its end finishes what is under way, so that
/// the memory may go: also where an allocation of the host's fails.
struct CopyQueue {
  CopyQueue(const DeviceOps &ops) : ops(ops) {}
  CopyQueue(const CopyQueue &) = delete;
  ~CopyQueue() {
    if (queue)
      ops.destroyQueue(queue);
    if (event)
      ops.destroyEvent(event);
  }
  Status create(void *state) {
    QueueOptions alone = {};
    alone.workers = 1;
    ASHLAR_RETURN_IF_ERROR(ops.createQueue(state, alone, &queue));
    return ops.createEvent(state, &event);
  }
  Status wait() const {
    bool came = false;
    ASHLAR_RETURN_IF_ERROR(ops.record(queue, event));
    return ops.wait(event, UINT64_MAX, &came);
  }

  const DeviceOps &ops;
  void *queue = nullptr, *event = nullptr;
};
} // namespace

/// To a device with a memory of its own: all are under way before the first is
/// waited for.
Status Module::copyWeights(uint32_t number) {
  ashlar_device_t &device = *devices()[number];
  const DeviceOps &ops = device.ops;
  const ContentLot &lot = content.lot(1 + number);
  if (device.usesHostMemory() || lot.bytes == 0)
    return {};
  ASHLAR_RETURN_IF_ERROR(ops.checkMemory(device.state, lot.bytes));
  CopyQueue copies(ops);
  ASHLAR_RETURN_IF_ERROR(copies.create(device.state));
  for (ContentBlock *block : content.blocks) {
    // The same may be there twice.
    if (&block->lot != &lot || block->isCopy)
      continue;
    ASHLAR_RETURN_IF_ERROR(ops.allocate(
        device.state, block->size, ASHLAR_MEMORY_WEIGHTS, &block->address));
    block->isCopy = true;
    makeWeights(number, block);
    ASHLAR_RETURN_IF_ERROR(
        ops.copy(copies.queue, CopyKind::In, block->address,
                 {const_cast<uint8_t *>(content.file().at(block->offset)), 0},
                 block->size));
    // What is made is not there twice for longer than it takes to copy it.
    if (content.file().isMade(block->offset)) {
      ASHLAR_RETURN_IF_ERROR(copies.wait());
      content.file().release(block->offset, block->size);
    }
  }
  return copies.wait();
}

void Module::describeEntries() {
  auto describe = [&](const auto *tensors, Vector<String> &out,
                      const ashlar_entry_t *sized) {
    for (size_t i = 0; i < count(tensors); ++i) {
      const auto *shape = tensors->Get(uint32_t(i))->shape();
      String text = count(shape) ? "" : "scalar";
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

/// The form that the device accepts, with room for each other that it does: its
/// driver may take none but a later one.
Status Module::takeCode(uint32_t number) {
  const auto &list = *program().executables();
  ashlar_device_t &device = *devices()[list.Get(number)->device()];
  auto sectionOf = [&](uint32_t form) -> const fb::Section & {
    return *index().sections()->Get(list.Get(form)->section());
  };
  (void)findForm(program(), number, number, device, forms[number]);
  const fb::Section &section = sectionOf(forms[number]);
  uint64_t most = section.size();
  for (uint32_t form = forms[number];
       findForm(program(), number, form + 1, device, form);)
    most = std::max(most, sectionOf(form).size());
  if (!checkedAdd(codeBytes, most, codeBytes))
    return corrupt("the program names too much code", "executables");
  const uint64_t found = content.foundBytes;
  executables[number] =
      content.take(0, device, section.offset(), section.size());
  (content.foundBytes == found ? content.lot(0).bytes : content.foundBytes) +=
      most - section.size();
  return {};
}

Status Module::plan() {
  ASHLAR_RETURN_IF_ERROR(
      chooseProgram(*runtime, index(), options.request, choice));
  content.begin(hostMemory(), devices());
  for (uint32_t i = 0; i < count(program().executables()); ++i) {
    forms.push_back(i);
    executables.push_back(nullptr);
    if (variantOf(*program().executables()->Get(i)) == 0)
      ASHLAR_RETURN_IF_ERROR(takeCode(i));
  }
  Vector<Vector<char>> used = findWeights();
  weights.reset(new WeightPlace[used.size() * count(index().weights())]());
  for (uint32_t i = 0; i < used.size(); ++i)
    takeWeights(i, used[i]);
  scratchPerWorker.resize(devices().size());
  for (size_t i = 0; i < count(program().kernels()); ++i) {
    const fb::Kernel &kernel = *program().kernels()->Get(uint32_t(i));
    uint64_t &most = scratchPerWorker[deviceOf(program(), kernel)];
    most = std::max(most, alignUp(kernel.scratch_bytes(), 64));
  }
  describeEntries();
  if (choice.fallbacks)
    options.budget->countFallbacks(choice.fallbacks);
  const bool isSecond = choice.fallbacks || !options.request.refused.empty();
  runtime->logger().log(isSecond ? ASHLAR_LOG_WARNING : ASHLAR_LOG_INFO,
                        name.c_str(), choice.log);
  return {};
}

Status Module::checkFit(uint32_t sessions, uint32_t workers, bool all,
                        Budget &sessionBudget, SharedArena *arena) const {
  SessionNeeds needs;
  ASHLAR_RETURN_IF_ERROR(sessionNeeds(*this, workers, all, needs));
  Vector<Budget::Request> own = content.requests();
  Vector<Budget::Request> each = needs.requests(*this, all, !arena);
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
  out.code_bytes = content.lot(0).bytes;
  out.weights_bytes =
      weightsBytes + codeBytes - content.foundBytes - out.code_bytes;
  out.shared_bytes = content.foundBytes;
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
  ASHLAR_RETURN_IF_ERROR(content.charge());
  // Only now, for it reads the whole file.
  if (options.verifyWeights)
    ASHLAR_RETURN_IF_ERROR(content.file().verifyWeights());
  Status loaded = loadCode();
  for (uint32_t i = 0; loaded.ok() && i < devices().size(); ++i)
    loaded = copyWeights(i);
  refused = loaded.code() == ASHLAR_UNSUPPORTED ||
            (loaded.code() == ASHLAR_DEVICE_LOST && options.request.isFree());
  ASHLAR_RETURN_IF_ERROR(loaded);
  // Behind copies, which leave nothing.
  for (uint32_t i = 0; i < devices().size(); ++i)
    if (devices()[i]->usesHostMemory())
      makeWeights(i, nullptr);
  content.finish();
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
  out.shared_bytes = content.foundBytes;
}

Status Module::findEntry(std::string_view wanted, ashlar_entry_t *&out) {
  String names;
  for (ashlar_entry_t &entry : entries) {
    if (entry.entry->name()->string_view() == wanted) {
      out = &entry;
      return {};
    }
    names += concat(names.empty() ? "" : ", ", entry.entry->name()->c_str());
  }
  return failure(ASHLAR_NOT_FOUND,
                 concat("module ", name, " has no entry ", wanted, "; it has ",
                        names.empty() ? String("none") : names),
                 "entry");
}

} // namespace ashlar::runtime
