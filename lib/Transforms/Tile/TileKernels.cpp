// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boxes for workers: upstream tiles the last op into an scf.forall and fuses
// what it reads into the boxes. What is ours is the choice of sizes.
#include "CutKernel.h"
#include "ashlar/Analysis/BoxReach.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/RowDims.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_TILEKERNELSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// Sizes of a box of the result, innermost dims whole as far as they fit into
/// `elements`; zero where a dim is not cut.
SmallVector<int64_t> chooseBox(ArrayRef<int64_t> ranges,
                               ArrayRef<utils::IteratorType> iterators,
                               int64_t elements) {
  SmallVector<int64_t> sizes(ranges.size(), 0);
  int64_t left = elements;
  for (int64_t d = ranges.size() - 1; d >= 0; --d) {
    if (iterators[d] != utils::IteratorType::parallel)
      continue;
    int64_t size = boxSize(ranges[d], left);
    if (size < ranges[d])
      sizes[d] = size;
    left = std::max<int64_t>(1, left / std::max<int64_t>(size, 1));
  }
  return sizes;
}

/// The product behind `root`: itself, or what the ops before it make of the
/// same shape. With `ofFactors`, no reduction of one tensor beside which
/// another says nothing but how many terms there are.
linalg::LinalgOp findContraction(Operation *root, bool ofFactors) {
  for (Operation &op : *root->getBlock()) {
    auto contraction = dyn_cast<linalg::LinalgOp>(op);
    if (contraction && contraction.getNumReductionLoops() != 0 &&
        contraction.getNumDpsInputs() == 2 && op.getNumResults() == 1 &&
        !(ofFactors &&
          llvm::any_of(contraction.getDpsInputOperands(),
                       [&](OpOperand *input) {
                         return !contraction.payloadUsesValueFromOperand(input);
                       })) &&
        root->getNumResults() == 1 &&
        op.getResult(0).getType() == root->getResult(0).getType())
      return contraction;
  }
  return {};
}

/// Boxes of a product hold several rows of both operands, so that each is read
/// once for many results: part of the innermost dim, and some of the dim along
/// which the operand of the innermost one stays the same.
SmallVector<int64_t> chooseProductBox(linalg::LinalgOp contraction,
                                      ArrayRef<int64_t> ranges,
                                      int64_t elements) {
  constexpr int64_t columns = 128, rows = 32;
  int64_t rank = ranges.size();
  AffineMap result =
      contraction.getMatchingIndexingMap(contraction.getDpsInitOperand(0));
  auto dependsOn = [&](OpOperand *operand, int64_t resultDim) {
    auto dim = dyn_cast<AffineDimExpr>(result.getResult(resultDim));
    return dim && contraction.getMatchingIndexingMap(operand).isFunctionOfDim(
                      dim.getPosition());
  };
  int64_t rowDim = -1;
  for (OpOperand *operand : contraction.getDpsInputOperands())
    for (int64_t d = 0; d + 1 < rank; ++d)
      if (dependsOn(operand, rank - 1) && !dependsOn(operand, d) &&
          (rowDim < 0 || ranges[d] > ranges[rowDim]))
        rowDim = d;
  SmallVector<int64_t> sizes(rank, 1);
  sizes[rank - 1] = boxSize(ranges[rank - 1], columns);
  if (rowDim >= 0)
    sizes[rowDim] = boxSize(ranges[rowDim], rows);
  int64_t left = elements / sizes[rank - 1];
  if (rowDim >= 0)
    left /= sizes[rowDim];
  for (int64_t d = rank - 2; d >= 0; --d) {
    if (d == rowDim)
      continue;
    sizes[d] = boxSize(ranges[d], left);
    left = std::max<int64_t>(1, left / sizes[d]);
  }
  for (auto [size, range] : llvm::zip(sizes, ranges))
    if (size >= range)
      size = 0;
  return sizes;
}

