// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a strategy must hold for the contraction that it is for: whoever has one
// that passes can be expanded.
#include "CheckMap.h"
#include "mlir/IR/Builders.h"
#include <numeric>

using namespace mlir;
using namespace ashlar::tile;

/// How many columns of a dim lie side by side, where an operand has panels; of
/// several lengths, what divides all of them.
static int64_t panelOf(AffineMap map, unsigned dim) {
  int64_t panel = 0;
  for (AffineExpr expr : map.getResults())
    expr.walk([&](AffineExpr inner) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(inner);
      if (binary &&
          (binary.getKind() == AffineExprKind::FloorDiv ||
           binary.getKind() == AffineExprKind::Mod) &&
          binary.getLHS().isFunctionOfDim(dim))
        if (auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
          panel = std::gcd(panel, divisor.getValue());
    });
  return panel;
}

/// Whether neighbours along `dim` lie side by side, as far as the map says.
static bool isSideBySide(AffineMap map, unsigned dim) {
  if (map.getNumResults() == 0 || !map.isFunctionOfDim(dim))
    return false;
  for (AffineExpr expr : map.getResults().drop_back())
    if (expr.isFunctionOfDim(dim))
      return false;
  AffineExpr last = map.getResults().back();
  AffineExpr next = last.replace(getAffineDimExpr(dim, map.getContext()),
                                 getAffineDimExpr(dim, map.getContext()) + 1);
  return simplifyAffineExpr(next - last, map.getNumDims(), 0) ==
         getAffineConstantExpr(1, map.getContext());
}

/// Whether places move evenly with each dim, but for columns of b in panels.
static bool isEven(AffineMap map, bool mayHavePanels, unsigned parallel) {
  bool found = true;
  for (AffineExpr expr : map.getResults())
    expr.walk([&](AffineExpr inner) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(inner);
      if (!binary || binary.getKind() == AffineExprKind::Add ||
          binary.getKind() == AffineExprKind::Mul)
        return;
      auto column = dyn_cast<AffineDimExpr>(binary.getLHS());
      found &= mayHavePanels && column && column.getPosition() < parallel &&
               isa<AffineConstantExpr>(binary.getRHS()) &&
               binary.getKind() != AffineExprKind::CeilDiv;
    });
  return found;
}

namespace {
class StrategyChecker {
public:
  explicit StrategyChecker(ContractOp op)
      : op(op), strategy(op.getStrategyAttr()),
        parallel(op.getParallel().size()) {
    sizes.assign(op.getParallel().begin(), op.getParallel().end());
    llvm::append_range(sizes, op.getReduced());
  }

  LogicalResult run() {
    if (strategy.getNumParallel() != parallel ||
        strategy.getNumDims() != sizes.size())
      return op.emitOpError("expected a strategy over ")
             << parallel << " | " << sizes.size() - parallel << " dims, found "
             << strategy;
    for (auto [i, map] : llvm::enumerate(op.getMaps()))
      if (!isEven(cast<AffineMapAttr>(map).getValue(),
                  /*mayHavePanels=*/i == 1, parallel))
        return op.emitOpError("expected places that move evenly with each dim, "
                              "but for columns of b in panels, found ")
               << map;
    if (failed(checkTiles()) || failed(checkUnit()) || failed(checkMasks()))
      return failure();
    for (HopAttr hop : strategy.getHops())
      if (hop.getKind() != HopKind::Prefetch && failed(checkHop(hop)))
        return failure();
    return success();
  }

private:
  AffineMap mapOf(OperandKind operand) {
    return operand == OperandKind::A ? op.getAMap() : op.getBMap();
  }
  Value valueOf(OperandKind operand) {
    return operand == OperandKind::A ? op.getA() : op.getB();
  }

  bool hasEdge(unsigned d) { return strategy.hasEdge(d, sizes[d], isOpen(d)); }
  /// Whether the size of a dim is a value.
  bool isOpen(unsigned d) {
    std::pair<Value, AffineMap> all[] = {{op.getA(), op.getAMap()},
                                         {op.getB(), op.getBMap()},
                                         {op.getInit(), op.getResultMap()}};
    bool found = false;
    for (auto [value, map] : ArrayRef(all).take_front(d < parallel ? 3 : 2))
      for (auto [i, expr] : llvm::enumerate(map.getResults())) {
        bool isDynamic = cast<ShapedType>(value.getType()).isDynamicDim(i);
        // Beside a window's own size, that of the places it moves to is open.
        if (!isDynamic && expr == getAffineDimExpr(d, map.getContext()))
          return false;
        found |= isDynamic && expr.isFunctionOfDim(d);
      }
    return found;
  }

