// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognizes contractions among linalg.generic ops by their maps and bodies,
// whatever they were called in the model, and lets the elementwise op that
// alone reads the sums become their epilogue.
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/Copies.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Analysis/SmallFloats.h"
#include "ashlar/Analysis/VectorBodies.h"
#include "ashlar/Analysis/Zeros.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_FORMCONTRACTSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
/// A factor of the product: which operand, and how it is extended.
struct Factor {
  OpOperand *operand;
  bool isUnsigned = false;
};

/// What the body multiplies, through the casts to the accumulator's type.
std::optional<Factor> findFactor(linalg::GenericOp op, Value value) {
  Factor factor{};
  if (Operation *cast = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(cast))
      return std::nullopt;
    factor.isUnsigned = isa<arith::ExtUIOp>(cast);
    value = cast->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return std::nullopt;
  factor.operand = op.getDpsInputOperand(argument.getArgNumber());
  return factor;
}

/// A contraction before it is written.
struct Contraction {
  linalg::GenericOp op;
  Factor a, b;
  /// The dims of the op in the contraction's order, parallel ones first.
  SmallVector<unsigned> dims;
  unsigned numParallel = 0;
};

/// The loop along which neighbours in memory lie, if a single one does that.
std::optional<unsigned> innermostLoop(linalg::GenericOp op,
                                      OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  auto shape = cast<RankedTensorType>(operand->get().getType()).getShape();
  for (unsigned d = map.getNumResults(); d-- > 0;) {
    if (shape[d] == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(d));
    return dim ? std::optional(dim.getPosition()) : std::nullopt;
  }
  return std::nullopt;
}

