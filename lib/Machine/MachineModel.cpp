// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Machine/MachineModel.h"
#include "ashlar/Machine/MainMemory.h"
#include "ashlar/Machine/StoreEngine.h"
#include <algorithm>

using namespace ashlar;

bool MultiplyUnit::takes(const ProductTypes &product) const {
  return std::find(types.begin(), types.end(), product) != types.end();
}

bool MachineModel::takes(const MultiplyUnit &unit,
                         const ProductTypes &product) const {
  const ProductTypes single = {"f32", "f32", "f32"};
  return unit.takes(product) || (roundsToTF32 && product == single &&
                                 unit.takes({"tf32", "tf32", "f32"}));
}

MachineModel MachineModel::generic() {
  MachineModel machine;
  machine.name = machine.target = "generic";
  const Sources made = {{"", "made up"}};
  machine.clock = {1e9, made};
  machine.workers = {1, 1, made, 0, 0, 0};
  machine.vectors = {16, 32, 4, {}, made};
  auto cache = [&](const char *name, int64_t bytes, double rate,
                   double latency) {
    Memory memory;
    memory.name = name;
    memory.bytes = bytes;
    memory.lineBytes = 64;
    memory.ways = 8;
    memory.readBytesPerCycle = rate;
    memory.writeBytesPerCycle = rate / 2;
    memory.latencyCycles = latency;
    memory.sources = made;
    return memory;
  };
  machine.memories = {cache("l1", 32 << 10, 64, 4),
                      cache("l2", 512 << 10, 32, 14),
                      cache("l3", 8 << 20, 16, 50), cache("main", 0, 8, 300)};
  MultiplyUnit fma;
  fma.name = "fma";
  fma.n = 8;
  fma.types = {{"f32", "f32", "f32"}};
  fma.stepsPerCycle = 2;
  fma.latencyCycles = 4;
  fma.accumulators = 16;
  fma.leftFrom = {"vectors", "l1"};
  fma.rightFrom = {"vectors", "l1"};
  fma.sources = made;
  machine.units = {fma};
  machine.costs = {100, 500, made};
  return machine;
}

const Memory &MachineModel::farthestOwn() const {
  const Memory *own = &nearest();
  for (const Memory &memory : memories)
    if (memory.bytes != 0 && memory.sharedBy <= 1)
      own = &memory;
  return *own;
}

double MachineModel::lanesFor(int64_t elementBytes) const {
  double most = 0;
  for (const MultiplyUnit &unit : units)
    if (countOf("lane") > 1 && unit.m == 1 && unit.k == 1 &&
        unit.takes({"f32", "f32", "f32"}))
      most = std::max(most, double(unit.n) * unit.stepsPerCycle);
  return most != 0 ? most
                   : double(std::max<int64_t>(1, vectors.bytes / elementBytes));
}

const Memory &MachineModel::nearestFor(int64_t bytes) const {
  for (const Memory &memory : memories)
    if (!memory.managed && (memory.bytes == 0 || memory.bytes >= bytes))
      return memory;
  return memories.back();
}

const Memory *MachineModel::memory(std::string_view name) const {
  for (const Memory &memory : memories)
    if (memory.name == name)
      return &memory;
  return nullptr;
}

const Scope *MachineModel::scope(std::string_view name) const {
  for (const Scope &scope : scopes)
    if (scope.name == name)
      return &scope;
  return nullptr;
}

int64_t MachineModel::countOf(std::string_view kind) const {
  int64_t count = 0;
  for (const Scope &scope : scopes)
    if (scope.kind == kind)
      count = std::max<int64_t>(count, 1) * scope.count;
  return count;
}

int64_t MachineModel::groupsOf(const Scope &group) const {
  int64_t count = 1;
  for (const Scope &scope : scopes) {
    if (scope.kind == "group")
      count *= std::max<int64_t>(scope.count, 1);
    if (&scope == &group)
      break;
  }
  return count;
}

const Link *MachineModel::link(std::string_view to) const {
  for (const Link &link : links)
    if (link.to == to)
      return &link;
  return nullptr;
}

double ashlar::mainBytesPerCycle(const MachineModel &machine) {
  const Memory &main = machine.memories.back();
  return main.sharedBytesPerSecond
             ? main.sharedBytesPerSecond / machine.clock.hz
             : machine.readBytesPerCycle(main);
}

const CopyEngine *ashlar::storeEngineOf(const MachineModel &machine) {
  for (const CopyEngine &engine : machine.copyEngines)
    if (engine.boxes && engine.from == machine.nearest().name &&
        engine.to == machine.memories.back().name)
      return &engine;
  return nullptr;
}

template <typename Suits>
const MultiplyUnit *MachineModel::fastestUnit(Suits suits) const {
  const MultiplyUnit *best = nullptr;
  for (const MultiplyUnit &unit : units)
    if (suits(unit) && (!best || unit.flopsPerCycle() > best->flopsPerCycle()))
      best = &unit;
  return best;
}

const MultiplyUnit *MachineModel::unit(const ProductTypes &product) const {
  return fastestUnit(
      [&](const MultiplyUnit &unit) { return takes(unit, product); });
}

const MultiplyUnit *MachineModel::vectorUnit(const ProductTypes &product,
                                             bool groups) const {
  ProductTypes swapped = {product.right, product.left, product.accumulator};
  return fastestUnit([&](const MultiplyUnit &unit) {
    return unit.accumulatorSpace == "vectors" && (groups || unit.k == 1) &&
           (unit.takes(product) || unit.takes(swapped));
  });
}

const MultiplyUnit *
MachineModel::matrixUnit(const ProductTypes &product) const {
  return fastestUnit([&](const MultiplyUnit &unit) {
    return unit.accumulatorSpace != "vectors" && unit.takes(product) &&
           hasFeatures(unit.requiredFeatures);
  });
}

bool MachineModel::hasFeatures(const std::vector<std::string> &features) const {
  return std::all_of(features.begin(), features.end(), [&](const auto &one) {
    return std::find(code.features.begin(), code.features.end(), one) !=
           code.features.end();
  });
}

double MachineModel::readBytesPerCycle(const Memory &memory) const {
  return memory.readBytesPerCycle ? memory.readBytesPerCycle
                                  : memory.readBytesPerSecond / clock.hz;
}

double MachineModel::writeBytesPerCycle(const Memory &memory) const {
  return memory.writeBytesPerCycle ? memory.writeBytesPerCycle
                                   : memory.writeBytesPerSecond / clock.hz;
}

double MachineModel::sharedReadBytesPerCycle(const Memory &memory,
                                             int64_t active) const {
  double alone = readBytesPerCycle(memory);
  int64_t sharing = std::min(active, memory.sharedBy);
  if (!memory.sharedBytesPerSecond || sharing <= 1)
    return alone;
  return std::min(alone, memory.sharedBytesPerSecond / clock.hz / sharing);
}
