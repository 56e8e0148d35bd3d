// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelEntry.h"
#include "../LLVM/GroupEntry.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace llvm;

/// hsa_kernel_dispatch_packet_t, which every launch has: threads of the grid.
static constexpr uint64_t gridSizeOffset = 12;

static Value *readGroup(IRBuilder<> &b) {
  return b.CreateZExt(
      b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::amdgcn_workgroup_id_x, {}),
      b.getInt64Ty());
}

static Value *readGroups(IRBuilder<> &b, int64_t threads) {
  Value *packet = b.CreateIntrinsic(Intrinsic::amdgcn_dispatch_ptr, {});
  auto *size = b.CreateAlignedLoad(
      b.getInt32Ty(),
      b.CreateConstGEP1_64(b.getInt8Ty(), packet, gridSizeOffset), Align(4));
  size->setMetadata(LLVMContext::MD_invariant_load,
                    MDNode::get(b.getContext(), {}));
  return b.CreateZExt(b.CreateUDiv(size, b.getInt32(threads)), b.getInt64Ty());
}

Function &ashlar::rocm::addKernelEntry(Module &module, StringRef symbol,
                                       int64_t threads) {
  GroupEntry how = {CallingConv::AMDGPU_KERNEL, /*hasOffsets=*/false, readGroup,
                    [=](IRBuilder<> &b) { return readGroups(b, threads); }};
  Function &entry = addGroupEntry(module, symbol, how);
  // The linker wants no symbol that another object may take the place of.
  entry.setVisibility(GlobalValue::ProtectedVisibility);
  std::string count = std::to_string(threads);
  entry.addFnAttr("amdgpu-flat-work-group-size", count + "," + count);
  entry.addFnAttr("uniform-work-group-size", "true");
  // Of what the driver would hand over behind our arguments nothing is read.
  entry.addFnAttr("amdgpu-no-implicitarg-ptr");
  return entry;
}

void ashlar::rocm::moveAllocations(Module &module) {
  const unsigned space = module.getDataLayout().getAllocaAddrSpace();
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      auto *old = dyn_cast<AllocaInst>(&instruction);
      if (!old || old->getAddressSpace() == space)
        continue;
      IRBuilder<> b(old);
      AllocaInst *own =
          b.CreateAlloca(old->getAllocatedType(), space, old->getArraySize());
      own->setAlignment(old->getAlign());
      old->replaceAllUsesWith(b.CreateAddrSpaceCast(own, old->getType()));
      old->eraseFromParent();
    }
}
