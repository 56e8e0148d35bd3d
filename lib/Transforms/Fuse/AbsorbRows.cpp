// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A softmax or a layer norm behind a contraction of a further device becomes
// part of the contraction's body, where that device combines the values of a
// row: then nothing goes to the host and back. So does the rounding of a result
// that others read as it is.
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_ABSORBROWSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// The contraction of a dispatch of a further device, if that is all it does.
tile::ContractOp contractOf(exec::DispatchOp dispatch) {
  if (!dispatch || dispatch.getDevice() == 0 || dispatch.getNumResults() != 1)
    return {};
  auto contract =
      dispatch.getYield().getOperand(0).getDefiningOp<tile::ContractOp>();
  if (!contract || contract.getPad() || contract->getNumResults() != 1)
    return {};
  for (AffineExpr expr : contract.getResultMap().getResults())
    if (!isa<AffineDimExpr>(expr))
      return {};
  return contract;
}

/// A contraction in the making: that of a dispatch, with more behind it.
class LongerContract {
public:
  LongerContract(exec::DispatchOp from, exec::DispatchOp last)
      : contract(contractOf(from)), from(from), last(last), b(last) {
    operands.append(from.getOperands().begin(), from.getOperands().end());
    contract.getBody().cloneInto(&body, mapping);
    auto yield = cast<tile::YieldOp>(body.front().getTerminator());
    sum.scalar = yield.getValue();
    yield.erase();
    for (AffineExpr expr : contract.getResultMap().getResults())
      sum.dims.push_back(cast<AffineDimExpr>(expr).getPosition());
    maps.append(contract.getMaps().begin(), contract.getMaps().end());
    maps.pop_back();
    location.push_back(from.getLoc());
    inner[from.getResult(0)] = sum;
  }

  /// A tensor between ops, as a scalar of the body.
  struct Inner {
    Value scalar;
    /// Of the contraction, by the tensor's dims; -1: one of size 1 that is none
    /// of them.
    SmallVector<int64_t> dims;
  };

  /// What a dispatch or a reshape does, in the order of the text, which reads
  /// the contraction's result or what was appended before. False: it cannot be
  /// part of a body.
  bool append(Operation *op);
  /// The dispatch that yields what was appended last and, if asked for, what
  /// was there before it was rounded. Null: it is another shape.
  exec::DispatchOp create(bool withUnrounded);

private:
  bool append(exec::DispatchOp dispatch);
  bool append(linalg::GenericOp op);
  bool bindLoops(linalg::GenericOp op, SmallVectorImpl<int64_t> &loops);
  std::optional<Value> scalarOf(linalg::GenericOp op, OpOperand *operand,
                                ArrayRef<int64_t> loops);
  void copyIn(Value value, IRMapping &scalars);
  AffineMap mapOver(AffineMap map, ArrayRef<int64_t> loops);

  tile::ContractOp contract;
  exec::DispatchOp from;
  exec::DispatchOp rows; ///< the one that is being appended
  Operation *last;       ///< to be
  OpBuilder b;
  Region body;
  IRMapping mapping;
  Inner sum;
  llvm::DenseMap<Value, Inner> inner; ///< by tensors in and between dispatches
  SmallVector<Value> operands;        ///< of the dispatch
  SmallVector<unsigned> added;        ///< of them, for the epilogue
  SmallVector<Attribute> maps;
  SmallVector<Location> location;
};
} // namespace

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

