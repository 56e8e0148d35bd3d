// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four warps that multiply together (wgmma), and what the manual asks of the
// registers meanwhile: they are the multiplication's from wgmma.mma_async until
// a wgmma.wait_group that covers it, and between other accesses to them and a
// wgmma.mma_async there is a wgmma.fence, except that operations of one shape
// may follow each other on one accumulator.

#ifndef ASHLAR_RUNTIME_TEST_CUDA_PTXWARPGROUP_H
#define ASHLAR_RUNTIME_TEST_CUDA_PTXWARPGROUP_H

#include "PtxProgram.h"
#include "PtxShared.h"

namespace ashlar::ptx {

/// Of one thread: what happened to the registers of the function that it is
/// in. Groups and fences count from 1 on.
class RegisterWatch {
public:
  /// Calls deeper than this one have registers of their own.
  size_t depth = 0;

  uint32_t committed = 0, done = 0; // groups
  uint32_t openGroup() const { return committed + 1; }
  bool isUnderWay() const { return used > done; }

  /// wgmma.fence.
  void fence(const Thread &thread);
  /// An instruction other than wgmma is about to access its registers. Faults.
  void access(const Thread &thread, const Instruction *at);
  /// The thread returns from a function. Faults.
  void leave(const Thread &thread);
  /// wgmma.mma_async uses the register. Faults.
  void use(const Thread &thread, uint32_t slot, uint32_t shape, bool isResult);

private:
  struct Register {
    uint32_t touched = 0; // fences before the last access of another kind
    uint32_t group = 0;   // the last one that uses it
    uint32_t fences = 0;  // before that use
    uint32_t shape = 0;   // of that use as an accumulator; 0: it is of A
  };
  std::vector<Register> registers;
  uint32_t fences = 0, used = 0;
};

struct Warpgroup {
  unsigned number = 0; // threads from 128 * number on
  SharedMemory::Reader reader = 0;
};

/// Waits for all threads of the warpgroup.
const Instruction *waitForGroup(Thread &thread, const Instruction *at);
/// Runs what all threads of a warpgroup wait with. True: some go on.
bool openGroups(Block &block);
/// The one of that number; Fault where it executed no wgmma.fence.
Warpgroup &warpgroupOf(Block &block, unsigned number);

class Decoder;
void decodeMmaAsync(Decoder &d); // PtxWgmma.cpp

} // namespace ashlar::ptx

#endif // ASHLAR_RUNTIME_TEST_CUDA_PTXWARPGROUP_H
