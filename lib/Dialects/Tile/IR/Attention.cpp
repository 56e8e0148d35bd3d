// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckMap.h"
#include "ashlar/Dialects/Tile/IR/KeyParts.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar::tile;

Type AttentionOp::getScoreType() {
  return getScore().front().getTerminator()->getOperand(0).getType();
}

bool AttentionOp::hidesScores() {
  Block &body = getHide().front();
  return body.getTerminator()->getOperand(0) != body.getArgument(0);
}

Type AttentionOp::getWeightType() {
  return getWeigh().front().getTerminator()->getOperand(0).getType();
}

int64_t AttentionOp::getTile(LevelKind kind, unsigned dim) {
  int64_t tile = 0;
  if (ArrayAttr levels = getLevelsAttr())
    for (auto level : levels.getAsRange<LevelAttr>())
      if (level.getKind() == kind && level.getTile(dim))
        tile = level.getTile(dim);
  return tile;
}

std::optional<unsigned> AttentionOp::getKeyLoop() {
  unsigned parallel = getParallel().size();
  for (unsigned d = parallel; d != parallel + getReduced().size(); ++d)
    if (getTile(LevelKind::Loop, d))
      return d;
  return std::nullopt;
}

bool AttentionOp::hasGroup() {
  return getLevelsAttr() && !getLevelsAttr().empty() &&
         cast<LevelAttr>(getLevelsAttr().getValue().back()).getKind() ==
             LevelKind::Group;
}

int64_t ashlar::tile::countKeyParts(AttentionOp op) {
  std::optional<unsigned> keys = op.getKeyLoop();
  int64_t part = keys ? op.getTile(LevelKind::Grid, *keys) : 0;
  if (!part)
    return 1;
  return llvm::divideCeil(op.getReduced()[*keys - op.getParallel().size()],
                          part);
}

void AttentionOp::removeLevels(LevelKind kind) {
  SmallVector<Attribute> kept;
  if (ArrayAttr levels = getLevelsAttr())
    for (auto level : levels.getAsRange<LevelAttr>())
      if (level.getKind() != kind)
        kept.push_back(level);
  setLevelsAttr(kept.empty() ? ArrayAttr()
                             : ArrayAttr::get(getContext(), kept));
}

SmallVector<Cut> AttentionOp::getCutsOfScores(ArrayRef<Cut> cuts) {
  SmallVector<Cut> result(getScoresParallel().size());
  for (auto [cut, expr] :
       llvm::zip(result, getWeightsMap().getResults().drop_back()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      cut = cuts[dim.getPosition()];
  return result;
}

void AttentionOp::forEachOperand(
    llvm::function_ref<void(Value, AffineMap, bool)> visit) {
  SmallVector<AffineMap> ofScores(
      getScoresMaps().getAsValueRange<AffineMapAttr>());
  visit(getQueries(), ofScores[0], true);
  visit(getKeys(), ofScores[1], true);
  visit(getValues(), getValuesMap(), false);
  for (auto [i, operand] : llvm::enumerate(getScoring()))
    visit(operand, ofScores[2 + i], true);
  for (auto [operand, map] :
       llvm::zip(getHiding(), getHideMaps().getAsValueRange<AffineMapAttr>()))
    visit(operand, map, true);
  for (auto [i, operand] : llvm::enumerate(getEpilogue()))
    visit(operand, getMap(2 + i), false);
  visit(getInit(), getResultMap(), false);
}

void AttentionOp::offsetIndices(OpBuilder &b, ArrayRef<Cut> cuts) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<IndexOp> indices(getHide().getOps<IndexOp>());
  for (IndexOp index : indices) {
    const Cut &cut = cuts[index.getDim()];
    if (cut.size == 0)
      continue;
    b.setInsertionPointAfter(index);
    Value offset =
        getValueOrCreateConstantIndexOp(b, index.getLoc(), cut.offset);
    auto sum =
        arith::AddIOp::create(b, index.getLoc(), index.getResult(), offset);
    index.getResult().replaceAllUsesExcept(sum, sum);
  }
}

/// What a loop over keys asks: parts of all operands, sums and scores of one
/// type, and weights that may be divided once they are added up.
static LogicalResult checkLoop(AttentionOp op) {
  unsigned parallel = op.getParallel().size(), keyDim = *op.getKeyLoop();
  int64_t count = op.getTile(LevelKind::Loop, keyDim),
          size = op.getReduced()[keyDim - parallel],
          all = op.getScoresParallel().back();
  // How far the scores of neighbours along the dim lie from each other.
  SmallVector<AffineExpr> ones;
  for (unsigned d = 0; d != op.getWeightsMap().getNumDims(); ++d)
    ones.push_back(getAffineConstantExpr(d == keyDim, op.getContext()));
  auto stride = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
      op.getWeightsMap().getResults().back().replaceDims(ones), 0, 0));
  if (!stride || size == 0 || stride.getValue() * size != all)
    return op.emitOpError("expected a loop over the outermost dim of keys, "
                          "found one over dim ")
           << keyDim;
  Type sums = op.getBody().front().getArgument(0).getType();
  if (op.getScoreType() != sums)
    return op.emitOpError("expected scores and sums of one type in a loop over "
                          "keys, found ")
           << op.getScoreType() << " and " << sums;
  Block &weigh = op.getWeigh().front();
  Value weight = weigh.getTerminator()->getOperand(0);
  if (auto rounded = weight.getDefiningOp<arith::TruncFOp>())
    weight = rounded.getIn();
  if (weight != weigh.getArgument(0))
    return noteAt(op.emitOpError("expected weights to be rounded and nothing "
                                 "else in a loop over keys, found ")
                      << weight,
                  weight.getLoc(), "computed here");
  SmallVector<Cut> ofScores(op.getScoresParallel().size() +
                            op.getScoresReduced().size()),
      ofValues(parallel + op.getReduced().size());
  for (auto [d, size] : llvm::enumerate(op.getReduced()))
    ofValues[parallel + d].size = parallel + d == keyDim ? count : size;
  ofScores[op.getScoresParallel().size() - 1].size = count * stride.getValue();
  AffineMap bad;
  op.forEachOperand([&](Value, AffineMap map, bool isOfScores) {
    bool isFine = isOfScores || map == op.getValuesMap()
                      ? isCuttable(map, isOfScores ? ofScores : ofValues)
                      : map.isProjectedPermutation(/*allowZeroInResults=*/true);
    bad = isFine || bad ? bad : map;
  });
  if (bad)
    return op.emitOpError("expected maps that can be cut into ")
           << count << " of dim " << keyDim << " in a loop over keys, found "
           << AffineMapAttr::get(bad);
  return success();
}

