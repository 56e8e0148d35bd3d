// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SplitVectors.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

static bool isLegal(unsigned lanes) {
  return lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16;
}

/// A vector type that has to be cut; null: it has not.
static FixedVectorType *cutType(Type *type) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  return vector && !isLegal(vector->getNumElements()) ? vector : nullptr;
}

/// How many elements each part has.
static SmallVector<unsigned> partsOf(unsigned lanes) {
  SmallVector<unsigned> parts;
  for (unsigned width : {16, 8, 4, 2, 1})
    for (; lanes >= width; lanes -= width)
      parts.push_back(width);
  return parts;
}

static Type *partType(Type *element, unsigned width) {
  return width == 1 ? element : FixedVectorType::get(element, width);
}

namespace {
using Parts = SmallVector<Value *>;

class Splitter {
public:
  explicit Splitter(Function &function) : function(function) {}

  Error run() {
    ReversePostOrderTraversal<Function *> order(&function);
    for (BasicBlock *block : order)
      for (Instruction &instruction : make_early_inc_range(*block))
        if (isConcerned(instruction))
          if (Error error = split(instruction))
            return error;
    for (PHINode *phi : phis)
      for (auto [value, block] : zip(phi->incoming_values(), phi->blocks())) {
        Parts incoming = of(value);
        for (auto [i, part] : enumerate(cut[phi]))
          cast<PHINode>(part)->addIncoming(incoming[i], block);
      }
    for (Instruction *instruction : old)
      instruction->dropAllReferences();
    for (Instruction *instruction : old)
      instruction->eraseFromParent();
    return Error::success();
  }

private:
  static bool isConcerned(Instruction &instruction) {
    return cutType(instruction.getType()) ||
           any_of(instruction.operands(),
                  [](Use &use) { return cutType(use->getType()); });
  }

  Error unknown(Instruction &instruction) {
    std::string text;
    raw_string_ostream(text) << instruction;
    return createStringError("no SPIR-V for a vector of this length:" + text);
  }

  /// The parts of a value; of one that is not cut, itself.
  Parts of(Value *value) {
    FixedVectorType *type = cutType(value->getType());
    if (!type)
      return {value};
    if (auto found = cut.find(value); found != cut.end())
      return found->second;
    auto *constant = cast<Constant>(value);
    Parts parts;
    unsigned first = 0;
    for (unsigned width : partsOf(type->getNumElements())) {
      SmallVector<Constant *> elements;
      for (unsigned i = 0; i != width; ++i)
        elements.push_back(constant->getAggregateElement(first + i));
      parts.push_back(width == 1 ? elements[0] : ConstantVector::get(elements));
      first += width;
    }
    return parts;
  }

  /// Element i of a vector, cut or not.
  Value *element(IRBuilder<> &b, Value *vector, unsigned i) {
    for (Value *part : of(vector)) {
      auto *type = dyn_cast<FixedVectorType>(part->getType());
      unsigned width = type ? type->getNumElements() : 1;
      if (i < width)
        return type ? b.CreateExtractElement(part, i) : part;
      i -= width;
    }
    return PoisonValue::get(vector->getType()->getScalarType());
  }

  /// A vector of these elements.
  Value *gather(IRBuilder<> &b, ArrayRef<Value *> elements) {
    if (elements.size() == 1)
      return elements[0];
    if (all_equal(elements))
      return b.CreateVectorSplat(elements.size(), elements[0]);
    Value *result = PoisonValue::get(
        FixedVectorType::get(elements[0]->getType(), elements.size()));
    for (auto [i, each] : enumerate(elements))
      if (!isa<PoisonValue>(each))
        result = b.CreateInsertElement(result, each, i);
    return result;
  }

  /// A value of all elements in order, legal or in parts.
  Parts regroup(IRBuilder<> &b, ArrayRef<Value *> elements) {
    if (isLegal(elements.size()))
      return {gather(b, elements)};
    Parts parts;
    for (unsigned width : partsOf(elements.size())) {
      parts.push_back(gather(b, elements.take_front(width)));
      elements = elements.drop_front(width);
    }
    return parts;
  }

  void replace(Instruction &instruction, Parts parts) {
    if (cutType(instruction.getType()))
      cut[&instruction] = std::move(parts);
    else if (!parts.empty())
      instruction.replaceAllUsesWith(parts[0]);
    old.push_back(&instruction);
  }

