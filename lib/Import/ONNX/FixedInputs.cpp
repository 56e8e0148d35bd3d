// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs whose values the user gave: constants of the compiled model, so that
// what depends on them (axes, sizes, a sampling rate) is known.
#include "GraphImporter.h"
#include "TensorBuilder.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

/// The number that `text` spells, or null where it is none of this type.
static TypedAttr parseNumber(StringRef text, Type type, bool isUnsigned) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    llvm::APFloat value(floatType.getFloatSemantics());
    auto status =
        value.convertFromString(text, llvm::APFloat::rmNearestTiesToEven);
    if (!status) {
      llvm::consumeError(status.takeError());
      return {};
    }
    return FloatAttr::get(type, value);
  }
  APInt value;
  bool isNegative = text.consume_front("-");
  if (text.getAsInteger(10, value))
    return {};
  unsigned width = type.getIntOrFloatBitWidth();
  unsigned highest = isUnsigned || width == 1 ? width : width - 1;
  if (isNegative ? (isUnsigned || (value - 1).getActiveBits() > highest)
                 : value.getActiveBits() > highest)
    return {};
  value = value.zextOrTrunc(width);
  return IntegerAttr::get(type, isNegative ? -value : value);
}

LogicalResult GraphImporter::importFixedInputs() {
  OpBuilder b = OpBuilder::atBlockEnd(&function.getBody().front());
  for (const onnx::ValueInfoProto &input : graph.input()) {
    auto given = options.values.find(input.name());
    if (given == options.values.end())
      continue;
    ArrayRef<std::string> numbers = given->second;
    auto type =
        static_cast<ElementType>(input.type().tensor_type().elem_type());
    FailureOr<SmallVector<int64_t>> shape = fixShape(input, numbers.size());
    Type element = convertElementType(context, type);
    if (!element)
      return error(input.name()) << "--value cannot be given for an input of "
                                    "type "
                                 << elementTypeName(type);
    if (failed(shape))
      return failure();
    if (ShapedType::getNumElements(*shape) != int64_t(numbers.size()))
      return error(input.name())
             << "--value gives " << numbers.size()
             << " numbers, but the input has "
             << ShapedType::getNumElements(*shape) << " elements";
    SmallVector<Attribute> elements;
    for (StringRef number : numbers) {
      elements.push_back(parseNumber(number, element, isUnsigned(type)));
      if (!elements.back())
        return error(input.name())
               << "--value gives '" << number << "', which is no "
               << elementTypeName(type);
    }
    ImplicitLocOpBuilder located(NameLoc::get(b.getStringAttr(input.name())),
                                 b);
    Value constant = constantOf(
        located, DenseElementsAttr::get(RankedTensorType::get(*shape, element),
                                        elements));
    define(input.name(), {constant, type});
  }
  return success();
}
