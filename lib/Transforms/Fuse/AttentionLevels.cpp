// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionLevels.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Tile/IR/CutOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace ashlar;

int64_t AttentionTiles::countBoxes(ArrayRef<int64_t> sizes) const {
  int64_t boxes = 1;
  for (auto [size, whole] : llvm::zip(box, sizes))
    boxes *= llvm::divideCeil(whole, size);
  return boxes;
}

SmallVector<Attribute> AttentionTiles::toLevels(MLIRContext *context,
                                                ArrayRef<int64_t> parallel,
                                                unsigned numReduced) const {
  SmallVector<Attribute> levels;
  SmallVector<int64_t> cut, none(numReduced, 0), whole(parallel.size(), 0);
  for (auto [size, all] : llvm::zip(box, parallel))
    cut.push_back(size == all ? 0 : size);
  if (cut != whole)
    levels.push_back(tile::LevelAttr::get(context, tile::LevelKind::Grid,
                                          "core", cut, none, {}));
  if (keys != 0) {
    none[keyDim] = keys;
    levels.push_back(tile::LevelAttr::get(context, tile::LevelKind::Loop, "",
                                          whole, none,
                                          {int64_t(parallel.size() + keyDim)}));
  }
  return levels;
}

/// Whether `dim` stands alone in every result of the op's maps that it is in.
static bool standsAlone(tile::ContractOp op, unsigned dim) {
  return llvm::all_of(
      op.getMaps().getAsValueRange<AffineMapAttr>(), [&](AffineMap map) {
        return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
          return !expr.isFunctionOfDim(dim) || isa<AffineDimExpr>(expr);
        });
      });
}

namespace {
class TileChooser {
public:
  TileChooser(AttentionMatch &match, int64_t bytes, bool openSizes, bool shared)
      : m(match), scores(match.scores), values(match.values), bytes(bytes),
        openSizes(openSizes), shared(shared), sizes(match.values.getParallel()),
        box(sizes),
        numKeys(ShapedType::getNumElements(match.values.getReduced())),
        keyBytes(elementBytes(match.type)) {}

  std::optional<AttentionTiles> run() {
    if (!findRows())
      return std::nullopt;
    int64_t rows = sizes[rowDim], rowBytes = numKeys * keyBytes;
    if (openSizes)
      return shared ? openTiles() : openRows(rows, rowBytes);
    // A worker for each core of a large machine.
    constexpr int64_t wanted = 8;
    int64_t most = std::max(fewest, rows * batches / wanted);
    if (shared)
      if (std::optional<AttentionTiles> tiles = someKeys(most))
        return tiles;
    int64_t taken = largestDivisor(
        rows, std::min(bytes / std::max<int64_t>(rowBytes, 1), most));
    // With fewer rows than these keys and values are read too often, as was
    // measured: with 32 a loop is as fast, with 8 faster by a fifth.
    constexpr int64_t enough = 32;
    if (taken >= std::min(rows, enough))
      return wholeKeys(taken);
    if (std::optional<AttentionTiles> tiles = someKeys(most))
      return tiles;
    return taken >= std::min(rows, fewest) ? wholeKeys(taken) : std::nullopt;
  }

private:
  /// Rows enough for a box of sums.
  static constexpr int64_t fewest = 8;
  /// Of a loop's tile: corrections of sums are little work then.
  static constexpr int64_t fewestKeys = 64, mostKeys = 256;

  /// Sets one of each batch; whether there are rows of one dim besides.
  bool findRows() {
    for (auto [d, size] : llvm::enumerate(sizes)) {
      if (size == 1 || !values.getAMap().isFunctionOfDim(d))
        continue;
      if (!standsAlone(values, d))
        return false;
      if (values.getBMap().isFunctionOfDim(d)) {
        box[d] = 1;
        batches *= size;
      } else if (rowDim >= 0 && !shared) {
        return false;
      } else {
        // Of several dims of rows, as of heads that share keys, the last.
        if (rowDim >= 0) {
          box[rowDim] = 1;
          batches *= sizes[rowDim];
        }
        rowDim = d;
      }
    }
    // One row alone is a dim of one.
    for (unsigned d = 0; shared && rowDim < 0 && d != sizes.size(); ++d)
      if (standsAlone(values, d) && values.getAMap().isFunctionOfDim(d) &&
          !values.getBMap().isFunctionOfDim(d))
        rowDim = d;
    // The scores are cut at the same places: by dims of its own that do.
    for (auto [d, size] : llvm::enumerate(scores.getParallel()))
      if (size != 1 && d + 1 != scores.getParallel().size() &&
          !standsAlone(scores, d))
        return false;
    return rowDim >= 0 && !values.getPad() && !scores.getPad();
  }

