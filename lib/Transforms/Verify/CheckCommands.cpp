// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stage schedule: walks each command list once and keeps, for every
// storage that is written, which bytes hold what one command wrote, whole. A
// write ends the life of everything that it touches; a read must lie within
// one write that is still whole. So two values in the same place while both
// are needed show up as a read of bytes that are gone.
//
// After a condition there is what both branches leave. The step of a loop is
// walked twice: as the first one, and as one that finds what every step leaves.
#include "StageChecks.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include <map>
#include <optional>

using namespace mlir;
using namespace ashlar;
using exec::BindingAttr;
using exec::Storage;

namespace {
/// Every buffer a kernel is given starts on a cache line.
constexpr int64_t alignment = 64;

/// One use of a byte range by a command. Sizes that a caller chooses are the
/// largest ones here; a session checks every range with its own.
struct Access {
  BindingAttr binding;
  Operation *command;

  /// Of a copy that moves: where its last iteration begins, from the first.
  int64_t way = 0;

  int64_t begin() const {
    return binding.getOffset().getLargest() + std::min<int64_t>(way, 0);
  }
  int64_t bytes() const {
    return binding.getLength().getLargest() + std::abs(way);
  }
  int64_t end() const { return begin() + bytes(); }
  bool overlaps(const Access &other) const {
    return binding.getStorage() == other.binding.getStorage() &&
           binding.getIndex() == other.binding.getIndex() &&
           begin() < other.end() && other.begin() < end();
  }
};

/// What one write left, to `end`. It began where the map says.
struct Written {
  int64_t end;
  Operation *command;
};

class CommandChecker {
public:
  CommandChecker(exec::ProgramOp program, const SymbolTable &symbols)
      : program(program), symbols(symbols) {}

  LogicalResult run();

private:
  LogicalResult findSizes();
  LogicalResult checkBlock(Block &block);
  LogicalResult checkCommand(Operation *command);
  LogicalResult checkCondition(Operation *command, BindingAttr binding);
  LogicalResult checkIf(exec::IfOp op);
  LogicalResult checkLoop(exec::LoopOp loop);
  LogicalResult checkLaunch(exec::LaunchOp launch);
  LogicalResult checkCopy(exec::CopyOp copy);
  LogicalResult checkBounds(const Access &access);
  LogicalResult checkConcurrency(const Access &access);
  LogicalResult read(const Access &access);
  void write(const Access &access);
  LogicalResult checkOutputs();

  exec::ProgramOp program;
  const SymbolTable &symbols;
  /// Bytes of each input, output, weight and of the one arena.
  SmallVector<int64_t> sizes[4];
  using Contents = std::map<int64_t, Written>; // disjoint, by first byte
  using AllContents = std::map<std::pair<Storage, unsigned>, Contents>;
  static AllContents inBoth(const AllContents &x, const AllContents &y);
  AllContents contents;
  /// Of the innermost loop, if it is known.
  std::optional<int64_t> iterations;
  SmallVector<Access> sinceBarrier;
};
} // namespace

static std::string spell(const Access &access) {
  return ("bytes " + Twine(access.begin()) + " to " + Twine(access.end()) +
          " of " + stringifyStorage(access.binding.getStorage()) + " " +
          Twine(access.binding.getIndex()))
      .str();
}

static InFlightDiagnostic refuse(Operation *command) {
  return command->emitError("after the stage schedule: ");
}

LogicalResult CommandChecker::findSizes() {
  auto findTensors = [&](ArrayAttr list, Storage storage) -> LogicalResult {
    for (auto [i, attribute] : llvm::enumerate(list)) {
      auto described = dyn_cast<DictionaryAttr>(attribute);
      auto type = described ? described.getAs<TypeAttr>("tensor") : TypeAttr();
      auto tensor =
          type ? dyn_cast<RankedTensorType>(type.getValue()) : nullptr;
      if (!tensor || !tensor.hasStaticShape())
        return refuse(program) << "expected the static tensor type of "
                               << stringifyStorage(storage) << " " << i
                               << ", found " << attribute;
      sizes[unsigned(storage)].push_back(byteSize(tensor));
    }
    return success();
  };
  if (failed(findTensors(program.getInputs(), Storage::Input)) ||
      failed(findTensors(program.getOutputs(), Storage::Output)))
    return failure();
  // The calls before have written states.
  for (auto [i, described] : llvm::enumerate(program.getOutputs()))
    if (cast<DictionaryAttr>(described).get(stateAttrName))
      contents[{Storage::Output, i}][0] = {sizes[unsigned(Storage::Output)][i],
                                           program};
  for (auto [i, weight] : llvm::enumerate(program.getWeights())) {
    auto elements = dyn_cast<TypedAttr>(weight);
    if (!isa<ElementsAttr, tile::PackedAttr>(weight))
      return refuse(program)
             << "expected elements as weight " << i << ", found " << weight;
    sizes[unsigned(Storage::Weights)].push_back(byteSize(elements.getType()));
  }
  int64_t arena = program.getArenaBytes();
  int64_t lowerBound = program.getArenaLowerBoundBytes();
  if (lowerBound < 0 || arena < lowerBound)
    return refuse(program) << "expected an arena of at least its lower bound, "
                           << lowerBound << " bytes, found " << arena;
  sizes[unsigned(Storage::Arena)].push_back(arena);
  for (unsigned i = 0; i != program.getNumCompanions(); ++i)
    sizes[unsigned(Storage::Arena)].push_back(
        program.getCompanionArenaBytes(i));
  return success();
}

