// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/StreamTime.h"
#include <algorithm>

using namespace ashlar;

int64_t ashlar::threadsOfGroup(const MachineModel &machine) {
  return std::max<int64_t>(1, machine.countOf("lane")) *
         std::max<int64_t>(1, machine.countOf("group"));
}

int64_t ashlar::mostPassedByRows(const MachineModel &machine) {
  return machine.nearest().bytesOfPart() * 15 / 16;
}

int64_t ashlar::residentGroups(const MachineModel &machine, int64_t nearBytes) {
  int64_t groups = std::max<int64_t>(1, machine.workers.residentThreads /
                                            threadsOfGroup(machine));
  if (machine.workers.residentGroups != 0)
    groups = std::min(groups, machine.workers.residentGroups);
  if (nearBytes != 0)
    groups = std::min(groups, machine.nearest().bytes / nearBytes);
  return std::max<int64_t>(1, groups);
}

double ashlar::streamCycles(const MachineModel &machine, double bytes,
                            int64_t groups, int64_t nearBytes) {
  /// Two loads of 16 bytes, which a thread waits for before it asks for more:
  /// a GPU brought 22 GB/s to each of 64 and of 128 workgroups of 256 threads
  /// that added columns (benchmarks/results/gpu.md), this is 18.
  constexpr int64_t bytesOfThread = 32;
  int64_t workers = std::clamp<int64_t>(
      groups, 1, std::max<int64_t>(1, machine.workers.count));
  int64_t atOnce =
      std::min(groups, workers * residentGroups(machine, nearBytes));
  const Memory &memory = machine.nearestFor(int64_t(bytes));
  double latency = std::max(1.0, memory.latencyCycles);
  double asked =
      double(atOnce * threadsOfGroup(machine) * bytesOfThread) / latency;
  double given =
      machine.sharedReadBytesPerCycle(memory, workers) * double(workers);
  return latency + bytes / std::max(1e-9, std::min(asked, given));
}