/// Whether a dim each lies on the unit's rows, columns and terms.
static bool hasOneEach(StrategyAttr strategy) {
  return strategy.getM().size() == 1 && strategy.getN().size() == 1 &&
         strategy.getK().size() == 1;
}

/// Where a grid shares out keys: whole tiles of them, and a destination for
/// what each part has.
static LogicalResult checkKeyParts(AttentionOp op) {
  unsigned keys = *op.getKeyLoop();
  int64_t part = op.getTile(LevelKind::Grid, keys),
          tile = op.getTile(LevelKind::Loop, keys), parts = countKeyParts(op);
  if (part % tile != 0)
    return op.emitOpError("expected parts of whole tiles of ")
           << tile << " keys, found " << part;
  SmallVector<int64_t> shape = {parts + 1};
  llvm::append_range(shape, op.getParallel());
  auto type = cast<ShapedType>(op.getInit().getType());
  if (type.getShape() != ArrayRef(shape) || 2 * parts > shape.back() ||
      !op.getResultMap().isIdentity() || !op.getEpilogue().empty() ||
      op.getBody().front().getTerminator()->getOperand(0) !=
          op.getBody().front().getArgument(0))
    return op.emitOpError("expected ")
           << parts << " parts of keys to have their sums as they are, and two "
           << "columns each behind them, in a destination over the parallel "
              "dims, found "
           << type;
  return success();
}

