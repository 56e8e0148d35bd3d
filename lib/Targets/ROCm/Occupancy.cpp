// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workgroups that a compute unit holds at a time: the least of what its waves,
// its registers and its LDS are enough for. Units of allocation are those of
// LLVM's AMDGPUUsage, "GRANULATED_WORKITEM_VGPR_COUNT" and
// "GRANULATED_LDS_SIZE".
#include "Occupancy.h"
#include "llvm/Support/MathExtras.h"

using namespace ashlar;

void ashlar::rocm::computeOccupancy(const MachineModel &machine,
                                    int64_t threads,
                                    KernelResources &resources) {
  constexpr int64_t registerBytes = 4, ldsUnit = 512;
  const Workers &worker = machine.workers;
  const int64_t wave = machine.countOf("lane");
  if (worker.residentGroups == 0 || worker.residentThreads == 0 ||
      worker.registerBytes == 0 || machine.memories.empty() || threads <= 0 ||
      wave == 0)
    return;
  // Waves of 64 have four parts of a unit, those of 32 two, with registers
  // three times as many to a piece.
  const int64_t parts = wave == 64 ? 4 : 2, registerUnit = wave == 64 ? 8 : 24;
  const int64_t waves = llvm::divideCeil(threads, wave);
  // So many waves of a workgroup are a part's.
  const int64_t wavesOfPart = llvm::divideCeil(waves, parts);
  int64_t groups = worker.residentThreads / (waves * wave);
  // A workgroup of one wave needs no barrier and none of what these are of.
  if (waves > 1)
    groups = std::min<int64_t>(groups, worker.residentGroups);
  if (resources.registers != 0) {
    int64_t ofWave = llvm::alignTo(resources.registers, registerUnit) * wave;
    int64_t ofPart = worker.registerBytes / registerBytes / parts / ofWave;
    groups = std::min(groups, waves < parts ? ofPart * parts / waves
                                            : ofPart / wavesOfPart);
  }
  if (int64_t lds = llvm::alignTo(resources.sharedBytes, ldsUnit))
    groups = std::min(groups, machine.memories.front().bytes / lds);
  resources.groups = uint64_t(std::max<int64_t>(groups, 0));
  resources.occupancy =
      double(resources.groups * waves * wave) / double(worker.residentThreads);
}