/// Lets the op read what a transpose that only it reads has brought into
/// another order from where that was. Bytes are worth a transpose: units take
/// several that lie side by side; with `units`, so are 16 bits, where windows
/// would move along what lies side by side.
void readBehindTransposes(linalg::GenericOp op, bool units) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool changed = false;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto copy = operand->get().getDefiningOp<linalg::GenericOp>();
    Type element = getElementTypeOrSelf(operand->get());
    if (!copy || !copy->hasOneUse() || element.isInteger(8) ||
        isFloat8(element))
      continue;
    std::optional<AffineMap> moved = permutationOf(copy);
    if (!moved)
      continue;
    AffineMap &map = maps[operand->getOperandNumber()];
    AffineMap behind = moved->compose(map);
    if (units && getElementTypeOrSelf(operand->get()).isIntOrFloat() &&
        getElementTypeOrSelf(operand->get()).getIntOrFloatBitWidth() == 16 &&
        behind.getNumResults() != 0 &&
        !isa<AffineDimExpr>(behind.getResults().back()))
      continue;
    map = behind;
    remark::passed(op.getLoc(), about(op, "Transpose", "fusion"))
        << "reads behind the transpose of " << nodeName(copy.getLoc())
        << ", saving "
        << remark::metric("BytesSaved", 2 * byteSize(operand->get().getType()))
        << " bytes";
    operand->set(copy.getDpsInputs()[0]);
    changed = true;
  }
  if (changed)
    op.setIndexingMapsAttr(
        Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

/// Few results, each a sum along what lies side by side in both operands:
/// lanes are better spent on the terms than on the results. With `units`, few
/// rows of 16 bits are a unit's all the same, whose rate counts for less than
/// what is read once.
bool isDotProduct(const Contraction &contraction, bool units) {
  linalg::GenericOp op = contraction.op;
  constexpr int64_t few = 4;
  std::optional<unsigned> inA = innermostLoop(op, contraction.a.operand);
  std::optional<unsigned> inB = innermostLoop(op, contraction.b.operand);
  if (!inA || inA != inB ||
      op.getIteratorTypesArray()[*inA] != utils::IteratorType::reduction)
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t rows = 1;
  ArrayRef<unsigned> parallel =
      ArrayRef(contraction.dims).take_front(contraction.numParallel);
  AffineMap columns = op.getMatchingIndexingMap(contraction.b.operand);
  for (unsigned dim : parallel)
    if (!columns.isFunctionOfDim(dim))
      rows *= ranges[dim];
  auto isShort = [](const Factor &factor) {
    Type type = getElementTypeOrSelf(factor.operand->get());
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 16;
  };
  return ranges[parallel.back()] < few ||
         (rows < few &&
          !isConstantBehindReshapes(contraction.b.operand->get()) &&
          !(units && isShort(contraction.a) && isShort(contraction.b)));
}

/// sum += a * b, starting at zero, over static sizes.
std::optional<Contraction> matchContraction(linalg::GenericOp op, bool units) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() ||
      op.getNumResults() != 1 || op.hasIndexSemantics())
    return std::nullopt;
  for (int64_t range : op.getStaticLoopRanges())
    if (ShapedType::isDynamic(range) || range == 0)
      return std::nullopt;
  if (!isFilledWithZero(op.getDpsInits()[0]))
    return std::nullopt;
  Block *body = op.getBody();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  Value sum = op.getRegionOutputArgs()[0];
  Value product = add->getOperand(0) == sum   ? add->getOperand(1)
                  : add->getOperand(1) == sum ? add->getOperand(0)
                                              : Value();
  Operation *multiply = product ? product.getDefiningOp() : nullptr;
  if (!multiply || !isa<arith::MulFOp, arith::MulIOp>(multiply))
    return std::nullopt;
  std::optional<Factor> first = findFactor(op, multiply->getOperand(0));
  std::optional<Factor> second = findFactor(op, multiply->getOperand(1));
  if (!first || !second || first->operand == second->operand)
    return std::nullopt;
  Contraction contraction{op, *first, *second, {}, 0};
  // Nothing else happens in the body.
  size_t expected = 3 + (multiply->getOperand(0).getDefiningOp() ? 1 : 0) +
                    (multiply->getOperand(1).getDefiningOp() ? 1 : 0);
  if (body->getOperations().size() != expected)
    return std::nullopt;

  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!result.isProjectedPermutation() || result.getNumResults() == 0)
    return std::nullopt;
  for (OpOperand *operand : {first->operand, second->operand})
    if (!isLinear(op.getMatchingIndexingMap(operand)))
      return std::nullopt;
  for (AffineExpr expr : result.getResults())
    contraction.dims.push_back(cast<AffineDimExpr>(expr).getPosition());
  contraction.numParallel = contraction.dims.size();
  for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      contraction.dims.push_back(dim);
  if (contraction.dims.size() != op.getNumLoops())
    return std::nullopt;

  auto inOperand = [&](const Factor &factor) {
    return op.getMatchingIndexingMap(factor.operand);
  };
  // Lanes run along the result's last dim: b is what changes there.
  unsigned last = contraction.dims[contraction.numParallel - 1];
  auto varies = [&](const Factor &factor) {
    return inOperand(factor).isFunctionOfDim(last);
  };
  if (!varies(contraction.b))
    std::swap(contraction.a, contraction.b);
  if (!varies(contraction.b))
    return std::nullopt;
  if (isDotProduct(contraction, units))
    return std::nullopt;
  // Terms that lie side by side in a are summed innermost.
  AffineMap rows = inOperand(contraction.a);
  auto place = [&](unsigned dim) {
    int64_t found = -1;
    for (auto [i, expr] : llvm::enumerate(rows.getResults()))
      if (expr.isFunctionOfDim(dim))
        found = i;
    return found;
  };
  std::stable_sort(contraction.dims.begin() + contraction.numParallel,
                   contraction.dims.end(),
                   [&](unsigned x, unsigned y) { return place(x) < place(y); });
  return contraction;
}

