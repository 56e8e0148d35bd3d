// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProgramSizes.h"
#include "FoldLargeConstants.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/ModelNodes.h"
#include "ashlar/Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace ashlar;

namespace {
/// What a walk over a program finds, in its order.
struct Visitor {
  virtual ~Visitor() = default;
  virtual void part(Operation *op) = 0;
  virtual void structure(const Twine &text) = 0;
  /// The dims of a value.
  virtual void dims(Value value, ArrayRef<int64_t> shape) = 0;
  /// The dims of a result of the entry.
  virtual void resultDims(func::FuncOp entry, unsigned result,
                          ArrayRef<int64_t> shape) = 0;
  virtual void attribute(Operation *op, StringAttr name,
                         ArrayRef<int64_t> numbers) = 0;
};

/// Choices that hold for all sizes, and figures that only people read.
bool isChoice(StringRef name) {
  return name == "strategy" || name == "scoresStrategy" || name == "levels" ||
         name == "perWorker" || name == exec::cyclesAttrName ||
         name == exec::boundAttrName || name == exec::sizesAttrName ||
         name == "operandSegmentSizes" || name == "resultSegmentSizes";
}

/// Whole numbers may be sizes, as the count that a mean divides by is; of all
/// others, only whether they differ counts.
int64_t numberOf(const APFloat &value) {
  APFloat number = value;
  bool isExact = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isExact);
  double whole = number.convertToDouble();
  if (std::abs(whole) < double(1 << 30) && whole == std::trunc(whole))
    return int64_t(whole);
  return int64_t(value.bitcastToAPInt().getLimitedValue());
}

/// Of more elements, only whether they differ counts.
constexpr int64_t mostListed = 64;

void appendElements(DenseElementsAttr elements,
                    SmallVectorImpl<int64_t> &numbers) {
  if (elements.isSplat() && isa<FloatType>(elements.getElementType())) {
    numbers.push_back(numberOf(elements.getSplatValue<APFloat>()));
    return;
  }
  if (elements.isSplat()) {
    numbers.push_back(elements.getSplatValue<APInt>().getSExtValue());
    return;
  }
  if (auto integers = dyn_cast<DenseIntElementsAttr>(elements);
      integers && elements.getNumElements() <= mostListed) {
    for (const APInt &value : integers.getValues<APInt>())
      numbers.push_back(value.getBitWidth() == 1 ? int64_t(value.getZExtValue())
                                                 : value.getSExtValue());
    return;
  }
  numbers.push_back(int64_t(llvm::hash_value(
      StringRef(elements.getRawData().data(), elements.getRawData().size()))));
}

} // namespace

/// Of a constant that was computed; others are of the model's file, the same at
/// all sizes.
static std::optional<ArrayRef<char>> foldedBytes(Attribute value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource || !resource.getRawHandle().getKey().starts_with(foldedName) ||
      !resource.getRawHandle().getBlob())
    return std::nullopt;
  return resource.getRawHandle().getBlob()->getData();
}

bool ashlar::readNumbers(Attribute value, SmallVectorImpl<int64_t> &numbers) {
  if (auto array = dyn_cast<DenseI64ArrayAttr>(value))
    llvm::append_range(numbers, array.asArrayRef());
  else if (auto integer = dyn_cast<IntegerAttr>(value))
    numbers.push_back(integer.getValue().getSExtValue());
  else if (auto number = dyn_cast<FloatAttr>(value))
    numbers.push_back(numberOf(number.getValue()));
  else if (auto elements = dyn_cast<DenseElementsAttr>(value))
    appendElements(elements, numbers);
  else if (auto bytes = foldedBytes(value))
    numbers.push_back(
        int64_t(llvm::xxh3_64bits(StringRef(bytes->data(), bytes->size()))));
  else
    return false;
  return true;
}

bool ashlar::isOfGraph(Operation *op) {
  return isa<UnknownLoc>(op->getLoc()) || isa<func::FuncOp, func::ReturnOp>(op);
}

namespace {
void visitAttribute(Operation *op, NamedAttribute attribute, Visitor &visitor) {
  StringAttr name = attribute.getName();
  Attribute value = attribute.getValue();
  if (isChoice(name))
    return;
  visitor.structure(name.getValue() + "=");
  if (isa<DenseResourceElementsAttr>(value) && !foldedBytes(value))
    return;
  SmallVector<int64_t> numbers;
  if (!readNumbers(value, numbers)) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    value.print(stream);
    visitor.structure(text);
    return;
  }
  visitor.attribute(op, name, numbers);
}

