// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What figures of one machine cannot say together. Every error names the
// field, what was expected of it and what was found.
#include "ashlar/Machine/MachineFile.h"
#include "ashlar/Machine/StoreEngine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace ashlar;
using llvm::formatv;
using llvm::StringRef;

namespace {
template <typename... Args>
llvm::Error contradiction(const char *format, Args &&...args) {
  return llvm::createStringError(
      formatv(format, std::forward<Args>(args)...).str());
}

/// Bits of an element type; 0: there is no such type.
int64_t bitsOf(StringRef type) {
  return llvm::StringSwitch<int64_t>(type)
      .Cases({"s4", "u4"}, 4)
      .Cases({"s8", "u8", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz"}, 8)
      .Cases({"s16", "u16", "f16", "bf16"}, 16)
      .Cases({"s32", "u32", "tf32", "f32"}, 32)
      .Cases({"s64", "u64", "f64"}, 64)
      .Default(0);
}

bool isWord(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.';
  });
}

llvm::Error checkNames(const MachineModel &machine) {
  if (!isWord(machine.name))
    return contradiction("name: expected letters, digits, '-', '_' and '.', "
                         "found '{0}'",
                         machine.name);
  auto unique = [](const char *list, const auto &all) -> llvm::Error {
    for (auto [i, one] : llvm::enumerate(all))
      for (const auto &before : llvm::ArrayRef(all).take_front(i))
        if (before.name == one.name)
          return contradiction("{0}[{1}].name: expected a name of its own, "
                               "found '{2}' a second time",
                               list, i, one.name);
    return llvm::Error::success();
  };
  if (llvm::Error error = unique("memories", machine.memories))
    return error;
  if (llvm::Error error = unique("units", machine.units))
    return error;
  if (llvm::Error error = unique("scopes", machine.scopes))
    return error;
  if (llvm::Error error = unique("links", machine.links))
    return error;
  return unique("copy_engines", machine.copyEngines);
}

/// Grids, then groups, then the lanes of one.
llvm::Error checkScopes(const MachineModel &machine) {
  const std::vector<std::string> kinds = {"grid", "group", "lane"};
  size_t above = 0;
  for (auto [i, scope] : llvm::enumerate(machine.scopes)) {
    size_t kind = llvm::find(kinds, scope.kind) - kinds.begin();
    if (kind == kinds.size())
      return contradiction("scopes[{0}].kind: expected grid, group or lane, "
                           "found '{1}'",
                           i, scope.kind);
    if (i == 0 && kind != 0)
      return contradiction("scopes[0].kind: expected grid, found {0}",
                           scope.kind);
    if (kind < above)
      return contradiction("scopes[{0}].kind: expected {1}, since those above "
                           "are {1}s, found {2}",
                           i, kinds[above], scope.kind);
    if (scope.kind == "lane" && above != 1)
      return contradiction("scopes[{0}].kind: expected lanes once and of a "
                           "group, found them {1}",
                           i, above == 0 ? "of a grid" : "a second time");
    above = kind;
    if (kind != 0 && !scope.count)
      return contradiction("scopes[{0}].count: is missing; only grids have any "
                           "number",
                           i);
    if (scope.kind != "group" && scope.registerBytes)
      return contradiction("scopes[{0}].register_bytes: expected none of a "
                           "{1}, found {2}",
                           i, scope.kind, scope.registerBytes);
  }
  return llvm::Error::success();
}

/// Exactly one of the two ways to give a bandwidth.
llvm::Error checkBandwidth(size_t i, const char *direction, double perCycle,
                           double perSecond) {
  if ((perCycle != 0) != (perSecond != 0))
    return llvm::Error::success();
  return contradiction("memories[{0}].{1}_bytes_per_cycle: expected it or "
                       "{1}_bytes_per_second, found {2}",
                       i, direction, perCycle ? "both" : "neither");
}

llvm::Error checkMemory(const MachineModel &machine, size_t i) {
  const Memory &memory = machine.memories[i];
  bool last = i + 1 == machine.memories.size();
  if (!memory.bytes && !last)
    return contradiction("memories[{0}].bytes: is missing; only the last "
                         "memory may be as large as need be",
                         i);
  if (memory.bytes % (memory.lineBytes * memory.ways))
    return contradiction("memories[{0}].bytes: expected a multiple of "
                         "line_bytes times ways, {1}, found {2}",
                         i, memory.lineBytes * memory.ways, memory.bytes);
  if (memory.perGroupBytes > memory.bytes)
    return contradiction("memories[{0}].per_group_bytes: expected at most "
                         "bytes, {1}, found {2}",
                         i, memory.bytes, memory.perGroupBytes);
  if (memory.swizzleBytes && !llvm::isPowerOf2_64(memory.swizzleBytes))
    return contradiction("memories[{0}].swizzle_bytes: expected a power of two "
                         "from 32 on, found {1}",
                         i, memory.swizzleBytes);
  if (memory.sharedBy > machine.workers.count)
    return contradiction("memories[{0}].shared_by: expected at most "
                         "workers.count, {1}, found {2}",
                         i, machine.workers.count, memory.sharedBy);
  if (llvm::Error error = checkBandwidth(i, "read", memory.readBytesPerCycle,
                                         memory.readBytesPerSecond))
    return error;
  if (llvm::Error error = checkBandwidth(i, "write", memory.writeBytesPerCycle,
                                         memory.writeBytesPerSecond))
    return error;
  if (i == 0)
    return llvm::Error::success();
  const Memory &nearer = machine.memories[i - 1];
  if (memory.bytes && memory.bytes < nearer.bytes)
    return contradiction("memories[{0}].bytes: expected at least those of "
                         "'{1}', which is nearer, {2}, found {3}",
                         i, nearer.name, nearer.bytes, memory.bytes);
  if (memory.latencyCycles < nearer.latencyCycles)
    return contradiction("memories[{0}].latency_cycles: expected at least that "
                         "of '{1}', which is nearer, {2}, found {3}",
                         i, nearer.name,
                         llvm::json::Value(nearer.latencyCycles),
                         llvm::json::Value(memory.latencyCycles));
  if (machine.readBytesPerCycle(memory) > machine.readBytesPerCycle(nearer))
    return contradiction(
        "memories[{0}]: expected to read at most as fast as '{1}', which is "
        "nearer, {2:f2} bytes a cycle, found {3:f2}",
        i, nearer.name, machine.readBytesPerCycle(nearer),
        machine.readBytesPerCycle(memory));
  return llvm::Error::success();
}

/// Each bit of a number moves an element along one side, each by a power of two
/// of its own, so that values and threads cover the unit's sums.
llvm::Error checkFragment(const MachineModel &machine, size_t i) {
  const MultiplyUnit &unit = machine.units[i];
  const Fragment &fragment = *unit.fragment;
  int64_t rows = 0, columns = 0;
  for (const auto *steps : {&fragment.registers, &fragment.lanes})
    for (const FragmentStep &step : *steps) {
      int64_t by = step.rows + step.columns;
      int64_t &seen = step.rows != 0 ? rows : columns;
      if ((step.rows != 0) == (step.columns != 0) || !llvm::isPowerOf2_64(by) ||
          by > 4096 || (seen & by) != 0)
        return contradiction(
            "units[{0}].fragment: expected powers of two, each "
            "once, along rows or columns, found {1} rows, {2} "
            "columns",
            i, step.rows, step.columns);
      seen |= by;
    }
  if (rows + 1 != unit.m || columns + 1 != unit.n)
    return contradiction("units[{0}].fragment: expected to cover its {1} x {2} "
                         "sums, found {3} x {4}",
                         i, unit.m, unit.n, rows + 1, columns + 1);
  int64_t threads = 1;
  bool isInside = false;
  for (const Scope &scope : machine.scopes) {
    if (isInside)
      threads *= std::max<int64_t>(scope.count, 1);
    isInside |= scope.name == unit.scope;
  }
  if (int64_t(1) << fragment.lanes.size() != threads)
    return contradiction("units[{0}].fragment.lanes: expected as many as make "
                         "the {1} threads of a {2}, found {3}",
                         i, threads, unit.scope, fragment.lanes.size());
  if (fragment.inFlight > 8)
    return contradiction(
        "units[{0}].fragment.in_flight: expected 0 to 8, found "
        "{1}",
        i, fragment.inFlight);
  return llvm::Error::success();
}

llvm::Error checkUnit(const MachineModel &machine, size_t i) {
  const MultiplyUnit &unit = machine.units[i];
  if (unit.types.empty())
    return contradiction("units[{0}].types: expected at least one", i);
  if (!unit.scope.empty() && !machine.scope(unit.scope))
    return contradiction("units[{0}].scope: expected the name of a scope, "
                         "found '{1}'",
                         i, unit.scope);
  if (unit.mostN % unit.n)
    return contradiction("units[{0}].most_n: expected a multiple of n, {1}, "
                         "found {2}",
                         i, unit.n, unit.mostN);
  if (unit.fragment)
    if (llvm::Error error = checkFragment(machine, i))
      return error;
  bool inVectors = unit.accumulatorSpace == "vectors";
  for (auto [j, types] : llvm::enumerate(unit.types)) {
    for (const std::string *type :
         {&types.left, &types.right, &types.accumulator})
      if (!bitsOf(*type))
        return contradiction("units[{0}].types[{1}]: expected element types "
                             "such as f32, bf16, s8, u8, found '{2}'",
                             i, j, *type);
    int64_t bytes = unit.m * unit.n * bitsOf(types.accumulator) / 8;
    // A wider accumulator takes a few registers.
    int64_t registers = llvm::divideCeil(bytes, machine.vectors.bytes);
    if (inVectors && unit.accumulators * registers > machine.vectors.count)
      return contradiction(
          "units[{0}].accumulators: expected at most vectors.count, {1} (an "
          "accumulator takes {2}), found {3}",
          i, machine.vectors.count, registers, unit.accumulators);
  }
  auto sides = {std::pair("left_from", &unit.leftFrom),
                std::pair("right_from", &unit.rightFrom)};
  for (auto [field, places] : sides) {
    if (places->empty())
      return contradiction("units[{0}].{1}: expected at least one place", i,
                           field);
    for (const std::string &place : *places)
      if (place != "vectors" && place != unit.accumulatorSpace &&
          !machine.memory(place))
        return contradiction(
            "units[{0}].{1}: expected 'vectors', the unit's accumulator_space "
            "or a memory, found '{2}'",
            i, field, place);
  }
  if (!machine.hasFeatures(unit.requiredFeatures))
    return contradiction("units[{0}].requires: expected features that stand "
                         "in code.features, found {1:$[, ]}",
                         i,
                         llvm::make_range(unit.requiredFeatures.begin(),
                                          unit.requiredFeatures.end()));
  return llvm::Error::success();
}

/// One of boxes from the nearest memory on: results leave by it.
llvm::Error checkStores(const MachineModel &machine, size_t i) {
  const CopyEngine &engine = machine.copyEngines[i];
  const std::string &far = machine.memories.back().name;
  if (engine.to != far)
    return contradiction("copy_engines[{0}].to: expected the farthest memory, "
                         "'{1}', of an engine of boxes from the nearest, which "
                         "takes results, found '{2}'",
                         i, far, engine.to);
  if (storeEngineOf(machine) != &engine)
    return contradiction("copy_engines[{0}]: expected one engine of boxes that "
                         "takes results, found a second one beside '{1}'",
                         i, storeEngineOf(machine)->name);
  if (!engine.asynchronous || engine.zeroFill || engine.multicast != 1)
    return contradiction("copy_engines[{0}]: expected one that takes results "
                         "to be asynchronous, without zero_fill and multicast",
                         i);
  return llvm::Error::success();
}

llvm::Error checkEngine(const MachineModel &machine, size_t i) {
  const CopyEngine &engine = machine.copyEngines[i];
  for (auto [field, name] :
       {std::pair("from", &engine.from), std::pair("to", &engine.to)})
    if (!machine.memory(*name))
      return contradiction(
          "copy_engines[{0}].{1}: expected the name of a memory, found '{2}'",
          i, field, *name);
  if (engine.from == engine.to)
    return contradiction("copy_engines[{0}].to: expected another memory than "
                         "from, found '{1}' for both",
                         i, engine.to);
  if (engine.boxes) {
    bool isForResults = engine.from == machine.nearest().name;
    if (isForResults)
      if (llvm::Error error = checkStores(machine, i))
        return error;
    const Scope *scope = machine.scope(engine.boxes->scope);
    if (!scope || scope->kind != "group")
      return contradiction(
          "copy_engines[{0}].boxes.scope: expected the name of "
          "a scope of the kind 'group', found '{1}'",
          i, engine.boxes->scope);
    if (!isForResults && (!engine.asynchronous || !engine.zeroFill))
      return contradiction(
          "copy_engines[{0}].boxes: expected an engine that is "
          "asynchronous and has zero_fill",
          i);
  }
  if (engine.tilesAhead != 0 && !engine.asynchronous)
    return contradiction("copy_engines[{0}].tiles_ahead: expected none of an "
                         "engine that is not asynchronous, found {1}",
                         i, engine.tilesAhead);
  if (engine.multicast > machine.workers.count)
    return contradiction("copy_engines[{0}].multicast: expected at most "
                         "workers.count, {1}, found {2}",
                         i, machine.workers.count, engine.multicast);
  return llvm::Error::success();
}
/// One way to the host, which is no faster than what lies at this end of it.
llvm::Error checkLink(const MachineModel &machine, size_t i) {
  const Link &link = machine.links[i];
  if (link.to != "host")
    return contradiction("links[{0}].to: expected host, through which all "
                         "devices of a program reach each other, found '{1}'",
                         i, link.to);
  if (machine.link(link.to) != &link)
    return contradiction("links[{0}].to: expected one link to the host, found "
                         "a second one beside '{1}'",
                         i, machine.link(link.to)->name);
  const Memory &far = machine.memories.back();
  double most = machine.clock.hz * std::max(machine.readBytesPerCycle(far),
                                            machine.writeBytesPerCycle(far));
  most = std::max(most, far.sharedBytesPerSecond);
  if (link.bytesPerSecond > most)
    return contradiction("links[{0}].bytes_per_second: expected at most those "
                         "of '{1}', in which it ends, {2}, found {3}",
                         i, far.name, llvm::json::Value(most),
                         llvm::json::Value(link.bytesPerSecond));
  return llvm::Error::success();
}
} // namespace

