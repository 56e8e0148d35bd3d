// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of a subgroup of 16 as Intel's functions of matrices, which its
// compiler makes `dpas` of. Which lane has which element: the extension
// cl_intel_subgroup_matrix_multiply_accumulate.
#include "MatrixSteps.h"
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
constexpr int64_t rowsOfSums = 8, columnsOfSums = 16;

/// Terms of a step, by the bits of their type: as many as 16 lanes bring in
/// words of 16 bits.
int64_t depthOf(Type element) {
  return columnsOfSums * 16 / element.getIntOrFloatBitWidth();
}

/// The sums of 8 rows, of which a lane has a column each; it brings 16 bits of
/// terms of each row of a, and all terms of its column of b, 32 bits in a word.
class MatrixStepWriter {
public:
  explicit MatrixStepWriter(tile::ThreadStepOp op)
      : op(op), b(op.getLoc(), op),
        part(cast<tile::AccType>(op.getType()).getPart()), columns(part.back()),
        rows(ShapedType::getNumElements(part) / part.back()),
        element(op.getB().getType().getElementType()), depth(depthOf(element)) {
  }

  void write(StringRef function) {
    callee = declare(function);
    sums.assign(op.getValues().begin(), op.getValues().end());
    forEachTerm([&] {
      SmallVector<Value> left, right;
      for (int64_t row = 0; row < rows; row += rowsOfSums)
        left.push_back(op.getA() ? loadRows(row) : held(row / rowsOfSums));
      for (int64_t column = 0; column < columns; column += columnsOfSums)
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
        b.getFunctionType(
            {vectorOf(b.getI16Type()), vectorOf(b.getI32Type()), result},
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

  /// `bits` bits of an operand's terms, the first in the lowest.
  Value loadWord(bool isLeft, int64_t first, Value line, Value term,
                 int64_t behind, unsigned bits) {
    const int64_t count = bits / element.getIntOrFloatBitWidth();
    if (count == 1 || isWhole(isLeft, count))
      return load(isLeft, first, line, term, behind, count);
    Value word;
    for (int64_t i = 0; i != count; ++i) {
      Value one = arith::ExtUIOp::create(
          b, b.getIntegerType(bits),
          load(isLeft, first, line, term, behind + i, 1));
      Value by = arith::ConstantIntOp::create(b, i * (bits / count), bits);
      word = i == 0 ? one
                    : arith::OrIOp::create(b, word,
                                           arith::ShLIOp::create(b, one, by));
    }
    return word;
  }

  Value loadRows(int64_t first) {
    // A lane's terms of a row lie behind those of the lanes before it.
    Value term = op.getLane();
    if (depth != columnsOfSums)
      term = arith::MulIOp::create(b, term, index(depth / columnsOfSums));
    SmallVector<Value> words;
    for (int64_t row = 0; row != rowsOfSums; ++row)
      words.push_back(
          loadWord(/*isLeft=*/true, first + row, index(0), term, 0, 16));
    return form(words);
  }

  /// Rows of b are terms of a word, one below the other.
  Value loadColumns(int64_t first) {
    SmallVector<Value> words;
    for (int64_t i = 0; i != depth; i += depth / rowsOfSums)
      words.push_back(
          loadWord(/*isLeft=*/false, first, op.getLane(), index(0), i, 32));
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
    const int64_t across = op.getReduced().back() / depth;
    const int64_t first = rowsOfSums * (copy * across + terms.back() / depth);
    SmallVector<Value> elements;
    for (Value value : op.getHeld().slice(first, rowsOfSums))
      elements.push_back(arith::BitcastOp::create(b, b.getI16Type(), value));
    return form(elements);
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
  int64_t depth; ///< terms of a step
  func::FuncOp callee;
  SmallVector<Value> sums;
};
} // namespace

/// In C++'s mangling, as OpenCL's functions have it; empty: there is none of
/// such operands.
static std::string nameFor(tile::ThreadStepOp op, Type element, Type sum) {
  std::string left, right, arguments;
  if ((element.isF16() || element.isBF16()) && sum.isF32()) {
    left = right = element.isF16() ? "f16" : "bf16";
    arguments = "Dv8_sDv8_iDv8_f"; // short8, int8, float8
  } else if (element.isInteger(8) && sum.isInteger(32)) {
    left = op.getAUnsigned() ? "u8" : "i8";
    right = op.getBUnsigned() ? "u8" : "i8";
    // short8, int8, and int8 again; or ushort8, uint8, int8.
    arguments = (op.getAUnsigned() ? "Dv8_t" : "Dv8_s") +
                std::string(op.getBUnsigned() ? "Dv8_jDv8_i" : "Dv8_iS0_");
  } else {
    return "";
  }
  std::string name = "intel_sub_group_" + left + "_" + right + "_matrix_mad_k" +
                     std::to_string(depthOf(element));
  return "_Z" + std::to_string(name.size()) + name + arguments;
}

/// Empty: there is none for it.
static std::string functionFor(tile::ThreadStepOp op) {
  auto acc = cast<tile::AccType>(op.getType());
  tile::FragmentAttr fragment = acc.getFragment();
  Type element = op.getB().getType().getElementType();
  std::string name = nameFor(op, element, acc.getElementType());
  if (name.empty())
    return "";
  ArrayRef<int64_t> terms = op.getReduced();
  SmallVector<int64_t> part = acc.getPart();
  const int64_t sums = ShapedType::getNumElements(part);
  const bool takesA =
      op.getA() ? op.getHeld().empty() &&
                      op.getA().getType().getElementType() == element &&
                      op.getA().getDefiningOp<tile::SlotOfOp>()
                : terms.size() == 1 && !element.isInteger() &&
                      llvm::all_of(op.getHeld().getTypes(),
                                   [&](Type type) { return type == element; });
  if (fragment.getRegisters() != ArrayRef<int64_t>{1, 0, 2, 0, 4, 0} ||
      fragment.getLanes() != ArrayRef<int64_t>{0, 1, 0, 2, 0, 4, 0, 8} ||
      op.getAsynchronous() || terms.empty() ||
      terms.back() % depthOf(element) != 0 ||
      part.back() % columnsOfSums != 0 ||
      sums / part.back() % rowsOfSums != 0 || !takesA ||
      !op.getB().getDefiningOp<tile::SlotOfOp>() ||
      int64_t(op.getValues().size()) * fragment.getThreads() != sums)
    return "";
  return name;
}

LogicalResult ashlar::opencl::writeMatrixStep(tile::ThreadStepOp op) {
  std::string function = functionFor(op);
  if (function.empty())
    return op.emitOpError("expected f16, bf16 or bytes in fragments of 8 x 16 "
                          "and whole steps of 16 terms, or of 32 bytes, as "
                          "dpas has them, found ")
           << op.getType();
  MatrixStepWriter(op).write(function);
  return success();
}
