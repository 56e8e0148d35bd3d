// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LevelProblem.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

/// Of tiles of a grid, which as many columns follow. About as many rows as
/// columns run at once on machines of some hundred workers: 8 x 16, of tiles
/// that are twice as wide as high.
static constexpr int64_t rowsTogether = 8;

tile::LayoutAttr ashlar::swizzledRows(MLIRContext *context,
                                      const Memory &memory, int64_t bytes,
                                      int64_t rowElements) {
  // Rows of at most so many bytes, a power of two, whose number changes the
  // place of units of 16 bytes in them; what is longer is cut into blocks of
  // such.
  int64_t all = rowElements * bytes;
  int64_t row = std::min(all & -all, memory.swizzleBytes);
  if (row < 32)
    return {};
  int64_t base = llvm::Log2_64(16 / bytes);
  return tile::LayoutAttr::get(context, {}, {},
                               {int64_t(llvm::Log2_64(row / 16)), base, 3},
                               all == row ? 0 : row / bytes);
}

tile::FragmentAttr ashlar::fragmentOf(MLIRContext *context,
                                      const MultiplyUnit &unit) {
  auto pairs = [](const std::vector<FragmentStep> &steps) {
    SmallVector<int64_t> all;
    for (const FragmentStep &step : steps)
      all.append({step.rows, step.columns});
    return all;
  };
  return tile::FragmentAttr::get(context, pairs(unit.fragment->registers),
                                 pairs(unit.fragment->lanes),
                                 unit.fragment->inFlight);
}

tile::LayoutAttr LevelProblem::layoutOf(Value operand, int64_t rowElements) {
  int64_t bytes = elementBytes(getElementTypeOrSelf(operand));
  MLIRContext *context = op.getContext();
  int64_t rank = cast<ShapedType>(operand.getType()).getRank();
  if (!readsLanes())
    if (tile::LayoutAttr layout =
            swizzledRows(context, *near, bytes, rowElements))
      return layout;
  // Lanes read many rows at once; arrays have a port for each bank.
  if (near->banks == 1 || !readsLanes() || !group->registerBytes)
    return {};
  SmallVector<int64_t> pad(rank, 0);
  pad.back() = std::max<int64_t>(1, 4 / bytes);
  return tile::LayoutAttr::get(context, {}, pad, {});
}

DictionaryAttr LevelProblem::hints(const LevelCandidate &one) {
  Builder b(op.getContext());
  if (!unit->fragment)
    return b.getDictionaryAttr({});
  SmallVector<NamedAttribute> all = {
      b.getNamedAttr("fragment", fragmentOf(op.getContext(), *unit)),
      b.getNamedAttr("raster", b.getI64IntegerAttr(rowsTogether))};
  if (one.stores)
    all.push_back(b.getNamedAttr("stores", b.getStringAttr(one.stores->name)));
  return b.getDictionaryAttr(all);
}

tile::StrategyAttr LevelProblem::strategyOf(const LevelCandidate &one) {
  Builder b(op.getContext());
  SmallVector<tile::LevelAttr> levels;
  SmallVector<int64_t> terms(one.tile.begin() + numParallel, one.tile.end()),
      none(terms.size(), 0),
      parallel(one.tile.begin(), one.tile.begin() + numParallel);
  auto add = [&](tile::LevelKind kind, StringRef scope, ArrayRef<int64_t> tiles,
                 ArrayRef<int64_t> reduced, ArrayRef<int64_t> order) {
    levels.push_back(tile::LevelAttr::get(b.getContext(), kind, scope, tiles,
                                          reduced, order));
  };
  SmallVector<int64_t> order;
  if (isGridded()) {
    if (one.across > 1) {
      SmallVector<int64_t> wide(parallel);
      wide[*dimAcross(one)] *= one.across;
      add(tile::LevelKind::Grid, outer->name, wide, none, {});
    }
    add(tile::LevelKind::Grid, inner->name, parallel, none, {});
  } else {
    for (unsigned d = 0; d != numParallel; ++d)
      order.push_back(d);
  }
  order.append(k.begin(), k.end());
  int64_t inside = levels.size();
  add(tile::LevelKind::Loop, "", parallel, terms, order);
  if (one.part != parallel)
    add(tile::LevelKind::Group, group->name, one.part, none, {});
  SmallVector<tile::HopAttr> hops;
  for (auto [kind, operand] : {std::pair(tile::OperandKind::A, op.getA()),
                               std::pair(tile::OperandKind::B, op.getB())})
    for (const CopyEngine *engine : path) {
      bool isLast = engine == path.back();
      AffineMap map =
          kind == tile::OperandKind::A ? op.getAMap() : op.getBMap();
      hops.push_back(tile::HopAttr::get(
          b.getContext(), kind, tile::HopKind::Ring, engine->to, inside,
          isLast ? one.slots : 1, engineOf(operand, *engine)->name,
          isLast ? layoutOf(operand, rowOf(map, one)) : tile::LayoutAttr(),
          /*multicast=*/one.across > 1 && kind == tile::OperandKind::B));
    }
  SmallVector<int64_t> masked;
  for (unsigned d = 0; d != sizes.size(); ++d)
    if (int64_t across = dimAcross(one) == d ? one.across : 1;
        openSizes || sizes[d] % (one.tile[d] * across) != 0)
      masked.push_back(d);
  SmallVector<int64_t> rows(m.begin(), m.end()), columns(n.begin(), n.end()),
      depth(k.begin(), k.end()), both(lanes.begin(), lanes.end());
  SmallVector<tile::TeamAttr> roles;
  if (hasRoles()) {
    int64_t groups = 1;
    for (auto [size, part] : llvm::zip(parallel, one.part))
      groups *= size / part;
    roles = {tile::TeamAttr::get(b.getContext(), "producer",
                                 path.front()->boxes->scope, 1, 0),
             tile::TeamAttr::get(b.getContext(), "consumer", group->name,
                                 groups, 0)};
  }
  return tile::StrategyAttr::get(
      b.getContext(), unit->name, /*shape=*/{}, rows, columns, depth,
      /*group=*/{}, both, levels, hops, unit->accumulatorSpace,
      /*promote=*/-1, masked, /*partials=*/"", roles, hints(one));
}
