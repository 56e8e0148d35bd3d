// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Tile/TensorBox.h"
#include "ashlar/Analysis/BoxReach.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/SlotBox.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "ashlar/Transforms/Tile/Cluster.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

/// What tensor maps of the module say.
static constexpr int64_t mostRank = 5;
static constexpr int64_t unitBytes = 16;
static constexpr int64_t leastAlignment = 128; ///< of where a copy goes

/// Where a part ends that begins at `offset`, is `size` long and may be cut off
/// from a box; `end` of the tensor where it is a whole one. Null: not known to
/// be one place.
static OpFoldResult endOf(OpFoldResult offset, OpFoldResult size, int64_t box,
                          OpFoldResult end) {
  Builder b(end.getContext());
  if (std::optional<int64_t> constant = getConstantIntValue(size)) {
    std::optional<int64_t> begin = getConstantIntValue(offset);
    if (constant == box)
      return end;
    return begin ? b.getIndexAttr(*begin + *constant) : OpFoldResult();
  }
  auto length = cast<Value>(size);
  // One that is not below zero, of a box that may be empty.
  if (auto most = length.getDefiningOp<affine::AffineMaxOp>();
      most && most.getNumOperands() == 1 &&
      llvm::is_contained(most.getMap().getResults(),
                         getAffineConstantExpr(0, most.getContext())))
    length = most.getOperand(0);
  auto least = length.getDefiningOp<affine::AffineMinOp>();
  if (!least)
    return {};
  AffineMap map = least.getMap();
  OpFoldResult found;
  for (AffineExpr expr : map.getResults()) {
    if (expr == b.getAffineConstantExpr(box))
      continue;
    SmallVector<Value> operands(least.getOperands());
    unsigned dims = map.getNumDims(), symbols = map.getNumSymbols();
    if (std::optional<int64_t> constant = getConstantIntValue(offset)) {
      expr = expr + *constant;
    } else {
      operands.insert(operands.begin() + dims, cast<Value>(offset));
      expr = expr + getAffineDimExpr(dims++, map.getContext());
    }
    AffineMap sum = AffineMap::get(dims, symbols, expr);
    affine::fullyComposeAffineMapAndOperands(&sum, &operands);
    affine::canonicalizeMapAndOperands(&sum, &operands);
    sum = simplifyAffineMap(sum); // which may leave some without a use
    affine::canonicalizeMapAndOperands(&sum, &operands);
    AffineExpr place = sum.getResult(0);
    OpFoldResult one;
    if (auto constant = dyn_cast<AffineConstantExpr>(place))
      one = b.getIndexAttr(constant.getValue());
    else if (operands.size() == 1 &&
             isa<AffineDimExpr, AffineSymbolExpr>(place) &&
             sizeAttrOf(operands[0]))
      one = findSize(operands[0]);
    if (!one || one == found)
      continue;
    auto now = getConstantIntValue(one);
    auto before = found ? getConstantIntValue(found) : std::nullopt;
    if (found && (!before || !now)) // whichever a caller makes the smaller
      return {};
    if (!found || *now < *before)
      found = one;
  }
  return found;
}

/// Whether the view is of all from the beginning on, as its sizes count.
static bool isWhole(memref::ReinterpretCastOp view) {
  if (getConstantIntValue(view.getMixedOffsets().front()) != 0)
    return false;
  AffineExpr next = getAffineConstantExpr(1, view.getContext());
  for (auto [size, stride] : llvm::zip(llvm::reverse(view.getMixedSizes()),
                                       llvm::reverse(view.getMixedStrides()))) {
    if (formulaOf(stride) != next)
      return false;
    AffineExpr formula = formulaOf(size);
    if (!formula)
      return false;
    next = formula * next;
  }
  return true;
}

namespace {
/// Where a part of memory lies in the tensor that it is of.
class PlaceReader {
public:
  PlaceReader(Value memory, TensorBox &out) : memory(memory), out(out) {}

