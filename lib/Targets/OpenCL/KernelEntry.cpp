// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelEntry.h"
#include "../LLVM/GroupEntry.h"
#include "llvm/IR/ConstantRange.h"

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

/// How many threads are launched together, and what compilers are told of them.
static void setSizes(Function &entry, const ashlar::opencl::EntryForm &form) {
  LLVMContext &context = entry.getContext();
  auto number = [&](int64_t value) -> Metadata * {
    return ConstantAsMetadata::get(
        ConstantInt::get(Type::getInt32Ty(context), value));
  };
  entry.setMetadata(
      "reqd_work_group_size",
      MDNode::get(context, {number(form.threads), number(1), number(1)}));
  if (form.threads == 1)
    return;
  if (form.subgroup) {
    entry.setMetadata("intel_reqd_sub_group_size",
                      MDNode::get(context, number(form.subgroup)));
    return;
  }
  // Drivers for GPUs do not look at it. Intel's for processors makes vectors of
  // work-items where the hint is none, and ends the process over what many
  // branches keep across barriers (2026.22.10, in its pass
  // sycl-kernel-reduce-cross-barrier-values).
  auto *vector = FixedVectorType::get(Type::getFloatTy(context), 16);
  entry.setMetadata(
      "vec_type_hint",
      MDNode::get(context, {ConstantAsMetadata::get(UndefValue::get(vector)),
                            number(1)}));
}

/// A thread's number has a range: without, its divisions are of signed numbers
/// of 64 bits, which many GPUs write out.
static void boundThread(Function &function, int64_t threads) {
  const unsigned bits = function.getReturnType()->getIntegerBitWidth();
  AttrBuilder range(function.getContext());
  range.addRangeAttr(ConstantRange(APInt(bits, 0), APInt(bits, threads)));
  function.addRetAttrs(range);
  function.setDoesNotAccessMemory();
}

/// OpenCL's functions: what all threads of a group must meet stays where it is.
static void declareBuiltIns(Module &module, int64_t threads) {
  for (Function &function : module) {
    StringRef name = function.getName();
    if (!function.isDeclaration() || !name.starts_with("_Z"))
      continue;
    function.setCallingConv(CallingConv::SPIR_FUNC);
    for (User *user : function.users())
      if (auto *call = dyn_cast<CallInst>(user))
        call->setCallingConv(CallingConv::SPIR_FUNC);
    function.setDoesNotThrow();
    if (name == "_Z12get_local_idj")
      boundThread(function, threads);
    const bool isSubgroup = name.contains("sub_group_");
    if (isSubgroup || name == "_Z7barrierj")
      function.addFnAttr(Attribute::Convergent);
    if (isSubgroup)
      function.setDoesNotAccessMemory();
  }
}

void ashlar::opencl::addKernelEntry(Module &module, StringRef symbol,
                                    const EntryForm &form) {
  declareBuiltIns(module, form.threads);
  GroupEntry how = {
      CallingConv::SPIR_KERNEL, form.hasOffsets,
      [](IRBuilder<> &b) { return callBuiltIn(b, "_Z12get_group_idj"); },
      [](IRBuilder<> &b) { return callBuiltIn(b, "_Z14get_num_groupsj"); }};
  setSizes(addGroupEntry(module, symbol, how), form);
}