llvm::Error ashlar::checkMachine(const MachineModel &machine) {
  if (llvm::Error error = checkNames(machine))
    return error;
  if (!llvm::isPowerOf2_64(machine.vectors.bytes))
    return contradiction("vectors.bytes: expected a power of two, found {0}",
                         machine.vectors.bytes);
  if (!machine.hasFeatures(machine.vectors.requiredFeatures))
    return contradiction(
        "vectors.requires: expected features that stand in code.features, "
        "found {0:$[, ]}",
        llvm::make_range(machine.vectors.requiredFeatures.begin(),
                         machine.vectors.requiredFeatures.end()));
  if (machine.memories.empty())
    return contradiction("memories: expected at least one");
  if (machine.units.empty())
    return contradiction("units: expected at least one");
  if (llvm::Error error = checkScopes(machine))
    return error;
  for (size_t i = 0; i < machine.memories.size(); ++i)
    if (llvm::Error error = checkMemory(machine, i))
      return error;
  for (size_t i = 0; i < machine.units.size(); ++i)
    if (llvm::Error error = checkUnit(machine, i))
      return error;
  for (size_t i = 0; i < machine.copyEngines.size(); ++i)
    if (llvm::Error error = checkEngine(machine, i))
      return error;
  for (size_t i = 0; i < machine.links.size(); ++i)
    if (llvm::Error error = checkLink(machine, i))
      return error;
  return llvm::Error::success();
}
