// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LongerContract.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

tile::ContractOp ashlar::contractOf(Operation *op) {
  auto contract = dyn_cast<tile::ContractOp>(op);
  if (auto dispatch = dyn_cast<exec::DispatchOp>(op))
    if (dispatch.getDevice() != 0 && dispatch.getNumResults() == 1)
      contract =
          dispatch.getYield().getOperand(0).getDefiningOp<tile::ContractOp>();
  if (!contract || contract.getPad() || contract->getNumResults() != 1)
    return {};
  for (AffineExpr expr : contract.getResultMap().getResults())
    if (!isa<AffineDimExpr>(expr))
      return {};
  return contract;
}

LongerContract::LongerContract(Operation *from, Value known, Operation *last)
    : contract(contractOf(from)), from(from), last(last), b(last) {
  contract.getBody().cloneInto(&body, mapping);
  auto yield = cast<tile::YieldOp>(body.front().getTerminator());
  sum.scalar = yield.getValue();
  yield.erase();
  for (AffineExpr expr : contract.getResultMap().getResults())
    sum.dims.push_back(cast<AffineDimExpr>(expr).getPosition());
  maps.append(contract.getMaps().begin(), contract.getMaps().end());
  maps.pop_back();
  location.push_back(from->getLoc());
  inner[known] = sum;
}

/// Each loop as a dim of the contraction, by the tensors between ops.
bool LongerContract::bindLoops(linalg::GenericOp op,
                               SmallVectorImpl<int64_t> &loops) {
  loops.assign(op.getNumLoops(), -1);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto found = inner.find(operand->get());
    if (found == inner.end())
      continue;
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (auto [expr, dim] : llvm::zip(map.getResults(), found->second.dims)) {
      if (dim < 0)
        continue;
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        return false;
      int64_t &of = loops[loop.getPosition()];
      if ((of >= 0 && of != dim) ||
          ranges[loop.getPosition()] != contract.getParallel()[dim])
        return false;
      of = dim;
    }
  }
  for (auto [dim, range] : llvm::zip(loops, ranges))
    if (dim < 0 ? range != 1 : llvm::count(loops, dim) != 1)
      return false;
  return true;
}

AffineMap LongerContract::mapOver(AffineMap map, ArrayRef<int64_t> loops) {
  SmallVector<AffineExpr> dims;
  for (int64_t dim : loops)
    dims.push_back(dim < 0 ? getAffineConstantExpr(0, map.getContext())
                           : getAffineDimExpr(dim, map.getContext()));
  return map.replaceDimsAndSymbols(dims, {}, contract.getParallel().size(), 0);
}

/// A tensor that an op reads, as a dispatch around it does. Null: it is made in
/// there, or anew wherever it is read.
static Value outsideDispatches(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto dispatch =
            dyn_cast<exec::DispatchOp>(argument.getOwner()->getParentOp()))
      return dispatch.getOperands()[argument.getArgNumber()];
  Operation *maker = value.getDefiningOp();
  if (maker && (isa<exec::DispatchOp>(maker->getParentOp()) ||
                isa<linalg::FillOp, tensor::EmptyOp>(maker)))
    return {};
  return value;
}

/// What the body of `op` reads there; for a tensor from outside, by one more
/// operand of the epilogue.
std::optional<Value> LongerContract::scalarOf(linalg::GenericOp op,
                                              OpOperand *operand,
                                              ArrayRef<int64_t> loops) {
  auto found = inner.find(operand->get());
  if (found != inner.end())
    return found->second.scalar;
  Value tensor = outsideDispatches(operand->get());
  if (!tensor)
    return std::nullopt;
  added.push_back(tensor);
  maps.push_back(
      AffineMapAttr::get(mapOver(op.getMatchingIndexingMap(operand), loops)));
  return body.addArgument(getElementTypeOrSelf(tensor.getType()),
                          tensor.getLoc());
}

/// Scalars that stand outside of an op's body come along.
void LongerContract::copyIn(Value value, IRMapping &scalars) {
  Operation *op = value.getDefiningOp();
  if (!op || scalars.contains(value) ||
      isa<linalg::LinalgOp>(op->getParentOp()))
    return;
  for (Value operand : op->getOperands())
    copyIn(operand, scalars);
  b.clone(*op, scalars);
}