/// Why the elementwise op that reads the sums cannot be their epilogue; empty:
/// it can. `consumer` is that op, or null where there is none.
StringRef whyNoEpilogue(const Contraction &contraction,
                        linalg::GenericOp &consumer) {
  Operation *op = contraction.op;
  for (Operation *user : op->getUsers())
    if (auto reader = dyn_cast<linalg::GenericOp>(user))
      if (reader.getNumReductionLoops() == 0)
        consumer = reader;
  if (!op->hasOneUse())
    return "the sums have several readers";
  OpOperand &use = *op->use_begin();
  if (!consumer || consumer->getBlock() != op->getBlock())
    return "no elementwise op reads the sums";
  if (consumer.getNumDpsInits() != 1 || consumer.getNumResults() != 1)
    return "it has several results";
  if (consumer.hasIndexSemantics())
    return "it computes with the places of its elements";
  if (!consumer.isDpsInput(&use) || !runsOnVectors(*consumer.getBody()))
    return "it has operations without vector form";
  OpOperand *init = consumer.getDpsInitOperand(0);
  AffineMap target = consumer.getMatchingIndexingMap(init);
  AffineMap read = consumer.getMatchingIndexingMap(&use);
  if (consumer.payloadUsesValueFromOperand(init) || !target.isPermutation() ||
      !read.isPermutation())
    return "its shape is not that of the sums";
  if (getElementTypeOrSelf(init->get().getType()).isInteger(1))
    return "it makes booleans";
  // The lanes of the sums are the lanes of what is stored.
  if (target.getResults().back() != read.getResults().back())
    return "it moves the innermost dim of the sums";
  for (OpOperand *operand : consumer.getDpsInputOperands())
    if (!isLinear(consumer.getMatchingIndexingMap(operand)) ||
        !isa<RankedTensorType>(operand->get().getType()))
      return "it reads an operand at places that are not affine";
  for (Operation &inner : consumer.getBody()->without_terminator())
    for (Value operand : inner.getOperands())
      if (operand.getParentRegion() != &consumer.getRegion() &&
          !matchPattern(operand, m_Constant()))
        return "it reads a scalar that is not constant";
  return {};
}

/// The elementwise op that alone reads the sums, each at its own place.
linalg::GenericOp findEpilogue(const Contraction &contraction) {
  linalg::GenericOp consumer;
  StringRef obstacle = whyNoEpilogue(contraction, consumer);
  linalg::GenericOp op = contraction.op;
  if (!consumer)
    return {};
  int64_t saved = 2 * byteSize(op.getResult(0).getType());
  if (obstacle.empty()) {
    remark::passed(op.getLoc(), about(op, "Epilogue", "fusion"))
        << nodeName(consumer.getLoc()) << " became the epilogue, saving "
        << remark::metric("BytesSaved", saved) << " bytes";
    return consumer;
  }
  remark::missed(op.getLoc(), about(op, "Epilogue", "fusion"))
      << nodeName(consumer.getLoc())
      << " is no epilogue: " << remark::metric("Reason", obstacle.str())
      << remark::detail::LazyTextBuild{"Readers",
                                       [&] {
                                         return op->hasOneUse()
                                                    ? ""
                                                    : ": " + readerNames(op);
                                       }}
      << "; " << remark::metric("Bytes", saved) << " bytes more are moved";
  return {};
}

class ContractWriter {
public:
  ContractWriter(const Contraction &contraction, linalg::GenericOp epilogue)
      : contraction(contraction), epilogue(epilogue),
        b(epilogue ? epilogue : contraction.op) {}

  void write() {
    linalg::GenericOp op = contraction.op;
    MLIRContext *context = op.getContext();
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    SmallVector<int64_t> parallel, reduced;
    SmallVector<AffineExpr> renamed(op.getNumLoops());
    for (auto [i, dim] : llvm::enumerate(contraction.dims)) {
      (i < contraction.numParallel ? parallel : reduced).push_back(ranges[dim]);
      renamed[dim] = getAffineDimExpr(i, context);
    }
    auto rename = [&](const Factor &factor) {
      AffineMap map = op.getMatchingIndexingMap(factor.operand);
      return map.replaceDimsAndSymbols(renamed, {}, ranges.size(), 0);
    };
    SmallVector<Value> operands = {contraction.a.operand->get(),
                                   contraction.b.operand->get()};
    SmallVector<AffineMap> maps = {rename(contraction.a),
                                   rename(contraction.b)};
    AffineMap identity =
        AffineMap::getMultiDimIdentityMap(parallel.size(), context);
    Operation *root = op;
    if (epilogue) {
      root = epilogue;
      addEpilogue(operands, maps);
    } else {
      operands.push_back(emptyLike(op.getResult(0)));
      maps.push_back(identity);
    }
    Location location = epilogue
                            ? b.getFusedLoc({op.getLoc(), epilogue.getLoc()})
                            : op.getLoc();
    OperationState state(location, tile::ContractOp::getOperationName());
    state.addOperands(operands);
    state.addTypes(root->getResultTypes());
    auto &properties = state.getOrAddProperties<tile::ContractOp::Properties>();
    properties.operandSegmentSizes = {1, 1, int32_t(operands.size()) - 3, 1, 0};
    properties.parallel = b.getDenseI64ArrayAttr(parallel);
    properties.reduced = b.getDenseI64ArrayAttr(reduced);
    properties.maps = b.getAffineMapArrayAttr(maps);
    if (contraction.a.isUnsigned)
      properties.aUnsigned = b.getUnitAttr();
    if (contraction.b.isUnsigned)
      properties.bUnsigned = b.getUnitAttr();
    state.addRegion();
    Operation *contract = b.create(state);
    writeBody(contract->getRegion(0));
    root->getResult(0).replaceAllUsesWith(contract->getResult(0));
    root->erase();
    if (epilogue)
      op->erase();
  }

private:
  Value emptyLike(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return tensor::EmptyOp::create(b, value.getLoc(), type.getShape(),
                                   type.getElementType());
  }

