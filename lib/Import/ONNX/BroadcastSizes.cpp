// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes that depend on data of operators that map elements: a broadcast makes
// them those of the result.
#include "ComputedSizes.h"
#include "SizeRules.h"
#include "TensorBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Operators that make each element of their result from the elements at its
/// place, broadcast as NumPy does.
static constexpr StringLiteral elementwiseOperators =
    "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd "
    "BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Cos "
    "Cosh Div Dropout Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual "
    "HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less "
    "LessOrEqual Log Max Min Mish Mod Mul Neg Not Or Pow PRelu Reciprocal "
    "Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt "
    "Sub Tan Tanh ThresholdedRelu Where Xor";

bool ashlar::onnx_import::mapsElements(StringRef op) {
  static const llvm::StringSet<> all = [] {
    llvm::StringSet<> names;
    for (StringRef name : llvm::split(elementwiseOperators, ' '))
      names.insert(name);
    return names;
  }();
  return all.contains(op);
}

/// Operand i with the sizes that a broadcast gives it where these are not its
/// own: along such an axis it may have one element, or as many.
static ImportedValue spread(NodeImporter &node, unsigned i,
                            ArrayRef<Number> result) {
  ImportedValue given = node.importedOperand(i);
  int64_t rank = node.rank(i), lead = result.size() - rank;
  SmallVector<int64_t> shape(node.shape(i));
  SmallVector<Number> own;
  bool isOther = false;
  for (int64_t d = 0; d != rank; ++d) {
    own.push_back(sizeOf(node, i, d));
    if (own[d].is(1) || own[d] == result[lead + d])
      continue;
    isOther = true;
    shape[d] = result[lead + d].high;
    given.sizes.resize(rank);
    given.sizes[d] = result[lead + d].tensor;
  }
  if (!isOther || node.tensorType(i).getNumElements() == 0)
    return given;
  Value data = given.value;
  given.value =
      generate(node.b, shape, getElementTypeOrSelf(data),
               [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                 SmallVector<Value> place;
                 for (auto [index, size] : llvm::zip(at, own))
                   place.push_back(clampTo(b, loc, index, size));
                 return tensor::ExtractOp::create(b, loc, data, place);
               });
  return given;
}

LogicalResult ashlar::onnx_import::broadcastSizes(NodeImporter &node,
                                                  Sizes &sizes) {
  // Of the second operand only the type counts.
  unsigned count = node.opType() == "CastLike" ? 1 : node.numOperands();
  int64_t rank = 0;
  for (unsigned i = 0; i != count; ++i)
    if (node.hasOperand(i))
      rank = std::max(rank, node.rank(i));
  SmallVector<Number> result(rank, knownNumber(1));
  for (unsigned i = 0; i != count; ++i)
    for (int64_t d = 0; node.hasOperand(i) && d != node.rank(i); ++d) {
      Number &size = result[rank - node.rank(i) + d];
      Number own = sizeOf(node, i, d);
      // One that is known, and not one, is what all have.
      if (size.is(1) || (own.isKnown() && own.low != 1))
        size = own;
      else if (!size.isKnown())
        size = unlessOne(node, own, size);
    }
  for (unsigned i = 0; i != count; ++i)
    if (node.hasOperand(i))
      node.replaceOperand(i, spread(node, i, result));
  for (const Number &size : result)
    sizes.push_back(size.tensor);
  return success();
}
