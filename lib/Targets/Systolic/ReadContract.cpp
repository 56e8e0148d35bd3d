// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes a contraction from the shared analysis and says what the machine does
// not compute of it.
#include "ReadContract.h"
#include "ChipLayout.h"
#include "ashlar/Analysis/Ones.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Analysis/SumBounds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include <optional>

using namespace mlir;
using namespace ashlar;
using ashlar::systolic::Access;
using ashlar::systolic::Contraction;
using ashlar::systolic::Element;

namespace {
std::optional<Element> elementOf(Type type) {
  if (type.isBF16())
    return Element::BF16;
  if (type.isF32())
    return Element::F32;
  if (type.isInteger(8))
    return Element::S8;
  if (type.isInteger(32))
    return Element::S32;
  return std::nullopt;
}

std::string spell(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

class Reader {
public:
  Reader(tile::ContractOp op, const systolic::Machine &machine,
         Contraction &contraction, bool arePacked)
      : op(op), machine(machine), contraction(contraction),
        arePacked(arePacked) {}

  Refusal read();

private:
  Refusal readOperand(Value value, AffineMap map, const char *name,
                      Access &access, std::vector<LinearIndex> *coordinates);
  void packWeights();
  Refusal checkTypes();
  Refusal readOperands();
  Refusal readLanes();
  Refusal readMargins();

  tile::ContractOp op;
  const systolic::Machine &machine;
  Contraction &contraction;
  const bool arePacked;
};
} // namespace

Refusal Reader::readOperand(Value value, AffineMap map, const char *name,
                            Access &access,
                            std::vector<LinearIndex> *coordinates) {
  LinearOperand operand;
  if (Refusal why =
          readLinearOperand(value, map, contraction.sizes, name, operand))
    return why;
  Type type = getElementTypeOrSelf(value);
  auto element = elementOf(type);
  if (!element)
    return llvm::formatv("{0} is of {1}", name, spell(type)).str();
  access.element = *element;
  access.offset = operand.offset;
  access.strides = operand.strides;
  if (coordinates)
    coordinates->assign(operand.indices.begin(), operand.indices.end());
  if (auto argument = dyn_cast<BlockArgument>(operand.whole);
      argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
    access.binding = argument.getArgNumber();
  } else if (isa<MemRefType>(value.getType())) {
    return llvm::formatv("{0} is not an argument of the kernel", name).str();
  } else {
    for (OpOperand &use : op->getOpOperands())
      if (use.get() == value)
        access.binding = use.getOperandNumber();
  }
  return std::nullopt;
}

/// One column after the other, for each term.
void Reader::packWeights() {
  AffineMap map = op.getBMap();
  if (!constantBehindReshapes(op.getB()) || !map.isProjectedPermutation())
    return;
  unsigned last = op.getParallel().size() - 1;
  if (!map.isFunctionOfDim(last))
    return;
  int64_t stride = 1;
  contraction.b.strides.assign(contraction.sizes.size(), 0);
  auto place = [&](unsigned d) {
    contraction.b.strides[d] = stride;
    stride *= contraction.sizes[d];
  };
  place(last);
  for (unsigned d = map.getNumDims(); d-- > 0;)
    if (d != last && map.isFunctionOfDim(d))
      place(d);
}

Refusal Reader::checkTypes() {
  bool isBF16 = machine.input == ASHLAR_SYSTOLIC_BF16;
  Element input = isBF16 ? Element::BF16 : Element::S8;
  const char *wanted = isBF16 ? "bf16" : "i8";
  for (Value factor : {op.getA(), op.getB()}) {
    Type type = cast<ShapedType>(factor.getType()).getElementType();
    if (elementOf(type) != input)
      return llvm::formatv("its factors are of {0}, the array takes {1}",
                           spell(type), wanted)
          .str();
  }
  if (!isBF16 && (op.getAUnsigned() || op.getBUnsigned()))
    return "its factors are unsigned, the array takes i8 with a sign";
  Type sum = op.getAccumulatorType();
  if (isBF16 ? !sum.isF32() : !sum.isInteger(32))
    return llvm::formatv("its sums are of {0}, those of the array of {1}",
                         spell(sum), isBF16 ? "f32" : "i32")
        .str();
  Element result = contraction.result.element;
  if (isBF16 ? result != Element::BF16 && result != Element::F32
             : result != Element::S8 && result != Element::S32)
    return "its result is of a type that the machine does not store";
  if (result == Element::S32 && machine.flags & ASHLAR_SYSTOLIC_NARROW_RESULTS)
    return "its result is of i32, and the machine stores bytes alone";
  return std::nullopt;
}

/// Depthwise: the last dim is in all operands. Its values are lanes of the
/// vector unit, and N to all but A.
Refusal Reader::readLanes() {
  auto lane = unsigned(op.getParallel().size() - 1);
  if (contraction.count(contraction.n) > 1 || contraction.batch.empty() ||
      contraction.batch.back() != lane || contraction.sizes[lane] == 1)
    return std::nullopt;
  bool hasVectors = machine.flags & ASHLAR_SYSTOLIC_EXTENDED;
  contraction.isSum = !hasVectors && op->hasAttr(onesAttrName) &&
                      contraction.count(contraction.k) == 1;
  if (!hasVectors && !contraction.isSum)
    return "it is depthwise, and the machine has no vector unit";
  if (contraction.a.strides[lane] != 1 || contraction.b.strides[lane] != 1)
    return "it is depthwise, and its channels do not lie side by side";
  contraction.batch.pop_back();
  contraction.n = {lane};
  if (contraction.isSum)
    return std::nullopt;
  contraction.isDepthwise = true;
  return systolic::canReadTapsInPlace(contraction)
             ? Refusal()
             : "it is depthwise, and its taps are no grid";
}

/// Boxes of the result around the one that is computed.
Refusal Reader::readMargins() {
  std::optional<TypedAttr> pad = op.getPad();
  if (!pad)
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(*pad))
    contraction.pad = number.getValueAsDouble();
  else if (auto integer = dyn_cast<IntegerAttr>(*pad))
    contraction.pad = double(integer.getInt());
  ElementPlaces places;
  if (Refusal why = readPlaces(op.getInit(), "the result", places))
    return why;
  if (contraction.pad != 0 && !(machine.flags & ASHLAR_SYSTOLIC_EXTENDED))
    return "its padding is not zero";
  auto type = cast<ShapedType>(op.getInit().getType());
  AffineMap map = op.getResultMap();
  SmallVector<int64_t> begins, sizes;
  for (AffineExpr expr : map.getResults()) {
    auto index = linearIndex(expr, map.getNumDims());
    int64_t size = 1, moving = 0;
    for (auto [d, factor] : llvm::enumerate(index->factors)) {
      if (factor == 0 || contraction.sizes[d] == 1)
        continue;
      if (factor != 1 || ++moving > 1)
        return "its padding lies between its results";
      size = contraction.sizes[d];
    }
    begins.push_back(index->constant);
    sizes.push_back(size);
  }
  // Slabs before and after, along one dim at a time; dims before it are
  // within, those behind it whole.
  for (int64_t d = 0; d < type.getRank(); ++d)
    for (bool isAfter : {false, true}) {
      int64_t begin = isAfter ? begins[d] + sizes[d] : 0;
      int64_t end = isAfter ? type.getDimSize(d) : begins[d];
      if (begin == end)
        continue;
      systolic::Margin margin{places.offset + begin * places.strides[d], {}};
      for (int64_t i = 0; i < type.getRank(); ++i) {
        int64_t size = i < d    ? sizes[i]
                       : i == d ? end - begin
                                : type.getDimSize(i);
        if (i < d)
          margin.offset += begins[i] * places.strides[i];
        margin.digits.push_back({size, places.strides[i], 0});
      }
      contraction.margins.push_back(margin);
    }
  return std::nullopt;
}

