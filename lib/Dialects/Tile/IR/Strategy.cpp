// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every contraction's strategy must hold, and what is read of it.
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ashlar::tile;

//===-- What holds for all of them ----------------------------------------===//

namespace {
/// A tile per dim, and loops over what is cut.
class LevelVerifier {
public:
  LevelVerifier(llvm::function_ref<InFlightDiagnostic()> error,
                ArrayRef<LevelAttr> levels)
      : error(error), levels(levels),
        parallel(levels.back().getParallel().size()),
        dims(levels.back().getNumDims()), tiles(dims, 0), shared(dims, 0),
        isOrdered(dims, false) {}

  LogicalResult run(int64_t promote, bool hasPartials) {
    for (LevelAttr level : levels)
      if (failed(checkShape(level)) ||
          failed(level.getKind() == LevelKind::Loop ? checkLoop(level)
                                                    : checkShared(level)))
        return failure();
    if (!lastLoop)
      return error() << "expected a loop level in a strategy";
    for (unsigned d = 0; d != parallel; ++d) {
      int64_t held = lastLoop.getTile(d);
      if (held == 0)
        return error() << "expected what an accumulator holds of dim " << d
                       << ", found " << lastLoop;
      if (!isOrdered[d] && held != shared[d])
        return error() << "expected a loop over dim " << d
                       << " in one of the levels, found none";
    }
    if (hasPartials != splitsTerms)
      return error() << (hasPartials ? "expected a grid level that shares out "
                                       "terms, for 'partials', found none"
                                     : "expected 'partials' and their memory, "
                                       "since the grid shares out terms");
    auto isTerm = [&](int64_t dim) { return dim >= int64_t(parallel); };
    if (promote != -1 && (promote < 0 || promote >= int64_t(levels.size()) ||
                          levels[promote].getKind() != LevelKind::Loop ||
                          llvm::none_of(levels[promote].getOrder(), isTerm)))
      return error() << "expected sums to be promoted at a level with loops "
                        "over terms, found "
                     << promote;
    return success();
  }

private:
  /// Grids, then loops, then groups, with as many sizes.
  LogicalResult checkShape(LevelAttr level) {
    if (level.getParallel().size() != parallel || level.getNumDims() != dims)
      return error() << "expected as many sizes in all levels as in the last, "
                     << parallel << " | " << dims - parallel << ", found "
                     << level;
    if (level.getKind() < kind)
      return error() << "expected grid levels, then loops, then groups, found "
                     << level << " behind another";
    kind = level.getKind();
    for (unsigned d = 0; d != dims; ++d)
      if (level.getTile(d) < 0)
        return error() << "expected tiles of 1 or more, found " << level;
    return success();
  }

  LevelAttr last() const {
    for (LevelAttr level : llvm::reverse(levels))
      if (level.getKind() == LevelKind::Loop)
        return level;
    return {};
  }

  /// Among instances of a scope.
  LogicalResult checkShared(LevelAttr level) {
    if (!level.getOrder().empty())
      return error() << "expected loops to have orders alone, found " << level;
    for (unsigned d = 0; d != dims; ++d) {
      if (level.getTile(d) == 0)
        continue;
      if (kind == LevelKind::Grid) {
        splitsTerms |= d >= parallel;
        tiles[d] = shared[d] = level.getTile(d);
      } else if (d >= parallel && level.getTile(d) != tiles[d])
        return error() << "expected groups to share parallel dims, found "
                       << level;
    }
    return success();
  }

  LogicalResult checkLoop(LevelAttr level) {
    lastLoop = level;
    SmallVector<bool> isOwn(dims, false);
    int64_t before = -1; // the last term of this level
    for (int64_t dim : level.getOrder()) {
      if (dim < 0 || dim >= int64_t(dims) || isOwn[dim])
        return error() << "expected each dim at most once in an order, found "
                       << level;
      isOwn[dim] = isOrdered[dim] = true;
      if (level.getTile(dim) == 0)
        return error() << "expected a tile of dim " << dim
                       << ", over which it loops, in " << level;
      bool isTerm = dim >= int64_t(parallel);
      if (isTerm ? dim < before : walksTerms)
        return error() << "expected loops over terms inside all others, in "
                          "the order of their dims, found "
                       << level;
      walksTerms |= isTerm;
      before = isTerm ? dim : before;
    }
    for (unsigned d = 0; d != dims; ++d) {
      int64_t tile = level.getTile(d);
      // Of a dim that nothing walks, more is said at the end.
      if (tile != 0 && !isOwn[d] && tile != tiles[d] &&
          (d >= parallel || isOrdered[d] || tiles[d] != 0 || level != last())) {
        if (tiles[d] != 0)
          return error() << "expected the tile of dim " << d << " from above, "
                         << tiles[d] << ", where no loop cuts it, found "
                         << level;
        return error() << "expected '_' for dim " << d
                       << " in front of its loop, found " << level;
      }
      if (tile != 0)
        tiles[d] = tile;
    }
    return success();
  }