/// Whether the op, or what it reads within the kernel, sums over dims.
int64_t reductionPoints(Operation *root) {
  int64_t points = 1;
  for (Operation &op : *root->getBlock())
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      int64_t own = 1;
      for (auto [range, iterator] : llvm::zip(linalgOp.getStaticLoopRanges(),
                                              linalgOp.getIteratorTypesArray()))
        if (iterator == utils::IteratorType::reduction)
          own *= ShapedType::isDynamic(range) ? 256 : range;
      points = std::max(points, own);
    }
  return points;
}

/// The dims along which all ops of a kernel work row by row; zero where it is
/// not made of several.
int64_t countRowDimsOf(Operation *root) {
  SmallVector<linalg::GenericOp> ops(
      root->getBlock()->getOps<linalg::GenericOp>());
  bool reducesBefore = llvm::any_of(ops, [&](linalg::GenericOp op) {
    return op != root && op.getNumReductionLoops() != 0;
  });
  return reducesBefore ? countRowDims(ops) : 0;
}

/// Along each of the first `rows` dims, how many rows a box should hold at
/// least: as many as lie side by side in a line of memory that is read, since
/// one alone would touch as many lines. Not where rows themselves are passed
/// on, which is scratch.
SmallVector<int64_t> leastRows(Operation *root, int64_t rows) {
  constexpr int64_t lineBytes = 64;
  SmallVector<int64_t> least(rows, 1);
  for (linalg::GenericOp op : root->getBlock()->getOps<linalg::GenericOp>()) {
    if (op != root && op.getNumLoops() - op.getNumReductionLoops() != rows)
      return SmallVector<int64_t>(rows, 1);
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      if (map.getNumResults() != op.getNumLoops())
        continue;
      auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
      if (last && int64_t(last.getPosition()) < rows)
        least[last.getPosition()] =
            lineBytes / elementBytes(getElementTypeOrSelf(input->get()));
    }
  }
  return least;
}

struct TileKernels : ashlar::impl::TileKernelsPassBase<TileKernels> {
  using TileKernelsPassBase::TileKernelsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<bufferization::MaterializeInDestinationOp> stores(
        function.getOps<bufferization::MaterializeInDestinationOp>());
    if (stores.empty())
      return;
    auto root = stores[0].getSource().getDefiningOp<TilingInterface>();
    // What one op makes is made box by box, however many results that is.
    if (!llvm::all_of(stores, [&](auto store) {
          return store.getSource().getDefiningOp() == root;
        }))
      return;
    // A contraction's strategy says its boxes, and so do the levels of an
    // attention whose groups hold its scores; tensor.pad guards every box that
    // could lie in its padding; fills and copies are as fast in one piece.
    if (!root || isa<tensor::PadOp, tile::ContractOp, tile::AttentionOp>(root))
      return;
    if (isOneWorkers(function))
      return;
    SmallVector<utils::IteratorType> iterators = root.getLoopIteratorTypes();
    OpBuilder b(root);
    SmallVector<int64_t> ranges;
    for (Range range : root.getIterationDomain(b)) {
      // Sizes that a caller chooses are cut as the largest ones are.
      std::optional<int64_t> size = largestSize(range.size);
      if (!size)
        return;
      ranges.push_back(*size);
    }
    if (llvm::is_contained(ranges, 0))
      return;
    SmallVector<int64_t> sizes =
        chooseSizes(root, ranges, iterators, cacheBytes);
    if (boxes != 0 && !findContraction(root, boxes != 0))
      cutFurther(root, ranges, iterators, sizes);
    if (scratchBytes != 0)
      saveScratch(root, ranges, iterators, sizes);
    if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
      return;
    if (failed(cutKernel(root, sizes)))
      signalPassFailure();
  }

