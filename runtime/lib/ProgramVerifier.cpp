// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refuses programs whose kernels, commands, bindings or contracts a session
// could not run safely: whatever a file says, no read or write leaves its
// storage. Called once, when a module is loaded.

#include "IndexVerifier.h"

#include "CheckedMath.h"
#include "EntryPieces.h"
#include "TensorMaps.h"
#include "TensorShape.h"
#include "ashlar/runtime/kernel_abi.h"
#include "ashlar/runtime/module_format.h"

#include <string_view>

namespace ashlar::runtime {

/// Older runtimes would pass over it.
static Status requireFeature(const fb::Program &program, const char *what,
                             const char *feature) {
  for (uint32_t i = 0; i < count(program.required_features()); ++i)
    if (program.required_features()->Get(i)->string_view() == feature)
      return {};
  return corrupt(concat(what, " needs the feature ", feature));
}
static Status requireFormat11(const fb::Program &program, const char *what) {
  return requireFeature(program, what, ASHLAR_MODULE_FORMAT_1_1);
}

namespace {

/// Checks the commands of one entry of one program.
class EntryVerifier {
public:
  EntryVerifier(const fb::Module &module, const fb::Program &program,
                const fb::ProgramEntry &programEntry)
      : module(module), program(program), programEntry(programEntry),
        symbolCount(count(module.symbols())), used(symbolCount, false) {}

  Status verify();

private:
  /// `depth` blocks are around these; `iterations` is the size expression of
  /// the innermost loop, if there is one and it has one.
  struct Surroundings {
    uint32_t depth = 0;
    const fb::SizeExpression *iterations = nullptr;
  };

  /// Of a program's entry and of a block: both hold `commands`.
  template <typename Table>
  Status verifyCommands(const Table &table, Surroundings where);
  Status verifyBlock(const fb::Block *block, Surroundings where);
  Status verifyCommand(fb::Command type, const void *table, Surroundings where);
  Status verifyDispatch(const fb::Dispatch &dispatch);
  Status verifyCopy(const fb::Copy &copy, Surroundings where);
  Status verifyStride(const fb::Binding &binding, int64_t stride,
                      Surroundings where);
  Status verifyCondition(const fb::Binding *binding);
  Status verifyLoop(const fb::Loop &loop, Surroundings where);
  Status verifyOutputSize(const fb::OutputSize &size);
  Status verifyDevice(const fb::Kernel &kernel, const fb::Binding &binding);
  Status storageSize(const fb::Binding &binding, uint64_t &bytes);
  Status verifyBinding(const fb::Binding *binding, bool written);
  Status verifyRange(const fb::Binding &binding, const char *what,
                     uint64_t bytes);
  Status useSize(const fb::SizeExpression *size);
  Status verifyGrid(const fb::Dispatch &dispatch, const fb::Kernel &kernel);
  Status verifyMap(const fb::TensorMap &map, const fb::Binding &binding);
  Status needs11(const char *what) const {
    return requireFormat11(program, what);
  }
  Status verifyBuffers();
  Status verifySymbolsAreBound();