Refusal Reader::readOperands() {
  if (Refusal why = readOperand(op.getA(), op.getAMap(), "a", contraction.a,
                                &contraction.aCoordinates))
    return why;
  if (Refusal why =
          readOperand(op.getB(), op.getBMap(), "b", contraction.b, nullptr))
    return why;
  if (arePacked)
    packWeights();
  if (Refusal why = readOperand(op.getInit(), op.getResultMap(), "the result",
                                contraction.result, nullptr))
    return why;
  if (Value unrounded = op.getUnrounded())
    if (Refusal why = readOperand(unrounded, op.getResultMap(),
                                  "the result before it is rounded",
                                  contraction.unrounded.emplace(), nullptr))
      return why;
  if (Refusal why = checkTypes())
    return why;
  for (auto [i, value] : llvm::enumerate(op.getEpilogue()))
    if (Refusal why = readOperand(value, op.getEpilogueMap(unsigned(i)),
                                  "an operand of the epilogue",
                                  contraction.operands.emplace_back(), nullptr))
      return why;
  return std::nullopt;
}

Refusal Reader::read() {
  static_cast<ContractDims &>(contraction) = dimsOf(op);
  auto &rows = contraction.m;
  llvm::append_range(rows, std::exchange(contraction.rest, {}));
  llvm::sort(rows);
  if (auto bits = op->getAttrOfType<IntegerAttr>(sumBitsAttrName))
    contraction.sumBits = bits.getInt();
  if (Refusal why = readOperands())
    return why;
  if (Refusal why = readLanes())
    return why;
  if (Refusal why = readMargins())
    return why;
  if (Refusal why = systolic::readEpilogue(op, machine, contraction))
    return why;
  return systolic::readRows(contraction);
}

Refusal systolic::readContract(tile::ContractOp op, const Machine &machine,
                               Contraction &contraction, bool arePacked) {
  return Reader(op, machine, contraction, arePacked).read();
}
