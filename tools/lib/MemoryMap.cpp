// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MemoryMap.h"

#include "Failure.h"

#include "IndexVerifier.h"
#include "SizeExpression.h"

#include <algorithm>

namespace ashlar::tools {

using namespace ashlar::runtime;

std::string MemoryMap::Command::name() const {
  return !nodes.empty()        ? nodes.front()
         : !kernelName.empty() ? kernelName
                               : "copy";
}

std::vector<size_t> MemoryMap::holders() const {
  std::vector<size_t> alive;
  for (size_t i = 0; i < values.size(); ++i)
    if (isAliveAt(values[i], peakCommand))
      alive.push_back(i);
  std::sort(alive.begin(), alive.end(), [&](size_t x, size_t y) {
    return values[x].bytes != values[y].bytes
               ? values[x].bytes > values[y].bytes
               : x < y;
  });
  return alive;
}

namespace {
struct Range {
  uint64_t begin, end;
};

class Reader {
public:
  Reader(const fb::Module &index, const fb::Program &program,
         const fb::ProgramEntry &entry, MemoryMap &map)
      : index(index), program(program),
        entry(*index.entries()->Get(entry.entry())), map(map) {}

  void read(const flatbuffers::Vector<fb::Command> *types,
            const flatbuffers::Vector<flatbuffers::Offset<void>> *commands) {
    for (uint32_t i = 0; i < count(commands); ++i)
      readCommand(types->Get(i), commands->Get(i));
  }

private:
  void readBlock(const fb::Block *block) {
    if (block)
      read(block->commands_type(), block->commands());
  }

  void readCommand(fb::Command type, const void *command) {
    if (type == fb::Command::Dispatch) {
      readDispatch(*static_cast<const fb::Dispatch *>(command));
    } else if (type == fb::Command::Copy) {
      auto &copy = *static_cast<const fb::Copy *>(command);
      begin({});
      readRange(copy.source());
      writeRange(copy.target(), /*isRow=*/copy.target_stride() != 0);
    } else if (type == fb::Command::Check) {
      readRange(static_cast<const fb::Check *>(command)->condition());
    } else if (type == fb::Command::If) {
      auto &branches = *static_cast<const fb::If *>(command);
      readRange(branches.condition());
      std::vector<size_t> before = current;
      readBlock(branches.then());
      std::vector<size_t> afterThen = std::exchange(current, before);
      readBlock(branches.otherwise());
      // Whatever was decided, what comes later may read both.
      for (size_t value : afterThen)
        if (std::find(current.begin(), current.end(), value) == current.end())
          current.push_back(value);
    } else if (type == fb::Command::Loop) {
      readLoop(*static_cast<const fb::Loop *>(command));
    }
  }

  void readDispatch(const fb::Dispatch &dispatch) {
    const fb::Kernel &kernel = *program.kernels()->Get(dispatch.kernel());
    MemoryMap::Command command;
    command.kernel = dispatch.kernel();
    command.kernelName = kernel.name()->str();
    for (uint32_t i = 0; i < count(dispatch.nodes()); ++i)
      command.nodes.push_back(dispatch.nodes()->Get(i)->str());
    for (uint32_t i = 0; i < count(dispatch.bindings()); ++i) {
      const fb::Binding &binding = *dispatch.bindings()->Get(i);
      readOutside(binding, command);
      if (i < count(kernel.buffers()))
        (binding.written() ? command.makes : command.takes)
            .push_back(kernel.buffers()->Get(i)->str());
    }
    begin(std::move(command));
    for (bool written : {false, true})
      for (uint32_t i = 0; i < count(dispatch.bindings()); ++i) {
        const fb::Binding *binding = dispatch.bindings()->Get(i);
        if (binding->written() != written)
          continue;
        if (written)
          writeRange(binding);
        else
          readRange(binding);
      }
  }

  /// What does not lie in the arena.
  void readOutside(const fb::Binding &binding, MemoryMap::Command &command) {
    uint32_t number = binding.index();
    if (binding.storage() == fb::Storage::Input)
      command.inputs.push_back(entry.inputs()->Get(number)->name()->str());
    else if (binding.storage() == fb::Storage::Output)
      command.outputs.push_back(entry.outputs()->Get(number)->name()->str());
    else if (binding.storage() == fb::Storage::Weights)
      command.weightBytes += index.weights()->Get(number)->size();
  }

