// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HalfRange.h"
#include "ashlar/Analysis/ConstantBytes.h"
#include "ashlar/Analysis/Reshapes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ashlar;

bool ashlar::exceedsHalf(const APFloat &value) {
  APFloat half = value;
  bool loses;
  half.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &loses);
  return value.isFinite() && !half.isFinite();
}

/// Of a constant of f32 in a file.
static double largestElement(DenseResourceElementsAttr constant) {
  if (!constant.getElementType().isF32())
    return 0;
  double largest = 0;
  ArrayRef<char> bytes = resourceBytes(constant);
  for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
    float value;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    if (std::isfinite(value))
      largest = std::max(largest, std::abs(double(value)));
  }
  return largest;
}

double ashlar::largestConstant(Value value) {
  TypedAttr constant = constantBehindReshapes(value);
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(constant))
    return largestElement(resource);
  double largest = 0;
  if (auto dense = dyn_cast_or_null<DenseFPElementsAttr>(constant))
    for (const APFloat &element : dense.getValues<APFloat>())
      if (element.isFinite())
        largest = std::max(largest, std::abs(element.convertToDouble()));
  return largest;
}

static double largestWeight(const PrecisionOp &entry) {
  double largest = 0;
  if (entry.isContraction)
    for (Value input : entry.op.getDpsInputs())
      largest = std::max(largest, largestConstant(input));
  if (entry.gathers)
    entry.op.walk([&](tensor::ExtractOp extract) {
      largest = std::max(largest, largestConstant(extract.getTensor()));
    });
  return largest;
}

void ashlar::keepHalvesInRange(const PrecisionGraph &graph,
                               PrecisionDecisions &decisions) {
  for (const PrecisionOp &entry : graph.ops()) {
    PrecisionNode &node = decisions.nodes[entry.node];
    if (node.type != NumberType::F16)
      continue;
    double largest = largestWeight(entry);
    if (largest < firstInfiniteHalf)
      continue;
    emitWarning(entry.op.getLoc())
        << "weights of up to " << llvm::formatv("{0}", largest).str()
        << " overflow f16, whose largest number is " << int(largestHalf)
        << "; the node stays f32";
    node.type = NumberType::F32;
    node.reason = llvm::formatv("weights of up to {0} overflow f16", largest);
  }
}
