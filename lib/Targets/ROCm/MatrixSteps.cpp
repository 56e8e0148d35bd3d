// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of a wave: operands from the LDS, or sums that are operands, and mfma
// or wmma.
#include "MatrixUnits.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Transforms/Simt/StepOperand.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::rocm;

namespace {
constexpr int64_t side = 16; ///< of an instruction's sums

class MatrixStepWriter {
public:
  MatrixStepWriter(tile::ThreadStepOp op, const MatrixUnit &unit)
      : op(op), unit(unit), b(op.getLoc(), op),
        part(cast<tile::AccType>(op.getType()).getPart()),
        rows(ShapedType::getNumElements(ArrayRef(part).drop_back())),
        columns(part.back()),
        count(cast<tile::AccType>(op.getType()).getFragment().getCount()) {}

  void write() {
    sums.assign(op.getValues().begin(), op.getValues().end());
    together = findTogether();
    forEachTerm([&] {
      SmallVector<SmallVector<Value>> left;
      for (int64_t row = 0; row < rows; row += side)
        left.push_back(op.getA() ? load(row, /*isLeft=*/true)
                                 : held(row / side));
      const size_t across = columns / side;
      // Of b only what is multiplied at once is held.
      for (size_t j = 0; j != across; ++j) {
        SmallVector<Value> right = load(j * side, /*isLeft=*/false);
        for (auto [k, y] : llvm::enumerate(right))
          for (auto [i, x] : llvm::enumerate(left))
            multiply(count * (i * across + j), x[k], y);
        if (unit.isMfma && unit.leftUnsigned)
          countOffsets(ofColumns, across, j, right);
      }
      if (unit.isMfma && unit.rightUnsigned)
        for (auto [i, x] : llvm::enumerate(left))
          countOffsets(ofRows, left.size(), i, x);
    });
    addOffsets();
    if (!unit.isMfma)
      keepInPlace();
    op.replaceAllUsesWith(sums);
    op.erase();
  }

private:
  /// wmma is for all lanes at once, and LLVM moves one whose sums are stored by
  /// some lanes alone to where these are. Text that has the sums as operands
  /// stays.
  void keepInPlace() {
    for (size_t i = 0; i < sums.size(); i += count) {
      auto type = VectorType::get({count}, sums[i].getType());
      Value all = vector::FromElementsOp::create(
          b, type, ArrayRef<Value>(sums).slice(i, count));
      auto kept = LLVM::InlineAsmOp::create(
          b, TypeRange(type), all, "", "=v,0", /*has_side_effects=*/true,
          /*is_align_stack=*/false, LLVM::TailCallKind::None,
          LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
          ArrayAttr());
      for (int64_t j = 0; j != count; ++j)
        sums[i + j] = vector::ExtractOp::create(b, kept.getResult(0), j);
    }
  }

  /// How many terms a lane reads at once: 16 bytes, where there are so many of
  /// both operands and none are held.
  int64_t findTogether() {
    if (!op.getA())
      return std::max(count, unit.terms);
    int64_t most =
        std::max<int64_t>(unit.terms, 16 / elementBytes(unit.element));
    bool isWhole = op.getReduced().back() % (most * unit.lanes) == 0;
    return isWhole ? most : unit.terms;
  }

  void forEachTerm(llvm::function_ref<void()> visit) {
    ArrayRef<int64_t> sizes = op.getReduced();
    size_t d = terms.size();
    if (d == sizes.size())
      return visit();
    bool isLast = d + 1 == sizes.size();
    int64_t step = isLast ? together * unit.lanes : 1;
    for (int64_t i = 0; i < sizes[d]; i += step) {
      terms.push_back(i);
      forEachTerm(visit);
      terms.pop_back();
    }
  }

  bool hasTermsInside(AffineMap map) {
    return map.getResults().back().isFunctionOfDim(map.getNumDims() - 1);
  }

  /// What a lane brings of 16 rows, or columns, of an operand from a place on:
  /// one operand for each instruction.
  SmallVector<Value> load(int64_t first, bool isLeft) {
    AffineMap map = isLeft ? op.getAMap() : op.getBMap();
    SmallVector<Value> elements;
    if (hasTermsInside(map)) {
      const int64_t bytes = elementBytes(unit.element), piece = 16 / bytes;
      for (int64_t i = 0; i < together; i += piece)
        elements.push_back(loadAt(first, isLeft, i, std::min(together, piece)));
    } else {
      for (int64_t i = 0; i != together; ++i)
        elements.push_back(loadAt(first, isLeft, i, 1));
    }
    SmallVector<Value> operands = cut(elements);
    if (unit.isMfma && (isLeft ? unit.leftUnsigned : unit.rightUnsigned))
      for (Value &words : operands)
        words = arith::XOrIOp::create(b, words, bytesOf(0x80));
    return operands;
  }

