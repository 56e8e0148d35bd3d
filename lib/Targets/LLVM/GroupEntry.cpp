// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GroupEntry.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// The address space of buffers, as SPIR-V, PTX and AMD's code number it.
static constexpr unsigned global = 1;
/// Of buffers and scratch, as the runtime promises.
static constexpr uint64_t bufferAlignment = 64;

static constexpr uint64_t mapBytes = 128;

static void alignTo(Argument &pointer) {
  pointer.addAttr(Attribute::getWithAlignment(pointer.getContext(),
                                              Align(bufferAlignment)));
}

static Function &hideBody(Module &module, StringRef symbol) {
  Function &body = *module.getFunction(symbol);
  body.setName(symbol + ".body");
  body.setLinkage(GlobalValue::InternalLinkage);
  body.addFnAttr(Attribute::AlwaysInline);
  for (Argument &argument : body.args())
    if (argument.getType()->isPointerTy())
      alignTo(argument);
  return body;
}

Function &ashlar::addGroupEntry(Module &module, StringRef symbol,
                                const GroupEntry &how) {
  Function &body = hideBody(module, symbol);
  IRBuilder<> b(module.getContext());
  Type *pointer = b.getPtrTy(global), *i64 = b.getInt64Ty();
  const unsigned behind = body.arg_size() - 3; // scratch, first group, end
  unsigned bindings = 0;
  while (bindings != behind && body.getArg(bindings)->getType()->isPointerTy())
    ++bindings;
  const unsigned offsets = how.hasOffsets ? bindings : 0;

  SmallVector<Type *> types(bindings, pointer);
  types.append(offsets + behind - bindings, i64);
  types.push_back(pointer); // scratch
  types.append(how.hasOffsets ? 3 : 2, i64);
  types.append({pointer, b.getInt32Ty()}); // status, command
  types.append(how.maps, b.getPtrTy());
  auto *entry = Function::Create(FunctionType::get(b.getVoidTy(), types, false),
                                 GlobalValue::ExternalLinkage, symbol, module);
  entry->setCallingConv(how.convention);
  entry->addFnAttr(Attribute::NoUnwind);
  // Inlined, the body loses what it knows of its own arguments.
  for (unsigned i = 0; !how.hasOffsets && i != bindings; ++i)
    alignTo(*entry->getArg(i));
  for (Argument &map :
       llvm::drop_begin(entry->args(), entry->arg_size() - how.maps)) {
    AttrBuilder by(module.getContext());
    by.addByValAttr(ArrayType::get(b.getInt8Ty(), mapBytes));
    by.addAlignmentAttr(bufferAlignment);
    by.addAttribute("nvvm.grid_constant");
    map.addAttrs(by);
  }
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", entry));

  auto addressOf = [&](Value *base, Value *offset) {
    return b.CreateAddrSpaceCast(offset ? b.CreatePtrAdd(base, offset) : base,
                                 b.getPtrTy());
  };
  SmallVector<Value *> arguments;
  Argument *next = entry->getArg(bindings);
  for (unsigned i = 0; i != bindings; ++i)
    arguments.push_back(
        addressOf(entry->getArg(i), offsets ? next++ : nullptr));
  for (unsigned i = bindings; i != behind; ++i)
    arguments.push_back(next++);
  Argument *scratch = next++;
  Argument *scratchOffset = how.hasOffsets ? next++ : nullptr;
  Argument *scratchBytes = next++, *all = next;
  Value *mine = how.group(b), *count = how.groups(b);
  Value *offset = b.CreateMul(mine, scratchBytes);
  if (scratchOffset)
    offset = b.CreateAdd(scratchOffset, offset);
  arguments.push_back(addressOf(scratch, offset));
  if (how.maps != 0) { // the body's steps are as many as there are workgroups
    arguments.append({mine, all});
  } else {
    arguments.push_back(b.CreateUDiv(b.CreateMul(all, mine), count));
    arguments.push_back(b.CreateUDiv(
        b.CreateMul(all, b.CreateAdd(mine, b.getInt64(1))), count));
  }
  b.CreateCall(&body, arguments);
  b.CreateRetVoid();
  return *entry;
}
