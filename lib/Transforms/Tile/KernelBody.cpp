// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelBody.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ashlar;

static bool isEmpty(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements() == 0;
}

KernelBody::KernelBody(exec::DispatchOp dispatch)
    : dispatch(dispatch), b(dispatch.getLoc(), dispatch.getContext()) {
  auto note = [&](Attribute list) {
    list.walk([&](exec::SizeAttr size) {
      if (!size.isConstant())
        sizes.insert(size);
    });
  };
  for (Value operand : dispatch.getOperands())
    for (exec::SizeAttr size : exec::sizesOf(operand))
      note(size);
  dispatch->walk([&](Operation *op) {
    for (StringRef name : {StringRef(exec::sizesAttrName),
                           StringRef(exec::attributeSizesAttrName)})
      if (Attribute list = op->getAttr(name))
        note(list);
  });
}

OpFoldResult KernelBody::size(exec::SizeAttr formula) {
  if (formula.isConstant())
    return b.getIndexAttr(formula.getConstant());
  unsigned number = llvm::find(sizes, formula) - sizes.begin();
  return kernel.getArgument(numBuffers() + number);
}

SmallVector<OpFoldResult> KernelBody::sizesOf(Value value) {
  SmallVector<OpFoldResult> result;
  for (exec::SizeAttr formula : exec::sizesOf(value))
    result.push_back(size(formula));
  if (result.empty())
    for (int64_t dim : cast<RankedTensorType>(value.getType()).getShape())
      result.push_back(b.getIndexAttr(dim));
  return result;
}

static SmallVector<int64_t> shapeOf(ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  return shape;
}

RankedTensorType KernelBody::typeOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get(shapeOf(sizesOf(value)), type.getElementType());
}

SmallVector<OpFoldResult> KernelBody::numbers(Operation *op, StringRef name,
                                              ArrayRef<int64_t> fixed) {
  SmallVector<OpFoldResult> result =
      getAsIndexOpFoldResult(op->getContext(), SmallVector<int64_t>(fixed));
  auto all = op->getAttrOfType<DictionaryAttr>(exec::attributeSizesAttrName);
  if (auto list = all ? all.getAs<ArrayAttr>(name) : ArrayAttr())
    for (auto [to, from] : llvm::zip(result, list.getAsRange<exec::SizeAttr>()))
      to = size(from);
  return result;
}

Value KernelBody::withSizes(Value memory, Value value) {
  if (exec::sizesOf(value).empty())
    return memory;
  SmallVector<OpFoldResult> dims = sizesOf(value);
  SmallVector<OpFoldResult> strides(dims.size());
  OpFoldResult stride = b.getIndexAttr(1);
  AffineExpr x = b.getAffineSymbolExpr(0), y = b.getAffineSymbolExpr(1);
  for (int64_t d = int64_t(dims.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    stride = affine::makeComposedFoldedAffineApply(b, b.getLoc(), x * y,
                                                   {stride, dims[d]});
  }
  // With the layout that a tensor of the same type gets.
  auto type = MemRefType::get(
      shapeOf(dims), cast<MemRefType>(memory.getType()).getElementType());
  auto strided = MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), 0, shapeOf(strides)));
  Value view = memref::ReinterpretCastOp::create(
      b, strided, memory, OpFoldResult(b.getIndexAttr(0)), dims, strides);
  return memref::CastOp::create(b, type, view);
}

Value KernelBody::insert(Value part, Value whole,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> lengths) {
  SmallVector<OpFoldResult> steps(offsets.size(), b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, part, whole, offsets, lengths, steps);
}

LogicalResult KernelBody::refuse(Operation &op) {
  return op.emitError(exec::openSizesRefusal)
         << "expected ops whose sizes can be values, found '" << op.getName()
         << "'; fix the sizes with --shape";
}

/// A number that is a size.
Value KernelBody::sizeConstant(arith::ConstantOp constant) {
  auto all =
      constant->getAttrOfType<DictionaryAttr>(exec::attributeSizesAttrName);
  auto formula = cast<exec::SizeAttr>(all.getAs<ArrayAttr>("value")[0]);
  Value value = getValueOrCreateConstantIndexOp(b, b.getLoc(), size(formula));
  Type type = constant.getType();
  if (type.isIndex())
    return value;
  if (isa<IntegerType>(type))
    return arith::IndexCastOp::create(b, type, value);
  value = arith::IndexCastOp::create(b, b.getI64Type(), value);
  return arith::SIToFPOp::create(b, type, value);
}

