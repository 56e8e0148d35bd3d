// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings, their slots, and where the elements of a slot lie.
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace ashlar::tile;

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> order, pad, swizzle;
  int64_t block = 0;
  SMLoc start = parser.getCurrentLocation();
  auto one = [&]() -> ParseResult {
    StringRef name;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    if (name == "block" && block == 0)
      return parser.parseInteger(block);
    auto *numbers = llvm::StringSwitch<SmallVector<int64_t> *>(name)
                        .Case("order", &order)
                        .Case("pad", &pad)
                        .Case("swizzle", &swizzle)
                        .Default(nullptr);
    if (!numbers || !numbers->empty())
      return parser.emitError(location, "expected order, pad, block or "
                                        "swizzle, each once, found ")
             << name;
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      return parser.parseInteger(numbers->emplace_back());
    });
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, one))
    return {};
  auto error = [&] { return parser.emitError(start); };
  if (failed(verify(error, order, pad, swizzle, block)))
    return {};
  return get(parser.getContext(), order, pad, swizzle, block);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  llvm::ListSeparator comma;
  printer << "<";
  auto print = [&](StringRef name, ArrayRef<int64_t> numbers) {
    if (!numbers.empty())
      printer << StringRef(comma) << name << " [" << numbers << "]";
  };
  print("order", getOrder());
  print("pad", getPad());
  if (getBlock() != 0)
    printer << StringRef(comma) << "block " << getBlock();
  print("swizzle", getSwizzle());
  printer << ">";
}

LogicalResult LayoutAttr::verify(llvm::function_ref<InFlightDiagnostic()> error,
                                 ArrayRef<int64_t> order, ArrayRef<int64_t> pad,
                                 ArrayRef<int64_t> swizzle, int64_t block) {
  if (block < 0 || (block != 0 && (!order.empty() || !pad.empty())))
    return error() << "expected blocks of 1 element or more, without order and "
                      "pad, found "
                   << block;
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  for (auto [i, dim] : llvm::enumerate(sorted))
    if (dim != int64_t(i))
      return error() << "expected each dim once in order, found [" << order
                     << "]";
  if (llvm::any_of(pad, [](int64_t elements) {
        return elements < 0 || elements > int64_t(1) << 20;
      }))
    return error() << "expected a pad of 0 to 1048576 elements, found [" << pad
                   << "]";
  // Bits that are read are no bits that change, so each place is taken once.
  if (!swizzle.empty() &&
      (swizzle.size() != 3 || swizzle[0] < 1 || swizzle[1] < 0 ||
       swizzle[2] < swizzle[0] || swizzle[0] > 30 || swizzle[1] > 30 ||
       swizzle[2] > 30))
    return error() << "expected a swizzle of bits, base and shift, the shift "
                      "no less than the bits, found ["
                   << swizzle << "]";
  return success();
}

std::string LayoutAttr::whyNot(ArrayRef<int64_t> shape) const {
  for (ArrayRef<int64_t> perDim : {getOrder(), getPad()})
    if (!perDim.empty() && perDim.size() != shape.size())
      return "expected a layout of " + std::to_string(shape.size()) +
             " dims, found " + std::to_string(perDim.size());
  if (getBlock() != 0 && (shape.empty() || shape.back() % getBlock() != 0))
    return "expected a last dim of whole blocks of " +
           std::to_string(getBlock()) + " elements, found " +
           std::to_string(shape.empty() ? 0 : shape.back());
  if (!getSwizzle().empty()) {
    int64_t block = int64_t(1) << (getSwizzle()[0] + getSwizzle()[1]);
    if (getSize(shape) % block != 0)
      return "expected slots of a multiple of the " + std::to_string(block) +
             " elements that the swizzle exchanges, found " +
             std::to_string(getSize(shape));
  }
  return "";
}

SmallVector<int64_t> LayoutAttr::getStrides(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- != 0;) {
    int64_t dim = getOrder().empty() ? i : getOrder()[i];
    strides[dim] = stride;
    stride *= getBlock() != 0 && size_t(dim) + 1 == shape.size()
                  ? getBlock()
                  : shape[dim] + (getPad().empty() ? 0 : getPad()[dim]);
  }
  return strides;
}

int64_t LayoutAttr::getSize(ArrayRef<int64_t> shape) const {
  int64_t size = 1;
  for (size_t i = 0; i != shape.size(); ++i)
    size *= shape[i] + (getPad().empty() ? 0 : getPad()[i]);
  return size;
}

