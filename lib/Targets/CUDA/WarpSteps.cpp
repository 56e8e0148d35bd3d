// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of a warp: ldmatrix and mma.sync. Which thread has which element: PTX
// ISA, "Matrix fragments for mma.m16n8k16", ".m16n8k32".
#include "StepWriter.h"
#include "ashlar/Transforms/Simt/StepOperand.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

namespace {
class WarpStepWriter : StepWriter {
public:
  using StepWriter::StepWriter;

  void write() {
    sums.assign(op.getValues().begin(), op.getValues().end());
    forEachTerm([&] {
      SmallVector<SmallVector<Value>> left;
      for (int64_t row = 0; row < rows; row += 16)
        left.push_back(op.getA() ? load(row, /*isLeft=*/true) : held(row / 16));
      // Of b only what is multiplied at once is held.
      int64_t perRow = llvm::divideCeil(columns, 8);
      for (int64_t column = 0; column < columns; column += 16) {
        bool isHalf = column + 8 >= columns;
        SmallVector<Value> both =
            load(column, /*isLeft=*/false, isHalf ? 2 : 4);
        for (auto [i, x] : llvm::enumerate(left))
          for (size_t j = 0; 2 * j != both.size(); ++j)
            multiply(4 * (i * perRow + column / 8 + j), x,
                     ArrayRef(both).slice(2 * j, 2));
      }
    });
    op.replaceAllUsesWith(sums);
    op.erase();
  }

private:
  /// The 16 rows, or columns, and 32 bytes of terms of an operand from a place
  /// on: a matrix of 8 times 16 bytes for each 8 lanes, row by row from the
  /// lanes' addresses.
  SmallVector<Value> load(int64_t first, bool isLeft, unsigned matrices = 4) {
    AffineMap map = isLeft ? op.getAMap() : op.getBMap();
    bool isInside = hasTermsInside(map);
    // Of a, rows 8 to 15 come second, of b the later terms.
    Value low = rem(op.getLane(), 8), second = bit(3), third = bit(4);
    Value other = isLeft ? second : third, term = isLeft ? third : second;
    Value side = mul(other, 8);
    Value depth = mul(term, types.terms / 2);
    if (isInside)
      side = arith::AddIOp::create(w.b, side, low);
    else
      depth = arith::AddIOp::create(w.b, depth, low);
    auto [point, steps] =
        simt::pointOf(w.b, op, isLeft, first, side, terms, depth);
    Value address =
        isLeft ? addressOf(op.getA(), map, op.getAOffsets(), point, steps)
               : addressOf(op.getB(), map, op.getBOffsets(), point, steps);
    SmallVector<Type> words(matrices, w.b.getI32Type());
    std::string names;
    for (unsigned i = 0; i != matrices; ++i)
      names += (i ? ", $" : "$") + std::to_string(i);
    std::string text = "ldmatrix.sync.aligned.m8n8.x" +
                       std::to_string(matrices) + (isInside ? "" : ".trans") +
                       ".shared.b16 {" + names + "}, [$" +
                       std::to_string(matrices) + "];";
    std::string constraints;
    for (unsigned i = 0; i != matrices; ++i)
      constraints += "=r,";
    SmallVector<Value> loaded = w.write(text, constraints + "r", address, words,
                                        /*isOrdered=*/true);
    // Else the unit would leave the lower bits out.
    if (types.left == "tf32")
      for (Value &word : loaded)
        word = w.write("cvt.rna.tf32.f32 $0, $1;", "=r,r", word, words[0],
                       /*isOrdered=*/false)[0];
    return loaded;
  }

  void multiply(size_t i, ArrayRef<Value> x, ArrayRef<Value> y) {
    Type sum = sums[i].getType();
    SmallVector<Value> operands(x);
    llvm::append_range(operands, y);
    operands.append(sums.begin() + i, sums.begin() + i + 4);
    SmallVector<Value> next =
        w.write("mma.sync.aligned.m16n8k" + std::to_string(types.terms) +
                    ".row.col." + types.sums + "." + types.left + "." +
                    types.right + "." + types.sums +
                    " {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
                    "{$10, $11, $12, $13};",
                types.isWhole ? "=r,=r,=r,=r,r,r,r,r,r,r,0,1,2,3"
                              : "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3",
                operands, SmallVector<Type>(4, sum), /*isOrdered=*/false);
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

  SmallVector<Value> sums;
};
} // namespace

void ashlar::cuda::writeWarpStep(tile::ThreadStepOp op) {
  WarpStepWriter(op).write();
}