  /// Of a part that is so long along each dim, where it is a whole one.
  std::string run(llvm::function_ref<int64_t(unsigned)> lengthOf) {
    std::string why = readPlace(lengthOf);
    return why.empty() ? checkTensor() : why;
  }

private:
  /// Views of views, back to the kernel's argument.
  std::string readPlace(llvm::function_ref<int64_t(unsigned)> lengthOf) {
    skipCasts();
    auto view = memory.getDefiningOp<memref::SubViewOp>();
    if (view) {
      if (!view.hasUnitStride() || view.getDroppedDims().any())
        return "its source is no box of a tensor";
      out.at = view.getMixedOffsets();
      memory = view.getSource();
    }
    Value all = memory;
    if (std::string why = readMargins(); !why.empty())
      return why;
    if (std::string why = readTensor(); !why.empty())
      return why;
    if (!view)
      out.at.assign(out.sizes.size(),
                    Builder(all.getContext()).getIndexAttr(0));
    for (auto [d, length] : llvm::enumerate(out.sizes)) {
      OpFoldResult whole = findDim(all, d);
      if (!view && getConstantIntValue(whole) != lengthOf(d))
        return "what it copies is no box of the tensor";
      OpFoldResult end = whole;
      if (view && whole)
        end = endOf(out.at[d], view.getMixedSizes()[d], lengthOf(d), whole);
      exec::SizeAttr read = end ? readEnd(end, whole, d) : exec::SizeAttr();
      if (!read)
        return "it is not known where what it copies ends";
      out.ends.push_back(read);
    }
    return "";
  }

  void skipCasts() {
    while (auto cast = memory.getDefiningOp<memref::CastOp>())
      memory = cast.getSource();
  }

  /// What is read along a dim up to a place in `whole`, which begins in front
  /// of the tensor; null: it is not known.
  exec::SizeAttr readEnd(OpFoldResult end, OpFoldResult whole, int64_t d) {
    if (end == whole && out.before[d] == 0)
      return out.sizes[d];
    auto place = getConstantIntValue(end), all = getConstantIntValue(whole);
    if (!place || !all || !out.sizes[d].isConstant() || *place > *all ||
        *place <= out.before[d])
      return {};
    return exec::SizeAttr::get(
        end.getContext(),
        std::min(out.sizes[d].getConstant(), *place - out.before[d]));
  }

  /// The kernel's argument, and how long it is, which a view of it may say.
  std::string readTensor() {
    skipCasts();
    Value sized = memory;
    auto layout = cast<MemRefType>(memory.getType());
    if (auto view = memory.getDefiningOp<memref::ReinterpretCastOp>();
        view && isWhole(view))
      memory = view.getSource();
    else if (!layout.hasStaticShape() || !layout.getLayout().isIdentity())
      return "the sizes of its source are not known";
    out.tensor = dyn_cast<BlockArgument>(memory);
    if (!out.tensor || !isa<func::FuncOp>(out.tensor.getOwner()->getParentOp()))
      return "its source is no tensor that the kernel is given";
    if (layout.getRank() == 0 || layout.getRank() > mostRank)
      return "its source has no dims, or more than five";
    for (int64_t d = 0; d != layout.getRank(); ++d) {
      OpFoldResult size = findDim(sized, d);
      out.sizes.push_back(size ? sizeAttrOf(size) : exec::SizeAttr());
      if (!out.sizes.back())
        return "the sizes of its source are not known";
    }
    return "";
  }

  /// From a tensor with zeros around to what is in memory of it.
  std::string readMargins() {
    out.before.assign(cast<MemRefType>(memory.getType()).getRank(), 0);
    auto decode = memory.getDefiningOp<tile::DecodeOp>();
    if (!decode)
      return "";
    std::optional<SmallVector<int64_t>> margins = decode.getMargins();
    if (!margins)
      return "its source is computed where it is copied";
    out.before = std::move(*margins);
    memory = decode.getInputs().front();
    return "";
  }

  std::string checkTensor() {
    auto type = cast<MemRefType>(out.tensor.getType());
    int64_t bytes = elementBytes(type.getElementType());
    if (!llvm::isPowerOf2_64(bytes) || bytes > 4)
      return "its elements are none of 1, 2 or 4 bytes";
    if (out.sizes.size() > 1 &&
        !out.sizes.back().getFormula().isMultipleOf(unitBytes / bytes))
      return "rows of its source begin at other places than multiples of 16 "
             "bytes";
    return "";
  }

  Value memory;
  TensorBox &out;
};

class BoxReader {
public:
  BoxReader(tile::CopyOp copy, TensorBox &out)
      : copy(copy), slot(copy.getSlot().getType()), out(out),
        bytes(elementBytes(slot.getElementType())) {}

  std::string run() {
    if (!copy.getOffsets().empty() || !readSteps())
      return "it does not copy a part of memory as it lies, or in steps";
    std::string why = PlaceReader(copy.getSource(), out).run([&](unsigned d) {
      return lengthOf(d);
    });
    // Each reads what the one before has found.
    for (auto read : {&BoxReader::readRows, &BoxReader::readShare})
      if (why.empty())
        why = (this->*read)();
    return why;
  }

private:
  bool readSteps() {
    AffineMap map = copy.getMap();
    if (map.getNumResults() != map.getNumDims())
      return false;
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      int64_t step = stepAlong(expr, d);
      AffineExpr dim = getAffineDimExpr(d, map.getContext());
      if (expr != dim * step || step < 1 || step > SlotBox::mostStep)
        return false;
      out.steps.push_back(step);
    }
    return out.steps.empty() || out.steps.back() == 1;
  }