  llvm::function_ref<InFlightDiagnostic()> error;
  ArrayRef<LevelAttr> levels;
  size_t parallel, dims;
  SmallVector<int64_t> tiles;  ///< so far; 0: not cut
  SmallVector<int64_t> shared; ///< by the grid
  SmallVector<bool> isOrdered;
  LevelKind kind = LevelKind::Grid;
  LevelAttr lastLoop;
  bool walksTerms = false, splitsTerms = false;
};
} // namespace

static LogicalResult verifyHops(llvm::function_ref<InFlightDiagnostic()> error,
                                ArrayRef<LevelAttr> levels,
                                ArrayRef<HopAttr> hops) {
  unsigned kinds[2][3] = {};
  auto grids = llvm::count_if(levels, [](LevelAttr level) {
    return level.getKind() == LevelKind::Grid;
  });
  int64_t lastRing[2] = {};
  for (HopAttr hop : hops) {
    auto &own = kinds[unsigned(hop.getOperand())];
    if (hop.getSlots() < 1 || hop.getSlots() > RingType::mostSlots ||
        (own[unsigned(hop.getKind())]++ && hop.getKind() != HopKind::Ring))
      return error() << "expected one hop of a kind but for rings, with slots "
                        "of 1 to "
                     << RingType::mostSlots << ", found " << hop;
    if (hop.getKind() == HopKind::Prefetch) {
      if (hop.getOperand() == OperandKind::A)
        return error() << "expected prefetches of b alone, found " << hop;
      continue;
    }
    if (hop.getAt() < 0 || hop.getAt() >= int64_t(levels.size()) ||
        levels[hop.getAt()].getKind() != LevelKind::Loop)
      return error() << "expected the number of a loop level in " << hop;
    if (hop.getMulticast() && (hop.getKind() != HopKind::Ring ||
                               hop.getEngine().empty() || grids < 2))
      return error()
             << "expected a ring that an engine fills, and a grid level "
                "in another one, for a copy that several share, found "
             << hop;
    if (hop.getKind() == HopKind::Ring) {
      int64_t &last = lastRing[unsigned(hop.getOperand())];
      if (hop.getAt() < last)
        return error() << "expected rings of an operand from far to near, "
                          "found level "
                       << hop.getAt() << " behind level " << last;
      last = hop.getAt();
      continue;
    }
    if (hop.getOperand() == OperandKind::A)
      return error() << "expected b alone to be packed, found " << hop;
    auto cuts = [](LevelAttr level) {
      return llvm::any_of(level.getReduced(),
                          [](int64_t tile) { return tile != 0; });
    };
    if (llvm::any_of(levels.take_front(hop.getAt() + 1), cuts))
      return error() << "expected a level that has all terms in " << hop
                     << ", found " << levels[hop.getAt()];
  }
  // What a ring holds lies as it is copied, and where it is near.
  unsigned *ofB = kinds[unsigned(OperandKind::B)];
  if (ofB[unsigned(HopKind::Ring)] &&
      (ofB[unsigned(HopKind::Pack)] || ofB[unsigned(HopKind::Prefetch)]))
    return error() << "expected b in a ring, or packed or prefetched, not both";
  return success();
}

LogicalResult TeamAttr::verify(llvm::function_ref<InFlightDiagnostic()> error,
                               StringRef role, StringRef scope, int64_t count,
                               int64_t registers) {
  if (role.empty() || scope.empty() || count < 1 || registers < 0)
    return error() << "expected a role, a scope and how many of it, 1 or more";
  return success();
}

static LogicalResult verifyRoles(llvm::function_ref<InFlightDiagnostic()> error,
                                 ArrayRef<TeamAttr> roles,
                                 ArrayRef<HopAttr> hops) {
  if (roles.empty())
    return success();
  if (roles.size() != 2 || roles[0].getRole() != "producer" ||
      roles[1].getRole() != "consumer")
    return error() << "expected the roles 'producer' and 'consumer', in this "
                      "order, or none";
  for (OperandKind operand : {OperandKind::A, OperandKind::B})
    if (llvm::count_if(hops, [&](HopAttr hop) {
          return hop.getOperand() == operand;
        }) != 1)
      return error() << "expected one ring of each operand, for roles";
  for (HopAttr hop : hops)
    if (hop.getKind() != HopKind::Ring || hop.getSlots() < 2 ||
        hop.getEngine().empty())
      return error() << "expected rings of two slots and more that an engine "
                        "fills, for roles, found "
                     << hop;
  return success();
}