  const fb::Module &module;
  const fb::Program &program;
  const fb::ProgramEntry &programEntry;
  const fb::Entry *entry = nullptr;
  const size_t symbolCount;
  Vector<bool> used; // symbols that some size reads
};

} // namespace

Status EntryVerifier::useSize(const fb::SizeExpression *size) {
  ASHLAR_RETURN_IF_ERROR(verifySize(size, symbolCount));
  int64_t value;
  if (isConstantSize(*size) && !evaluateSize(*size, nullptr, value))
    return corrupt("a constant size overflows or is negative");
  collectSymbols(*size, used);
  return {};
}

Status EntryVerifier::verifyRange(const fb::Binding &binding, const char *what,
                                  uint64_t bytes) {
  if (!isConstantSize(*binding.offset()) || !isConstantSize(*binding.length()))
    return {}; // checked when a call binds the symbols
  int64_t offset = 0, length = 0;
  if (!evaluateSize(*binding.offset(), nullptr, offset) ||
      !evaluateSize(*binding.length(), nullptr, length) ||
      !fits(uint64_t(offset), uint64_t(length), bytes))
    return corrupt(concat("a binding of ", length, " bytes at ", offset,
                          " exceeds ", what, " ", binding.index(), " of ",
                          bytes, " bytes"));
  return {};
}

Status EntryVerifier::verifyBinding(const fb::Binding *binding, bool written) {
  if (!binding)
    return corrupt("a binding is missing");
  ASHLAR_RETURN_IF_ERROR(useSize(binding->offset()));
  ASHLAR_RETURN_IF_ERROR(useSize(binding->length()));
  const char *what = "arena";
  size_t limit = 1;
  bool mayWrite = true;
  switch (binding->storage()) {
  case fb::Storage::Input:
    what = "input", limit = count(entry->inputs()), mayWrite = false;
    break;
  case fb::Storage::Output:
    what = "output", limit = count(entry->outputs());
    break;
  case fb::Storage::Weights:
    what = "weight", limit = count(module.weights()), mayWrite = false;
    break;
  case fb::Storage::Arena:
    limit = 1 + count(program.companions());
    break;
  default:
    return corrupt(
        concat("a binding has unknown storage ", unsigned(binding->storage())));
  }
  if (binding->index() >= limit)
    return corrupt(
        concat("a binding names ", what, " ", binding->index(), " of ", limit));
  size_t buffers = count(programEntry.buffers());
  bool inArena =
      binding->storage() == fb::Storage::Arena && binding->index() == 0;
  if (inArena ? (binding->buffer() > buffers ||
                 (buffers != 0 && binding->buffer() == 0))
              : binding->buffer() != 0)
    return corrupt(concat("a binding lies in value ", binding->buffer(),
                          " of the arena, which has ", buffers));
  if (written && !mayWrite)
    return corrupt(concat("a command writes ", what, " ", binding->index()));
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(storageSize(*binding, bytes));
  return verifyRange(*binding, what, bytes);
}

/// Of the storage that a sound binding names, at the largest sizes.
Status EntryVerifier::storageSize(const fb::Binding &binding, uint64_t &bytes) {
  if (binding.storage() == fb::Storage::Weights) {
    bytes = module.weights()->Get(binding.index())->size();
    return {};
  }
  if (binding.storage() == fb::Storage::Arena) {
    const fb::Contract &contract = *programEntry.contract();
    bytes =
        binding.index() == 0
            ? contract.arena_bytes()
            : contract.companions()->Get(binding.index() - 1)->arena_bytes();
    return {};
  }
  const auto *tensors = binding.storage() == fb::Storage::Input
                            ? entry->inputs()
                            : entry->outputs();
  int64_t shape[ASHLAR_MAX_RANK];
  if (!maximumShape(*tensors->Get(binding.index()), shape, bytes))
    return corrupt("the shape of a bound tensor overflows");
  return {};
}

/// A kernel reaches the arena of its own device; inputs and outputs at home
/// only.
Status EntryVerifier::verifyDevice(const fb::Kernel &kernel,
                                   const fb::Binding &binding) {
  uint32_t device = deviceOf(program, kernel);
  if (binding.storage() == fb::Storage::Weights ||
      deviceOf(program, binding) == device)
    return {};
  return corrupt(concat("kernel ", kernel.name()->string_view(),
                        " runs on device ", device,
                        " of the program and is given bytes of another"));
}

Status EntryVerifier::verifyDispatch(const fb::Dispatch &dispatch) {
  if (dispatch.kernel() >= count(program.kernels()))
    return corrupt(concat("a dispatch names kernel ", dispatch.kernel(), " of ",
                          count(program.kernels())));
  const fb::Kernel *kernel = program.kernels()->Get(dispatch.kernel());
  if (count(dispatch.bindings()) != kernel->bindings())
    return corrupt(concat("kernel ", kernel->name()->string_view(), " takes ",
                          kernel->bindings(), " bindings, a dispatch gives ",
                          count(dispatch.bindings())));
  if (count(dispatch.parameters()) != kernel->parameters())
    return corrupt(concat("kernel ", kernel->name()->string_view(), " takes ",
                          kernel->parameters(),
                          " parameters, a dispatch gives ",
                          count(dispatch.parameters())));
  ASHLAR_RETURN_IF_ERROR(useSize(dispatch.groups()));
  for (size_t i = 0; i < count(dispatch.parameters()); ++i)
    ASHLAR_RETURN_IF_ERROR(useSize(dispatch.parameters()->Get(uint32_t(i))));
  for (size_t i = 0; i < count(dispatch.bindings()); ++i) {
    const fb::Binding *binding = dispatch.bindings()->Get(uint32_t(i));
    ASHLAR_RETURN_IF_ERROR(verifyBinding(binding, binding->written()));
    ASHLAR_RETURN_IF_ERROR(verifyDevice(*kernel, *binding));
    int64_t offset = 0;
    if (isConstantSize(*binding->offset()) &&
        evaluateSize(*binding->offset(), nullptr, offset) &&
        offset % ASHLAR_KERNEL_BUFFER_ALIGNMENT)
      return corrupt(concat("binding ", i, " of kernel ",
                            kernel->name()->string_view(), " starts at ",
                            offset, ", which is no multiple of 64"));
  }
  for (uint32_t i = 0; i < count(kernel->arguments()); ++i) {
    const fb::Parameter &argument = *kernel->arguments()->Get(i);
    if (argument.map())
      ASHLAR_RETURN_IF_ERROR(verifyMap(
          *argument.map(), *dispatch.bindings()->Get(argument.index())));
  }
  return verifyGrid(dispatch, *kernel);
}

Status EntryVerifier::verifyGrid(const fb::Dispatch &dispatch,
                                 const fb::Kernel &kernel) {
  size_t rank = count(dispatch.grid());
  if ((rank != 0) != (count(kernel.block()) != 0) || rank > 3)
    return corrupt(concat("a dispatch has a grid of ", rank,
                          " numbers, its kernel a block of ",
                          count(kernel.block())));
  if (rank == 0)
    return {};
  bool known = isConstantSize(*dispatch.groups());
  int64_t product = 1, size = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    const fb::SizeExpression *each = dispatch.grid()->Get(i);
    ASHLAR_RETURN_IF_ERROR(useSize(each));
    known &= isConstantSize(*each);
    if (known && (!evaluateSize(*each, nullptr, size) ||
                  !checkedMultiply(product, size, product)))
      return corrupt("a grid overflows");
  }
  if (known &&
      (!evaluateSize(*dispatch.groups(), nullptr, size) || size != product))
    return corrupt(
        concat("a grid has ", product, " workgroups, its dispatch ", size));
  return {};
}