/// What the body of `op` reads there; for a tensor from outside, by one more
/// operand of the epilogue.
std::optional<Value> LongerContract::scalarOf(linalg::GenericOp op,
                                              OpOperand *operand,
                                              ArrayRef<int64_t> loops) {
  auto found = inner.find(operand->get());
  if (found != inner.end())
    return found->second.scalar;
  auto argument = dyn_cast<BlockArgument>(operand->get());
  if (!argument || argument.getOwner() != &rows.getBody().front())
    return std::nullopt;
  added.push_back(operands.size());
  operands.push_back(rows.getOperands()[argument.getArgNumber()]);
  maps.push_back(
      AffineMapAttr::get(mapOver(op.getMatchingIndexingMap(operand), loops)));
  return body.addArgument(getElementTypeOrSelf(argument.getType()),
                          argument.getLoc());
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
  rows = dispatch;
  for (auto [argument, operand] :
       llvm::zip(rows.getBody().getArguments(), rows.getOperands()))
    if (auto found = inner.find(operand); found != inner.end())
      inner[argument] = Inner(found->second);
  for (Operation &op : rows.getBody().front().without_terminator()) {
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
  auto found = inner.find(rows.getYield().getOperand(0));
  if (found == inner.end())
    return false;
  inner[rows.getResult(0)] = Inner(found->second);
  location.push_back(rows.getLoc());
  return true;
}

bool LongerContract::append(Operation *op) {
  if (auto dispatch = dyn_cast<exec::DispatchOp>(op))
    return append(dispatch);
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

exec::DispatchOp LongerContract::create(bool withUnrounded) {
  Inner result = inner.lookup(rows.getResult(0));
  SmallVector<AffineExpr> places;
  for (int64_t dim : result.dims) {
    // One that has the same size, and was lost on the way.
    for (int64_t d = 0; dim < 0 && d < int64_t(sum.dims.size()); ++d)
      if (contract.getParallel()[sum.dims[d]] == 1 &&
          !llvm::is_contained(result.dims, sum.dims[d]) &&
          !llvm::is_contained(places, b.getAffineDimExpr(sum.dims[d])))
        dim = sum.dims[d];
    if (dim < 0)
      return {};
    places.push_back(b.getAffineDimExpr(dim));
  }
  // Each element of the contraction's is one of the result.
  for (int64_t dim : sum.dims)
    if (contract.getParallel()[dim] != 1 &&
        !llvm::is_contained(places, b.getAffineDimExpr(dim)))
      return {};
  b.setInsertionPointToEnd(&body.front());
  tile::YieldOp::create(b, rows.getLoc(), result.scalar);
  maps.push_back(AffineMapAttr::get(AffineMap::get(
      contract.getParallel().size(), 0, places, b.getContext())));

  b.setInsertionPoint(last);
  SmallVector<Type> types = {rows.getResult(0).getType()};
  if (withUnrounded)
    types.push_back(from.getResult(0).getType());
  auto made = exec::DispatchOp::create(b, b.getFusedLoc(location), types,
                                       operands, from.getDevice());
  Block *block = b.createBlock(&made.getBody());
  for (Value operand : operands)
    block->addArgument(operand.getType(), operand.getLoc());
  IRMapping values;
  for (auto [argument, old] :
       llvm::zip(block->getArguments(), from.getBody().getArguments()))
    values.map(old, argument);
  for (Operation &op : from.getBody().front().without_terminator())
    if (&op != contract)
      b.clone(op, values);
  SmallVector<Value> epilogue, inits;
  for (Value operand : contract.getEpilogue())
    epilogue.push_back(values.lookup(operand));
  for (unsigned number : added)
    epilogue.push_back(block->getArgument(number));
  for (Type type : types)
    inits.push_back(tensor::EmptyOp::create(
        b, made.getLoc(), cast<RankedTensorType>(type).getShape(),
        cast<RankedTensorType>(type).getElementType()));
  auto longer = tile::ContractOp::create(
      b, made.getLoc(), types, values.lookup(contract.getA()),
      values.lookup(contract.getB()), epilogue, inits[0],
      withUnrounded ? inits[1] : Value(), contract.getParallelAttr(),
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
  exec::YieldOp::create(b, made.getLoc(), longer.getResults());
  return made;
}

/// Whether a dispatch of the host reduces along some dims.
static bool reducesRows(exec::DispatchOp dispatch) {
  return llvm::any_of(
      dispatch.getBody().getOps<linalg::GenericOp>(),
      [](linalg::GenericOp op) { return op.getNumReductionLoops() != 0; });
}

/// Whether it rounds its only operand and does nothing else.
static bool isRounding(exec::DispatchOp dispatch) {
  auto generics = dispatch.getBody().getOps<linalg::GenericOp>();
  if (dispatch.getNumOperands() != 1 || !llvm::hasSingleElement(generics))
    return false;
  linalg::GenericOp op = *generics.begin();
  Operation *rounding =
      op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return isa_and_nonnull<arith::TruncFOp>(rounding) &&
         rounding->getOperand(0) == op.getBody()->getArgument(0) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); });
}

namespace {
struct AbsorbRows : ashlar::impl::AbsorbRowsPassBase<AbsorbRows> {
  using AbsorbRowsPassBase::AbsorbRowsPassBase;
  AbsorbRows(std::vector<CompanionDevice> companions)
      : companions(std::move(companions)) {}

  LogicalResult initialize(MLIRContext *context) override {
    return readCompanionOption(context, deviceNames, companions);
  }
  void runOnOperation() override {
    SmallVector<exec::DispatchOp> dispatches;
    getOperation().walk([&](exec::DispatchOp op) {
      if (contractOf(op) && op.getDevice() <= companions.size())
        dispatches.push_back(op);
    });
    for (exec::DispatchOp dispatch : dispatches) {
      SmallVector<Operation *> chain = readersOf(dispatch);
      for (Operation *last : llvm::reverse(chain)) {
        auto rows = dyn_cast<exec::DispatchOp>(last);
        if (!rows)
          continue;
        SmallVector<Operation *> part = partOf(dispatch, rows, chain);
        if (part.empty())
          continue;
        if (exec::DispatchOp longer = absorb(dispatch, part))
          dispatch = longer;
        break;
      }
      absorbRounding(dispatch);
    }
  }

private:
  static bool isOnHost(Operation *op) {
    auto dispatch = dyn_cast<exec::DispatchOp>(op);
    return dispatch && dispatch.getDevice() == 0 &&
           dispatch.getNumResults() == 1;
  }