  /// The same op on each part.
  Error splitEach(Instruction &instruction) {
    unsigned lanes = 0;
    SmallVector<Parts> operands;
    for (Use &use : instruction.operands()) {
      operands.push_back(of(use));
      if (auto *type = cutType(use->getType()))
        lanes = type->getNumElements();
    }
    auto *result = cutType(instruction.getType());
    if (!result || result->getNumElements() != lanes)
      return unknown(instruction);
    Parts parts;
    for (auto [p, width] : enumerate(partsOf(lanes))) {
      Instruction *part = instruction.clone();
      for (auto [i, operand] : enumerate(operands))
        part->setOperand(i, operand.size() == 1 ? operand[0] : operand[p]);
      part->mutateType(partType(result->getElementType(), width));
      part->insertBefore(instruction.getIterator());
      parts.push_back(part);
    }
    replace(instruction, parts);
    return Error::success();
  }

  Error splitCall(IntrinsicInst &call) {
    IRBuilder<> b(&call);
    Intrinsic::ID id = call.getIntrinsicID();
    FMFSource flags;
    if (isa<FPMathOperator>(call))
      flags = &call;
    switch (id) {
    case Intrinsic::vector_reduce_fadd:
    case Intrinsic::vector_reduce_fmul: {
      Value *sum = call.getArgOperand(0);
      for (Value *part : of(call.getArgOperand(1)))
        sum = part->getType()->isVectorTy()
                  ? b.CreateIntrinsic(call.getType(), id, {sum, part}, flags)
              : id == Intrinsic::vector_reduce_fadd
                  ? b.CreateFAddFMF(sum, part, flags)
                  : b.CreateFMulFMF(sum, part, flags);
      replace(call, {sum});
      return Error::success();
    }
    default:
      break;
    }
    if (isa<VPIntrinsic>(call) || !cutType(call.getType())) {
      unsigned arithmetic = getArithmeticReductionInstruction(id);
      bool isExtreme = isMinMaxReduction(id);
      if (!arithmetic && !isExtreme)
        return unknown(call);
      Value *sum = nullptr;
      for (Value *part : of(call.getArgOperand(0))) {
        Value *one = part->getType()->isVectorTy()
                         ? b.CreateIntrinsic(call.getType(), id, {part}, flags)
                         : part;
        if (!sum)
          sum = one;
        else if (isExtreme)
          sum = b.CreateIntrinsic(call.getType(),
                                  getMinMaxReductionIntrinsicOp(id), {sum, one},
                                  flags);
        else
          sum = b.CreateBinOp(Instruction::BinaryOps(arithmetic), sum, one);
      }
      replace(call, {sum});
      return Error::success();
    }
    if (!isTriviallyVectorizable(id))
      return unknown(call);
    auto *result = cast<FixedVectorType>(call.getType());
    SmallVector<Parts> operands;
    for (Value *operand : call.args())
      operands.push_back(of(operand));
    Parts parts;
    for (auto [p, width] : enumerate(partsOf(result->getNumElements()))) {
      SmallVector<Value *> arguments;
      for (Parts &operand : operands)
        arguments.push_back(operand.size() == 1 ? operand[0] : operand[p]);
      parts.push_back(b.CreateIntrinsic(
          partType(result->getElementType(), width), id, arguments, flags));
    }
    replace(call, parts);
    return Error::success();
  }

  static bool isMinMaxReduction(Intrinsic::ID id) {
    switch (id) {
    case Intrinsic::vector_reduce_smax:
    case Intrinsic::vector_reduce_smin:
    case Intrinsic::vector_reduce_umax:
    case Intrinsic::vector_reduce_umin:
    case Intrinsic::vector_reduce_fmax:
    case Intrinsic::vector_reduce_fmin:
    case Intrinsic::vector_reduce_fmaximum:
    case Intrinsic::vector_reduce_fminimum:
      return true;
    default:
      return false;
    }
  }

  /// Loads and stores, part by part.
  Error splitAccess(Instruction &access) {
    auto *load = dyn_cast<LoadInst>(&access);
    auto *store = dyn_cast<StoreInst>(&access);
    Type *type = load ? load->getType() : store->getValueOperand()->getType();
    Type *element = type->getScalarType();
    uint64_t bits = element->getPrimitiveSizeInBits();
    if (bits == 0 || bits % 8 != 0)
      return unknown(access);
    Value *address =
        load ? load->getPointerOperand() : store->getPointerOperand();
    Align alignment = load ? load->getAlign() : store->getAlign();
    IRBuilder<> b(&access);
    Parts stored = store ? of(store->getValueOperand()) : Parts();
    Parts parts;
    uint64_t first = 0;
    for (auto [p, width] :
         enumerate(partsOf(cast<FixedVectorType>(type)->getNumElements()))) {
      Value *place = b.CreateConstGEP1_64(element, address, first);
      Align own = commonAlignment(alignment, first * bits / 8);
      if (load)
        parts.push_back(b.CreateAlignedLoad(partType(element, width), place,
                                            own, load->isVolatile()));
      else
        b.CreateAlignedStore(stored[p], place, own, store->isVolatile());
      first += width;
    }
    replace(access, parts);
    return Error::success();
  }