LogicalResult StrategyAttr::verify(
    llvm::function_ref<InFlightDiagnostic()> error, StringRef unit,
    ArrayRef<int64_t> shape, ArrayRef<int64_t> m, ArrayRef<int64_t> n,
    ArrayRef<int64_t> k, ArrayRef<int64_t> group, ArrayRef<int64_t> lanes,
    ArrayRef<LevelAttr> levels, ArrayRef<HopAttr> hops, StringRef accumulator,
    int64_t promote, ArrayRef<int64_t> masked, StringRef partials,
    ArrayRef<TeamAttr> roles, DictionaryAttr hints) {
  if (levels.empty())
    return error() << "expected a loop level in a strategy";
  if (failed(LevelVerifier(error, levels).run(promote, !partials.empty())))
    return failure();
  int64_t parallel = levels.back().getParallel().size(),
          dims = levels.back().getNumDims();
  SmallVector<bool> isOnUnit(dims, false);
  for (auto [list, areTerms] : {std::pair(m, false),
                                {n, false},
                                {lanes, false},
                                {k, true},
                                {group, true}})
    for (int64_t dim : list) {
      if (dim < 0 || dim >= dims || isOnUnit[dim] ||
          (dim >= parallel) != areTerms)
        return error()
               << "expected parallel dims on m, n and lanes and reduced "
                  "ones on k, each once, found dim "
               << dim;
      isOnUnit[dim] = true;
    }
  if (group.size() > 1 || (!group.empty() && group.front() != dims - 1))
    return error() << "expected the last dim as the group of terms";
  if (!shape.empty() && (shape.size() != 3 ||
                         llvm::any_of(shape, [](int64_t s) { return s < 1; })))
    return error() << "expected rows, columns and terms of the unit's product";
  SmallVector<bool> isMasked(dims, false);
  for (int64_t dim : masked) {
    if (dim < 0 || dim >= dims || isMasked[dim])
      return error() << "expected dims below " << dims
                     << " to be masked, each once, found " << dim;
    isMasked[dim] = true;
  }
  if (accumulator.empty())
    return error() << "expected 'acc' and the memory of sums";
  if (Attribute unroll = hints.get("unroll")) {
    auto terms = dyn_cast<IntegerAttr>(unroll);
    if (!terms || terms.getInt() < 1)
      return error() << "expected 'unroll' of 1 or more terms, found "
                     << unroll;
  }
  if (Attribute most = hints.get("edge_rows")) {
    auto rows = dyn_cast<IntegerAttr>(most);
    if (!rows || rows.getInt() < 1)
      return error() << "expected 'edge_rows' of 1 or more, found " << most;
  }
  if (Attribute raster = hints.get("raster")) {
    auto tiles = dyn_cast<IntegerAttr>(raster);
    if (!tiles || tiles.getInt() < 1)
      return error() << "expected 'raster' of 1 or more tiles, found "
                     << raster;
  }
  if (Attribute stores = hints.get("stores");
      stores && !isa<StringAttr>(stores))
    return error() << "expected 'stores' to be the name of a copy engine, "
                      "found "
                   << stores;
  if (Attribute fragment = hints.get("fragment");
      fragment && !isa<FragmentAttr>(fragment))
    return error() << "expected 'fragment' to be a #tile.fragment, found "
                   << fragment;
  return success(succeeded(verifyRoles(error, roles, hops)) &&
                 succeeded(verifyHops(error, levels, hops)));
}

//===-- What is read of them ----------------------------------------------===//

static ArrayRef<LevelAttr> levelsOf(ArrayRef<LevelAttr> levels,
                                    LevelKind kind) {
  auto is = [&](LevelAttr level) { return level.getKind() == kind; };
  levels = levels.drop_until(is);
  return levels.take_while(is);
}

ArrayRef<LevelAttr> StrategyAttr::getGrids() const {
  return levelsOf(getLevels(), LevelKind::Grid);
}
ArrayRef<LevelAttr> StrategyAttr::getGroups() const {
  return levelsOf(getLevels(), LevelKind::Group);
}

/// The innermost size that levels give a dim; 0: none.
static int64_t innermost(ArrayRef<LevelAttr> levels, unsigned dim) {
  for (LevelAttr level : llvm::reverse(levels))
    if (int64_t tile = level.getTile(dim))
      return tile;
  return 0;
}

int64_t StrategyAttr::getWorkerTile(unsigned dim) const {
  return innermost(getGrids(), dim);
}

