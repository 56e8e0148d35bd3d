// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks that a multiprocessor holds at a time: the least of what its blocks,
// its threads, its registers and its shared memory are enough for (CUDA C++
// Best Practices Guide, "Calculating Occupancy"). Units of allocation are those
// of cuda_occupancy.h for compute capabilities 8.0 to 9.0: registers by 256 a
// warp, warps over four parts of a multiprocessor, shared memory by 128 bytes
// with 1 KiB a block that the system keeps.
#include "Occupancy.h"
#include "llvm/Support/MathExtras.h"

using namespace ashlar;

void ashlar::cuda::computeOccupancy(const MachineModel &machine,
                                    int64_t threads,
                                    KernelResources &resources) {
  constexpr int64_t warp = 32, parts = 4, registerUnit = 256, registerBytes = 4,
                    sharedUnit = 128, sharedKept = 1024;
  const Workers &worker = machine.workers;
  if (worker.residentGroups == 0 || worker.residentThreads == 0 ||
      worker.registerBytes == 0 || machine.memories.empty() || threads <= 0)
    return;
  const int64_t warps = llvm::divideCeil(threads, warp);
  int64_t groups = std::min<int64_t>(worker.residentGroups,
                                     worker.residentThreads / (warps * warp));
  if (resources.registers != 0) {
    int64_t ofWarp = llvm::alignTo(resources.registers * warp, registerUnit);
    int64_t ofPart = worker.registerBytes / registerBytes / parts / ofWarp;
    groups = std::min(groups, ofPart * parts / warps);
  }
  int64_t shared =
      llvm::alignTo(resources.sharedBytes + sharedKept, sharedUnit);
  groups = std::min(groups, machine.memories.front().bytes / shared);
  resources.groups = uint64_t(std::max<int64_t>(groups, 0));
  resources.occupancy =
      double(resources.groups * warps * warp) / double(worker.residentThreads);
}
