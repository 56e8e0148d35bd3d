// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of a subgroup as Intel's functions of matrices, which its compiler
// makes `dpas` of. Which lane has which element: the extension
// cl_intel_subgroup_matrix_multiply_accumulate, for subgroups of 16 and of 8.
#include "MatrixSteps.h"
#include "MatrixFunctions.h"
#include "ashlar/Transforms/Simt/StepOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::opencl;

namespace {
constexpr int64_t rowsOfSums = 8;

/// The sums of 8 rows, of which a lane has a column each; it brings its share
/// of the terms of each row of a, in one word, and all terms of its column of
/// b, 32 bits in a word.
class MatrixStepWriter {
public:
  MatrixStepWriter(tile::ThreadStepOp op, tile::AccType acc)
      : op(op), b(op.getLoc(), op), part(acc.getPart()), columns(part.back()),
        rows(ShapedType::getNumElements(part) / part.back()),
        element(op.getB().getType().getElementType()),
        depth(termsOfStep(element)), lanes(acc.getFragment().getThreads()),
        ofLane(depth / lanes) {}

  void write(StringRef function) {
    callee = declare(function);
    sums.assign(op.getValues().begin(), op.getValues().end());
    forEachTerm([&] {
      SmallVector<Value> left, right;
      for (int64_t row = 0; row < rows; row += rowsOfSums)
        left.push_back(op.getA() ? loadRows(row) : held(row / rowsOfSums));
      for (int64_t column = 0; column < columns; column += lanes)
        right.push_back(loadColumns(column));
      for (auto [i, x] : llvm::enumerate(left))
        for (auto [j, y] : llvm::enumerate(right))
          multiply(rowsOfSums * (i * right.size() + j), x, y);
    });
    op.replaceAllUsesWith(sums);
    op.erase();
  }

private:
  VectorType vectorOf(Type type) { return VectorType::get({rowsOfSums}, type); }

  func::FuncOp declare(StringRef name) {
    auto module = op->getParentOfType<ModuleOp>();
    if (auto known = module.lookupSymbol<func::FuncOp>(name))
      return known;
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    Type result = vectorOf(cast<tile::AccType>(op.getType()).getElementType());
    auto made = func::FuncOp::create(
        top, op.getLoc(), name,
        b.getFunctionType({vectorOf(b.getIntegerType(bitsOfTerms / lanes)),
                           vectorOf(b.getI32Type()), result},
                          {result}));
    made.setPrivate();
    return made;
  }

  void forEachTerm(llvm::function_ref<void()> visit) {
    ArrayRef<int64_t> sizes = op.getReduced();
    const size_t d = terms.size();
    if (d == sizes.size())
      return visit();
    const int64_t step = d + 1 == sizes.size() ? depth : 1;
    for (int64_t i = 0; i < sizes[d]; i += step) {
      terms.push_back(i);
      forEachTerm(visit);
      terms.pop_back();
    }
  }

  simt::StepOperand operand(bool isLeft) {
    return isLeft
               ? simt::StepOperand{op.getA(), op.getAMap(), op.getAOffsets()}
               : simt::StepOperand{op.getB(), op.getBMap(), op.getBOffsets()};
  }

  /// `count` elements of an operand side by side, as words of as many bits.
  Value load(bool isLeft, int64_t first, Value line, Value term, int64_t behind,
             int64_t count) {
    simt::StepPoint at = simt::pointOf(b, op, isLeft, first, line, terms, term);
    at.steps.back() += behind;
    simt::StepOperand from = operand(isLeft);
    auto memory = from.slot.getDefiningOp<tile::SlotOfOp>();
    Value place = arith::AddIOp::create(b, memory.getPlace(),
                                        from.placeOf(b, at.point, at.steps));
    const int64_t bits = count * element.getIntOrFloatBitWidth();
    Value read = vector::LoadOp::create(
        b, VectorType::get({count}, element), memory.getMemory(), place,
        /*nontemporal=*/false, llvm::MaybeAlign(bits / 8));
    auto words = VectorType::get({1}, b.getIntegerType(bits));
    return vector::ExtractOp::create(
        b, vector::BitCastOp::create(b, words, read), 0);
  }

  /// An operand's terms at these places in one word, the first in the lowest
  /// bits.
  Value loadWord(bool isLeft, int64_t first, Value line, Value term,
                 ArrayRef<int64_t> behind) {
    const int64_t count = behind.size();
    if (count == 1 ||
        (behind.back() - behind.front() == count - 1 && isWhole(isLeft, count)))
      return load(isLeft, first, line, term, behind.front(), count);
    SmallVector<Value> parts;
    for (int64_t place : behind)
      parts.push_back(load(isLeft, first, line, term, place, 1));
    return join(parts);
  }