bool LongerContract::append(linalg::GenericOp op) {
  SmallVector<int64_t> loops;
  if (op->getNumResults() != 1 || op.hasIndexSemantics() ||
      !bindLoops(op, loops))
    return false;
  b.setInsertionPointToEnd(&body.front());
  IRMapping scalars;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    std::optional<Value> scalar = scalarOf(op, operand, loops);
    if (!scalar)
      return false;
    scalars.map(op.getMatchingBlockArgument(operand), *scalar);
  }
  Block *block = op.getBody();
  Value total = op.getRegionOutputArgs()[0];
  Value result = block->getTerminator()->getOperand(0);
  Operation *combine = nullptr;
  if (op.getNumReductionLoops() != 0) {
    combine = result.getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::MaximumFOp, arith::MaxNumFOp>(
            combine) ||
        !total.hasOneUse() ||
        !llvm::is_contained(combine->getOperands(), total))
      return false;
  } else if (!total.use_empty()) {
    return false;
  }
  for (Operation &scalar : block->without_terminator()) {
    if (&scalar == combine)
      continue;
    if (scalar.getNumRegions() != 0)
      return false;
    for (Value operand : scalar.getOperands())
      copyIn(operand, scalars);
    b.clone(scalar, scalars);
  }
  Inner made;
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expr : written.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    made.dims.push_back(loop ? loops[loop.getPosition()] : -1);
  }
  if (!combine) {
    copyIn(result, scalars);
    made.scalar = scalars.lookup(result);
    inner[op.getResult(0)] = made;
    return true;
  }
  Value term = combine->getOperand(combine->getOperand(0) == total ? 1 : 0);
  copyIn(term, scalars);
  SmallVector<int64_t> dims;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind != utils::IteratorType::parallel && loops[loop] >= 0)
      dims.push_back(loops[loop]);
  if (dims.empty())
    return false;
  Location at = op.getLoc();
  bool adds = isa<arith::AddFOp>(combine);
  Value all = scalars.lookup(term);
  DenseI64ArrayAttr over = b.getDenseI64ArrayAttr(dims);
  if (adds)
    made.scalar = tile::RowSumOp::create(b, at, all.getType(), all, over);
  else
    made.scalar = tile::RowMaximumOp::create(b, at, all.getType(), all, over);
  // What it starts from, unless that is nothing.
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  FloatAttr start;
  if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&start)))
    return false;
  APFloat number = start.getValue();
  if (adds ? !number.isZero() : !(number.isInfinity() && number.isNegative())) {
    scalars.map(total, arith::ConstantOp::create(b, at, start).getResult());
    scalars.map(term, made.scalar);
    made.scalar = b.clone(*combine, scalars)->getResult(0);
  }
  inner[op.getResult(0)] = made;
  return true;
}

bool LongerContract::append(exec::DispatchOp dispatch) {
  for (auto [argument, operand] :
       llvm::zip(dispatch.getBody().getArguments(), dispatch.getOperands()))
    if (auto found = inner.find(operand); found != inner.end())
      inner[argument] = Inner(found->second);
  for (Operation &op : dispatch.getBody().front().without_terminator()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (!append(generic))
        return false;
      continue;
    }
    // Scalars come along where they are read.
    bool isScalar = op.getNumRegions() == 0 && isPure(&op) &&
                    !isa<RankedTensorType>(op.getResult(0).getType());
    if (!isa<linalg::FillOp, tensor::EmptyOp>(op) && !isScalar)
      return false;
  }
  auto found = inner.find(dispatch.getYield().getOperand(0));
  if (found == inner.end())
    return false;
  inner[dispatch.getResult(0)] = Inner(found->second);
  return true;
}

bool LongerContract::append(Operation *op) {
  if (isa<exec::DispatchOp, linalg::GenericOp>(op)) {
    rows = op;
    location.push_back(op->getLoc());
    auto dispatch = dyn_cast<exec::DispatchOp>(op);
    return dispatch ? append(dispatch) : append(cast<linalg::GenericOp>(op));
  }
  // Dims of size 1 come and go.
  Inner made = inner.lookup(op->getOperand(0));
  SmallVector<int64_t> dims;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    for (auto [dim, group] :
         llvm::zip(made.dims, expand.getReassociationIndices()))
      for (int64_t d : group)
        dims.push_back(type.getDimSize(d) == 1 ? -1 : dim);
  } else {
    auto collapse = cast<tensor::CollapseShapeOp>(op);
    for (const auto &group : collapse.getReassociationIndices()) {
      int64_t one = -1;
      for (int64_t d : group)
        if (collapse.getSrcType().getDimSize(d) != 1) {
          if (one >= 0)
            return false;
          one = made.dims[d];
        }
      dims.push_back(one);
    }
  }
  for (int64_t dim : dims)
    if (dim >= 0 && llvm::count(dims, dim) != 1)
      return false;
  made.dims = dims;
  inner[op->getResult(0)] = made;
  return true;
}