  /// Of those that are multiples of `unit`; 0 or less: there is none.
  static int64_t largestDivisor(int64_t size, int64_t most, int64_t unit = 1) {
    most = std::min(size, most) / unit * unit;
    while (most > 0 && size % most != 0)
      most -= unit;
    return most;
  }

  std::optional<AttentionTiles> wholeKeys(int64_t rows) {
    box[rowDim] = rows;
    return AttentionTiles{box};
  }

  /// All rows, or as many as keep their scores near; the last box may be
  /// shorter.
  std::optional<AttentionTiles> openRows(int64_t rows, int64_t rowBytes) {
    if (rows * rowBytes <= bytes)
      return wholeKeys(rows);
    // Each box puts all keys into panels of its own: of twice as many rows,
    // that is done half as often (0.85 times the time with 1024 keys of 8
    // terms), and of few rows, it is most of the work.
    int64_t taken = std::min(rows, 2 * bytes / rowBytes);
    if (taken < 2 * fewest) {
      AttentionTiles tiles = openTiles();
      return tiles.keys ? std::optional(tiles) : std::nullopt;
    }
    // Whole tiles of sums: few rows are left over.
    tile::StrategyAttr strategy = scores.getStrategyAttr();
    int64_t tile = strategy && !strategy.getM().empty()
                       ? strategy.getTile(strategy.getM().back())
                       : 0;
    return wholeKeys(tile > 0 && tile <= taken ? taken / tile * tile : taken);
  }

  /// Rows and keys that need not divide what there is of them. Whether keys are
  /// cut hangs on no size.
  AttentionTiles openTiles() {
    // Tiles of sums are powers of two.
    auto rounded = [](int64_t most) {
      return int64_t(llvm::bit_floor(uint64_t(std::max<int64_t>(most, 1))));
    };
    box[rowDim] = std::min(sizes[rowDim], rounded(mostRows()));
    AttentionTiles tiles{box};
    if (values.getReduced().size() != 1 || strideOf(0) != 1 || !liesBare() ||
        !canLoop(0, 1, 1))
      return tiles;
    int64_t keys = bytes / (std::max<int64_t>(box[rowDim], 1) * keyBytes);
    tiles.keys = std::max<int64_t>(
        std::min(numKeys, rounded(std::min(keys, mostKeys))), 1);
    return tiles;
  }

  /// Whether all operands lie at dims alone, and nothing is read elsewhere:
  /// what lies beyond an end is left out by its dim.
  bool liesBare() {
    auto isBare = [](AffineMap map) {
      return map.isProjectedPermutation(/*allowZeroInResults=*/true);
    };
    auto readsElsewhere = [](Block *body) {
      return llvm::any_of(body->without_terminator(), [](Operation &inner) {
        return llvm::any_of(inner.getOperandTypes(), llvm::IsaPred<ShapedType>);
      });
    };
    return llvm::all_of(scores.getMaps().getAsValueRange<AffineMapAttr>(),
                        isBare) &&
           llvm::all_of(values.getMaps().getAsValueRange<AffineMapAttr>(),
                        isBare) &&
           !readsElsewhere(&scores.getBody().front()) &&
           !readsElsewhere(&values.getBody().front()) &&
           (!m.hide || (llvm::all_of(m.hide.getIndexingMapsArray(), isBare) &&
                        !readsElsewhere(m.hide.getBody())));
  }