  /// The maps of the epilogue, from its own loops to those of the sums.
  void addEpilogue(SmallVectorImpl<Value> &operands,
                   SmallVectorImpl<AffineMap> &maps) {
    OpOperand *init = epilogue.getDpsInitOperand(0);
    AffineMap read, target = epilogue.getMatchingIndexingMap(init);
    for (OpOperand *operand : epilogue.getDpsInputOperands())
      if (operand->get() == contraction.op.getResult(0))
        read = epilogue.getMatchingIndexingMap(operand);
    AffineMap toLoops = inversePermutation(read);
    for (OpOperand *operand : epilogue.getDpsInputOperands()) {
      if (operand->get() == contraction.op.getResult(0))
        continue;
      operands.push_back(operand->get());
      maps.push_back(epilogue.getMatchingIndexingMap(operand).compose(toLoops));
    }
    operands.push_back(emptyLike(epilogue.getResult(0)));
    maps.push_back(target.compose(toLoops));
  }

  void writeBody(Region &region) {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&region);
    Location location = contraction.op.getLoc();
    Value sum = body->addArgument(
        getElementTypeOrSelf(contraction.op.getResult(0).getType()), location);
    if (!epilogue) {
      tile::YieldOp::create(b, location, sum);
      return;
    }
    IRMapping mapping;
    for (OpOperand *operand : epilogue.getDpsInputOperands()) {
      Value argument = epilogue.getMatchingBlockArgument(operand);
      mapping.map(argument,
                  operand->get() == contraction.op.getResult(0)
                      ? sum
                      : body->addArgument(argument.getType(), location));
    }
    for (Operation &inner : epilogue.getBody()->without_terminator()) {
      for (Value operand : inner.getOperands())
        copyConstant(operand, mapping);
      b.clone(inner, mapping);
    }
    Value result = epilogue.getBody()->getTerminator()->getOperand(0);
    copyConstant(result, mapping);
    tile::YieldOp::create(b, location, mapping.lookup(result));
  }

  /// Constants from outside come along, so that the body stands alone.
  void copyConstant(Value value, IRMapping &mapping) {
    if (!mapping.contains(value) &&
        value.getParentRegion() != &epilogue.getRegion())
      b.clone(*value.getDefiningOp(), mapping);
  }

  Contraction contraction;
  linalg::GenericOp epilogue;
  OpBuilder b;
};

struct FormContracts : ashlar::impl::FormContractsPassBase<FormContracts> {
  using FormContractsPassBase::FormContractsPassBase;
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> candidates;
    llvm::SmallPtrSet<Operation *, 32> merged;
    getOperation().walk(
        [&](linalg::GenericOp op) { candidates.push_back(op); });
    for (linalg::GenericOp op : candidates)
      if (!merged.contains(op) && matchContraction(op, units)) {
        readBehindTransposes(op, units);
        if (std::optional<Contraction> contraction =
                matchContraction(op, units)) {
          linalg::GenericOp epilogue;
          if (epilogues)
            epilogue = findEpilogue(*contraction);
          if (epilogue)
            merged.insert(epilogue);
          ContractWriter(*contraction, epilogue).write();
        }
      }
  }
};
} // namespace
