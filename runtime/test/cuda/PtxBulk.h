// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk: copies of many bytes that an agent makes. What it brings into
// shared memory comes when nothing else goes on, or now and then; it tells an
// mbarrier. What it takes from there it reads until its thread has waited for
// the group.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXBULK_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXBULK_H

#include "PtxShared.h"

#include <string>

namespace ashlar::ptx {

struct Cluster;
struct Thread;
class Decoder;

/// On its way into shared memory.
struct BulkCopy {
  uint64_t to = 0, mbarrier = 0; // within the cluster's
  unsigned agent = 0, thread = 0;
  uint32_t line = 0;
  std::vector<uint8_t> bytes;
};

/// Of one thread: what it has read from shared memory.
struct BulkGroups {
  bool hasReader = false;
  SharedMemory::Reader reader = 0;
  uint32_t committed = 0, used = 0, done = 0; // groups, from 1 on
};

/// One of those under way comes; which one is anyone's guess. False: there are
/// none.
bool deliver(Cluster &cluster);
/// Faults where a thread ends whose copies still read shared memory.
void expectBulkDone(const Thread &thread);

/// After cp.async.bulk.
void decodeBulk(Decoder &d);
/// prefetch.tensormap of operand 0.
void decodePrefetchTensorMap(Decoder &d);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXBULK_H