  /// Of which the sums stay near. Where threads share them, with fewer keys
  /// corrections would be much of the work.
  int64_t mostRows() { return shared ? bytes / (fewestKeys * keyBytes) : 128; }

  std::optional<AttentionTiles> someKeys(int64_t most) {
    int64_t rows = sizes[rowDim];
    int64_t taken = largestDivisor(rows, std::min(most, mostRows()));
    if (taken < std::min(rows, 2 * fewest))
      taken = rows;
    int64_t keys = std::min(mostKeys, bytes / (taken * keyBytes));
    // Sums of more terms would be put together from several.
    if (tile::StrategyAttr strategy = values.getStrategyAttr();
        strategy && !shared)
      for (unsigned d = 0; d != values.getReduced().size(); ++d)
        if (int64_t tile = strategy.getTile(sizes.size() + d))
          keys = std::min(keys, tile * strideOf(d));
    for (auto [d, size] : llvm::enumerate(values.getReduced())) {
      int64_t stride = strideOf(d);
      if (stride == 0 || size * stride != numKeys)
        continue;
      // Whole panels of keys, all of the same size where that can be had.
      constexpr int64_t panel = 32;
      int64_t most = keys / stride;
      for (int64_t count :
           {largestDivisor(size, most, panel), most / panel * panel, most})
        if (count * stride >= fewestKeys && count < size &&
            canLoop(d, count, stride)) {
          box[rowDim] = taken;
          return AttentionTiles{box, unsigned(d), count};
        }
    }
    return std::nullopt;
  }

  /// How far the scores of neighbours along a dim of keys lie from each other;
  /// 0: it is not one number.
  int64_t strideOf(unsigned d) {
    SmallVector<AffineExpr> ones;
    for (unsigned i = 0; i != values.getAMap().getNumDims(); ++i)
      ones.push_back(
          getAffineConstantExpr(i == sizes.size() + d, values.getContext()));
    auto stride = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
        values.getAMap().getResults().back().replaceDims(ones), 0, 0));
    return stride ? stride.getValue() : 0;
  }

  /// As the verifier of `tile.attention` asks.
  bool canLoop(unsigned d, int64_t count, int64_t stride) {
    Value weight = m.weights.getBody()->getTerminator()->getOperand(0);
    if (auto rounded = weight.getDefiningOp<arith::TruncFOp>())
      weight = rounded.getIn();
    if (weight != m.normalized || m.type != values.getAccumulatorType())
      return false;
    SmallVector<tile::Cut> ofScores(scores.getAMap().getNumDims()),
        ofValues(values.getAMap().getNumDims());
    ofScores[scores.getParallel().size() - 1].size = count * stride;
    for (auto [i, size] : llvm::enumerate(values.getReduced()))
      ofValues[sizes.size() + i].size = i == d ? count : size;
    auto canCut = [&](AffineMap map) {
      return tile::isCuttable(map,
                              ArrayRef(ofScores).take_front(map.getNumDims()));
    };
    auto isSimple = [](AffineMap map) {
      return map.isProjectedPermutation(/*allowZeroInResults=*/true);
    };
    SmallVector<AffineMap> maps(
        values.getMaps().getAsValueRange<AffineMapAttr>());
    return tile::isCuttable(values.getBMap(), ofValues) &&
           llvm::all_of(scores.getMaps().getAsValueRange<AffineMapAttr>(),
                        canCut) &&
           (!m.hide || llvm::all_of(m.hide.getIndexingMapsArray(), canCut)) &&
           llvm::all_of(ArrayRef(maps).drop_front(2), isSimple);
  }

  AttentionMatch &m;
  tile::ContractOp scores, values;
  int64_t bytes;
  bool openSizes, shared;
  ArrayRef<int64_t> sizes;
  SmallVector<int64_t> box;
  int64_t numKeys, keyBytes, batches = 1, rowDim = -1;
};
} // namespace

std::optional<AttentionTiles>
ashlar::chooseAttentionTiles(AttentionMatch &match, int64_t bytes,
                             bool openSizes, bool shared) {
  return TileChooser(match, bytes, openSizes, shared).run();
}