  /// What the host makes of the contraction's result, and of that again.
  static SmallVector<Operation *> readersOf(exec::DispatchOp dispatch) {
    // A norm in single steps, and a little more.
    constexpr size_t most = 24;
    SmallVector<Operation *> chain;
    for (Operation *op = dispatch->getNextNode(); op && chain.size() < most;
         op = op->getNextNode()) {
      bool reads = llvm::any_of(op->getOperands(), [&](Value operand) {
        Operation *maker = operand.getDefiningOp();
        return maker && (maker == dispatch || llvm::is_contained(chain, maker));
      });
      if (reads && (isOnHost(op) ||
                    isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)))
        chain.push_back(op);
    }
    return chain;
  }

  /// Those of a chain that make `last`, if nobody else reads anything of them,
  /// and rows are combined; else nothing.
  static SmallVector<Operation *> partOf(exec::DispatchOp dispatch,
                                         exec::DispatchOp last,
                                         ArrayRef<Operation *> chain) {
    llvm::SmallPtrSet<Operation *, 16> needed = {last};
    SmallVector<Operation *> part;
    int64_t bytes = 0;
    bool reduces = false;
    for (Operation *op : llvm::reverse(chain)) {
      if (!needed.contains(op))
        continue;
      part.insert(part.begin(), op);
      if (auto rows = dyn_cast<exec::DispatchOp>(op))
        reduces |= reducesRows(rows);
      for (Value operand : op->getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (llvm::is_contained(chain, maker))
          needed.insert(maker);
        else if (maker != dispatch && !matchPattern(operand, m_Constant()))
          bytes += byteSize(operand.getType());
      }
    }
    needed.insert(dispatch);
    for (Operation *op : needed)
      if (op != last && !llvm::all_of(op->getUsers(), [&](Operation *user) {
            return needed.contains(user);
          }))
        return {};
    // Nothing large goes to the device instead.
    if (!reduces || bytes > byteSize(dispatch.getResult(0).getType()))
      return {};
    return part;
  }

  /// All as one, or null where the device cannot.
  exec::DispatchOp absorb(exec::DispatchOp dispatch,
                          ArrayRef<Operation *> part) {
    auto last = cast<exec::DispatchOp>(part.back());
    bool isElsewhere = llvm::any_of(dispatch->getUsers(), [&](Operation *user) {
      return !llvm::is_contained(part, user);
    });
    std::string why =
        "it is no chain of sums, maxima and operations element by "
        "element along rows";
    exec::DispatchOp longer;
    LongerContract making(dispatch, last);
    if (llvm::all_of(part, [&](Operation *op) { return making.append(op); }))
      longer = making.create(isElsewhere);
    if (longer)
      why = companions[dispatch.getDevice() - 1].whyNot(
          longer.getYield().getOperand(0).getDefiningOp());
    const std::string &device = companions[dispatch.getDevice() - 1].name;
    if (!why.empty()) {
      remark::missed(last.getLoc(), about(last, "Placed", "place"))
          << "stays on the host: "
          << remark::metric("Reason", device + ": " + why);
      if (longer)
        longer.erase();
      return {};
    }
    remark::passed(last.getLoc(), about(last, "Placed", "place"))
        << "runs on " << remark::metric("Target", device)
        << ", in one kernel with " << nodeName(dispatch.getLoc());
    last.getResult(0).replaceAllUsesWith(longer.getResult(0));
    for (Operation *op : llvm::reverse(part))
      op->erase();
    if (isElsewhere)
      dispatch.getResult(0).replaceAllUsesWith(longer.getResult(1));
    dispatch.erase();
    return longer;
  }

  /// Stores a result rounded, too, where others read it as it is.
  void absorbRounding(exec::DispatchOp dispatch) {
    for (Operation *user : dispatch->getUsers()) {
      auto rounding = dyn_cast<exec::DispatchOp>(user);
      if (!rounding || !isOnHost(rounding) || !isRounding(rounding) ||
          rounding->getBlock() != dispatch->getBlock())
        continue;
      rounding->moveAfter(dispatch);
      absorb(dispatch, {rounding});
      return;
    }
  }

  std::vector<CompanionDevice> companions;
};
} // namespace

std::unique_ptr<Pass>
ashlar::createAbsorbRowsPass(std::vector<CompanionDevice> companions) {
  return std::make_unique<AbsorbRows>(std::move(companions));
}
