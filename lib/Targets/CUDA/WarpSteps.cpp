// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of a warp: ldmatrix and mma.sync. Which thread has which element: PTX
// ISA, "Matrix fragments for mma.m16n8k16".
#include "PtxWriter.h"
#include "ashlar/Transforms/Simt/Slots.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

namespace {
/// Rows of an operand, of which a thread gives ldmatrix addresses.
struct Operand {
  tile::SlotOfOp slot;
  AffineMap map;
  SmallVector<Value> offsets;
};

class WarpStepWriter {
public:
  explicit WarpStepWriter(tile::ThreadStepOp op)
      : op(op), w(op), acc(cast<tile::AccType>(op.getType())),
        part(acc.getPart()) {}

  void write() {
    rows = 1;
    for (int64_t size : ArrayRef(part).drop_back())
      rows *= size;
    columns = part.back();
    sums.assign(op.getValues().begin(), op.getValues().end());
    Operand a = {op.getA().getDefiningOp<tile::SlotOfOp>(), op.getAMap(),
                 op.getAOffsets()};
    Operand c = {op.getB().getDefiningOp<tile::SlotOfOp>(), op.getBMap(),
                 op.getBOffsets()};
    SmallVector<int64_t> terms(op.getReduced());
    forEachTerm(terms, 0, [&](ArrayRef<int64_t> from) {
      SmallVector<SmallVector<Value>> left, right;
      for (int64_t row = 0; row < rows; row += 16)
        left.push_back(load(a, row, /*isLeft=*/true, from));
      for (int64_t column = 0; column < columns; column += 16) {
        bool isHalf = column + 8 >= columns;
        SmallVector<Value> both =
            load(c, column, /*isLeft=*/false, from, isHalf ? 2 : 4);
        right.push_back({both[0], both[1]});
        if (!isHalf)
          right.push_back({both[2], both[3]});
      }
      for (auto [i, x] : llvm::enumerate(left))
        for (auto [j, y] : llvm::enumerate(right))
          multiply(4 * (i * right.size() + j), x, y);
    });
    op.replaceAllUsesWith(sums);
    op.erase();
  }

private:
  /// Calls `visit` with the first of each 16 terms.
  void forEachTerm(SmallVectorImpl<int64_t> &sizes, size_t d,
                   llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
    if (d == sizes.size())
      return visit(at);
    bool isLast = d + 1 == sizes.size();
    for (int64_t i = 0; i < sizes[d]; i += isLast ? 16 : 1) {
      at.push_back(i);
      forEachTerm(sizes, d + 1, visit);
      at.pop_back();
    }
  }

  /// The 16 rows, or columns, and 16 terms of an operand from a place on: a
  /// matrix of 8x8 for each 8 lanes, row by row from the lanes' addresses.
  SmallVector<Value> load(const Operand &from, int64_t first, bool isLeft,
                          ArrayRef<int64_t> terms, unsigned matrices = 4) {
    tile::SlotOfOp slot = from.slot;
    tile::SlotType type = slot.getSlot().getType();
    unsigned rank = acc.getShape().size();
    bool hasTermsInside = from.map.getResults().back().isFunctionOfDim(
        rank + op.getReduced().size() - 1);
    // Of a, rows 8 to 15 come second, of b terms 8 to 15.
    Value low = rem(op.getLane(), 8), second = bit(3), third = bit(4);
    Value other = isLeft ? second : third, term = isLeft ? third : second;
    Value side = add(mul(other, 8), w.index(first));
    Value depth = mul(term, 8);
    if (hasTermsInside)
      side = arith::AddIOp::create(w.b, side, low);
    else
      depth = arith::AddIOp::create(w.b, depth, low);
    SmallVector<Value> point;
    if (isLeft) {
      point = pointOfRow(side);
      point.push_back(w.index(0));
    } else {
      point.assign(op.getBegin().begin(), op.getBegin().end());
      point.back() = add(point.back(), side);
    }
    for (int64_t start : terms)
      point.push_back(w.index(start));
    point.back() = add(point.back(), depth);
    SmallVector<Value> place;
    for (auto [d, expr] : llvm::enumerate(from.map.getResults())) {
      place.push_back(affine::AffineApplyOp::create(
          w.b, AffineMap::get(from.map.getNumDims(), 0, expr), point));
      if (!from.offsets.empty())
        place.back() = add(place.back(), from.offsets[d]);
    }
    Value inside = simt::placeInSlot(w.b, type, place);
    Value address =
        w.sharedAddress(slot.getMemory(), add(slot.getPlace(), inside));
    SmallVector<Type> words(matrices, w.b.getI32Type());
    std::string names;
    for (unsigned i = 0; i != matrices; ++i)
      names += (i ? ", $" : "$") + std::to_string(i);
    std::string text = "ldmatrix.sync.aligned.m8n8.x" +
                       std::to_string(matrices) +
                       (hasTermsInside ? "" : ".trans") + ".shared.b16 {" +
                       names + "}, [$" + std::to_string(matrices) + "];";
    std::string constraints;
    for (unsigned i = 0; i != matrices; ++i)
      constraints += "=r,";
    return w.write(text, constraints + "r", address, words,
                   /*isOrdered=*/true);
  }

  /// Where a row of the group's part lies in the accumulator, its columns left
  /// out.
  SmallVector<Value> pointOfRow(Value row) {
    SmallVector<Value> point = {row};
    if (part.size() > 2) {
      SmallVector<OpFoldResult> basis = getAsIndexOpFoldResult(
          w.b.getContext(), ArrayRef<int64_t>(part).drop_back());
      point = SmallVector<Value>(
          affine::AffineDelinearizeIndexOp::create(w.b, row, basis)
              .getResults());
    }
    for (auto [at, begin] : llvm::zip(point, op.getBegin().drop_back()))
      at = add(at, begin);
    return point;
  }

  void multiply(size_t i, ArrayRef<Value> x, ArrayRef<Value> y) {
    Type sum = w.b.getF32Type();
    StringRef type =
        op.getA().getType().getElementType().isBF16() ? "bf16" : "f16";
    SmallVector<Value> operands(x);
    llvm::append_range(operands, y);
    operands.append(sums.begin() + i, sums.begin() + i + 4);
    SmallVector<Value> next =
        w.write("mma.sync.aligned.m16n8k16.row.col.f32." + type.str() + "." +
                    type.str() +
                    ".f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
                    "{$10, $11, $12, $13};",
                "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3", operands,
                SmallVector<Type>(4, sum), /*isOrdered=*/false);
    llvm::copy(next, sums.begin() + i);
  }

  Value add(Value x, Value y) { return arith::AddIOp::create(w.b, x, y); }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(w.b, x, w.index(y));
  }
  Value rem(Value x, int64_t y) {
    return arith::RemUIOp::create(w.b, x, w.index(y));
  }
  /// Of the lane's number.
  Value bit(int64_t number) {
    return rem(arith::DivUIOp::create(w.b, op.getLane(),
                                      w.index(int64_t(1) << number)),
               2);
  }

  tile::ThreadStepOp op;
  PtxWriter w;
  tile::AccType acc;
  SmallVector<int64_t> part, at;
  int64_t rows = 1, columns = 1;
  SmallVector<Value> sums;
};
} // namespace

void ashlar::cuda::writeWarpStep(tile::ThreadStepOp op) {
  WarpStepWriter(op).write();
}