  /// Vectors of terms side by side as the instructions' operands.
  SmallVector<Value> cut(ArrayRef<Value> vectors) {
    SmallVector<Value> single;
    for (Value vector : vectors)
      for (int64_t i = 0;
           i != cast<VectorType>(vector.getType()).getNumElements(); ++i)
        single.push_back(vector::ExtractOp::create(b, vector, i));
    if (hasHalves()) {
      // As held sums lie: those of even columns, then the others.
      SmallVector<Value> apart;
      for (size_t from : {0, 1})
        for (size_t i = from; i < single.size(); i += 2)
          apart.push_back(single[i]);
      single = apart;
    }
    return form(single);
  }

  Type elementOf(bool isLeft) {
    return isLeft ? unit.leftElement : unit.element;
  }

  /// Whether lanes of both rows of 16 have to bring what each holds a half of.
  bool hasHalves() { return !op.getA() && count < unit.terms; }

  SmallVector<Value> form(ArrayRef<Value> single) {
    SmallVector<Value> operands;
    for (size_t i = 0; i < single.size(); i += unit.terms)
      operands.push_back(formOne(single.slice(i, unit.terms)));
    return operands;
  }
  Value formOne(ArrayRef<Value> terms) {
    if (unit.operand == unit.element)
      return terms.front();
    Value all = vector::FromElementsOp::create(
        b, VectorType::get({int64_t(terms.size())}, terms.front().getType()),
        terms);
    if (all.getType() == unit.operand)
      return all;
    auto words = dyn_cast<VectorType>(unit.operand);
    Value bits = vector::BitCastOp::create(
        b, words ? words : VectorType::get({1}, unit.operand), all);
    return words ? bits : vector::ExtractOp::create(b, bits, 0).getResult();
  }

  /// So many elements from the `i`-th term of the lane on.
  Value loadAt(int64_t first, bool isLeft, int64_t i, int64_t size) {
    AffineMap map = isLeft ? op.getAMap() : op.getBMap();
    Value line = rem(op.getLane(), side);
    Value depth =
        unit.lanes == 1
            ? index(0)
            : mul(arith::DivUIOp::create(b, op.getLane(), index(side)),
                  together);
    simt::StepPoint at =
        simt::pointOf(b, op, isLeft, first, line, terms, depth);
    at.steps.back() += i;
    simt::StepOperand operand =
        isLeft ? simt::StepOperand{op.getA(), map, op.getAOffsets()}
               : simt::StepOperand{op.getB(), map, op.getBOffsets()};
    auto memory = operand.slot.getDefiningOp<tile::SlotOfOp>();
    Value place =
        add(memory.getPlace(), operand.placeOf(b, at.point, at.steps));
    return vector::LoadOp::create(
        b, VectorType::get({size}, elementOf(isLeft)), memory.getMemory(),
        place,
        /*nontemporal=*/false,
        llvm::MaybeAlign(size * elementBytes(unit.element)));
  }

  /// The present terms of the rows of fragment `copy` of an a that lanes hold:
  /// what a lane has of the sums' row are the terms that it brings.
  SmallVector<Value> held(int64_t copy) {
    int64_t across = op.getReduced().back() / side;
    int64_t first = count * (copy * across + terms.back() / side);
    SmallVector<Value> own(op.getHeld().slice(first, count));
    return hasHalves() ? SmallVector<Value>{withOtherHalf(own)} : form(own);
  }