void visitValue(Value value, Visitor &visitor) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!type) {
    value.getType().print(stream);
    visitor.structure(text);
    return;
  }
  type.getElementType().print(stream);
  visitor.structure(Twine(type.getRank()) + text);
  visitor.dims(value, type.getShape());
}

void visitProgram(ModuleOp program, Visitor &visitor) {
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == program)
      return;
    visitor.part(op);
    visitor.structure(op->getName().getStringRef());
    if (auto entry = dyn_cast<func::FuncOp>(op)) {
      for (BlockArgument argument : entry.getArguments())
        if (auto shape = entry.getArgAttrOfType<DenseI64ArrayAttr>(
                argument.getArgNumber(), stateShapeAttrName))
          visitor.dims(argument, shape.asArrayRef());
        else
          visitValue(argument, visitor);
      for (auto [i, type] : llvm::enumerate(entry.getResultTypes()))
        if (auto shape = entry.getResultAttrOfType<DenseI64ArrayAttr>(
                i, stateShapeAttrName))
          visitor.resultDims(entry, i, shape.asArrayRef());
        else if (auto tensor = dyn_cast<RankedTensorType>(type))
          visitor.resultDims(entry, i, tensor.getShape());
      return;
    }
    for (Value result : op->getResults())
      visitValue(result, visitor);
    for (NamedAttribute attribute : op->getAttrDictionary())
      visitAttribute(op, attribute, visitor);
  });
}

struct Reader : Visitor {
  void part(Operation *op) override {
    ProgramSizes::Part part{"", nodeName(op->getLoc()), sizes.numbers.size(),
                            {}, isOfGraph(op),          isUnalignedView(op)};
    for (Value operand : op->getOperands())
      part.operands.push_back(numberOf.lookup(operand));
    auto define = [&](Value value) {
      numberOf.try_emplace(value, numberOf.size());
      sizes.makers.push_back(sizes.parts.size());
    };
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), define);
    llvm::for_each(op->getResults(), define);
    sizes.parts.push_back(std::move(part));
  }
  void structure(const Twine &text) override {
    sizes.parts.back().structure += (text + ";").str();
  }
  void add(ArrayRef<int64_t> numbers, ProgramSizes::Kind kind) {
    structure(Twine(numbers.size()));
    sizes.numbers.insert(sizes.numbers.end(), numbers.begin(), numbers.end());
    sizes.kinds.resize(sizes.numbers.size(), kind);
  }
  void dims(Value, ArrayRef<int64_t> shape) override {
    add(shape, ProgramSizes::Dim);
  }
  void resultDims(func::FuncOp, unsigned, ArrayRef<int64_t> shape) override {
    add(shape, ProgramSizes::Dim);
  }
  void attribute(Operation *op, StringAttr name,
                 ArrayRef<int64_t> numbers) override {
    auto elements = dyn_cast<DenseElementsAttr>(op->getAttr(name));
    bool areNumbers =
        elements
            ? isa<IntegerType>(elements.getElementType()) &&
                  (elements.isSplat() ||
                   elements.getNumElements() <= mostListed)
            : !isa<FloatAttr, DenseResourceElementsAttr>(op->getAttr(name));
    add(numbers, areNumbers ? ProgramSizes::Integer : ProgramSizes::Elements);
  }
  ProgramSizes sizes;

private:
  llvm::DenseMap<Value, size_t> numberOf;
};

struct Writer : Visitor {
  explicit Writer(ArrayRef<exec::SizeAttr> formulas) : formulas(formulas) {}