LogicalResult CommandChecker::checkBounds(const Access &access) {
  BindingAttr binding = access.binding;
  ArrayRef<int64_t> known = sizes[unsigned(binding.getStorage())];
  if (binding.getIndex() >= known.size())
    return refuse(access.command)
           << "names " << stringifyStorage(binding.getStorage()) << " "
           << binding.getIndex() << ", but there are " << known.size();
  int64_t limit = known[binding.getIndex()];
  if (access.begin() < 0 || access.bytes() < 0 || access.bytes() > limit ||
      access.begin() > limit - access.bytes())
    return refuse(access.command)
           << "expected a range within the " << limit << " bytes of "
           << stringifyStorage(binding.getStorage()) << " "
           << binding.getIndex() << ", found " << access.bytes() << " bytes at "
           << access.begin();
  if (binding.getWritten() && (binding.getStorage() == Storage::Input ||
                               binding.getStorage() == Storage::Weights))
    return refuse(access.command)
           << "writes " << spell(access) << "; expected the arena or an output";
  return success();
}

/// Without a barrier between them, two commands may run in any order.
LogicalResult CommandChecker::checkConcurrency(const Access &access) {
  for (const Access &other : sinceBarrier) {
    if (other.command == access.command || !other.overlaps(access) ||
        !(other.binding.getWritten() || access.binding.getWritten()))
      continue;
    InFlightDiagnostic diagnostic =
        refuse(access.command)
        << (access.binding.getWritten() ? "writes " : "reads ") << spell(access)
        << " without a barrier after another command that "
        << (other.binding.getWritten() ? "writes" : "reads") << " them";
    diagnostic.attachNote(other.command->getLoc()) << "which is here";
    return diagnostic;
  }
  return success();
}

LogicalResult CommandChecker::read(const Access &access) {
  Storage storage = access.binding.getStorage();
  if (storage == Storage::Input || storage == Storage::Weights ||
      access.bytes() == 0)
    return success();
  const Contents &written = contents[{storage, access.binding.getIndex()}];
  auto after = written.upper_bound(access.begin());
  if (after != written.begin() && std::prev(after)->second.end >= access.end())
    return success();
  InFlightDiagnostic diagnostic =
      refuse(access.command)
      << "reads " << spell(access)
      << ", expected what one earlier command wrote there";
  // The write that reaches into the range tells most about the cause.
  auto nearest = after;
  if (after != written.begin() && std::prev(after)->second.end > access.begin())
    nearest = std::prev(after);
  if (nearest != written.end() && nearest->first < access.end())
    diagnostic.attachNote(nearest->second.command->getLoc())
        << "found bytes " << nearest->first << " to " << nearest->second.end
        << " of this command";
  else
    diagnostic << ", found nothing";
  return diagnostic;
}

void CommandChecker::write(const Access &access) {
  if (access.bytes() == 0)
    return;
  Contents &written =
      contents[{access.binding.getStorage(), access.binding.getIndex()}];
  auto it = written.lower_bound(access.begin());
  if (it != written.begin() && std::prev(it)->second.end > access.begin())
    --it;
  while (it != written.end() && it->first < access.end())
    it = written.erase(it);
  written[access.begin()] = {access.end(), access.command};
}

