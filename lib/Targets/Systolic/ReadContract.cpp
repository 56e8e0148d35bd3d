// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts the dims of a contraction and writes its maps as strides.
#include "ReadContract.h"
#include "Layout.h"
#include "ashlar/Analysis/Reshapes.h"
#include "ashlar/Analysis/SumBounds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"
#include <optional>

using namespace mlir;
using namespace ashlar;
using ashlar::systolic::Access;
using ashlar::systolic::Coordinate;
using ashlar::systolic::Element;
using ashlar::systolic::Problem;

namespace {
/// An index as a constant and a factor for each dim; none if it is not linear.
std::optional<Coordinate> linear(AffineExpr expr, unsigned dims) {
  Coordinate sum;
  sum.factors.assign(dims, 0);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    sum.constant = constant.getValue();
    return sum;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    sum.factors[dim.getPosition()] = 1;
    return sum;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto left = linear(binary.getLHS(), dims);
  auto right = linear(binary.getRHS(), dims);
  if (!left || !right)
    return std::nullopt;
  int64_t scale = 1;
  if (binary.getKind() == AffineExprKind::Mul) {
    scale = right->constant;
    right = Coordinate();
    right->factors.assign(dims, 0);
  } else if (binary.getKind() != AffineExprKind::Add) {
    return std::nullopt;
  }
  sum.constant = left->constant * scale + right->constant;
  for (unsigned d = 0; d < dims; ++d)
    sum.factors[d] = left->factors[d] * scale + right->factors[d];
  return sum;
}

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

/// What `value` is a part of: its type says where and how far apart. Of a view
/// of bytes `shift` says where it begins.
Value wholeOf(Value value, int64_t &shift) {
  while (isa_and_nonnull<memref::SubViewOp, memref::ReinterpretCastOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto view = value.getDefiningOp<memref::ViewOp>();
  if (!view)
    return value;
  std::optional<int64_t> bytes = getConstantIntValue(view.getByteShift());
  shift = bytes.value_or(0);
  return bytes ? view.getSource() : value;
}

class Reader {
public:
  Reader(tile::ContractOp op, const systolic::Machine &machine,
         Problem &problem, bool arePacked)
      : op(op), machine(machine), problem(problem), arePacked(arePacked) {}

  std::string read();

private:
  std::string readOperand(Value value, AffineMap map, const char *name,
                          Access &access, std::vector<Coordinate> *coordinates);
  void packWeights();
  std::string checkTypes();
  void sortDims();
  std::string readLanes();
  std::string readMargins();

  tile::ContractOp op;
  const systolic::Machine &machine;
  Problem &problem;
  const bool arePacked;
};
} // namespace

std::string Reader::readOperand(Value value, AffineMap map, const char *name,
                                Access &access,
                                std::vector<Coordinate> *coordinates) {
  auto type = cast<ShapedType>(value.getType());
  if (!type.hasStaticShape())
    return llvm::formatv("{0} has sizes that are not known", name);
  auto element = elementOf(type.getElementType());
  if (!element)
    return llvm::formatv("{0} is of {1}", name, spell(type.getElementType()));
  access.element = *element;
  SmallVector<int64_t> strides(type.getRank());
  int64_t inner = 1;
  for (int64_t i = type.getRank(); i-- > 0;) {
    strides[i] = inner;
    inner *= type.getDimSize(i);
  }
  if (auto memory = dyn_cast<MemRefType>(type)) {
    strides.clear();
    if (failed(memory.getStridesAndOffset(strides, access.offset)) ||
        ShapedType::isDynamic(access.offset) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return llvm::formatv("{0} has a layout that is not known", name);
  }
  int64_t shift = 0;
  Value whole = wholeOf(value, shift);
  if (shift % bytesOf(*element) != 0)
    return llvm::formatv("{0} begins between two of its elements", name);
  access.offset += shift / bytesOf(*element);
  if (auto argument = dyn_cast<BlockArgument>(whole);
      argument && isa<func::FuncOp>(argument.getOwner()->getParentOp())) {
    access.binding = argument.getArgNumber();
  } else if (isa<MemRefType>(type)) {
    return llvm::formatv("{0} is not an argument of the kernel", name);
  } else {
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == value)
        access.binding = operand.getOperandNumber();
  }
  // A map of the parallel dims alone has no factors for the others.
  access.strides.assign(problem.sizes.size(), 0);
  for (auto [expr, stride, size] :
       llvm::zip_equal(map.getResults(), strides, type.getShape())) {
    auto index = linear(expr, map.getNumDims());
    if (!index)
      return llvm::formatv("{0}'s elements lie in panels", name);
    index->factors.resize(problem.sizes.size(), 0);
    index->stride = stride;
    int64_t least = index->constant, greatest = index->constant;
    for (auto [d, factor] : llvm::enumerate(index->factors))
      (factor < 0 ? least : greatest) += factor * (problem.sizes[d] - 1);
    if (least < 0 || greatest >= size)
      return llvm::formatv("{0} is read beyond its {1} elements", name, size);
    access.offset += index->constant * stride;
    for (auto [d, factor] : llvm::enumerate(index->factors))
      access.strides[d] += factor * stride;
    if (coordinates)
      coordinates->push_back(*index);
  }
  return "";
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
  problem.b.strides.assign(problem.sizes.size(), 0);
  auto place = [&](unsigned d) {
    problem.b.strides[d] = stride;
    stride *= problem.sizes[d];
  };
  place(last);
  for (unsigned d = map.getNumDims(); d-- > 0;)
    if (d != last && map.isFunctionOfDim(d))
      place(d);
}

std::string Reader::checkTypes() {
  bool isBF16 = machine.input == ASHLAR_SYSTOLIC_BF16;
  Element input = isBF16 ? Element::BF16 : Element::S8;
  const char *wanted = isBF16 ? "bf16" : "i8";
  for (Value factor : {op.getA(), op.getB()}) {
    Type type = cast<ShapedType>(factor.getType()).getElementType();
    if (elementOf(type) != input)
      return llvm::formatv("its factors are of {0}, the array takes {1}",
                           spell(type), wanted);
  }
  if (!isBF16 && (op.getAUnsigned() || op.getBUnsigned()))
    return "its factors are unsigned, the array takes i8 with a sign";
  Type sum = op.getAccumulatorType();
  if (isBF16 ? !sum.isF32() : !sum.isInteger(32))
    return llvm::formatv("its sums are of {0}, those of the array of {1}",
                         spell(sum), isBF16 ? "f32" : "i32");
  Element result = problem.result.element;
  if (isBF16 ? result != Element::BF16 && result != Element::F32
             : result != Element::S8 && result != Element::S32)
    return "its result is of a type that the machine does not store";
  if (result == Element::S32 && machine.flags & ASHLAR_SYSTOLIC_NARROW_RESULTS)
    return "its result is of i32, and the machine stores bytes alone";
  return "";
}

void Reader::sortDims() {
  auto moves = [&](const Access &access, unsigned d) {
    return access.strides[d] != 0;
  };
  for (unsigned d = 0; d < problem.sizes.size(); ++d) {
    if (d >= op.getParallel().size()) {
      problem.k.push_back(d);
      continue;
    }
    // What only the epilogue depends on is as good as a row.
    bool inA = moves(problem.a, d), inB = moves(problem.b, d);
    (inA && inB ? problem.batch : inB ? problem.n : problem.m).push_back(d);
  }
}

/// Depthwise: the last dim is in all operands. Its values are lanes of the
/// vector unit, and N to all but A.
std::string Reader::readLanes() {
  auto lane = unsigned(op.getParallel().size() - 1);
  if (problem.count(problem.n) > 1 || problem.batch.empty() ||
      problem.batch.back() != lane || problem.sizes[lane] == 1)
    return "";
  if (!(machine.flags & ASHLAR_SYSTOLIC_EXTENDED))
    return "it is depthwise, and the machine has no vector unit";
  if (problem.a.strides[lane] != 1 || problem.b.strides[lane] != 1)
    return "it is depthwise, and its channels do not lie side by side";
  problem.batch.pop_back();
  problem.n = {lane};
  problem.isDepthwise = true;
  return systolic::canReadTapsInPlace(problem)
             ? ""
             : "it is depthwise, and its taps are no grid";
}

/// Boxes of the result around the one that is computed.
std::string Reader::readMargins() {
  std::optional<TypedAttr> pad = op.getPad();
  if (!pad)
    return "";
  if (auto number = dyn_cast<FloatAttr>(*pad))
    problem.pad = number.getValueAsDouble();
  else if (auto integer = dyn_cast<IntegerAttr>(*pad))
    problem.pad = double(integer.getInt());
  auto type = cast<ShapedType>(op.getInit().getType());
  SmallVector<int64_t> strides(type.getRank()), begins, sizes;
  int64_t inner = 1, offset = 0;
  for (int64_t i = type.getRank(); i-- > 0;) {
    strides[i] = inner;
    inner *= type.getDimSize(i);
  }
  if (auto memory = dyn_cast<MemRefType>(type)) {
    strides.clear();
    (void)memory.getStridesAndOffset(strides, offset);
    int64_t shift = 0;
    (void)wholeOf(op.getInit(), shift);
    offset += shift / bytesOf(problem.result.element);
  }
  if (problem.pad != 0 && !(machine.flags & ASHLAR_SYSTOLIC_EXTENDED))
    return "its padding is not zero";
  AffineMap map = op.getResultMap();
  for (AffineExpr expr : map.getResults()) {
    auto index = linear(expr, map.getNumDims());
    int64_t size = 1, moving = 0;
    for (auto [d, factor] : llvm::enumerate(index->factors)) {
      if (factor == 0 || problem.sizes[d] == 1)
        continue;
      if (factor != 1 || ++moving > 1)
        return "its padding lies between its results";
      size = problem.sizes[d];
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
      systolic::Margin margin{offset + begin * strides[d], {}};
      for (int64_t i = 0; i < type.getRank(); ++i) {
        int64_t size = i < d    ? sizes[i]
                       : i == d ? end - begin
                                : type.getDimSize(i);
        if (i < d)
          margin.offset += begins[i] * strides[i];
        margin.digits.push_back({size, strides[i], 0});
      }
      problem.margins.push_back(margin);
    }
  return "";
}

std::string Reader::read() {
  llvm::append_range(problem.sizes, op.getParallel());
  llvm::append_range(problem.sizes, op.getReduced());
  if (auto bits = op->getAttrOfType<IntegerAttr>(sumBitsAttrName))
    problem.sumBits = bits.getInt();
  std::string why = readOperand(op.getA(), op.getAMap(), "a", problem.a,
                                &problem.aCoordinates);
  if (why.empty())
    why = readOperand(op.getB(), op.getBMap(), "b", problem.b, nullptr);
  if (why.empty() && arePacked)
    packWeights();
  if (why.empty())
    why = readOperand(op.getInit(), op.getResultMap(), "the result",
                      problem.result, nullptr);
  if (why.empty() && op.getUnrounded())
    why = readOperand(op.getUnrounded(), op.getResultMap(),
                      "the result before it is rounded",
                      problem.unrounded.emplace(), nullptr);
  if (why.empty())
    why = checkTypes();
  for (auto [i, value] : llvm::enumerate(op.getEpilogue())) {
    if (!why.empty())
      break;
    why = readOperand(value, op.getEpilogueMap(unsigned(i)),
                      "an operand of the epilogue",
                      problem.operands.emplace_back(), nullptr);
  }
  if (!why.empty())
    return why;
  sortDims();
  why = readLanes();
  if (!why.empty())
    return why;
  why = readMargins();
  if (why.empty())
    why = systolic::readEpilogue(op, machine, problem);
  return why.empty() ? systolic::readRows(problem) : why;
}

std::string systolic::readContract(tile::ContractOp op, const Machine &machine,
                                   Problem &problem, bool arePacked) {
  return Reader(op, machine, problem, arePacked).read();
}