  void part(Operation *) override {}
  void structure(const Twine &) override {}
  /// The next sizes, or null where all of them are constant.
  ArrayAttr take(MLIRContext *context, ArrayRef<int64_t> numbers) {
    SmallVector<Attribute> sizes;
    bool isOpen = false;
    for (int64_t number : numbers) {
      exec::SizeAttr formula = formulas[next++];
      isOpen |= formula != nullptr;
      sizes.push_back(formula ? formula : exec::SizeAttr::get(context, number));
    }
    return isOpen ? ArrayAttr::get(context, sizes) : ArrayAttr();
  }
  void dims(Value value, ArrayRef<int64_t> shape) override {
    MLIRContext *context = value.getContext();
    ArrayAttr sizes = take(context, shape);
    if (!sizes)
      return;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      cast<func::FuncOp>(argument.getOwner()->getParentOp())
          .setArgAttr(argument.getArgNumber(),
                      isState(argument) ? StringRef(stateSizesAttrName)
                                        : StringRef(exec::sizesAttrName),
                      sizes);
      return;
    }
    auto result = cast<OpResult>(value);
    Operation *op = result.getOwner();
    SmallVector<Attribute> all(op->getNumResults(),
                               ArrayAttr::get(context, {}));
    if (auto known = op->getAttrOfType<ArrayAttr>(exec::sizesAttrName))
      all.assign(known.begin(), known.end());
    all[result.getResultNumber()] = sizes;
    op->setDiscardableAttr(exec::sizesAttrName, ArrayAttr::get(context, all));
  }
  void resultDims(func::FuncOp entry, unsigned result,
                  ArrayRef<int64_t> shape) override {
    if (ArrayAttr sizes = take(entry.getContext(), shape))
      entry.setResultAttr(result,
                          entry.getResultAttr(result, stateShapeAttrName)
                              ? StringRef(stateSizesAttrName)
                              : StringRef(exec::sizesAttrName),
                          sizes);
  }
  void attribute(Operation *op, StringAttr name,
                 ArrayRef<int64_t> numbers) override {
    ArrayAttr sizes = take(op->getContext(), numbers);
    if (!sizes)
      return;
    NamedAttrList &list = attributeSizes[op];
    list.set(name, sizes);
  }
  /// While an op's own attributes are walked they must stay as they are.
  void finish() {
    for (auto &[op, list] : attributeSizes)
      op->setAttr(exec::attributeSizesAttrName,
                  list.getDictionary(op->getContext()));
    for (auto &[op, list] : attributeSizes)
      noteLoops(op, list);
  }
  /// How often a loop runs is said at the loop: equal constants may become one.
  static void noteLoops(Operation *op, const NamedAttrList &list) {
    auto end = dyn_cast_if_present<ArrayAttr>(list.get("value"));
    if (!end || !isa<arith::ConstantOp>(op))
      return;
    for (OpOperand &use : op->getResult(0).getUses()) {
      auto loop = dyn_cast<scf::ForOp>(use.getOwner());
      if (!loop || &use != &loop.getUpperBoundMutable())
        continue;
      Builder b(op->getContext());
      loop->setAttr(exec::attributeSizesAttrName,
                    b.getDictionaryAttr(b.getNamedAttr(upperBoundName, end)));
    }
  }

private:
  ArrayRef<exec::SizeAttr> formulas;
  size_t next = 0;
  llvm::MapVector<Operation *, NamedAttrList> attributeSizes;
};
} // namespace

const ProgramSizes::Part &ProgramSizes::partOf(size_t i) const {
  auto after = llvm::upper_bound(
      parts, i, [](size_t at, const Part &part) { return at < part.begin; });
  return *std::prev(after);
}

namespace {
/// The parts of a program that are of nodes, in turn, each with what it reads.
/// What is of no node, constants above all, is told by when it is read first:
/// how many there are depends on which happen to be equal.
class NodeParts {
public:
  explicit NodeParts(const ProgramSizes &program) : program(program) {}

  const ProgramSizes::Part *next(std::vector<size_t> &reads) {
    while (at != program.parts.size() && program.parts[at].isOfGraph)
      ++at;
    if (at == program.parts.size())
      return nullptr;
    orders.try_emplace(at, orders.size());
    reads.clear();
    for (size_t operand : program.parts[at].operands)
      reads.push_back(orders.try_emplace(program.makers[operand], orders.size())
                          .first->second);
    return &program.parts[at++];
  }

private:
  const ProgramSizes &program;
  size_t at = 0;
  std::map<size_t, size_t> orders; ///< by part
};
} // namespace

const std::string *ashlar::findDifference(const ProgramSizes &program,
                                          const ProgramSizes &other) {
  // Constants that are equal at some sizes only are one there: which value an
  // op reads is part of what it is.
  auto isSame = [](const ProgramSizes::Part &x, const ProgramSizes::Part &y) {
    return x.structure == y.structure && x.operands == y.operands;
  };
  if (program.parts.size() == other.parts.size() &&
      llvm::all_of(llvm::zip(program.parts, other.parts), [&](auto pair) {
        return isSame(std::get<0>(pair), std::get<1>(pair));
      }))
    return nullptr;
  NodeParts ours(program), theirs(other);
  std::vector<size_t> reads, theirReads;
  const ProgramSizes::Part *last = &program.parts.front();
  while (const ProgramSizes::Part *part = ours.next(reads)) {
    const ProgramSizes::Part *found = theirs.next(theirReads);
    if (!found || found->structure != part->structure || reads != theirReads)
      return &part->node;
    last = part;
  }
  return &last->node;
}

ProgramSizes ashlar::readProgramSizes(ModuleOp program) {
  Reader reader;
  visitProgram(program, reader);
  return std::move(reader.sizes);
}

void ashlar::writeProgramSizes(ModuleOp program,
                               ArrayRef<exec::SizeAttr> formulas) {
  Writer writer(formulas);
  visitProgram(program, writer);
  writer.finish();
}
