// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of a warpgroup: wgmma, which reads b from shared memory, and a from
// there or from registers.
// Layouts and descriptors: PTX ISA, "Asynchronous warpgroup level matrix
// instructions", "Shared memory matrix layout".
#include "StepWriter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

namespace {
/// What is the same of an operand in all instructions of a step.
struct Operand {
  tile::SlotType type;
  AffineMap map;
  bool isInside;    ///< terms lie side by side
  Value descriptor; ///< of what the group reads first
};

class WarpgroupStepWriter : StepWriter {
public:
  using StepWriter::StepWriter;

  void write() {
    Operand a, c = describe(op.getB(), op.getBMap(), op.getBOffsets(), false);
    if (op.getA())
      a = describe(op.getA(), op.getAMap(), op.getAOffsets(), true);
    size_t count = op.getValues().size(), perRow = count / (rows / 64);
    // Sums come first, as results and as operands.
    SmallVector<Value> operands(op.getValues());
    std::string constraints = PtxWriter::inPlace(op.getValues());
    auto add = [&](Value operand, StringRef constraint) {
      operands.push_back(operand);
      constraints += "," + constraint.str();
      return "$" + std::to_string(count + operands.size() - 1);
    };
    std::string right = add(c.descriptor, "l");
    std::string left = op.getA() ? add(a.descriptor, "l") : "";
    std::string text = "{\n.reg .b64 a, b;\n.reg .pred p;\n"
                       "setp.eq.b32 p, 0, 0;\nwgmma.fence.sync.aligned;\n";
    for (int64_t copy = 0; copy != rows / 64; ++copy)
      forEachTerm([&] {
        std::string factor = "a";
        if (op.getA()) {
          text += addTo("a", left, offsetOf(a, 64 * copy, true));
        } else {
          factor = "{";
          for (Value word : held(copy))
            factor += (factor.size() == 1 ? "" : ", ") + add(word, "r");
          factor += "}";
        }
        text += addTo("b", right, offsetOf(c, 0, false)) +
                "wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) +
                "k" + std::to_string(types.terms) + "." + types.sums + "." +
                types.left + "." + types.right + " {";
        for (size_t i = copy * perRow; i != (copy + 1) * perRow; ++i)
          text += (i == copy * perRow ? "$" : ", $") + std::to_string(i);
        text += "}, " + factor + ", b, p";
        // Whether an operand changes its sign, and how it lies, where that can
        // be chosen.
        if (!types.isWhole)
          text += ", 1, 1";
        // Registers have terms side by side.
        if (types.readsAcross && op.getA())
          text += a.isInside ? ", 0" : ", 1";
        if (types.readsAcross)
          text += c.isInside ? ", 0" : ", 1";
        text += ";\n";
      });
    text += "wgmma.commit_group.sync.aligned;\n";
    if (!op.getAsynchronous())
      text += "wgmma.wait_group.sync.aligned 0;\n";
    text += "}";
    SmallVector<Value> sums =
        w.write(text, constraints, operands,
                SmallVector<Type>(op.getSums().getTypes()), /*isOrdered=*/true);
    op.replaceAllUsesWith(sums);
    op.erase();
  }

private:
  static std::string addTo(StringRef name, StringRef operand, int64_t bytes) {
    return ("add.s64 " + name + ", " + operand + ", " +
            std::to_string(bytes >> 4) + ";\n")
        .str();
  }

  /// Bytes of one row of 8 that lie together: what the swizzle is for.
  static int64_t rowBytes(tile::SlotType type) {
    int64_t row = type.getLayout() && type.getLayout().getBlock()
                      ? type.getLayout().getBlock()
                      : type.getShape().back();
    return row * elementBytes(type.getElementType());
  }

  Operand describe(TypedValue<tile::SlotType> operand, AffineMap map,
                   ValueRange offsets, bool isLeft) {
    Operand all = {operand.getType(), map, hasTermsInside(map), {}};
    // Terms and the other operand's dims stand at their first.
    SmallVector<Value> point(op.getBegin());
    for (auto [d, at] : llvm::enumerate(point))
      if ((d + 1 == point.size()) == isLeft)
        at = w.index(0);
    for (size_t i = 0; i != op.getReduced().size(); ++i)
      point.push_back(w.index(0));
    Value address = addressOf(operand, map, offsets, point);
    // Bits 0 to 13: the address; 16 to 29: from one block of rows or columns to
    // the next, where those lie side by side; 32 to 45: from 8 rows to the
    // next; 62 and 63: how rows are swizzled; all in units of 16 bytes.
    int64_t row = rowBytes(all.type);
    int64_t block =
        row * (all.type.getNumElements() / all.type.getShape().back());
    int64_t swizzle = row == 128 ? 1 : row == 64 ? 2 : 3;
    int64_t fixed = ((all.isInside ? 1 : block >> 4) << 16) |
                    ((8 * row >> 4) << 32) | (swizzle << 62);
    Value start = arith::ExtUIOp::create(
        w.b, w.b.getI64Type(),
        arith::AndIOp::create(w.b,
                              arith::ShRUIOp::create(w.b, address, w.word(4)),
                              w.word(0x3fff)));
    all.descriptor = arith::OrIOp::create(
        w.b, start, arith::ConstantIntOp::create(w.b, fixed, 64));
    return all;
  }

  /// Bytes from what the group reads first to the present terms.
  int64_t offsetOf(const Operand &operand, int64_t row, bool isLeft) {
    SmallVector<AffineExpr> point;
    auto number = [&](int64_t value) {
      return getAffineConstantExpr(value, w.b.getContext());
    };
    for (size_t d = 0; d != part.size(); ++d)
      point.push_back(number(0));
    if (isLeft)
      for (size_t d = part.size() - 1; d-- != 0; row /= part[d])
        point[d] = number(row % part[d]);
    for (int64_t start : terms)
      point.push_back(number(start));
    SmallVector<int64_t> index;
    for (AffineExpr expr : operand.map.getResults())
      index.push_back(
          cast<AffineConstantExpr>(expr.replaceDims(point)).getValue());
    ArrayRef<int64_t> shape = operand.type.getShape();
    int64_t place = operand.type.getLayout().getPlace(index, shape);
    return place * elementBytes(operand.type.getElementType());
  }
};
} // namespace

void ashlar::cuda::writeWarpgroupStep(tile::ThreadStepOp op) {
  WarpgroupStepWriter(op).write();
}