/// What the map tells of lies behind the binding, where no symbols decide.
Status EntryVerifier::verifyMap(const fb::TensorMap &map,
                                const fb::Binding &binding) {
  bool known = isConstantSize(*binding.length());
  for (uint32_t i = 0; i < count(map.sizes()); ++i) {
    ASHLAR_RETURN_IF_ERROR(useSize(map.sizes()->Get(i)));
    ASHLAR_RETURN_IF_ERROR(useSize(map.strides()->Get(i)));
    known &= isConstantSize(*map.sizes()->Get(i)) &&
             isConstantSize(*map.strides()->Get(i));
  }
  int64_t length = 0;
  TensorMap resolved;
  if (known && (!evaluateSize(*binding.length(), nullptr, length) ||
                !resolveMap(map, nullptr, uint64_t(length), resolved)))
    return corrupt(concat("a tensor map leaves its ", length,
                          " bytes, or contradicts itself"));
  return {};
}

/// All iterations of a copy that moves stay within its storage.
Status EntryVerifier::verifyStride(const fb::Binding &binding, int64_t stride,
                                   Surroundings where) {
  if (stride == 0)
    return {};
  if (!where.iterations)
    return corrupt("a copy moves, but is in no loop that says how often it "
                   "runs at most");
  if (!isConstantSize(*binding.offset()) ||
      !isConstantSize(*binding.length()) || !isConstantSize(*where.iterations))
    return {}; // checked when a call binds the symbols
  int64_t offset = 0, length = 0, iterations = 0;
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(storageSize(binding, bytes));
  if (!evaluateSize(*binding.offset(), nullptr, offset) ||
      !evaluateSize(*binding.length(), nullptr, length) ||
      !evaluateSize(*where.iterations, nullptr, iterations) ||
      !staysWithin(uint64_t(offset), uint64_t(length), stride, iterations,
                   bytes))
    return corrupt(concat("a copy of ", length, " bytes at ", offset,
                          " moves by ", stride,
                          " bytes in each iteration and "
                          "leaves the ",
                          bytes, " bytes of its storage"));
  return {};
}

