// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers in shared memory (mbarrier): a phase ends when as many have arrived
// as it expects and all bytes have come that it was told of. Where they are,
// no ordinary access reaches.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXMBARRIER_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXMBARRIER_H

#include "PtxShared.h"

#include <map>

namespace ashlar::ptx {

struct Cluster;
struct Thread;
struct Instruction;

struct Mbarrier {
  uint64_t at = 0; // within the cluster's shared memory
  uint32_t expected = 0, pending = 0;
  int64_t bytes = 0;
  uint64_t phase = 0; // under way
  /// What is before who waits for this phase, and for the one before.
  SharedMemory::Order arriving, arrived;
  unsigned owner = 0;       // the thread that initialized it
  uint64_t mark = 0;        // when it did
  bool isPublished = false; // to what is asynchronous, by a fence of the owner
  /// The thread of what writes for it asynchronously; 0: nothing did.
  unsigned agent = 0;
};

class Mbarriers {
public:
  static constexpr unsigned size = 8;
  static constexpr int64_t most = (1 << 20) - 1; // arrivals, bytes

  Mbarrier *find(uint64_t at) {
    auto found = all.find(at);
    return found == all.end() ? nullptr : &found->second;
  }
  Mbarrier &add(uint64_t at) { return all[at] = Mbarrier(); }
  void remove(uint64_t at) { all.erase(at); }
  void clear() { all.clear(); }
  /// Ordinary accesses are to none of them. Faults.
  void expectNone(uint64_t offset, unsigned count) const {
    if (!all.empty())
      expectNoneOf(offset, count);
  }
  /// A fence of the thread: those that it initialized are known.
  void publish(unsigned thread);

private:
  void expectNoneOf(uint64_t offset, unsigned count) const;
  std::map<uint64_t, Mbarrier> all;
};

/// The one that an instruction names by its address. Faults.
Mbarrier &mbarrierAt(Thread &thread, uint64_t address, bool isOfCluster);
/// So many arrive; faults where they are more than are expected.
void arriveAt(Cluster &cluster, Mbarrier &mbarrier, uint32_t count);
/// More bytes are to come; fewer where it is negative.
void expectBytes(Cluster &cluster, Mbarrier &mbarrier, int64_t bytes);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXMBARRIER_H