  /// How much of memory a slot is of along a dim.
  int64_t lengthOf(unsigned d) {
    return (slot.getShape()[d] - 1) * out.steps[d] + 1;
  }

  std::string readRows() {
    for (unsigned d = 0; d != slot.getShape().size(); ++d)
      out.box.push_back(lengthOf(d));
    tile::LayoutAttr layout = slot.getLayout();
    int64_t rows = slot.getNumElements() / slot.getShape().back();
    if (layout) {
      if (!layout.getOrder().empty() || !layout.getPad().empty())
        return "its slots are padded or transposed";
      if (int64_t block = layout.getBlock()) {
        out.copies = slot.getShape().back() / block;
        out.box.back() = block;
      }
      if (!layout.getSwizzle().empty())
        out.swizzleBytes = out.box.back() * bytes;
      int64_t base = llvm::Log2_64(unitBytes / bytes);
      if (out.swizzleBytes &&
          (layout.getSwizzle() !=
               ArrayRef<int64_t>{
                   int64_t(llvm::Log2_64(out.swizzleBytes / unitBytes)), base,
                   3} ||
           !llvm::is_contained({32, 64, 128}, out.swizzleBytes) ||
           rows % 8 != 0))
        return "its slots have another swizzle";
    }
    if (out.box.back() * bytes % unitBytes != 0 ||
        rows * out.box.back() * bytes % leastAlignment != 0)
      return "rows of its slots are no multiples of 16 bytes";
    return "";
  }

  /// Who shares a copy takes whole rows of the outermost dim that has several,
  /// as many as a swizzle repeats after, so that its share is a box as well.
  std::string readShare() {
    constexpr int64_t rowsOfSwizzle = 8;
    if (!copy.getMulticast())
      return "";
    std::optional<int64_t> sharers = countSharers(copy);
    if (!sharers || *sharers < 1)
      return "it is not known how many share it";
    ArrayRef<int64_t> shape = slot.getShape();
    unsigned d =
        llvm::find_if(shape, [](int64_t s) { return s != 1; }) - shape.begin();
    int64_t rows = slot.getNumElements() / shape.back() / *sharers;
    if (d + 1 >= shape.size() || out.steps[d] != 1 ||
        shape[d] % *sharers != 0 ||
        (out.swizzleBytes && rows % rowsOfSwizzle != 0) ||
        rows * out.box.back() * bytes % leastAlignment != 0)
      return "those that share it have no boxes of its rows";
    out.box[d] /= *sharers;
    out.sharers = *sharers;
    out.shared = d;
    return "";
  }

  tile::CopyOp copy;
  tile::SlotType slot;
  TensorBox &out;
  int64_t bytes;
};
} // namespace

int64_t TensorBox::numElements() const {
  int64_t count = 1;
  for (auto [size, step] : llvm::zip(box, steps))
    count *= (size - 1) / step + 1;
  return count;
}

std::string ashlar::whyNoBox(tile::CopyOp copy, TensorBox &box) {
  return BoxReader(copy, box).run();
}

std::string ashlar::whyNoStore(tile::DrainOp drain, ArrayRef<int64_t> sizes,
                               TensorBox &box) {
  AffineMap map = drain.getMap(drain.getMaps().size() - 1);
  ArrayRef<int64_t> shape = drain.getAcc().getType().getShape();
  SmallVector<int64_t> lengths;
  unsigned next = 0;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim && expr != getAffineConstantExpr(0, map.getContext()))
      return "its places are none of a box";
    if (dim && dim.getPosition() < next)
      return "its rows lie in another order";
    if (dim)
      next = dim.getPosition() + 1;
    lengths.push_back(dim ? shape[dim.getPosition()] : 1);
    box.box.push_back(dim ? sizes[dim.getPosition()] : 1);
  }
  if (next != shape.size() || !isa<AffineDimExpr>(map.getResults().back()) ||
      llvm::product_of(lengths) != llvm::product_of(shape))
    return "its places are no rows and columns";
  box.steps.assign(lengths.size(), 1);
  box.swizzleBytes =
      sizes.back() *
      elementBytes(
          cast<MemRefType>(drain.getTarget().getType()).getElementType());
  return PlaceReader(drain.getTarget(), box).run([&](unsigned d) {
    return lengths[d];
  });
}