/// A loop whose end, or what its steps compute, hangs on sizes.
LogicalResult KernelBody::writeLoop(scf::ForOp loop) {
  SmallVector<Value> initial;
  for (Value value : loop.getInitArgs())
    initial.push_back(mapping.lookupOrDefault(value));
  auto all = loop->getAttrOfType<DictionaryAttr>(exec::attributeSizesAttrName);
  auto ends = all ? all.getAs<ArrayAttr>(upperBoundName) : ArrayAttr();
  Value end = ends ? getValueOrCreateConstantIndexOp(
                         b, b.getLoc(), size(cast<exec::SizeAttr>(ends[0])))
                   : mapping.lookupOrDefault(loop.getUpperBound());
  auto copy =
      scf::ForOp::create(b, mapping.lookupOrDefault(loop.getLowerBound()), end,
                         mapping.lookupOrDefault(loop.getStep()), initial);
  mapping.map(loop.getBody()->getArguments(), copy.getBody()->getArguments());
  mapping.map(loop.getResults(), copy.getResults());
  OpBuilder::InsertionGuard guard(b);
  // Without values to carry, a loop is made with its end.
  if (!initial.empty())
    b.setInsertionPointToEnd(copy.getBody());
  else
    b.setInsertionPoint(copy.getBody()->getTerminator());
  for (Operation &op : loop.getBody()->without_terminator())
    if (failed(write(op)))
      return failure();
  if (initial.empty())
    return success();
  b.setLoc(loop.getLoc());
  SmallVector<Value> next;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    next.push_back(mapping.lookupOrDefault(value));
  scf::YieldOp::create(b, next);
  return success();
}

/// Elements that are sizes, or a splat of a shape that is.
LogicalResult KernelBody::writeConstant(arith::ConstantOp constant) {
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!constant->hasAttr(exec::sizesAttrName) && !elements) {
    mapping.map(constant.getResult(), sizeConstant(constant));
    return success();
  }
  if (constant->hasAttr(exec::attributeSizesAttrName) || !elements ||
      !elements.isSplat())
    return refuse(*constant.getOperation());
  Value value = arith::ConstantOp::create(
      b, cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  Value whole = tensor::EmptyOp::create(b, sizesOf(constant), value.getType());
  mapping.map(constant.getResult(),
              linalg::FillOp::create(b, value, whole).getResult(0));
  return success();
}

LogicalResult KernelBody::writePad(tensor::PadOp pad) {
  Value value = pad.getConstantPaddingValue();
  if (!value)
    return refuse(*pad.getOperation());
  Value whole = tensor::EmptyOp::create(b, sizesOf(pad.getResult()),
                                        getElementTypeOrSelf(pad.getType()));
  whole = linalg::FillOp::create(b, mapping.lookupOrDefault(value), whole)
              .getResult(0);
  SmallVector<OpFoldResult> low =
      numbers(pad, pad.getStaticLowAttrName(), pad.getStaticLow());
  mapping.map(pad.getResult(), insert(mapping.lookup(pad.getSource()), whole,
                                      low, sizesOf(pad.getSource())));
  return success();
}

void KernelBody::writeConcat(tensor::ConcatOp concat) {
  Value whole = tensor::EmptyOp::create(b, sizesOf(concat.getResult()),
                                        getElementTypeOrSelf(concat.getType()));
  SmallVector<OpFoldResult> offsets(concat.getRank(), b.getIndexAttr(0));
  AffineExpr x = b.getAffineSymbolExpr(0), y = b.getAffineSymbolExpr(1);
  for (Value input : concat.getInputs()) {
    SmallVector<OpFoldResult> lengths = sizesOf(input);
    whole = insert(mapping.lookupOrDefault(input), whole, offsets, lengths);
    OpFoldResult &offset = offsets[concat.getDim()];
    offset = affine::makeComposedFoldedAffineApply(
        b, b.getLoc(), x + y, {offset, lengths[concat.getDim()]});
  }
  mapping.map(concat.getResult(), whole);
}

