// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What blocks of a cluster do together: the cluster's barrier.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXCLUSTER_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXCLUSTER_H

#include "PtxShared.h"

namespace ashlar::ptx {

struct Cluster;
class Decoder;

struct ClusterBarrier {
  uint64_t phase = 1; // under way
  /// What is before who waits for this phase, and for the one before.
  SharedMemory::Order arriving, arrived;
};

/// Ends the barrier's phase and lets those go on who wait for it, where all
/// threads that have not exited have arrived. True: it did.
bool openCluster(Cluster &cluster);

void decodeClusterBarrier(Decoder &d);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXCLUSTER_H