  LogicalResult checkTiles() {
    for (unsigned d = 0; d != sizes.size(); ++d) {
      int64_t above = 0;
      for (LevelAttr level : strategy.getLevels()) {
        int64_t tile = level.getTile(d);
        if (tile == 0)
          continue;
        // Parts would overlap.
        if (above && (above < sizes[d] || strategy.isMasked(d)) &&
            above % tile != 0)
          return op.emitOpError("expected the tiles of dim ")
                 << d << " to divide those above, " << above << ", found "
                 << tile;
        above = tile;
      }
      int64_t tile = strategy.getTile(d);
      if (d >= parallel) {
        for (LevelAttr level : strategy.getGrids())
          if (int64_t part = level.getTile(d);
              part && !strategy.isMasked(d) && sizes[d] % part != 0)
            return op.emitOpError("expected parts that divide the ")
                   << sizes[d] << " terms of dim " << d << ", or a mask, found "
                   << part;
        continue;
      }
      bool isWalked = llvm::any_of(strategy.getLoops(),
                                   [&](auto loop) { return loop.dim == d; });
      if (!isWalked && !strategy.isMasked(d) &&
          (isOpen(d) || sizes[d] % tile != 0))
        return op.emitOpError("expected a loop over dim ")
               << d << ", or a mask, where its tile does not divide its "
               << sizes[d] << ", found " << tile;
      if (failed(checkPanels(d, tile)))
        return failure();
    }
    return success();
  }

  /// A tile is read from one panel.
  LogicalResult checkPanels(unsigned d, int64_t tile) {
    int64_t panel = panelOf(op.getBMap(), d);
    if (panel && panel % tile != 0 && (sizes[d] > tile || sizes[d] > panel))
      return noteAt(op.emitOpError("expected tiles of dim ")
                        << d << " that divide the " << panel
                        << " columns of b's panels, found " << tile,
                    op.getB().getLoc(), "b is here");
    return success();
  }

  LogicalResult checkUnit() {
    size_t reduced = op.getReduced().size();
    if (strategy.isGrouped()) {
      unsigned group = sizes.size() - 1;
      if (int64_t tile = strategy.getTile(group); tile && tile < sizes[group])
        return op.emitOpError("expected groups of all ")
               << sizes[group] << " terms of dim " << group << ", found "
               << tile;
      if (!isSideBySide(op.getAMap(), group) ||
          (!strategy.getPack() && !isSideBySide(op.getBMap(), group)))
        return op.emitOpError("expected the terms of a group side by side in "
                              "a, and in b unless it is packed, found ")
               << op.getMaps()[0] << " and " << op.getMaps()[1];
    }
    // Registers of a matrix unit take whole groups and hold all terms.
    if (strategy.isMatrix() &&
        (!strategy.isGrouped() || reduced < 2 || sizes.back() < 1 ||
         strategy.getShape()[2] % sizes.back() != 0 || strategy.cutsTerms() ||
         strategy.getPrefetchDistance() != 0))
      return op.emitOpError("expected groups of terms, some to a product of "
                            "the matrix unit, all of them in one sum and none "
                            "asked for early, found ")
             << strategy;
    return success();
  }

  /// Zeros stand for what lies beyond the end, so all of it must be copied; and
  /// a place of the result lies beyond it if its own dim does.
  LogicalResult checkMasks() {
    for (unsigned d = 0; d != sizes.size(); ++d) {
      if (!hasEdge(d))
        continue;
      for (OperandKind operand : {OperandKind::A, OperandKind::B}) {
        AffineMap map = mapOf(operand);
        if (!map.isFunctionOfDim(d))
          continue;
        if (!strategy.getHop(operand, HopKind::Ring))
          return op.emitOpError("expected ")
                 << stringifyOperandKind(operand) << " in a ring, where dim "
                 << d << " is masked";
        for (unsigned other = parallel; other != sizes.size(); ++other)
          if (map.isFunctionOfDim(other) && isOpen(other) &&
              !strategy.isMasked(other))
            return op.emitOpError("expected terms of a known size, or masked, "
                                  "beside the masked dim ")
                   << d << ", found dim " << other;
        if (!movesForward(map, d) || (d >= parallel && !standsAlone(map, d)))
          return op.emitOpError("expected a masked dim to move forward in ")
                 << stringifyOperandKind(operand)
                 << ", terms along dims of their own, found dim " << d << " in "
                 << AffineMapAttr::get(map);
      }
      if (d < parallel && !standsAlone(op.getResultMap(), d))
        return op.emitOpError("expected a masked dim to be a dim of the "
                              "result, found dim ")
               << d << " in " << AffineMapAttr::get(op.getResultMap());
    }
    return success();
  }