LogicalResult CommandChecker::checkLaunch(exec::LaunchOp launch) {
  auto kernel = symbols.lookup<exec::KernelOp>(launch.getKernel());
  SmallVector<Access> accesses;
  for (Attribute binding : launch.getBindings())
    accesses.push_back({cast<BindingAttr>(binding), launch});
  int64_t operands = kernel.getNumOperands();
  for (auto [i, access] : llvm::enumerate(accesses)) {
    bool isResult = int64_t(i) >= operands;
    if (access.binding.getWritten() != isResult)
      return refuse(launch) << "expected binding " << i << " to be "
                            << (isResult ? "written, it is a result"
                                         : "read, it is an operand")
                            << " of kernel '" << kernel.getName() << "', found "
                            << access.binding;
    auto type = dyn_cast<MemRefType>(kernel.getBindingType(i));
    if (type && type.hasStaticShape() && byteSize(type) != access.bytes())
      return refuse(launch)
             << "expected " << byteSize(type) << " bytes for binding " << i
             << " of kernel '" << kernel.getName() << "', found "
             << access.bytes();
    if (access.begin() % alignment != 0)
      return refuse(launch) << "expected binding " << i << " at a multiple of "
                            << alignment << " bytes, found " << access.begin();
    if (failed(checkBounds(access)) || failed(checkConcurrency(access)))
      return failure();
    unsigned device = kernel.getDevice();
    Storage storage = access.binding.getStorage();
    bool isElsewhere = storage == Storage::Arena
                           ? access.binding.getIndex() != device
                           : device != 0 && storage != Storage::Weights;
    if (isElsewhere)
      return refuse(launch) << "expected binding " << i << " of kernel '"
                            << kernel.getName() << "' in the memory of device "
                            << device << ", found " << access.binding;
    if (!isResult && failed(read(access)))
      return failure();
  }
  for (int64_t result = operands; result < int64_t(accesses.size()); ++result)
    for (int64_t other = 0; other != result; ++other)
      if (accesses[result].overlaps(accesses[other]) &&
          !(accesses[result].begin() == accesses[other].begin() &&
            accesses[result].end() == accesses[other].end() &&
            kernel.mayTakeOver(other)))
        return refuse(launch)
               << "binding " << result << ", " << spell(accesses[result])
               << ", overlaps binding " << other << ", which '"
               << kernel.getAliasesAttrName().getValue() << "' of kernel '"
               << kernel.getName() << "' does not allow";
  for (const Access &access : accesses) {
    if (access.binding.getWritten())
      write(access);
    sinceBarrier.push_back(access);
  }
  return success();
}

LogicalResult CommandChecker::checkCopy(exec::CopyOp copy) {
  Access source = {copy.getSource(), copy}, target = {copy.getTarget(), copy};
  if (copy.getSourceStride() != 0 || copy.getTargetStride() != 0) {
    if (!iterations)
      return refuse(copy) << "moves, but is in no loop with a known number of "
                             "iterations";
    source.way = copy.getSourceStride() * (*iterations - 1);
    target.way = copy.getTargetStride() * (*iterations - 1);
  }
  if (source.binding.getWritten() || !target.binding.getWritten())
    return refuse(copy) << "expected a source that is read and a target that "
                           "is written, found "
                        << source.binding << " and " << target.binding;
  auto isRemote = [](BindingAttr binding) {
    return binding.getStorage() == Storage::Arena && binding.getIndex() != 0;
  };
  if (isRemote(source.binding) && isRemote(target.binding))
    return refuse(copy) << "expected one end on device 0, found "
                        << source.binding << " and " << target.binding;
  for (const Access &access : {source, target})
    if (failed(checkBounds(access)) || failed(checkConcurrency(access)))
      return failure();
  int64_t sourceBytes = source.binding.getLength().getLargest();
  int64_t targetBytes = target.binding.getLength().getLargest();
  if (sourceBytes != targetBytes)
    return refuse(copy) << "expected as many bytes in the target as in the "
                           "source, "
                        << sourceBytes << ", found " << targetBytes;
  if (source.overlaps(target))
    return refuse(copy) << "copies " << spell(source) << " to " << spell(target)
                        << "; expected ranges that do not overlap";
  if (failed(read(source)))
    return failure();
  write(target);
  sinceBarrier.append({source, target});
  return success();
}

/// What two ways through the program both leave.
CommandChecker::AllContents CommandChecker::inBoth(const AllContents &x,
                                                   const AllContents &y) {
  AllContents both;
  for (const auto &[storage, written] : x) {
    auto other = y.find(storage);
    if (other == y.end())
      continue;
    for (const auto &[begin, range] : written) {
      auto same = other->second.find(begin);
      if (same != other->second.end() && same->second.end == range.end)
        both[storage][begin] = range;
    }
  }
  return both;
}

