// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelEntry.h"
#include "../LLVM/GroupEntry.h"

using namespace llvm;

/// A built-in function by its mangled name: of dimension 0.
static Value *callBuiltIn(IRBuilder<> &b, StringRef name) {
  Module &module = *b.GetInsertBlock()->getModule();
  FunctionCallee callee = module.getOrInsertFunction(
      name, FunctionType::get(b.getInt64Ty(), {b.getInt32Ty()}, false));
  cast<Function>(callee.getCallee())->setCallingConv(CallingConv::SPIR_FUNC);
  CallInst *call = b.CreateCall(callee, {b.getInt32(0)});
  call->setCallingConv(CallingConv::SPIR_FUNC);
  return call;
}

static void setWorkgroupSize(Function &entry, int64_t threads) {
  LLVMContext &context = entry.getContext();
  auto number = [&](int64_t value) -> Metadata * {
    return ConstantAsMetadata::get(
        ConstantInt::get(Type::getInt32Ty(context), value));
  };
  entry.setMetadata(
      "reqd_work_group_size",
      MDNode::get(context, {number(threads), number(1), number(1)}));
}

void ashlar::opencl::addKernelEntry(Module &module, StringRef symbol,
                                    int64_t threads, bool hasOffsets) {
  // A barrier must stay where all threads meet it.
  if (Function *barrier = module.getFunction("_Z7barrierj")) {
    barrier->setCallingConv(CallingConv::SPIR_FUNC);
    barrier->addFnAttr(Attribute::Convergent);
  }
  GroupEntry how = {
      CallingConv::SPIR_KERNEL, hasOffsets,
      [](IRBuilder<> &b) { return callBuiltIn(b, "_Z12get_group_idj"); },
      [](IRBuilder<> &b) { return callBuiltIn(b, "_Z14get_num_groupsj"); }};
  setWorkgroupSize(addGroupEntry(module, symbol, how), threads);
}