  /// Sums of the first row's lanes, then those of the second's, in both.
  Value withOtherHalf(ArrayRef<Value> own) {
    Type word = b.getI32Type();
    auto all = vector::FromElementsOp::create(
        b, VectorType::get({count}, unit.element), own);
    auto words =
        vector::BitCastOp::create(b, VectorType::get({count / 2}, word), all);
    Value isSecond = arith::CmpIOp::create(b, arith::CmpIPredicate::uge,
                                           op.getLane(), index(side));
    SmallVector<Value> first, second;
    for (int64_t i = 0; i != count / 2; ++i) {
      Value mine = vector::ExtractOp::create(b, words, i);
      Value other = readOtherRow(b, mine);
      first.push_back(arith::SelectOp::create(b, isSecond, other, mine));
      second.push_back(arith::SelectOp::create(b, isSecond, mine, other));
    }
    llvm::append_range(first, second);
    return vector::BitCastOp::create(
        b, cast<VectorType>(unit.operand),
        vector::FromElementsOp::create(b, VectorType::get({count}, word),
                                       first));
  }

  void multiply(size_t i, Value x, Value y) {
    auto type = VectorType::get({count}, sums[i].getType());
    Value before = vector::FromElementsOp::create(
        b, type, ArrayRef<Value>(sums).slice(i, count));
    Value next = multiply(x, y, before);
    for (int64_t j = 0; j != count; ++j)
      sums[i + j] = vector::ExtractOp::create(b, next, j);
  }

  Value multiply(Value x, Value y, Value before) {
    OperationState state(b.getLoc(), unit.name);
    state.addTypes(before.getType());
    state.addOperands({y, x, before});
    if (unit.isMfma) {
      Value none = arith::ConstantIntOp::create(b, 0, 32);
      state.addOperands({none, none, none});
    } else if (unit.element.isInteger()) {
      state.addAttribute("signA", b.getBoolAttr(!unit.rightUnsigned));
      state.addAttribute("signB", b.getBoolAttr(!unit.leftUnsigned));
    }
    return b.create(state)->getResult(0);
  }

  // Mfma takes signed bytes. For an unsigned one, u, it is given u - 128, and
  // the other operand's terms times 128 are added once for all rows, or
  // columns: 64 of them by the unit, twice. Sums wrap, so all of it is exact.

  /// A whole operand of one byte.
  Value bytesOf(uint64_t byte) {
    unsigned width = unit.operand.getIntOrFloatBitWidth();
    return arith::ConstantOp::create(
        b,
        b.getIntegerAttr(unit.operand, APInt::getSplat(width, APInt(8, byte))));
  }

  void countOffsets(SmallVector<Value> &offsets, size_t size, size_t at,
                    ArrayRef<Value> operands) {
    if (offsets.empty())
      offsets.assign(size, arith::ConstantOp::create(
                               b, b.getZeroAttr(VectorType::get(
                                      {count}, sums.front().getType()))));
    for (Value one : operands)
      offsets[at] = &offsets == &ofColumns
                        ? multiply(bytesOf(64), one, offsets[at])
                        : multiply(one, bytesOf(64), offsets[at]);
  }

  void addOffsets() {
    if (ofColumns.empty() && ofRows.empty())
      return;
    int64_t both =
        ofColumns.empty() || ofRows.empty()
            ? 0
            : 128 * 128 * ShapedType::getNumElements(op.getReduced());
    Value constant = arith::ConstantOp::create(
        b, b.getIntegerAttr(b.getI32Type(), APInt(32, uint32_t(both))));
    const size_t across = columns / side;
    for (size_t i = 0; i != sums.size(); ++i) {
      size_t fragment = i / count, element = i % count;
      auto addOf = [&](ArrayRef<Value> offsets, size_t at) {
        if (offsets.empty())
          return;
        Value one = vector::ExtractOp::create(b, offsets[at], element);
        sums[i] = add(sums[i], add(one, one));
      };
      addOf(ofColumns, fragment % across);
      addOf(ofRows, fragment / across);
      if (both != 0)
        sums[i] = add(sums[i], constant);
    }
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(b, x, index(y));
  }
  Value rem(Value x, int64_t y) {
    return arith::RemUIOp::create(b, x, index(y));
  }

  tile::ThreadStepOp op;
  const MatrixUnit &unit;
  ImplicitLocOpBuilder b;
  SmallVector<int64_t> part, terms;
  int64_t rows, columns; ///< of the wave's part
  int64_t count;         ///< sums of a lane in each fragment
  int64_t together = 1;
  SmallVector<Value> sums;
  SmallVector<Value> ofColumns, ofRows; ///< 64 times their operands' terms
};
} // namespace

void ashlar::rocm::writeMatrixStep(tile::ThreadStepOp op,
                                   const MatrixUnit &unit) {
  MatrixStepWriter(op, unit).write();
}