int64_t StrategyAttr::getTile(unsigned dim) const {
  return innermost(getLevels().drop_back(getGroups().size()), dim);
}

int64_t StrategyAttr::getOutermostTile(unsigned dim) const {
  for (LevelAttr level : getLevels().drop_back(getGroups().size()))
    if (int64_t tile = level.getTile(dim))
      return tile;
  return 0;
}

bool StrategyAttr::hasEdge(unsigned dim, int64_t size, bool isOpen) const {
  int64_t tile = getOutermostTile(dim);
  return isMasked(dim) && tile && (isOpen || size % tile != 0);
}

SmallVector<StrategyAttr::Loop> StrategyAttr::getLoops() const {
  SmallVector<Loop> loops;
  for (auto [number, level] : llvm::enumerate(getLevels()))
    for (int64_t dim : level.getOrder())
      loops.push_back({unsigned(dim), unsigned(number), level.getTile(dim)});
  return loops;
}

unsigned StrategyAttr::getLoopsTo(HopAttr hop, AffineMap map) const {
  unsigned count = 0;
  for (auto [number, loop] : llvm::enumerate(getLoops()))
    if (loop.level <= hop.getAt() && map.isFunctionOfDim(loop.dim))
      count = number + 1;
  return count;
}

int64_t StrategyAttr::getUnroll() const {
  auto unroll = getHints().getAs<IntegerAttr>("unroll");
  return unroll ? unroll.getInt() : 1;
}

int64_t StrategyAttr::getRaster() const {
  auto raster = getHints().getAs<IntegerAttr>("raster");
  return raster ? raster.getInt() : 1;
}

/// The same on fewer levels, by one worker.
static StrategyAttr withoutGrid(StrategyAttr of, bool hasHops) {
  int64_t gone = of.getGrids().size();
  SmallVector<HopAttr> hops;
  for (HopAttr hop : of.getHops())
    if (hasHops)
      hops.push_back(HopAttr::get(
          of.getContext(), hop.getOperand(), hop.getKind(), hop.getMemory(),
          std::max<int64_t>(0, hop.getAt() - gone), hop.getSlots(),
          hop.getEngine(), hop.getLayout(), /*multicast=*/false));
  return StrategyAttr::get(
      of.getContext(), of.getUnit(), of.getShape(), of.getM(), of.getN(),
      of.getK(), of.getGroup(), of.getLanes(), of.getLevels().drop_front(gone),
      hops, of.getAccumulator(),
      of.getPromote() < 0 ? -1 : of.getPromote() - gone, of.getMasked(),
      /*partials=*/"", hasHops ? of.getRoles() : ArrayRef<TeamAttr>(),
      of.getHints());
}

StrategyAttr StrategyAttr::clippedTo(ArrayRef<int64_t> sizes) const {
  SmallVector<LevelAttr> levels;
  for (LevelAttr level : getLevels()) {
    SmallVector<int64_t> parallel(level.getParallel()),
        reduced(level.getReduced()), order;
    for (auto [tile, size] :
         llvm::zip(parallel, sizes.take_front(getNumParallel())))
      tile = std::min(tile, size);
    for (auto [tile, size] :
         llvm::zip(reduced, sizes.drop_front(getNumParallel())))
      tile = tile < size ? tile : 0;
    for (int64_t d : level.getOrder())
      if (d < getNumParallel() || reduced[d - getNumParallel()] != 0)
        order.push_back(d);
    levels.push_back(LevelAttr::get(getContext(), level.getKind(),
                                    level.getScope(), parallel, reduced,
                                    order));
  }
  SmallVector<HopAttr> hops;
  for (HopAttr hop : getHops())
    hops.push_back(HopAttr::get(getContext(), hop.getOperand(), hop.getKind(),
                                hop.getMemory(), hop.getAt(), hop.getSlots(),
                                hop.getEngine(), hop.getLayout()));
  // Sums of all terms at once join nothing.
  int64_t promote = getPromote();
  if (promote >= 0 &&
      llvm::none_of(levels[promote].getReduced(), [](int64_t t) { return t; }))
    promote = -1;
  return StrategyAttr::get(getContext(), getUnit(), getShape(), getM(), getN(),
                           getK(), getGroup(), getLanes(), levels, hops,
                           getAccumulator(), promote, getMasked(),
                           getPartials(), getRoles(), getHints());
}

StrategyAttr StrategyAttr::inPlace() const {
  return ::withoutGrid(*this, /*hasHops=*/false);
}

StrategyAttr StrategyAttr::withoutGrid() const {
  return hasGrid() ? ::withoutGrid(*this, /*hasHops=*/true) : *this;
}