/// Of one whose groups hold scores and sums: fragments of one unit, and plain
/// rows of all operands.
static LogicalResult checkGroup(AttentionOp op) {
  StrategyAttr scores = op.getScoresStrategyAttr(),
               values = op.getStrategyAttr();
  if (!op.getKeyLoop() || !scores || !values || !scores.getFragment() ||
      scores.getFragment() != values.getFragment() ||
      scores.getGroups().size() != 1 || values.getGroups().size() != 1)
    return op.emitOpError("expected a loop over keys in front of a group, and "
                          "strategies of both products with one group and the "
                          "same fragment");
  if (!hasOneEach(scores) || !hasOneEach(values) ||
      values.getK().front() != *op.getKeyLoop())
    return op.emitOpError(
               "expected one dim each on m, n and k of a group's "
               "products, the loop's keys on k of the second, found ")
           << scores << " and " << values;
  for (auto [strategy, operand] :
       {std::pair(scores, OperandKind::A), std::pair(scores, OperandKind::B),
        std::pair(values, OperandKind::B)})
    if (!strategy.getHop(operand, HopKind::Ring))
      return op.emitOpError("expected rings of queries, keys and values for a "
                            "group, found ")
             << strategy;
  AffineMap bad;
  op.forEachOperand([&](Value, AffineMap map, bool) {
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      bad = map;
  });
  auto isMany = [](int64_t size) { return size > 1; };
  unsigned rows = 0;
  for (auto [d, size] : llvm::enumerate(op.getParallel()))
    if (d + 1 != op.getParallel().size()) {
      int64_t tile = op.getTile(LevelKind::Grid, d);
      rows += (tile ? tile : size) > 1;
    }
  if (bad || rows > 1 || llvm::count_if(op.getReduced(), isMany) > 1 ||
      llvm::count_if(op.getScoresReduced(), isMany) > 1)
    return op.emitOpError("expected rows, keys and terms of one dim each and "
                          "operands that lie at dims, for a group");
  return countKeyParts(op) == 1 ? success() : checkKeyParts(op);
}

/// A grid over parallel dims that lie bare in the weights' map, then a loop
/// over keys, then what groups hold.
static LogicalResult checkLevels(AttentionOp op) {
  size_t parallel = op.getParallel().size(), reduced = op.getReduced().size();
  bool loops = false, hasGroup = op.hasGroup();
  for (auto level : op.getLevelsAttr().getAsRange<LevelAttr>()) {
    bool isGrid = level.getKind() == LevelKind::Grid,
         isGroup = level.getKind() == LevelKind::Group;
    if (level.getParallel().size() != parallel ||
        level.getReduced().size() != reduced || (isGrid && loops) ||
        (isGroup && level != op.getLevelsAttr().getValue().back()))
      return op.emitOpError("expected grids, then a loop, then a group, over ")
             << parallel << " parallel dims and " << reduced
             << " of keys, found " << level;
    if (isGroup)
      continue;
    if (!isGrid && std::exchange(loops, true))
      return op.emitOpError("expected one loop, found another: ") << level;
    for (unsigned d = 0; d != parallel + reduced; ++d) {
      int64_t tile = level.getTile(d);
      if (!tile)
        continue;
      int64_t size =
          d < parallel ? op.getParallel()[d] : op.getReduced()[d - parallel];
      if (isGrid != (d < parallel) &&
          !(isGrid && hasGroup && op.getKeyLoop() == d))
        return op.emitOpError("expected a grid to cut parallel dims, or keys "
                              "in front of a group, and a loop to cut keys, "
                              "found ")
               << level;
      // Groups leave out what lies beyond the end.
      if (hasGroup)
        continue;
      if (tile > size)
        return op.emitOpError("expected tiles of dim ")
               << d << " to be at most its size, " << size << ", found "
               << tile;
    }
  }
  return success();
}

static LogicalResult checkMaps(AttentionOp op, StringRef what,
                               ArrayRef<Attribute> maps, size_t dims,
                               ValueRange operands) {
  if (maps.size() != operands.size())
    return op.emitOpError("expected a map for each operand of ")
           << what << ", " << operands.size() << " in all, found "
           << maps.size();
  for (auto [map, operand] : llvm::zip(maps, operands))
    if (failed(checkMap(op, what, cast<AffineMapAttr>(map).getValue(), dims,
                        operand)))
      return failure();
  return success();
}

/// Those of the scores' operands are over their dims, but only the factors'
/// over the terms.
static LogicalResult checkScoresMaps(AttentionOp op) {
  size_t scores = op.getScoresParallel().size();
  ArrayRef<Attribute> maps = op.getScoresMaps().getValue();
  size_t factors = std::min<size_t>(2, maps.size());
  return failure(
      failed(checkMaps(op, "the scores' factors", maps.take_front(factors),
                       scores + op.getScoresReduced().size(),
                       {op.getQueries(), op.getKeys()})) ||
      failed(checkMaps(op, "scores", maps.drop_front(factors), scores,
                       op.getScoring())) ||
      failed(checkMaps(op, "what hides", op.getHideMaps().getValue(), scores,
                       op.getHiding())));
}

