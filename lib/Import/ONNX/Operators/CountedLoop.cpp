// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../ComputedSizes.h"
#include "../TensorBuilder.h"
#include "LoopImporter.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

namespace {
/// Where row `step` of `rows` lies.
struct RowSlice {
  RowSlice(OpBuilder &b, Value rows, Value step)
      : type(cast<RankedTensorType>(rows.getType())),
        offsets(type.getRank(), b.getIndexAttr(0)),
        strides(type.getRank(), b.getIndexAttr(1)) {
    for (int64_t dim : type.getShape())
      sizes.push_back(b.getIndexAttr(dim));
    offsets[0] = step;
    sizes[0] = b.getIndexAttr(1);
  }
  RankedTensorType type;
  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

/// The row whose number is in a tensor.
static Value rowOfNumber(ImplicitLocOpBuilder &b, Value rows, Value number) {
  auto type = cast<RankedTensorType>(rows.getType());
  ArrayRef<int64_t> shape = type.getShape().drop_front();
  if (type.getNumElements() == 0)
    return splat(b, shape, zeroOf(type.getElementType()));
  return generate(
      b, shape, type.getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Value step = tensor::ExtractOp::create(b, loc, number, ValueRange());
        SmallVector<Value> place = {clampTo(
            b, loc, arith::IndexCastOp::create(b, loc, b.getIndexType(), step),
            knownNumber(type.getDimSize(0)))};
        llvm::append_range(place, at);
        return tensor::ExtractOp::create(b, loc, rows, place);
      });
}

ImportedValue LoopImporter::row(const ImportedValue &rows, Value at) {
  ImportedValue result = {{}, rows.type};
  if (!rows.sizes.empty())
    llvm::append_range(result.sizes, ArrayRef(rows.sizes).drop_front());
  if (llvm::none_of(result.sizes, [](Value size) { return bool(size); }))
    result.sizes.clear();
  if (!at.getType().isIndex()) {
    result.value = rowOfNumber(b, rows.value, at);
    return result;
  }
  RowSlice slice(b, rows.value, at);
  auto type = RankedTensorType::get(slice.type.getShape().drop_front(),
                                    slice.type.getElementType());
  result.value = tensor::ExtractSliceOp::create(
      b, type, rows.value, slice.offsets, slice.sizes, slice.strides);
  return result;
}

static Value putRowOfNumber(ImplicitLocOpBuilder &b, Value row, Value rows,
                            Value number) {
  auto type = cast<RankedTensorType>(rows.getType());
  int64_t rank = type.getRank();
  MLIRContext *context = b.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(rank, context);
  AffineMap ofRow =
      AffineMap::get(rank, 0, all.getResults().drop_front(), context);
  return parallel(
      b, type.getShape(), type.getElementType(), {rows, row, number},
      {all, ofRow, AffineMap::get(rank, 0, {}, context)},
      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value place = arith::IndexCastOp::create(
            b, loc, x[2].getType(), linalg::IndexOp::create(b, loc, 0));
        Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                             place, x[2]);
        return arith::SelectOp::create(b, loc, isHere, x[1], x[0]);
      });
}

Value LoopImporter::putRow(Value row, Value rows, Value at) {
  if (!at.getType().isIndex())
    return putRowOfNumber(b, row, rows, at);
  RowSlice slice(b, rows, at);
  return tensor::InsertSliceOp::create(b, row, rows, slice.offsets, slice.sizes,
                                       slice.strides);
}

LogicalResult LoopImporter::counted(int64_t steps) {
  if (!areTensors(initial))
    return node.unsupported("it carries a sequence or an optional, and its "
                            "steps cannot be written out");
  StepBlock inner(node);
  Value step = inner.add(b.getIndexType());
  Value counter, before;
  if (!isScan()) {
    counter = inner.add(RankedTensorType::get({}, b.getI64Type()));
    before = constantBool(b, true);
  }
  SmallVector<ImportedValue> arguments =
      stepArguments(inner, counter, before, step);
  if (failed(importBody(inner.block, arguments)) || failed(checkCarried()) ||
      failed(makeRoomForRows(steps)))
    return failure();
  if (!goesOnForever(before))
    return node.unsupported(
        "the body decides when to end, and collects rows in each step; the "
        "size of what it collects is not known");
  // What each step makes.
  inner.continueAtEnd();
  requireRoom();
  bool counts = counter && !counter.use_empty();
  SmallVector<Value> yielded, starts;
  if (counts)
    yielded.push_back(counterAfter(counter));
  else if (counter)
    inner.block.eraseArgument(1);
  yieldCarried(yielded);
  collectRows(inner, step, yielded);
  scf::YieldOp::create(b, yielded);

  b.setInsertionPointToEnd(node.resultBlock());
  if (counts)
    starts.push_back(constantTensor(b, {0}, {}));
  appendStarts(starts);
  Value first = arith::ConstantIndexOp::create(b, 0);
  Value last = arith::ConstantIndexOp::create(b, steps);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto loop = scf::ForOp::create(b, first, last, one, starts);
  loop->setAttr(commandsAttrName, b.getUnitAttr());
  loop.getRegion().takeBody(inner.region);
  SmallVector<Value> made(loop.getResults().drop_front(counts));
  takeResults(made);
  return success();
}
