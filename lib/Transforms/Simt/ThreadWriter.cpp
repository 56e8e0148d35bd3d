// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ThreadWriter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::simt;

SmallVector<Value> ThreadWriter::at(AffineMap map, ValueRange point) {
  SmallVector<Value> place;
  for (AffineExpr expr : map.getResults())
    place.push_back(affine::AffineApplyOp::create(
        b, AffineMap::get(map.getNumDims(), 0, expr), point));
  return place;
}

bool ThreadWriter::isAlwaysInside(AffineExpr place, int64_t end) const {
  if (ShapedType::isDynamic(end))
    return false;
  if (auto constant = dyn_cast<AffineConstantExpr>(place))
    return constant.getValue() >= 0 && constant.getValue() < end;
  auto dim = dyn_cast<AffineDimExpr>(place);
  return dim && dim.getPosition() < shape.size() &&
         shape[dim.getPosition()] <= end;
}

Value ThreadWriter::isInside(Value memory, AffineMap map, ValueRange point) {
  ArrayRef<int64_t> ends = cast<MemRefType>(memory.getType()).getShape();
  Value inside;
  for (auto [d, place] : llvm::enumerate(at(map, point))) {
    if (isAlwaysInside(map.getResult(d), ends[d]))
      continue;
    Value end = memref::DimOp::create(b, memory, d);
    Value one = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, end);
    inside = inside ? arith::AndIOp::create(b, inside, one) : one;
  }
  return inside;
}

Value ThreadWriter::both(Value x, Value y) {
  return !x ? y : !y ? x : arith::AndIOp::create(b, x, y);
}

Value ThreadWriter::extend(Value value, Type wide, bool isUnsigned) {
  if (value.getType() == wide)
    return value;
  if (isa<FloatType>(wide))
    return arith::ExtFOp::create(b, wide, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(b, wide, value);
  return arith::ExtSIOp::create(b, wide, value);
}

Value ThreadWriter::multiplyAdd(Value x, Value y, Value sum) {
  if (!isa<FloatType>(sum.getType()))
    return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, x, y));
  return math::FmaOp::create(b, x, y, sum);
}

Value ThreadWriter::load(Value memory, AffineMap map, ValueRange point,
                         bool padded) {
  Value inside = padded ? isInside(memory, map, point) : Value();
  if (!inside)
    return memref::LoadOp::create(b, memory, at(map, point));
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  auto branch =
      scf::IfOp::create(b, TypeRange(element), inside, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, load(memory, map, point));
  b.setInsertionPointToStart(branch.elseBlock());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
  scf::YieldOp::create(b, zero);
  return branch.getResult(0);
}

Value ThreadWriter::wholeOf(Value memory, SmallVectorImpl<Value> &place) {
  auto isPlain = [](memref::SubViewOp view) {
    return view.getDroppedDims().none() &&
           llvm::all_of(view.getMixedStrides(), [](OpFoldResult stride) {
             return getConstantIntValue(stride) == 1;
           });
  };
  for (auto view = memory.getDefiningOp<memref::SubViewOp>();
       view && isPlain(view);
       view = memory.getDefiningOp<memref::SubViewOp>()) {
    for (auto [own, from] : llvm::zip_equal(place, view.getMixedOffsets()))
      own = arith::AddIOp::create(
          b, getValueOrCreateConstantIndexOp(b, b.getLoc(), from), own);
    memory = view.getSource();
  }
  return memory;
}

SmallVector<Value> ThreadWriter::loadPieces(Value memory, AffineMap map,
                                            const Share &share, bool padded,
                                            int64_t count) {
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  auto type = VectorType::get({count}, element);
  SmallVector<Value> values;
  for (int64_t i = 0; i != share.count(); i += count) {
    SmallVector<Value> point = share.safePoint(b, i);
    auto read = [&]() -> Value {
      SmallVector<Value> place = at(map, point);
      Value whole = wholeOf(memory, place);
      return vector::LoadOp::create(
          b, type, whole, place, /*nontemporal=*/false,
          llvm::MaybeAlign(uint64_t(count * elementBytes(element))));
    };
    Value all;
    if (Value inside = padded ? isInside(memory, map, point) : Value()) {
      auto branch = scf::IfOp::create(b, TypeRange(type), inside,
                                      /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, read());
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(
          b, arith::ConstantOp::create(b, b.getZeroAttr(type)).getResult());
      all = branch.getResult(0);
    } else {
      all = read();
    }
    for (int64_t j = 0; j != count; ++j)
      values.push_back(vector::ExtractOp::create(b, all, j));
  }
  return values;
}

Value ThreadWriter::apply(Block &body, ValueRange arguments, ValueRange point) {
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator())
    if (auto index = dyn_cast<tile::IndexOp>(op))
      mapping.map(index.getResult(), point[index.getDim()]);
    else
      b.clone(op, mapping);
  return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
}

Value ThreadWriter::exchange(ValueRange values, const Share &share,
                             tile::AccType type) {
  MemRefType memory = MemRefType::get(type.getShape(), type.getElementType(),
                                      MemRefLayoutAttrInterface(),
                                      b.getI64IntegerAttr(workgroupSpace));
  Value shared = memref::AllocOp::create(b, memory);
  for (auto [i, value] : llvm::enumerate(values)) {
    SmallVector<Value> point = share.point(b, i);
    OpBuilder::InsertionGuard guard(b);
    if (Value condition = share.exists(b, i)) {
      auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    memref::StoreOp::create(b, value, shared, point);
  }
  gpu::BarrierOp::create(b);
  return shared;
}

void ThreadWriter::closeExchange() { gpu::BarrierOp::create(b); }