/// Commands that read a condition wait for all before them.
LogicalResult CommandChecker::checkCondition(Operation *command,
                                             BindingAttr binding) {
  sinceBarrier.clear();
  Access access = {binding, command};
  if (binding.getWritten() || access.bytes() != 1)
    return refuse(command) << "expected a condition of one byte that is read, "
                              "found "
                           << binding;
  if (failed(checkBounds(access)))
    return failure();
  return read(access);
}

LogicalResult CommandChecker::checkIf(exec::IfOp op) {
  if (failed(checkCondition(op, op.getCondition())))
    return failure();
  AllContents before = contents;
  if (failed(checkBlock(op.getThenBlock().front())))
    return failure();
  AllContents afterThen = std::exchange(contents, std::move(before));
  if (failed(checkBlock(op.getElseBlock().front())))
    return failure();
  contents = inBoth(afterThen, contents);
  return success();
}

LogicalResult CommandChecker::checkLoop(exec::LoopOp loop) {
  auto condition = [&]() -> LogicalResult {
    return loop.getCondition() ? checkCondition(loop, *loop.getCondition())
                               : success();
  };
  auto outerIterations = std::exchange(iterations, loop.getIterations());
  if (iterations != 0) {
    AllContents before = contents;
    if (failed(condition()) || failed(checkBlock(loop.getBody().front())) ||
        failed(condition()))
      return failure();
    contents = inBoth(before, contents);
    AllContents always = contents;
    if (failed(checkBlock(loop.getBody().front())))
      return failure();
    // One that may end before its first step leaves what was there.
    if (loop.getCondition())
      contents = std::move(always);
  }
  iterations = outerIterations;
  return success();
}

LogicalResult CommandChecker::checkCommand(Operation *command) {
  if (auto launch = dyn_cast<exec::LaunchOp>(command))
    return checkLaunch(launch);
  if (auto copy = dyn_cast<exec::CopyOp>(command))
    return checkCopy(copy);
  if (auto branches = dyn_cast<exec::IfOp>(command))
    return checkIf(branches);
  if (auto loop = dyn_cast<exec::LoopOp>(command))
    return checkLoop(loop);
  if (auto check = dyn_cast<exec::CheckOp>(command))
    return checkCondition(check, check.getCondition());
  if (isa<exec::BarrierOp>(command)) {
    sinceBarrier.clear();
    return success();
  }
  return refuse(command) << "expected commands in a program, found '"
                         << command->getName() << "'";
}

/// Both ends of a block are barriers.
LogicalResult CommandChecker::checkBlock(Block &block) {
  sinceBarrier.clear();
  for (Operation &command : block)
    if (failed(checkCommand(&command)))
      return failure();
  sinceBarrier.clear();
  return success();
}

LogicalResult CommandChecker::checkOutputs() {
  SmallVector<Attribute> outputSizes;
  if (ArrayAttr list = program.getOutputSizesAttr())
    llvm::append_range(outputSizes, list);
  for (Attribute attribute : outputSizes) {
    auto described = dyn_cast<DictionaryAttr>(attribute);
    auto value = described ? described.getAs<BindingAttr>("value") : nullptr;
    if (!value || value.getWritten() || value.getLength().getLargest() != 8)
      return refuse(program)
             << "expected eight bytes as 'value' of an output's "
                "size, found "
             << attribute;
    Access access = {value, program};
    if (failed(checkBounds(access)) || failed(read(access)))
      return failure();
  }
  for (auto [i, bytes] : llvm::enumerate(sizes[unsigned(Storage::Output)])) {
    const Contents &written = contents[{Storage::Output, i}];
    auto first = written.begin();
    if (bytes != 0 && (first == written.end() || first->first != 0 ||
                       first->second.end != bytes))
      return refuse(program) << "expected a command that writes the " << bytes
                             << " bytes of output " << i << ", found none";
  }
  return success();
}

LogicalResult CommandChecker::run() {
  if (failed(findSizes()))
    return failure();
  if (failed(checkBlock(program.getBody().front())))
    return failure();
  return checkOutputs();
}

LogicalResult ashlar::checkCommands(ModuleOp module) {
  SymbolTable symbols(module);
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (isa<exec::KernelOp>(op) || (function && function.isPrivate()))
      continue;
    if (auto program = dyn_cast<exec::ProgramOp>(op)) {
      if (failed(CommandChecker(program, symbols).run()))
        return failure();
      continue;
    }
    InFlightDiagnostic diagnostic =
        refuse(&op) << "expected exec.program and kernels, found ";
    if (function)
      diagnostic << "public function '" << function.getName() << "'";
    else
      diagnostic << "'" << op.getName() << "'";
    return diagnostic;
  }
  return success();
}