Operation *LongerContract::create(bool withUnrounded) {
  Inner result = inner.lookup(rows->getResult(0));
  SmallVector<AffineExpr> places;
  for (int64_t dim : result.dims) {
    // One that has the same size, and was lost on the way.
    for (int64_t d = 0; dim < 0 && d < int64_t(sum.dims.size()); ++d)
      if (contract.getParallel()[sum.dims[d]] == 1 &&
          !llvm::is_contained(result.dims, sum.dims[d]) &&
          !llvm::is_contained(places, b.getAffineDimExpr(sum.dims[d])))
        dim = sum.dims[d];
    if (dim < 0)
      return nullptr;
    places.push_back(b.getAffineDimExpr(dim));
  }
  // Each element of the contraction's is one of the result.
  for (int64_t dim : sum.dims)
    if (contract.getParallel()[dim] != 1 &&
        !llvm::is_contained(places, b.getAffineDimExpr(dim)))
      return nullptr;
  b.setInsertionPointToEnd(&body.front());
  tile::YieldOp::create(b, rows->getLoc(), result.scalar);
  maps.push_back(AffineMapAttr::get(AffineMap::get(
      contract.getParallel().size(), 0, places, b.getContext())));
  SmallVector<Type> types = {rows->getResult(0).getType()};
  if (withUnrounded)
    types.push_back(from->getResult(0).getType());
  b.setInsertionPoint(last);
  auto dispatch = dyn_cast<exec::DispatchOp>(from);
  if (!dispatch)
    return createContract(types, IRMapping(), added);
  SmallVector<Value> operands(dispatch.getOperands());
  llvm::append_range(operands, added);
  auto made = exec::DispatchOp::create(b, b.getFusedLoc(location), types,
                                       operands, dispatch.getDevice());
  Block *block = b.createBlock(&made.getBody());
  for (Value operand : operands)
    block->addArgument(operand.getType(), operand.getLoc());
  IRMapping values;
  for (auto [argument, old] :
       llvm::zip(block->getArguments(), dispatch.getBody().getArguments()))
    values.map(old, argument);
  for (Operation &op : dispatch.getBody().front().without_terminator())
    if (&op != contract)
      b.clone(op, values);
  auto longer = createContract(
      types, values, ValueRange(block->getArguments()).take_back(added.size()));
  exec::YieldOp::create(b, made.getLoc(), longer.getResults());
  return made;
}

tile::ContractOp LongerContract::createContract(ArrayRef<Type> types,
                                                const IRMapping &values,
                                                ValueRange more) {
  Location at = b.getFusedLoc(location);
  SmallVector<Value> epilogue, inits;
  for (Value operand : contract.getEpilogue())
    epilogue.push_back(values.lookupOrDefault(operand));
  llvm::append_range(epilogue, more);
  for (Type type : types)
    inits.push_back(
        tensor::EmptyOp::create(b, at, cast<RankedTensorType>(type).getShape(),
                                cast<RankedTensorType>(type).getElementType()));
  auto longer = tile::ContractOp::create(
      b, at, types, values.lookupOrDefault(contract.getA()),
      values.lookupOrDefault(contract.getB()), epilogue, inits[0],
      types.size() == 2 ? inits[1] : Value(), contract.getParallelAttr(),
      contract.getReducedAttr(), b.getArrayAttr(maps),
      contract.getAUnsignedAttr(), contract.getBUnsignedAttr(),
      /*pad=*/TypedAttr(), contract.getStrategyAttr(),
      contract.getDeviceAttr());
  longer.getBody().takeBody(body);
  // Scalars that the contraction's body reads from beside it.
  longer.getBody().walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(values.lookupOrDefault(operand.get()));
  });
  return longer;
}