Status EntryVerifier::verifyCopy(const fb::Copy &copy, Surroundings where) {
  ASHLAR_RETURN_IF_ERROR(verifyBinding(copy.source(), false));
  ASHLAR_RETURN_IF_ERROR(verifyBinding(copy.target(), true));
  if (deviceOf(program, *copy.source()) != deviceOf(program, *copy.target()) &&
      (copy.source_stride() || copy.target_stride()))
    return corrupt("a copy between devices moves with a loop");
  ASHLAR_RETURN_IF_ERROR(
      verifyStride(*copy.source(), copy.source_stride(), where));
  ASHLAR_RETURN_IF_ERROR(
      verifyStride(*copy.target(), copy.target_stride(), where));
  return {};
}

Status EntryVerifier::verifyCondition(const fb::Binding *binding) {
  ASHLAR_RETURN_IF_ERROR(verifyBinding(binding, false));
  int64_t length = 0;
  if (!isConstantSize(*binding->length()) ||
      !evaluateSize(*binding->length(), nullptr, length) || length != 1)
    return corrupt("a condition is not one byte");
  if (deviceOf(program, *binding) != homeOf(program))
    return corrupt("a condition does not lie at home");
  return {};
}

Status EntryVerifier::verifyLoop(const fb::Loop &loop, Surroundings where) {
  if (!loop.iterations() && !loop.condition())
    return corrupt("a loop has neither a condition nor a number of iterations");
  if (loop.iterations())
    ASHLAR_RETURN_IF_ERROR(useSize(loop.iterations()));
  if (loop.condition())
    ASHLAR_RETURN_IF_ERROR(verifyCondition(loop.condition()));
  where.iterations = loop.iterations();
  return verifyBlock(loop.body(), where);
}

Status EntryVerifier::verifyBlock(const fb::Block *block, Surroundings where) {
  if (!block)
    return corrupt("a block of commands is missing");
  if (++where.depth > maximumNesting)
    return corrupt(concat("blocks nest deeper than ", maximumNesting));
  return verifyCommands(*block, where);
}

Status EntryVerifier::verifyCommand(fb::Command type, const void *table,
                                    Surroundings where) {
  if (!table)
    return corrupt("a command is missing");
  switch (type) {
  case fb::Command::Dispatch:
    return verifyDispatch(*static_cast<const fb::Dispatch *>(table));
  case fb::Command::Copy:
    return verifyCopy(*static_cast<const fb::Copy *>(table), where);
  case fb::Command::Barrier:
    return {};
  case fb::Command::Check: {
    auto &check = *static_cast<const fb::Check *>(table);
    if (!present(check.message()))
      return corrupt("a check has no message");
    return verifyCondition(check.condition());
  }
  case fb::Command::If: {
    auto &branches = *static_cast<const fb::If *>(table);
    ASHLAR_RETURN_IF_ERROR(verifyCondition(branches.condition()));
    ASHLAR_RETURN_IF_ERROR(verifyBlock(branches.then(), where));
    return verifyBlock(branches.otherwise(), where);
  }
  case fb::Command::Loop:
    return verifyLoop(*static_cast<const fb::Loop *>(table), where);
  case fb::Command::Order: {
    auto &order = *static_cast<const fb::Order *>(table);
    size_t devices = 1 + count(program.companions());
    if (order.device() >= devices || order.after() >= devices ||
        order.device() == order.after())
      return corrupt(concat("an order of devices ", order.device(), " and ",
                            order.after(), " of ", devices));
    return needs11("an order");
  }
  default:
    return corrupt(concat("unknown command ", unsigned(type)));
  }
}

template <typename Table>
Status EntryVerifier::verifyCommands(const Table &table, Surroundings where) {
  if (count(table.commands()) != count(table.commands_type()))
    return corrupt("commands and their types differ in number");
  for (uint32_t i = 0; i < count(table.commands()); ++i) {
    Status status = verifyCommand(fb::Command(table.commands_type()->Get(i)),
                                  table.commands()->Get(i), where);
    if (!status.ok())
      return corrupt(concat("commands[", i, "]: ", status.message()));
  }
  return {};
}

