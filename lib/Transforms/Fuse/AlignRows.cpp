// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AlignRows.h"
#include "PackOperand.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Cost/UnitOperands.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;

/// That which asks for the least of those that go on by themselves.
static const CopyEngine *findEngine(const MachineModel &machine) {
  const CopyEngine *found = nullptr;
  for (const CopyEngine &engine : machine.copyEngines)
    if (engine.asynchronous && engine.to == machine.nearest().name &&
        (!found || engine.alignmentBytes < found->alignmentBytes))
      found = &engine;
  return found;
}

/// The operand in rows of `length`, of which the rest is undefined.
static Value copyRows(OpBuilder &b, Location at, Value operand,
                      int64_t length) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = length;
  Value empty = tensor::EmptyOp::create(b, at, shape, type.getElementType());
  SmallVector<OpFoldResult> begin(shape.size(), b.getIndexAttr(0)),
      step(shape.size(), b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(
      b, at, operand, empty, begin,
      getAsIndexOpFoldResult(b.getContext(), type.getShape()), step);
}

/// The same of an operand that a padding makes: it pads further.
static Value padRows(OpBuilder &b, Value operand, int64_t length) {
  auto pad = operand.getDefiningOp<tensor::PadOp>();
  if (!pad || !pad.getConstantPaddingValue() || !pad.getLow().empty() ||
      !pad.getHigh().empty())
    return {};
  SmallVector<int64_t> shape(pad.getType().getShape()),
      high(pad.getStaticHigh());
  high.back() += length - shape.back();
  shape.back() = length;
  return tensor::PadOp::create(
      b, pad.getLoc(),
      RankedTensorType::get(shape, pad.getType().getElementType()),
      pad.getSource(),
      getAsIndexOpFoldResult(b.getContext(), pad.getStaticLow()),
      getAsIndexOpFoldResult(b.getContext(), high),
      pad.getConstantPaddingValue());
}

std::optional<RowCopies> ashlar::alignRows(tile::ContractOp op,
                                           const MachineModel &machine) {
  const CopyEngine *engine = findEngine(machine);
  if (!engine)
    return std::nullopt;
  OpBuilder b(op);
  std::optional<RowCopies> copies;
  for (auto [operand, map] : {std::pair(&op.getAMutable(), op.getAMap()),
                              std::pair(&op.getBMutable(), op.getBMap())}) {
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (!type || !type.hasStaticShape() || type.getRank() == 0)
      return std::nullopt;
    int64_t bytes = elementBytes(type.getElementType());
    if (takesRows(*engine, type, map))
      continue;
    if (bytes == 0 || engine->alignmentBytes % bytes != 0 ||
        !isa<AffineDimExpr>(map.getResults().back()))
      return std::nullopt;
    // No memory has it.
    if (operand->get().getDefiningOp<tile::DecodeOp>())
      return std::nullopt;
    int64_t elements = engine->alignmentBytes / bytes;
    if (constantBehindReshapes(operand->get())) {
      if (operand != &op.getBMutable() || !packRows(op, elements))
        return std::nullopt;
      copies = copies.value_or(RowCopies());
      continue;
    }
    int64_t length = llvm::alignTo(type.getShape().back(), elements);
    copies = copies.value_or(RowCopies());
    if (Value padded = padRows(b, operand->get(), length)) {
      operand->assign(padded);
      continue;
    }
    Value copied = copyRows(b, op.getLoc(), operand->get(), length);
    operand->assign(copied);
    copies->bytes += byteSize(type) + byteSize(copied.getType());
    ++copies->kernels;
  }
  return copies;
}