/// One that takes a part out, or puts one in.
LogicalResult KernelBody::writeSlice(OffsetSizeAndStrideOpInterface slice) {
  if (!slice.getSizes().empty() || !slice.getStrides().empty())
    return refuse(*slice.getOperation());
  auto offsets =
      numbers(slice.getOperation(), "static_offsets", slice.getStaticOffsets());
  // Those that a loop counts.
  for (auto [offset, fixed, value] :
       llvm::zip(offsets, slice.getStaticOffsets(), slice.getMixedOffsets()))
    if (ShapedType::isDynamic(fixed))
      offset = mapping.lookupOrDefault(cast<Value>(value));
  auto lengths =
      numbers(slice.getOperation(), "static_sizes", slice.getStaticSizes());
  auto strides =
      numbers(slice.getOperation(), "static_strides", slice.getStaticStrides());
  if (auto from = dyn_cast<tensor::ExtractSliceOp>(slice.getOperation()))
    mapping.map(slice->getResult(0),
                tensor::ExtractSliceOp::create(b, typeOf(from),
                                               mapping.lookup(from.getSource()),
                                               offsets, lengths, strides));
  else
    mapping.map(slice->getResult(0),
                tensor::InsertSliceOp::create(
                    b, mapping.lookupOrDefault(slice->getOperand(0)),
                    mapping.lookupOrDefault(slice->getOperand(1)), offsets,
                    lengths, strides));
  return success();
}

/// Which of the body's arguments its dims are; -1: none, but a number.
void KernelBody::noteDims(Operation &op, Operation *copy) {
  SmallVector<int64_t> dims;
  auto note = [&](StringRef name, ArrayRef<int64_t> sizes) {
    for (OpFoldResult value : numbers(&op, name, sizes)) {
      auto argument =
          dyn_cast_if_present<BlockArgument>(dyn_cast<Value>(value));
      dims.push_back(argument ? int64_t(argument.getArgNumber() - numBuffers())
                              : -1);
    }
  };
  if (auto contract = dyn_cast<tile::ContractOp>(copy)) {
    note(contract.getParallelAttrName(), contract.getParallel());
    note(contract.getReducedAttrName(), contract.getReduced());
  } else if (auto attention = dyn_cast<tile::AttentionOp>(copy)) {
    note(attention.getScoresParallelAttrName(), attention.getScoresParallel());
    note(attention.getScoresReducedAttrName(), attention.getScoresReduced());
    note(attention.getParallelAttrName(), attention.getParallel());
    note(attention.getReducedAttrName(), attention.getReduced());
  } else if (auto winograd = dyn_cast<tile::WinogradOp>(copy)) {
    note(winograd.getParallelAttrName(), winograd.getParallel());
  }
  if (!dims.empty())
    copy->setDiscardableAttr(exec::dimParametersAttrName,
                             b.getDenseI64ArrayAttr(dims));
}

/// An op with a destination, whose constants inside may be sizes.
LogicalResult KernelBody::writeStructured(Operation &op) {
  Operation *copy = b.clone(op, mapping);
  auto written = cast<DestinationStyleOpInterface>(copy);
  for (auto [result, init] :
       llvm::zip(copy->getResults(), written.getDpsInits()))
    result.setType(init.getType());
  auto rewrite = [&](Operation *inner) {
    auto all =
        inner->getAttrOfType<DictionaryAttr>(exec::attributeSizesAttrName);
    auto constant = dyn_cast<arith::ConstantOp>(inner);
    if (!all || inner == copy)
      return WalkResult::advance();
    if (!constant || isa<ShapedType>(constant.getType()))
      return WalkResult::interrupt();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(inner);
    Value value = sizeConstant(constant);
    constant.replaceAllUsesWith(value);
    constant.erase();
    return WalkResult::advance();
  };
  if (copy->walk<WalkOrder::PostOrder>(rewrite).wasInterrupted())
    return refuse(op);
  noteDims(op, copy);
  return success();
}