Status EntryVerifier::verifyOutputSize(const fb::OutputSize &size) {
  if (size.output() >= count(entry->outputs()))
    return corrupt(concat("it names output ", size.output(), " of ",
                          count(entry->outputs())));
  size_t rank = count(entry->outputs()->Get(size.output())->shape());
  if (size.dimension() >= rank)
    return corrupt(
        concat("it names dimension ", size.dimension(), " of ", rank));
  ASHLAR_RETURN_IF_ERROR(verifyBinding(size.value(), false));
  if (deviceOf(program, *size.value()) != homeOf(program))
    return corrupt("its value does not lie at home");
  int64_t length = 0;
  if (!isConstantSize(*size.value()->length()) ||
      !evaluateSize(*size.value()->length(), nullptr, length) || length != 8)
    return corrupt("its value does not have eight bytes");
  return {};
}

Status EntryVerifier::verifySymbolsAreBound() {
  Vector<bool> bound(symbolCount, false);
  for (size_t i = 0; i < count(entry->inputs()); ++i) {
    const auto *shape = entry->inputs()->Get(uint32_t(i))->shape();
    for (size_t j = 0; j < count(shape); ++j) {
      uint32_t symbol;
      if (isPlainSymbol(*shape->Get(uint32_t(j)), symbol))
        bound[symbol] = true;
      else
        collectSymbols(*shape->Get(uint32_t(j)), used);
    }
  }
  for (size_t i = 0; i < count(entry->outputs()); ++i) {
    const auto *shape = entry->outputs()->Get(uint32_t(i))->shape();
    for (size_t j = 0; j < count(shape); ++j)
      collectSymbols(*shape->Get(uint32_t(j)), used);
  }
  for (size_t i = 0; i < symbolCount; ++i)
    if (used[i] && !bound[i])
      return corrupt(concat(
          "symbol ", module.symbols()->Get(uint32_t(i))->name()->string_view(),
          " is used but is no dimension of an input"));
  return {};
}

Status EntryVerifier::verifyBuffers() {
  for (uint32_t i = 0; i < count(programEntry.buffers()); ++i) {
    const fb::ArenaBuffer &buffer = *programEntry.buffers()->Get(i);
    ASHLAR_RETURN_IF_ERROR(useSize(buffer.size()));
    if (buffer.offset() % ASHLAR_KERNEL_BUFFER_ALIGNMENT ||
        buffer.offset() > programEntry.contract()->arena_bytes() ||
        buffer.first() > buffer.last())
      return corrupt(concat("buffers[", i,
                            "]: expected a multiple of 64 "
                            "within the arena and a life that ends after it "
                            "begins, found ",
                            buffer.offset(), " and ", buffer.first(), " to ",
                            buffer.last()));
  }
  return {};
}

Status EntryVerifier::verify() {
  if (programEntry.entry() >= count(module.entries()))
    return corrupt(concat("entry ", programEntry.entry(), " of ",
                          count(module.entries())));
  entry = module.entries()->Get(programEntry.entry());
  for (uint32_t i = 0; i < count(entry->outputs()); ++i)
    if (entry->outputs()->Get(i)->state_input())
      ASHLAR_RETURN_IF_ERROR(
          requireFeature(program, "a state", ASHLAR_MODULE_FEATURE_STATE));
  if (!programEntry.contract())
    return corrupt("the memory contract is missing");
  const fb::Contract &contract = *programEntry.contract();
  if (count(contract.companions()) != count(program.companions()))
    return corrupt(concat("the contract has ", count(contract.companions()),
                          " companions, the program ",
                          count(program.companions())));
  uint64_t arenas = contract.arena_bytes();
  for (uint32_t i = 0; i < count(contract.companions()); ++i)
    if (!checkedAdd(arenas, contract.companions()->Get(i)->arena_bytes(),
                    arenas))
      return corrupt("the arenas are larger than memory can be");
  if (arenas > uint64_t(INT64_MAX))
    return corrupt("the arena is larger than memory can be");
  if (programEntry.ranges() || programEntry.outputs())
    ASHLAR_RETURN_IF_ERROR(verifyPiece(module, *entry, programEntry));
  ASHLAR_RETURN_IF_ERROR(verifyBuffers());
  ASHLAR_RETURN_IF_ERROR(verifyCommands(programEntry, {}));
  for (uint32_t i = 0; i < count(programEntry.output_sizes()); ++i) {
    Status status = verifyOutputSize(*programEntry.output_sizes()->Get(i));
    if (!status.ok())
      return corrupt(concat("output_sizes[", i, "]: ", status.message()));
  }
  return verifySymbolsAreBound();
}