  /// What a step leaves to the next lives as long as the loop.
  void readLoop(const fb::Loop &loop) {
    // In the second step of a loop around it, all that counts is what it reads.
    if (isSecondStep) {
      readRange(loop.condition());
      readBlock(loop.body());
      return;
    }
    size_t start = map.commands.size();
    size_t known = map.values.size();
    readRange(loop.condition());
    readBlock(loop.body());
    size_t end = map.commands.size();
    size_t valuesOfStep = map.values.size();
    readRange(loop.condition());
    // The second step is there only for what it reads.
    std::vector<MemoryMap::Value> firstStep(map.values.begin(),
                                            map.values.end());
    std::vector<size_t> carried = current;
    isSecondStep = true;
    readBlock(loop.body());
    isSecondStep = false;
    auto lastOf = [&](size_t i) { return map.values[i].last; };
    for (size_t i = 0; i < valuesOfStep; ++i) {
      if (lastOf(i) <= firstStep[i].last && i >= known)
        continue;
      if (i >= known)
        firstStep[i].first = start;
      // Read in a step: read in the last one too.
      if (lastOf(i) >= start && end > start)
        firstStep[i].last = end - 1;
    }
    map.commands.resize(end);
    map.values = std::move(firstStep);
    current = std::move(carried);
  }

  void begin(MemoryMap::Command command) {
    map.commands.push_back(std::move(command));
  }
  /// A condition is read before the command that comes next.
  size_t now() const {
    return map.commands.empty() ? 0 : map.commands.size() - 1;
  }

  /// Sizes that a caller chooses are drawn at their largest.
  static int64_t largest(const fb::SizeExpression &size) {
    int64_t value = 0;
    if (!isConstantSize(size))
      return size.constant();
    return evaluateSize(size, nullptr, value) ? value : -1;
  }

  bool rangeOf(const fb::Binding *binding, Range &range) const {
    if (!binding || binding->storage() != fb::Storage::Arena)
      return false;
    int64_t offset = largest(*binding->offset());
    int64_t length = largest(*binding->length());
    if (uint64_t(offset) > map.arenaBytes ||
        uint64_t(length) > map.arenaBytes - uint64_t(offset))
      throw Failure(Refused, "a command uses " + std::to_string(length) +
                                 " bytes at " + std::to_string(offset) +
                                 " of an arena of " +
                                 std::to_string(map.arenaBytes));
    range = {uint64_t(offset), uint64_t(offset) + uint64_t(length)};
    return length != 0;
  }

  bool touches(size_t value, Range range) const {
    const MemoryMap::Value &v = map.values[value];
    return v.offset < range.end && range.begin < v.offset + v.bytes;
  }

  void readRange(const fb::Binding *binding) {
    Range range;
    if (!rangeOf(binding, range))
      return;
    for (size_t value : current)
      if (touches(value, range)) {
        map.values[value].last = std::max(map.values[value].last, now());
        map.values[value].readers.push_back(now());
      }
  }

  void writeRange(const fb::Binding *binding, bool isRow = false) {
    Range range;
    if (!rangeOf(binding, range))
      return;
    MemoryMap::Value value;
    value.writer = value.first = value.last = now();
    value.offset = range.begin;
    value.bytes = (range.end - range.begin + 63) / 64 * 64;
    std::vector<size_t> kept;
    for (size_t other : current) {
      if (!touches(other, range)) {
        kept.push_back(other);
        continue;
      }
      const MemoryMap::Value &old = map.values[other];
      // What a loop puts its rows into stays one value.
      if (isRow) {
        map.values[other].last = now();
        return;
      }
      if (old.last == now())
        value.inPlace = int64_t(other);
    }
    kept.push_back(map.values.size());
    map.values.push_back(value);
    current = std::move(kept);
  }

  const fb::Module &index;
  const fb::Program &program;
  const fb::Entry &entry;
  MemoryMap &map;
  bool isSecondStep = false;   // of a loop
  std::vector<size_t> current; ///< values that have not been overwritten
};

/// Bytes covered by values at one time: one that is computed in the place of
/// another counts once, as do the results of two branches.
uint64_t aliveAt(const MemoryMap &map, size_t command) {
  std::vector<Range> ranges;
  for (const MemoryMap::Value &value : map.values)
    if (map.isAliveAt(value, command))
      ranges.push_back({value.offset, value.offset + value.bytes});
  std::sort(ranges.begin(), ranges.end(),
            [](Range x, Range y) { return x.begin < y.begin; });
  uint64_t bytes = 0, end = 0;
  for (Range range : ranges) {
    uint64_t begin = std::max(range.begin, end);
    if (range.end > begin)
      bytes += range.end - begin;
    end = std::max(end, range.end);
  }
  return bytes;
}
} // namespace

MemoryMap readMemoryMap(const fb::Module &index, const fb::Program &program,
                        const fb::ProgramEntry &entry) {
  MemoryMap map;
  map.arenaBytes = entry.contract()->arena_bytes();
  map.lowerBoundBytes = entry.contract()->arena_lower_bound_bytes();
  Reader(index, program, entry, map)
      .read(entry.commands_type(), entry.commands());
  for (size_t i = 0; i < map.commands.size(); ++i)
    if (uint64_t bytes = aliveAt(map, i); bytes > map.peakBytes) {
      map.peakBytes = bytes;
      map.peakCommand = i;
    }
  return map;
}

} // namespace ashlar::tools
