// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine that compiles. What the processor says of itself replaces what
// the file says; nothing is measured and no current frequency is read, so that
// the same machine gives the same model every time.
#include "Machines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <optional>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace ashlar;
using namespace ashlar::cpu;
using llvm::StringRef;

namespace {
/// A data or unified cache.
struct Cache {
  int64_t level = 0, bytes = 0, lineBytes = 0, ways = 0, sharingThreads = 1;
};

struct Detected {
  std::vector<Cache> caches;
  int64_t threadsPerCore = 1;
  const char *source = "", *threadsSource = "";
};

#if defined(__x86_64__)
/// Intel's leaf 4 and AMD's leaf 0x8000001D have one form: Intel SDM volume
/// 2A, CPUID; AMD APM volume 3, appendix E.
Detected detectCaches() {
  Detected found;
  unsigned a, b, c, d, leaf = 4;
  __cpuid(0, a, b, c, d);
  bool isAMD = c == 0x444d4163 || c == 0x656e6975; // "cAMD", "uine" of Hygon
  if (isAMD)
    leaf = 0x8000001du;
  found.source = isAMD ? "the processor: CPUID, leaf 0x8000001D"
                       : "the processor: CPUID, leaf 4";
  for (unsigned i = 0; i < 8; ++i) {
    if (!__get_cpuid_count(leaf, i, &a, &b, &c, &d) || (a & 31) == 0)
      break;
    if ((a & 31) == 2) // instructions
      continue;
    Cache cache;
    cache.level = a >> 5 & 7;
    cache.sharingThreads = (a >> 14 & 0xfff) + 1;
    cache.lineBytes = (b & 0xfff) + 1;
    cache.ways = (b >> 22) + 1;
    int64_t partitions = (b >> 12 & 0x3ff) + 1;
    cache.bytes = cache.ways * partitions * cache.lineBytes * (int64_t(c) + 1);
    found.caches.push_back(cache);
  }
  // Leaf 0xB, level 0: hardware threads of one core.
  if (__get_cpuid_count(0xb, 0, &a, &b, &c, &d) && (b & 0xffff))
    found.threadsPerCore = b & 0xffff;
  found.threadsSource = "the processor: CPUID, leaf 0xB";
  return found;
}
#else
std::optional<std::string> readLine(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  if (!buffer)
    return std::nullopt;
  return (*buffer)->getBuffer().trim().str();
}

/// "0-3,8": how many.
int64_t countList(StringRef list) {
  int64_t count = 0;
  for (StringRef range : llvm::split(list, ',')) {
    auto [first, last] = range.split('-');
    int64_t from = 0, to = 0;
    if (first.getAsInteger(10, from))
      return 1;
    if (last.getAsInteger(10, to))
      to = from;
    count += to - from + 1;
  }
  return std::max<int64_t>(count, 1);
}

/// Linux, Documentation/ABI/testing/sysfs-devices-system-cpu.
Detected detectCaches() {
  Detected found;
  found.source = found.threadsSource = "Linux: /sys/devices/system/cpu/cpu0";
  const std::string root = "/sys/devices/system/cpu/cpu0/";
  for (int i = 0; i < 8; ++i) {
    std::string folder = root + "cache/index" + std::to_string(i) + "/";
    auto type = readLine(folder + "type"), size = readLine(folder + "size");
    if (!type || !size)
      break;
    auto number = [&](const char *name) {
      int64_t value = 0;
      if (auto text = readLine(folder + name))
        (void)StringRef(*text).getAsInteger(10, value);
      return value;
    };
    int64_t kilobytes = 0;
    if (*type == "Instruction" ||
        StringRef(*size).rtrim('K').getAsInteger(10, kilobytes))
      continue;
    Cache cache;
    cache.level = number("level");
    cache.bytes = kilobytes << 10;
    cache.lineBytes = number("coherency_line_size");
    cache.ways = number("ways_of_associativity");
    if (auto list = readLine(folder + "shared_cpu_list"))
      cache.sharingThreads = countList(*list);
    found.caches.push_back(cache);
  }
  if (auto list = readLine(root + "topology/thread_siblings_list"))
    found.threadsPerCore = countList(*list);
  return found;
}
#endif

bool hasAll(const llvm::StringMap<bool> &present,
            const std::vector<std::string> &features) {
  return llvm::all_of(features, [&](const std::string &feature) {
    return present.lookup(feature);
  });
}

/// A feature that only units ask for may be missing; those units then are.
bool isOptional(const MachineModel &machine, const std::string &feature) {
  if (llvm::is_contained(machine.vectors.requiredFeatures, feature))
    return false;
  return llvm::any_of(machine.units, [&](const MultiplyUnit &unit) {
    return llvm::is_contained(unit.requiredFeatures, feature);
  });
}

bool runsHere(const MachineModel &machine,
              const llvm::StringMap<bool> &present) {
  return llvm::all_of(machine.code.features, [&](const std::string &feature) {
    return isOptional(machine, feature) || present.lookup(feature);
  });
}

/// The file that is nearest to this processor. A hypervisor may hide what the
/// processor's own file counts on.
MachineModel nearestFile(StringRef processor,
                         const llvm::StringMap<bool> &present) {
  std::vector<const MachineModel *> candidates;
  if (const MachineModel *own = machineDescribing(processor))
    candidates.push_back(own);
  bool isArm = llvm::Triple(llvm::sys::getDefaultTargetTriple()).isAArch64();
  if (isArm)
    candidates.push_back(&machineInFile("aarch64"));
  else
    for (const char *name : {"host", "x86-64-v3", "x86-64"})
      candidates.push_back(&machineInFile(name));
  for (const MachineModel *machine : candidates)
    if (runsHere(*machine, present))
      return *machine;
  return *candidates.back();
}

void keepPresentFeatures(MachineModel &machine,
                         const llvm::StringMap<bool> &present) {
  llvm::erase_if(machine.code.features, [&](const std::string &feature) {
    return !present.lookup(feature);
  });
  llvm::erase_if(machine.units, [&](const MultiplyUnit &unit) {
    return !hasAll(present, unit.requiredFeatures);
  });
}

void applyCaches(MachineModel &machine, const Detected &found) {
  for (const Cache &cache : found.caches) {
    Memory *memory = nullptr;
    for (Memory &one : machine.memories)
      if (one.name == "l" + std::to_string(cache.level))
        memory = &one;
    // A size that makes no sense is worse than the file's.
    if (!memory || cache.lineBytes < 1 || cache.ways < 1 ||
        cache.bytes < cache.lineBytes * cache.ways ||
        cache.bytes % (cache.lineBytes * cache.ways))
      continue;
    memory->bytes = cache.bytes;
    memory->lineBytes = cache.lineBytes;
    memory->ways = cache.ways;
    memory->sharedBy =
        std::max<int64_t>(cache.sharingThreads / found.threadsPerCore, 1);
    for (const char *figure : {"bytes", "line_bytes", "ways", "shared_by"})
      memory->sources[figure] = found.source;
  }
}
} // namespace

MachineModel ashlar::cpu::detectHost() {
  llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  static const std::string processor = llvm::sys::getHostCPUName().str();
  MachineModel machine = nearestFile(processor, present);
  machine.name = "host";
  machine.describes = {processor};
  machine.code.tune = processor;
  keepPresentFeatures(machine, present);

  Detected found = detectCaches();
  applyCaches(machine, found);
  int64_t threads = std::max<long>(sysconf(_SC_NPROCESSORS_ONLN), 1);
  machine.workers.threads = std::min(found.threadsPerCore, threads);
  machine.workers.count = threads / machine.workers.threads;
  machine.workers.sources = {
      {"count", "the system: processors that are online"},
      {"threads", found.threadsSource}};
  for (Memory &memory : machine.memories)
    memory.sharedBy = std::min(memory.sharedBy, machine.workers.count);
  for (CopyEngine &engine : machine.copyEngines)
    engine.multicast = std::min(engine.multicast, machine.workers.count);
  return machine;
}