  /// What takes elements from one or two vectors to other places.
  Error splitMoves(Instruction &instruction) {
    IRBuilder<> b(&instruction);
    SmallVector<Value *> elements;
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction)) {
      Value *left = shuffle->getOperand(0), *right = shuffle->getOperand(1);
      int count = cast<FixedVectorType>(left->getType())->getNumElements();
      for (int from : shuffle->getShuffleMask())
        elements.push_back(
            from < 0       ? PoisonValue::get(left->getType()->getScalarType())
            : from < count ? element(b, left, from)
                           : element(b, right, from - count));
      replace(instruction, regroup(b, elements));
      return Error::success();
    }
    if (auto *extract = dyn_cast<ExtractElementInst>(&instruction)) {
      Value *vector = extract->getVectorOperand();
      unsigned count =
          cast<FixedVectorType>(vector->getType())->getNumElements();
      Value *index = extract->getIndexOperand();
      if (auto *known = dyn_cast<ConstantInt>(index)) {
        replace(instruction, {element(b, vector, known->getZExtValue())});
        return Error::success();
      }
      Value *result = element(b, vector, 0);
      for (unsigned i = 1; i != count; ++i)
        result = b.CreateSelect(
            b.CreateICmpEQ(index, ConstantInt::get(index->getType(), i)),
            element(b, vector, i), result);
      replace(instruction, {result});
      return Error::success();
    }
    auto &insert = cast<InsertElementInst>(instruction);
    unsigned count = cast<FixedVectorType>(insert.getType())->getNumElements();
    Value *index = insert.getOperand(2);
    for (unsigned i = 0; i != count; ++i) {
      Value *before = element(b, insert.getOperand(0), i);
      if (auto *known = dyn_cast<ConstantInt>(index))
        elements.push_back(known->equalsInt(i) ? insert.getOperand(1) : before);
      else
        elements.push_back(b.CreateSelect(
            b.CreateICmpEQ(index, ConstantInt::get(index->getType(), i)),
            insert.getOperand(1), before));
    }
    replace(instruction, regroup(b, elements));
    return Error::success();
  }

  /// Between vectors of other counts: through memory on the stack.
  Error splitBitCast(BitCastInst &bitCast) {
    Value *from = bitCast.getOperand(0);
    BasicBlock &first = function.getEntryBlock();
    IRBuilder<> b(&first, first.begin());
    AllocaInst *slot = b.CreateAlloca(from->getType());
    b.SetInsertPoint(&bitCast);
    Instruction *store = b.CreateAlignedStore(from, slot, slot->getAlign());
    Instruction *load =
        b.CreateAlignedLoad(bitCast.getType(), slot, slot->getAlign());
    slot->setAllocatedType(ArrayType::get(
        b.getInt8Ty(), from->getType()->getPrimitiveSizeInBits() / 8));
    bitCast.replaceAllUsesWith(load);
    old.push_back(&bitCast);
    for (Instruction *access : {store, load})
      if (isConcerned(*access))
        if (Error error = splitAccess(*access))
          return error;
    return Error::success();
  }

  Error split(Instruction &instruction) {
    if (auto *phi = dyn_cast<PHINode>(&instruction)) {
      IRBuilder<> b(phi);
      auto *type = cast<FixedVectorType>(phi->getType());
      for (unsigned width : partsOf(type->getNumElements()))
        cut[phi].push_back(b.CreatePHI(partType(type->getElementType(), width),
                                       phi->getNumIncomingValues()));
      phis.push_back(phi);
      old.push_back(phi);
      return Error::success();
    }
    if (isa<LoadInst, StoreInst>(instruction))
      return splitAccess(instruction);
    if (isa<ShuffleVectorInst, ExtractElementInst, InsertElementInst>(
            instruction))
      return splitMoves(instruction);
    if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
      return splitCall(*call);
    if (auto *bitCast = dyn_cast<BitCastInst>(&instruction)) {
      auto *from = dyn_cast<FixedVectorType>(bitCast->getSrcTy());
      auto *to = dyn_cast<FixedVectorType>(bitCast->getDestTy());
      if (!from || !to || from->getNumElements() != to->getNumElements())
        return splitBitCast(*bitCast);
    }
    if (isa<BinaryOperator, UnaryOperator, CmpInst, SelectInst, CastInst,
            FreezeInst>(instruction))
      return splitEach(instruction);
    return unknown(instruction);
  }

  Function &function;
  DenseMap<Value *, Parts> cut;
  SmallVector<PHINode *> phis;
  SmallVector<Instruction *> old;
};
} // namespace

Error ashlar::opencl::splitVectors(Function &function) {
  return Splitter(function).run();
}
