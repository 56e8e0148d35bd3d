// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelEntry.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

/// SPIR-V's storage class CrossWorkgroup, which is OpenCL's `global`.
static constexpr unsigned global = 1;
/// Of buffers and scratch, as the runtime promises.
static constexpr uint64_t bufferAlignment = 64;

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
                                    int64_t threads) {
  // A barrier must stay where all threads meet it.
  if (Function *barrier = module.getFunction("_Z7barrierj")) {
    barrier->setCallingConv(CallingConv::SPIR_FUNC);
    barrier->addFnAttr(Attribute::Convergent);
  }
  Function *body = module.getFunction(symbol);
  body->setName(symbol + ".body");
  body->setLinkage(GlobalValue::InternalLinkage);
  body->addFnAttr(Attribute::AlwaysInline);
  LLVMContext &context = module.getContext();
  IRBuilder<> b(context);
  Type *pointer = b.getPtrTy(global), *i64 = b.getInt64Ty();
  unsigned bindings = 0, behind = body->arg_size() - 3;
  while (bindings != behind && body->getArg(bindings)->getType()->isPointerTy())
    ++bindings;

  SmallVector<Type *> types(bindings, pointer);
  types.append(behind, i64); // where bindings begin, then numbers
  types.append({pointer, i64, i64, i64, pointer, b.getInt32Ty()});
  auto *entry = Function::Create(FunctionType::get(b.getVoidTy(), types, false),
                                 GlobalValue::ExternalLinkage, symbol, module);
  entry->setCallingConv(CallingConv::SPIR_KERNEL);
  entry->addFnAttr(Attribute::NoUnwind);
  setWorkgroupSize(*entry, threads);
  b.SetInsertPoint(BasicBlock::Create(context, "", entry));

  Argument *scratch = entry->getArg(bindings + behind);
  Argument *scratchOffset = entry->getArg(bindings + behind + 1);
  Argument *scratchBytes = entry->getArg(bindings + behind + 2);
  Argument *groups = entry->getArg(bindings + behind + 3);
  auto addressOf = [&](Value *base, Value *offset) {
    return b.CreateAddrSpaceCast(b.CreatePtrAdd(base, offset), b.getPtrTy());
  };
  SmallVector<Value *> arguments;
  for (unsigned i = 0; i != bindings; ++i)
    arguments.push_back(
        addressOf(entry->getArg(i), entry->getArg(bindings + i)));
  for (unsigned i = bindings; i != behind; ++i)
    arguments.push_back(entry->getArg(bindings + i));
  Value *mine = callBuiltIn(b, "_Z12get_group_idj");
  Value *all = callBuiltIn(b, "_Z14get_num_groupsj");
  arguments.push_back(addressOf(
      scratch, b.CreateAdd(scratchOffset, b.CreateMul(mine, scratchBytes))));
  arguments.push_back(b.CreateUDiv(b.CreateMul(groups, mine), all));
  Value *next = b.CreateAdd(mine, b.getInt64(1));
  arguments.push_back(b.CreateUDiv(b.CreateMul(groups, next), all));
  b.CreateCall(body, arguments);
  b.CreateRetVoid();
  for (unsigned i = 0; i != behind + 1; ++i)
    if (body->getArg(i)->getType()->isPointerTy())
      body->addParamAttr(
          i, Attribute::getWithAlignment(context, Align(bufferAlignment)));
}