/// At most three numbers, none of them 0, whose product is no larger than
/// `most`.
static bool isExtent(const flatbuffers::Vector<uint32_t> *numbers,
                     uint64_t most) {
  uint64_t product = 1;
  for (uint32_t i = 0; i < count(numbers); ++i) {
    product *= numbers->Get(i);
    if (product == 0 || product > most)
      return false;
  }
  return count(numbers) <= 3;
}

static bool isSound(const fb::Kernel &kernel, const fb::Parameter &argument) {
  bool isMap = argument.kind() == fb::ParameterKind::TensorMap;
  uint32_t limit = argument.kind() == fb::ParameterKind::Integer
                       ? kernel.parameters()
                       : kernel.bindings();
  if (argument.kind() > fb::ParameterKind::MAX || argument.index() >= limit ||
      isMap != (argument.map() != nullptr))
    return false;
  if (!isMap)
    return true;
  const fb::TensorMap &map = *argument.map();
  size_t rank = count(map.sizes());
  return rank != 0 && rank <= TensorMap::maximumRank &&
         count(map.strides()) == rank && count(map.box()) == rank &&
         count(map.steps()) == rank;
}

/// How workgroups run it and what its function takes.
static Status verifyForm(const fb::Program &program, const fb::Kernel &kernel) {
  // More than any machine has.
  constexpr uint64_t mostThreads = 1 << 16, mostBytes = uint64_t(1) << 30;
  size_t arguments = count(kernel.arguments());
  if (!count(kernel.block()) && !count(kernel.cluster()) &&
      !kernel.shared_bytes().value_or(0) && !arguments)
    return {};
  ASHLAR_RETURN_IF_ERROR(requireFormat11(program, "workgroups or arguments"));
  if (!isExtent(kernel.block(), mostThreads) ||
      !isExtent(kernel.cluster(), mostThreads) ||
      kernel.shared_bytes().value_or(0) > mostBytes ||
      (!count(kernel.block()) &&
       (count(kernel.cluster()) || kernel.shared_bytes().value_or(0))))
    return corrupt(concat("the block, cluster or shared memory of kernel ",
                          kernel.name()->string_view(),
                          " is none that a machine has"));
  for (uint32_t i = 0; i < arguments; ++i)
    if (!isSound(kernel, *kernel.arguments()->Get(i)))
      return corrupt(concat("argument ", i, " of kernel ",
                            kernel.name()->string_view(),
                            " is neither given to it nor a tensor map"));
  return {};
}

static Status verifyVariant(const fb::Program &program, uint32_t number) {
  const fb::Executable &executable = *program.executables()->Get(number);
  uint32_t base = variantOf(executable);
  if (base == 0)
    return {};
  ASHLAR_RETURN_IF_ERROR(requireFormat11(program, "variants"));
  if (base > number || variantOf(*program.executables()->Get(base - 1)) != 0 ||
      program.executables()->Get(base - 1)->device() != executable.device())
    return corrupt(concat("executables[", number, "] is a form of ", base - 1,
                          ", which is not earlier, or for another device"));
  return {};
}

static Status verifyKernel(const fb::Module &module, const fb::Program &program,
                           const fb::Kernel &kernel) {
  if (!present(kernel.name()) || !present(kernel.symbol()))
    return corrupt("a kernel has no name or symbol");
  if (kernel.executable() >= count(program.executables()))
    return corrupt(concat("kernel ", kernel.name()->string_view(),
                          " is in executable ", kernel.executable(), " of ",
                          count(program.executables())));
  if (variantOf(*program.executables()->Get(kernel.executable())) != 0)
    return corrupt(concat("kernel ", kernel.name()->string_view(),
                          " is in a variant of an executable"));
  if (kernel.scratch_bytes() > maximumScratchBytes)
    return corrupt(concat("kernel ", kernel.name()->string_view(), " asks for ",
                          kernel.scratch_bytes(), " bytes of scratch"));
  for (const fb::SizeExpression *cost : {kernel.flops(), kernel.bytes()})
    if (cost)
      ASHLAR_RETURN_IF_ERROR(verifySize(cost, count(module.symbols())));
  return verifyForm(program, kernel);
}