  /// Numbers of equally many bits as one, the first in the lowest.
  Value join(ArrayRef<Value> parts) {
    const unsigned each = parts.front().getType().getIntOrFloatBitWidth();
    if (parts.size() == 1)
      return parts.front();
    IntegerType word = b.getIntegerType(each * parts.size());
    Value all;
    for (auto [i, part] : llvm::enumerate(parts)) {
      Value one = arith::ExtUIOp::create(b, word, part);
      Value by = arith::ConstantIntOp::create(b, word, int64_t(i * each));
      all = i == 0 ? one
                   : arith::OrIOp::create(b, all,
                                          arith::ShLIOp::create(b, one, by));
    }
    return all;
  }

  /// Where a step's term of that number is. Sums do not ask for their order: a
  /// lane that holds terms of a has one of every `lanes` columns.
  int64_t placeOf(int64_t term) {
    return op.getA() ? term : term % ofLane * lanes + term / ofLane;
  }

  Value loadRows(int64_t first) {
    // A lane's terms of a row lie behind those of the lanes before it.
    Value term = op.getLane();
    if (ofLane != 1)
      term = arith::MulIOp::create(b, term, index(ofLane));
    auto behind = llvm::to_vector(llvm::seq<int64_t>(ofLane));
    SmallVector<Value> words;
    for (int64_t row = 0; row != rowsOfSums; ++row)
      words.push_back(
          loadWord(/*isLeft=*/true, first + row, index(0), term, behind));
    return form(words);
  }

  /// Rows of b are terms of a word, one below the other.
  Value loadColumns(int64_t first) {
    const int64_t ofWord = depth / rowsOfSums;
    SmallVector<Value> words;
    for (int64_t i = 0; i != depth; i += ofWord) {
      SmallVector<int64_t> behind;
      for (int64_t j = 0; j != ofWord; ++j)
        behind.push_back(placeOf(i + j));
      words.push_back(
          loadWord(/*isLeft=*/false, first, op.getLane(), index(0), behind));
    }
    return form(words);
  }

  /// Whether so many terms lie side by side and begin at whole words.
  bool isWhole(bool isLeft, int64_t count) {
    simt::StepOperand from = operand(isLeft);
    AffineExpr last = from.map.getResults().back();
    tile::SlotType type = from.slot.getType();
    tile::LayoutAttr layout = type.getLayout();
    if (last != getAffineDimExpr(from.map.getNumDims() - 1, op.getContext()) ||
        !from.offsets.empty() || !layout || !layout.getSwizzle().empty() ||
        layout.getBlock() % count != 0)
      return false;
    return llvm::all_of(
        ArrayRef(layout.getStrides(type.getShape())).drop_back(),
        [&](int64_t stride) { return stride % count == 0; });
  }

  /// Sums are lanes' columns, and so are terms of rows: a's of fragment `copy`
  /// at the present terms are at hand.
  Value held(int64_t copy) {
    const int64_t across = op.getReduced().back() / lanes;
    const int64_t first = copy * across + terms.back() / lanes;
    SmallVector<Value> words;
    for (int64_t row = 0; row != rowsOfSums; ++row) {
      SmallVector<Value> parts;
      for (int64_t i = first; i != first + ofLane; ++i)
        parts.push_back(arith::BitcastOp::create(
            b, b.getI16Type(), op.getHeld()[rowsOfSums * i + row]));
      words.push_back(join(parts));
    }
    return form(words);
  }

  Value form(ArrayRef<Value> elements) {
    return vector::FromElementsOp::create(
        b, vectorOf(elements.front().getType()), elements);
  }

  void multiply(size_t i, Value x, Value y) {
    Value before = form(ArrayRef<Value>(sums).slice(i, rowsOfSums));
    Value next =
        func::CallOp::create(b, callee, ValueRange{x, y, before}).getResult(0);
    for (int64_t j = 0; j != rowsOfSums; ++j)
      sums[i + j] = vector::ExtractOp::create(b, next, j);
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  tile::ThreadStepOp op;
  ImplicitLocOpBuilder b;
  SmallVector<int64_t> part, terms;
  int64_t columns, rows; ///< of the subgroup's part
  Type element;
  int64_t depth;         ///< terms of a step
  int64_t lanes, ofLane; ///< of its terms of a row, so many are a lane's
  func::FuncOp callee;
  SmallVector<Value> sums;
};
} // namespace

LogicalResult ashlar::opencl::writeMatrixStep(tile::ThreadStepOp op) {
  std::string function = matrixFunctionOf(op);
  if (function.empty())
    return op.emitOpError(
               "expected f16, bf16 or bytes in fragments of 8 x 16 "
               "or 8 x 8 and whole steps of 16 terms, or of 32 bytes, as "
               "dpas has them, found ")
           << op.getType();
  MatrixStepWriter(op, cast<tile::AccType>(op.getType())).write(function);
  return success();
}
