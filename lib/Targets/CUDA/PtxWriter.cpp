// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PtxWriter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

SmallVector<Value> PtxWriter::write(StringRef text, StringRef constraints,
                                    ValueRange operands, ArrayRef<Type> results,
                                    bool isOrdered) {
  MLIRContext *context = b.getContext();
  SmallVector<Type> types;
  if (results.size() == 1)
    types.push_back(results.front());
  else if (!results.empty())
    types.push_back(LLVM::LLVMStructType::getLiteral(context, results));
  std::string all = constraints.str();
  if (isOrdered)
    all += all.empty() ? "~{memory}" : ",~{memory}";
  auto op = LLVM::InlineAsmOp::create(
      b, types, operands, text, all, /*has_side_effects=*/isOrdered,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
  if (results.size() < 2)
    return SmallVector<Value>(op->getResults());
  SmallVector<Value> values;
  for (size_t i = 0; i != results.size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, op->getResult(0), i));
  return values;
}

std::string PtxWriter::inPlace(ValueRange values) {
  std::string constraints;
  for (Value value : values)
    constraints += value.getType().isF32() ? "=f," : "=r,";
  for (size_t i = 0; i != values.size(); ++i)
    constraints += (i ? "," : "") + std::to_string(i);
  return constraints;
}

Value PtxWriter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value PtxWriter::word(int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

Value PtxWriter::toWord(Value index) {
  return arith::IndexCastOp::create(b, b.getI32Type(), index);
}

Value PtxWriter::toLong(Value index) {
  return arith::IndexCastOp::create(b, b.getI64Type(), index);
}

std::string ashlar::cuda::tensorMapName(int64_t number) {
  return "tensor_map." + std::to_string(number);
}

Value PtxWriter::tensorMap(int64_t number) {
  constexpr int64_t bytes = 128;
  std::string name = tensorMapName(number);
  auto module =
      b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    LLVM::GlobalOp::create(
        top, b.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), bytes),
        /*isConstant=*/true, LLVM::Linkage::External, name, Attribute());
  }
  return LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), name);
}

static int64_t bytesOf(Value memory) {
  return elementBytes(cast<MemRefType>(memory.getType()).getElementType());
}

Value PtxWriter::sharedAddress(Value memory, Value place) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  Value bytes = arith::MulIOp::create(b, place, index(bytesOf(memory)));
  return toWord(arith::AddIOp::create(b, base, bytes));
}

Value PtxWriter::globalAddress(Value memory, ValueRange indices) {
  auto view = memref::ExtractStridedMetadataOp::create(b, memory);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  Value place = view.getOffset();
  for (auto [at, stride] : llvm::zip(indices, view.getStrides()))
    place =
        arith::AddIOp::create(b, place, arith::MulIOp::create(b, at, stride));
  Value bytes = arith::MulIOp::create(b, place, index(bytesOf(memory)));
  return toLong(arith::AddIOp::create(b, base, bytes));
}