static Status verifyParts(const fb::Module &module,
                          const fb::Program &program) {
  if (!present(program.device_type()))
    return corrupt("the type of its device is missing");
  if (homeOf(program) > count(program.companions()))
    return corrupt(concat("its home is device ", homeOf(program), " of ",
                          1 + count(program.companions())));
  if (homeOf(program) != 0)
    ASHLAR_RETURN_IF_ERROR(requireFormat11(program, "a home"));
  for (uint32_t i = 0; i < count(program.companions()); ++i)
    if (!present(program.companions()->Get(i)->device_type()))
      return corrupt(
          concat("the type of the device of companions[", i, "] is missing"));
  for (size_t i = 0; i < count(program.executables()); ++i) {
    const fb::Executable *executable = program.executables()->Get(uint32_t(i));
    if (executable->device() > count(program.companions()))
      return corrupt(concat("executables[", i, "] is for device ",
                            executable->device(), " of ",
                            1 + count(program.companions())));
    if (!present(executable->format()))
      return corrupt(concat("executables[", i, "] has no format"));
    if (executable->section() >= count(module.sections()) ||
        module.sections()->Get(executable->section())->kind() !=
            fb::SectionKind::Code)
      return corrupt(concat("section ", executable->section(),
                            " of executables[", i, "] holds no code"));
    ASHLAR_RETURN_IF_ERROR(verifyVariant(program, uint32_t(i)));
  }
  Set<std::string_view> names;
  for (size_t i = 0; i < count(program.kernels()); ++i) {
    const fb::Kernel *kernel = program.kernels()->Get(uint32_t(i));
    ASHLAR_RETURN_IF_ERROR(verifyKernel(module, program, *kernel));
    if (!names.insert(kernel->name()->string_view()).second)
      return corrupt(
          concat("two kernels are named ", kernel->name()->string_view()));
  }
  for (size_t i = 0; i < count(program.absent_nodes()); ++i) {
    const fb::AbsentNode *node = program.absent_nodes()->Get(uint32_t(i));
    if (!node->name())
      return corrupt(concat("absent_nodes[", i, "] has no name"));
    if (node->fate() > fb::NodeFate::MAX)
      return corrupt(concat("absent_nodes[", i, "], ",
                            node->name()->string_view(), ": unknown fate ",
                            unsigned(node->fate())));
  }
  Map<uint32_t, const fb::ProgramEntry *> entries;
  for (size_t i = 0; i < count(program.entries()); ++i) {
    const fb::ProgramEntry *entry = program.entries()->Get(uint32_t(i));
    Status status = EntryVerifier(module, program, *entry).verify();
    if (!status.ok())
      return corrupt(concat("entries[", i, "]: ", status.message()));
    if (!entries.insert({entry->entry(), entry}).second)
      return corrupt(concat("entry ", entry->entry(), " is there twice"));
  }
  if (entries.size() != count(module.entries()))
    return corrupt(concat("it has ", entries.size(), " entries, the module ",
                          count(module.entries())));
  for (uint32_t i = 0; i < count(program.pieces()); ++i) {
    const fb::ProgramEntry &piece = *program.pieces()->Get(i);
    Status status = EntryVerifier(module, program, piece).verify();
    if (!status.ok())
      return corrupt(concat("pieces[", i, "]: ", status.message()));
    if (!piece.ranges() || !entries[piece.entry()]->ranges())
      return corrupt(concat("pieces[", i, "]: it or its entry's first piece ",
                            "has no ranges of sizes"));
  }
  return {};
}

Status verifyProgram(const fb::Module &module, const fb::Program &program) {
  Status status = verifyParts(module, program);
  for (uint32_t i = 0; status.ok() && i < count(module.weights()); ++i)
    if (module.weights()->Get(i)->random())
      status = requireFeature(program, "a random weight",
                              ASHLAR_MODULE_FEATURE_RANDOM_WEIGHTS);
  if (status.ok())
    return {};
  String place = "program";
  if (program.target())
    place += concat(" ", program.target()->string_view());
  return corrupt(concat(place, ": ", status.message()), place);
}

} // namespace ashlar::runtime