int64_t LayoutAttr::getPlace(ArrayRef<int64_t> index,
                             ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> inside(index);
  int64_t place = 0;
  if (getBlock() != 0) {
    inside.back() %= getBlock();
    place = index.back() / getBlock() * (getSize(shape) / shape.back()) *
            getBlock();
  }
  for (auto [i, stride] : llvm::zip(inside, getStrides(shape)))
    place += i * stride;
  if (getSwizzle().empty())
    return place;
  int64_t mask = ((int64_t(1) << getSwizzle()[0]) - 1) << getSwizzle()[1];
  return place ^ ((place >> getSwizzle()[2]) & mask);
}

/// `128x64xbf16, "shared", #tile.layout<..>>`
static ParseResult parseSlot(AsmParser &parser, SmallVector<int64_t> &shape,
                             Type &element, StringAttr &memory,
                             LayoutAttr &layout) {
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return failure();
  std::string name;
  while (succeeded(parser.parseOptionalComma())) {
    if (!memory && succeeded(parser.parseOptionalString(&name)))
      memory = StringAttr::get(parser.getContext(), name);
    else if (layout || parser.parseAttribute(layout))
      return failure();
  }
  return parser.parseGreater();
}

static void printSlot(AsmPrinter &printer, ArrayRef<int64_t> shape,
                      Type element, StringAttr memory, LayoutAttr layout) {
  printer.printDimensionList(shape);
  printer << "x" << element;
  if (memory)
    printer << ", " << memory;
  if (layout)
    printer << ", " << layout;
  printer << ">";
}

static LogicalResult checkSlot(llvm::function_ref<InFlightDiagnostic()> error,
                               ArrayRef<int64_t> shape, Type element,
                               LayoutAttr layout) {
  if (shape.empty() ||
      llvm::any_of(shape, [](int64_t size) { return size < 1; }) ||
      !element.isIntOrFloat())
    return error() << "expected slots of numbers with at least one dim, each "
                      "of size 1 or more";
  double elements = 1;
  for (auto [d, size] : llvm::enumerate(shape))
    elements *= double(size) +
                (layout && d < layout.getPad().size() ? layout.getPad()[d] : 0);
  if (elements > double(int64_t(1) << 31))
    return error() << "expected slots of at most 2147483648 elements, padded";
  std::string why = layout ? layout.whyNot(shape) : "";
  if (!why.empty())
    return error() << why;
  return success();
}

Type RingType::parse(AsmParser &parser) {
  int64_t slots = 0;
  SmallVector<int64_t> shape;
  Type element;
  StringAttr memory;
  LayoutAttr layout;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(slots) || parser.parseComma() ||
      parseSlot(parser, shape, element, memory, layout))
    return {};
  auto error = [&] { return parser.emitError(location); };
  if (failed(verify(error, slots, shape, element, memory, layout)))
    return {};
  return get(parser.getContext(), slots, shape, element, memory, layout);
}

void RingType::print(AsmPrinter &printer) const {
  printer << "<" << getSlots() << ", ";
  printSlot(printer, getShape(), getElementType(), getMemory(), getLayout());
}

LogicalResult
RingType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 int64_t slots, ArrayRef<int64_t> shape, Type elementType,
                 StringAttr, LayoutAttr layout) {
  if (slots < 1)
    return emitError() << "expected at least one slot, found " << slots;
  if (slots > mostSlots)
    return emitError() << "expected at most " << mostSlots << " slots, found "
                       << slots;
  return checkSlot(emitError, shape, elementType, layout);
}

SlotType RingType::getSlotType() const {
  return SlotType::get(getContext(), getShape(), getElementType(), getMemory(),
                       getLayout());
}

Type SlotType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  StringAttr memory;
  LayoutAttr layout;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parseSlot(parser, shape, element, memory, layout))
    return {};
  auto error = [&] { return parser.emitError(location); };
  if (failed(verify(error, shape, element, memory, layout)))
    return {};
  return get(parser.getContext(), shape, element, memory, layout);
}

void SlotType::print(AsmPrinter &printer) const {
  printer << "<";
  printSlot(printer, getShape(), getElementType(), getMemory(), getLayout());
}

LogicalResult
SlotType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 ArrayRef<int64_t> shape, Type elementType, StringAttr,
                 LayoutAttr layout) {
  return checkSlot(emitError, shape, elementType, layout);
}

MemRefType SlotType::getView() const {
  if (!getLayout())
    return MemRefType::get(getShape(), getElementType());
  if (!getLayout().isStrided())
    return {};
  return MemRefType::get(
      getShape(), getElementType(),
      StridedLayoutAttr::get(getContext(), /*offset=*/0,
                             getLayout().getStrides(getShape())));
}