  /// In steps that are no panels.
  static bool movesForward(AffineMap map, unsigned d) {
    AffineExpr dim = getAffineDimExpr(d, map.getContext());
    return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
      AffineExpr step = simplifyAffineExpr(expr.replace(dim, dim + 1) - expr,
                                           map.getNumDims(), 0);
      auto constant = dyn_cast<AffineConstantExpr>(step);
      return constant && constant.getValue() >= 0;
    });
  }

  /// Whether one place moves with it by one, and with nothing else.
  static bool standsAlone(AffineMap map, unsigned d) {
    unsigned count = 0;
    for (AffineExpr expr : map.getResults()) {
      if (!expr.isFunctionOfDim(d))
        continue;
      AffineExpr dim = getAffineDimExpr(d, map.getContext());
      auto rest = dyn_cast<AffineConstantExpr>(
          simplifyAffineExpr(expr - dim, map.getNumDims(), 0));
      if (!rest || ++count > 1)
        return false;
    }
    return count == 1;
  }

  LogicalResult checkHop(HopAttr hop) {
    StringRef name = stringifyOperandKind(hop.getOperand());
    AffineMap map = mapOf(hop.getOperand());
    SmallVector<StrategyAttr::Loop> loops = strategy.getLoops();
    ArrayRef<StrategyAttr::Loop> all = loops;
    unsigned count = strategy.getLoopsTo(hop, map);
    auto walks = [](ArrayRef<StrategyAttr::Loop> some, unsigned d) {
      return llvm::any_of(some, [&](auto loop) { return loop.dim == d; });
    };
    for (unsigned d = 0; d != sizes.size(); ++d) {
      int64_t tile = 0;
      for (LevelAttr level : strategy.getLevels().take_front(hop.getAt() + 1))
        tile = level.getTile(d) ? level.getTile(d) : tile;
      if (hop.getOperand() == OperandKind::B && d < parallel &&
          failed(checkPanels(d, tile ? tile : std::max<int64_t>(1, sizes[d]))))
        return failure();
      if (!map.isFunctionOfDim(d) || walks(all.take_front(count), d) ||
          (d >= parallel && hop.getKind() == HopKind::Pack))
        continue;
      // What is copied has one size, of a dim that is not walked yet as well.
      int64_t part = strategy.getWorkerTile(d);
      bool isWhole =
          strategy.isMasked(d) ||
          (!isOpen(d) && (!part || part >= sizes[d] || sizes[d] % part == 0));
      if (isWhole &&
          (hop.getKind() == HopKind::Ring || !walks(all.drop_front(count), d)))
        continue;
      if (d >= parallel) // walked term by term, and read in place
        continue;
      return op.emitOpError("expected all loops that ")
             << name << " depends on outside of where it is "
             << (hop.getKind() == HopKind::Pack ? "packed" : "copied")
             << ", found that over dim " << d << " inside";
    }
    if (hop.getMulticast() &&
        failed(checkSharing(name, map, all.take_front(count))))
      return failure();
    if (LayoutAttr layout = hop.getLayout())
      for (ArrayRef<int64_t> perDim : {layout.getOrder(), layout.getPad()})
        if (int64_t rank = rankOf(valueOf(hop.getOperand()));
            !perDim.empty() && int64_t(perDim.size()) != rank)
          return noteAt(
              op.emitOpError("expected a layout of the ")
                  << rank << " dims of " << name << ", found " << layout,
              valueOf(hop.getOperand()).getLoc(), "the operand is here");
    return success();
  }

  /// Of what the parts of the last grid level copy together, inside of `loops`:
  /// each of them reads the same as often.
  LogicalResult checkSharing(StringRef name, AffineMap map,
                             ArrayRef<StrategyAttr::Loop> loops) {
    ArrayRef<LevelAttr> grids = strategy.getGrids();
    bool isShared = false;
    for (unsigned d = 0; d != sizes.size(); ++d) {
      int64_t tile = grids.back().getTile(d), above = sizes[d];
      for (LevelAttr level : grids.drop_back())
        above = level.getTile(d) ? level.getTile(d) : above;
      if (tile == 0 || (tile >= std::min(above, sizes[d]) && !isOpen(d)))
        continue;
      isShared = true;
      // The last of them may have nothing but its share; of a single row
      // nobody asks whether it is there.
      bool isWhole =
          !isOpen(d) && d < parallel && above % tile == 0 &&
          ((strategy.isMasked(d) && tile > 1) || sizes[d] % above == 0);
      bool isWalked =
          llvm::any_of(loops, [&](auto loop) { return loop.dim == d; });
      if (map.isFunctionOfDim(d) || !isWhole || isWalked)
        return op.emitOpError("expected parts of the last grid level that read "
                              "the same of ")
               << name << ", as many in each of the level above and as often, "
               << "found those along dim " << d;
    }
    if (!isShared)
      return op.emitOpError("expected several parts of the last grid level to "
                            "share copies of ")
             << name << ", found one";
    return success();
  }

  ContractOp op;
  StrategyAttr strategy;
  size_t parallel;
  SmallVector<int64_t> sizes; ///< of all dims
};
} // namespace

LogicalResult ContractOp::verifyStrategy() {
  return StrategyChecker(*this).run();
}