LogicalResult KernelBody::write(Operation &op) {
  b.setLoc(op.getLoc());
  auto define = [&](Value value) { mapping.map(op.getResult(0), value); };
  auto allSizes =
      op.getAttrOfType<DictionaryAttr>(exec::attributeSizesAttrName);
  bool hasSizes = op.hasAttr(exec::sizesAttrName);
  bool readsSizes = llvm::any_of(op.getOperands(), [](Value operand) {
    return !exec::sizesOf(operand).empty();
  });
  if (!hasSizes && !readsSizes && !allSizes) {
    // What is inside may still see sizes, in the bodies of loops.
    bool inside = false;
    op.walk([&](Operation *inner) {
      inside |= inner != &op && (inner->hasAttr(exec::sizesAttrName) ||
                                 inner->hasAttr(exec::attributeSizesAttrName));
    });
    if (inside && isa<scf::ForOp>(op))
      return writeLoop(cast<scf::ForOp>(op));
    if (!inside) {
      b.clone(op, mapping);
      return success();
    }
    // Its dims are numbers, its elements may be sizes.
    if (!isa<linalg::LinalgOp>(op))
      return refuse(op);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return writeLoop(loop);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return writeConstant(constant);
  if (isa<tensor::EmptyOp>(op)) {
    define(tensor::EmptyOp::create(b, sizesOf(op.getResult(0)),
                                   getElementTypeOrSelf(op.getResult(0))));
    return success();
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return writePad(pad);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    writeConcat(concat);
    return success();
  }
  if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op))
    return writeSlice(cast<OffsetSizeAndStrideOpInterface>(op));
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    define(tensor::ExpandShapeOp::create(
        b, typeOf(expand.getResult()), mapping.lookup(expand.getSrc()),
        expand.getReassociationIndices(), sizesOf(expand.getResult())));
    return success();
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    define(tensor::CollapseShapeOp::create(b, typeOf(collapse.getResult()),
                                           mapping.lookup(collapse.getSrc()),
                                           collapse.getReassociationIndices()));
    return success();
  }
  // Elements at places that are values already.
  if (isa<tensor::ExtractOp, tensor::InsertOp>(op)) {
    Operation *copy = b.clone(op, mapping);
    if (auto changed = dyn_cast<tensor::InsertOp>(copy))
      changed.getResult().setType(changed.getDest().getType());
    return success();
  }
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  if (!destination ||
      !isa<linalg::LinalgOp, tile::AttentionOp, tile::ContractOp,
           tile::WinogradOp>(op) ||
      (allSizes && isa<linalg::LinalgOp>(op)))
    return refuse(op);
  return writeStructured(op);
}

LogicalResult KernelBody::writeInto(func::FuncOp target) {
  kernel = target;
  Block &entry = kernel.getBody().front();
  b.setInsertionPointToStart(&entry);
  Block &body = dispatch.getBody().front();
  // Of what a kernel changes in place, it leaves the rest alone: a slice is
  // written into nothing; a loop reads and writes elements of what is there.
  auto inPlace = dispatch->getAttrOfType<IntegerAttr>(inPlaceAttrName);
  bool isSlice =
      inPlace &&
      dispatch.getYield().getOperand(0).getDefiningOp<tensor::InsertSliceOp>();
  for (auto [from, to] : llvm::zip(body.getArguments(), entry.getArguments())) {
    Value tensor;
    bool isPlace = inPlace && inPlace.getInt() == int64_t(from.getArgNumber());
    if (isPlace && !isSlice)
      tensor = bufferization::ToTensorOp::create(
          b, kernel.getLoc(), from.getType(),
          entry.getArgument(dispatch.getNumOperands()), /*restrict=*/true,
          /*writable=*/true);
    else if (isEmpty(from) || isPlace)
      tensor = tensor::EmptyOp::create(
          b, kernel.getLoc(), cast<RankedTensorType>(from.getType()).getShape(),
          getElementTypeOrSelf(from));
    else
      tensor = bufferization::ToTensorOp::create(
          b, kernel.getLoc(), typeOf(from), withSizes(to, from),
          /*restrict=*/true);
    mapping.map(from, tensor);
  }
  // The destinations come first, so that nothing lies between a result and its
  // place.
  SmallVector<Value> targets;
  for (auto [i, result] : llvm::enumerate(dispatch.getOutputs()))
    targets.push_back(
        isEmpty(result)
            ? Value()
            : withSizes(entry.getArgument(dispatch.getNumOperands() + i),
                        result));
  for (Operation &op : body.without_terminator())
    if (failed(write(op)))
      return failure();
  for (auto [result, memory] :
       llvm::zip(dispatch.getYield().getOperands(), targets)) {
    if (!memory)
      continue;
    auto store = bufferization::MaterializeInDestinationOp::create(
        b, kernel.getLoc(), /*result=*/Type(), mapping.lookupOrDefault(result),
        memory);
    store.setRestrict(true);
    store.setWritable(true);
  }
  func::ReturnOp::create(b, kernel.getLoc());
  // What the formulas were for is done.
  kernel.walk([&](Operation *op) {
    if (op == kernel)
      return;
    op->removeDiscardableAttr(exec::sizesAttrName);
    op->removeDiscardableAttr(exec::attributeSizesAttrName);
  });
  return success();
}