private:
  /// That are enough work for what computes a box.
  static constexpr int64_t leastPoints = 2048;

  /// Of a reduction, in a box: where boxes may be small, as many as a line of
  /// memory holds if they lie side by side in what is read, otherwise one.
  int64_t leastResults(Operation *root, int64_t width) {
    constexpr int64_t lineBytes = 128, least = 64;
    auto op = dyn_cast<linalg::LinalgOp>(root);
    // What finishes a reduction reads its results alone.
    if (op && op.getNumReductionLoops() == 0)
      for (auto sum : root->getBlock()->getOps<linalg::LinalgOp>())
        if (sum.getNumReductionLoops() != 0)
          op = sum;
    if (boxes == 0 || !op || op.getNumDpsInputs() == 0)
      return least;
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    if (map.getNumResults() == 0)
      return least;
    AffineExpr last = map.getResult(map.getNumResults() - 1);
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (auto [d, kind] : llvm::enumerate(kinds))
      if (kind == utils::IteratorType::parallel && stepAlong(last, d) == 1)
        return std::max<int64_t>(lineBytes / width, 1);
    return 1;
  }

  /// Of boxes: sizes along each loop, 0 where it is not cut.
  SmallVector<int64_t> chooseSizes(TilingInterface root,
                                   ArrayRef<int64_t> ranges,
                                   ArrayRef<utils::IteratorType> iterators,
                                   int64_t cacheBytes) {
    auto type = cast<RankedTensorType>(root->getResult(0).getType());
    int64_t width = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    int64_t elements = cacheBytes / width;
    // A box of a reduction is as much work in fewer elements.
    int64_t perElement = reductionPoints(root);
    if (perElement > 16)
      elements = std::max<int64_t>(elements / 4, leastResults(root, width));
    linalg::LinalgOp contraction = findContraction(root, boxes != 0);
    bool isProduct =
        contraction && type.getRank() > 0 &&
        ranges.size() ==
            size_t(type.getRank()) +
                (contraction == root ? contraction.getNumReductionLoops() : 0);
    SmallVector<int64_t> sizes;
    if (isProduct) {
      SmallVector<int64_t> extents(type.getShape());
      for (auto [d, extent] : llvm::enumerate(extents))
        if (ShapedType::isDynamic(extent))
          extent = *largestSize(findDim(root->getResult(0), d));
      sizes = chooseProductBox(contraction, extents, cacheBytes / width);
      // The loops of the product itself need not be in the result's order.
      if (contraction == root) {
        SmallVector<int64_t> ofLoops(ranges.size(), 0);
        AffineMap map = contraction.getMatchingIndexingMap(
            contraction.getDpsInitOperand(0));
        for (auto [expr, size] : llvm::zip(map.getResults(), sizes))
          ofLoops[cast<AffineDimExpr>(expr).getPosition()] = size;
        sizes = ofLoops;
      }
    } else if (int64_t before = pointsBefore(root); before != 0) {
      sizes = choosePartsOfRows(ranges, iterators, before);
    } else if (int64_t rows = countRowDimsOf(root)) {
      // Whole rows, so that each is made once; what is passed on fits too.
      constexpr int64_t buffers = 4;
      int64_t row = 1;
      for (int64_t d = rows; d < int64_t(ranges.size()); ++d)
        row *= ranges[d];
      sizes =
          chooseBox(ranges.take_front(rows), iterators.take_front(rows),
                    cacheBytes / width / buffers / std::max<int64_t>(row, 1));
      if (boxes == 0)
        for (auto [size, range, least] :
             llvm::zip(sizes, ranges, leastRows(root, rows)))
          if (size != 0 && size < least)
            size = range <= least ? 0 : boxSize(range, least);
      sizes.resize(ranges.size(), 0);
    } else {
      sizes = chooseBox(ranges, iterators, elements);
    }
    return sizes;
  }

  /// Of workgroups' kernels: how many points a row of what `root` reads has,
  /// where these are so few that each part of a row may make them for itself;
  /// 0: it may not.
  int64_t pointsBefore(Operation *root) {
    int64_t rows = boxes == 0 ? 0 : countRowDimsOf(root), before = 0, own = 0;
    if (rows == 0)
      return 0;
    for (auto op : root->getBlock()->getOps<linalg::GenericOp>()) {
      SmallVector<int64_t> ranges = op.getStaticLoopRanges();
      if (llvm::any_of(ranges, ShapedType::isDynamic))
        return 0;
      (op == root ? own : before) +=
          ShapedType::getNumElements(ArrayRef(ranges).drop_front(rows));
    }
    return 4 * before <= own ? before : 0;
  }

  /// As many as workgroups there are, each with more to do than `before` points
  /// that it makes beside others.
  SmallVector<int64_t>
  choosePartsOfRows(ArrayRef<int64_t> ranges,
                    ArrayRef<utils::IteratorType> iterators, int64_t before) {
    int64_t terms = 1, results = 1;
    for (auto [range, kind] : llvm::zip(ranges, iterators))
      (kind == utils::IteratorType::parallel ? results : terms) *= range;
    int64_t least = std::max(leastPoints, 4 * before) / terms;
    int64_t elements = llvm::PowerOf2Ceil(
        uint64_t(std::max({int64_t(1), least, results / boxes})));
    SmallVector<int64_t> sizes = chooseBox(ranges, iterators, elements);
    // Whole vectors, though the last box has less, rather than equal boxes.
    constexpr int64_t vector = 4;
    for (int64_t &size : sizes)
      if (size > vector && size % vector != 0)
        size = llvm::PowerOf2Ceil(uint64_t(size));
    return sizes;
  }

  /// An attention whose loop over keys threads share: its levels have said what
  /// a worker has, and strategies are for that.
  static bool isOneWorkers(func::FuncOp function) {
    return function
        .walk([](tile::ContractOp op) {
          bool isShared =
              op.getStrategyAttr() && op.getStrategyAttr().isShared();
          return isShared && op->getParentOfType<scf::ForOp>()
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  static int64_t countBoxes(ArrayRef<int64_t> ranges, ArrayRef<int64_t> sizes) {
    int64_t all = 1;
    for (auto [size, range] : llvm::zip(sizes, ranges))
      all *= size == 0 ? 1 : llvm::divideCeil(range, size);
    return all;
  }

  /// Smaller boxes, so that there are `boxes` of them, as long as each is
  /// enough work for what computes one.
  void cutFurther(Operation *root, ArrayRef<int64_t> ranges,
                  ArrayRef<utils::IteratorType> iterators,
                  SmallVector<int64_t> &sizes) {
    int64_t all = reductionPoints(root);
    for (auto [range, kind] : llvm::zip(ranges, iterators))
      if (kind == utils::IteratorType::parallel)
        all *= range;
    for (int64_t bytes = cacheBytes / 2; bytes != 0; bytes /= 2) {
      int64_t now = countBoxes(ranges, sizes);
      if (now >= boxes || all / now <= leastPoints)
        return;
      sizes =
          chooseSizes(cast<TilingInterface>(root), ranges, iterators, bytes);
    }
  }

  /// Smaller boxes, where what is passed on inside of them is more than a
  /// worker should take.
  void saveScratch(TilingInterface root, ArrayRef<int64_t> ranges,
                   ArrayRef<utils::IteratorType> iterators,
                   SmallVector<int64_t> &sizes) {
    // A kernel of one op passes on nothing.
    auto ops = root->getBlock()->getOps<TilingInterface>();
    if (llvm::range_size(ops) < 2)
      return;
    constexpr int64_t buffers = 4;
    int64_t most = std::max<int64_t>(1, scratchBytes / buffers);
    SmallVector<int64_t> smaller = chooseSizes(
        root, ranges, iterators, std::min<int64_t>(cacheBytes, most));
    int64_t before = countBoxes(ranges, sizes),
            after = countBoxes(ranges, smaller);
    if (smaller.empty() || after <= before)
      return;
    sizes = smaller;
    // What each box reads whole: keys and values.
    int64_t whole = 0;
    for (auto op : root->getBlock()->getOps<tile::ContractOp>())
      whole += byteSize(op.getB().getType());
    remark::passed(root.getLoc(), about(root, "Scratch", "schedule"))
        << "is computed in " << remark::metric("Boxes", after)
        << " boxes instead of " << remark::metric("BoxesBefore", before)
        << ", so that a worker needs less scratch; predicted are "
        << remark::metric("Bytes", whole * (after - before) / before)
        << " bytes that are read again";
  }
};
} // namespace
