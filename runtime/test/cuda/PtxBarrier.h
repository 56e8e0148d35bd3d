// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where threads of a block, or lanes of a warp, wait for each other.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXBARRIER_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXBARRIER_H

#include "PtxDecoder.h"

namespace ashlar::ptx {

/// In flags: all threads of a warp are at one instruction; how it reduces.
constexpr uint32_t barrierAligned = 1;
constexpr unsigned barrierReduces = 4; // from that bit on: popc, and, or

/// Notes in which barrier, and for how many, a thread is; faults for numbers
/// that there are not.
void arriveAtBarrier(Thread &thread, const Instruction *at);
/// A thread that goes on at once.
void passBarrier(Thread &thread);

/// Lets those go on for whom all are there. True: some did.
bool openBarriers(Block &block);
/// Runs what all lanes of a warp wait with. True: some go on.
bool openWarp(Block &block, unsigned warp);
/// Who waits for whom, where nobody can go on.
Fault deadlock(const Cluster &cluster);

/// A new frame for `code`, whose special registers the caller fills.
void enter(Frame &frame, Thread &thread, const Code &code);

void decodeWarpSync(Decoder &d);

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXBARRIER_H