static LogicalResult checkResultMaps(AttentionOp op) {
  size_t parallel = op.getParallel().size(), reduced = op.getReduced().size();
  if (op.getMaps().size() != op.getEpilogue().size() + 3)
    return op.emitOpError("expected a map for weights, values, each operand of "
                          "the epilogue and the result, ")
           << op.getEpilogue().size() + 3 << " in all, found "
           << op.getMaps().size();
  if (failed(checkMap(op, "the values", op.getValuesMap(), parallel + reduced,
                      op.getValues())) ||
      // Of parts of keys, checkKeyParts() asks for more.
      (countKeyParts(op) == 1 &&
       failed(checkMap(op, "the result", op.getResultMap(), parallel,
                       op.getInit()))))
    return failure();
  for (auto [i, operand] : llvm::enumerate(op.getEpilogue()))
    if (failed(
            checkMap(op, "the epilogue", op.getMap(2 + i), parallel, operand)))
      return failure();
  return success();
}

/// The weights are where the scores were: their dims are parallel ones, and
/// keys in the end.
static LogicalResult checkWeightsMap(AttentionOp op) {
  ArrayRef<int64_t> scores = op.getScoresParallel();
  size_t parallel = op.getParallel().size(), reduced = op.getReduced().size();
  AffineMap weights = op.getWeightsMap();
  if (weights.getNumDims() != parallel + reduced ||
      weights.getNumSymbols() != 0 || weights.getNumResults() != scores.size())
    return op.emitOpError("expected the weights' map over ")
           << parallel + reduced << " dims to have " << scores.size()
           << " results, found " << AffineMapAttr::get(weights);
  for (auto [i, expr] : llvm::enumerate(weights.getResults().drop_back())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    bool isOne = isa<AffineConstantExpr>(expr) && scores[i] == 1;
    if (!isOne && (!dim || dim.getPosition() >= parallel ||
                   op.getParallel()[dim.getPosition()] != scores[i]))
      return op.emitOpError("expected dim ")
             << i << " of the weights to be a parallel dim of size "
             << scores[i] << ", found " << AffineMapAttr::get(weights);
  }
  for (unsigned d = 0; d != parallel; ++d)
    if (weights.getResults().back().isFunctionOfDim(d))
      return op.emitOpError("expected the last dim of the weights to count "
                            "keys alone, found ")
             << AffineMapAttr::get(weights);
  int64_t keys = 1;
  for (int64_t size : op.getReduced())
    keys *= size;
  if (keys != scores.back())
    return op.emitOpError("expected as many keys as the scores have, ")
           << scores.back() << ", found " << keys;
  return success();
}

LogicalResult AttentionOp::verify() {
  for (ArrayRef<int64_t> sizes :
       {getScoresParallel(), getScoresReduced(), getParallel(), getReduced()})
    for (int64_t size : sizes)
      if (size < 0)
        return emitOpError("expected sizes of 0 or more, found ") << size;
  if (getScoresParallel().empty() || getParallel().empty() ||
      getReduced().empty())
    return emitOpError("expected parallel dims and keys");
  if (failed(checkScoresMaps(*this)) || failed(checkResultMaps(*this)) ||
      failed(checkWeightsMap(*this)))
    return failure();
  bool isTensor = isa<RankedTensorType>(getInit().getType());
  if (getNumResults() != isTensor ||
      (isTensor && getResult(0).getType() != getInit().getType()))
    return noteAt(emitOpError("expected a result of the destination's type, ")
                      << getInit().getType()
                      << ", where that is a tensor, found " << getResultTypes(),
                  getInit().getLoc(), "the destination is here");
  return getLevelsAttr() ? checkLevels(*this) : success();
}

LogicalResult AttentionOp::verifyRegions() {
  Block &score = getScore().front(), &weigh = getWeigh().front();
  for (Block *block : {&score, &getHide().front(), &weigh, &getBody().front()})
    if (block->getNumArguments() == 0 || !isa<YieldOp>(block->back()))
      return noteAt(emitOpError("expected bodies over a number that yield one"),
                    block->back().getLoc(), "this one ends here");
  Type type = getScoreType();
  if (!isa<FloatType>(type) || !isa<FloatType>(getWeightType()))
    return emitOpError("expected scores and weights of a float type, found ")
           << type << " and " << getWeightType();
  auto sums = [](Block &block) { return block.getArgument(0).getType(); };
  if (failed(checkBody(*this, score, sums(score), getScoring(), type)) ||
      failed(checkBody(*this, weigh, type, {}, getWeightType())) ||
      failed(checkBody(*this, getBody().front(), sums(getBody().front()),
                       getEpilogue(), elementOf(getInit()))))
    return failure();
  if (failed(checkBody(*this, getHide().front(), type, getHiding(), type)))
    return failure();
  if (getKeyLoop() && failed(checkLoop(*this)))
    return failure();
  return hasGroup() ? checkGroup(*this) : success();
}
