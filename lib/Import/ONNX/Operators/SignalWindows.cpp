// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables for signals that depend on sizes alone: HannWindow, HammingWindow,
// BlackmanWindow and MelWeightMatrix. Their sizes are known when the model is
// compiled, so they are constants, computed in double.
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include <cmath>

using namespace mlir;
using namespace ashlar::onnx_import;

/// The largest table that is worth a constant.
static constexpr int64_t maximumElements = int64_t(1) << 24;

static LogicalResult setTable(NodeImporter &node, ArrayRef<double> values,
                              ArrayRef<int64_t> shape) {
  auto type = static_cast<ElementType>(
      node.intAttribute("output_datatype", int(ElementType::F32)));
  if (!isFloat(type) && !isInteger(type))
    return node.unsupported("as " + elementTypeName(type));
  Value table = constantTable(node.b, values, shape);
  node.setResult(0, castTensor(node.b, table, ElementType::F64, type), type);
  return success();
}

/// offset - first cos(x) + second cos(2 x), where x runs through a whole turn.
struct Cosines {
  double offset, first, second;
};
static constexpr Cosines hann = {0.5, 0.5, 0},
                         hamming = {25.0 / 46, 21.0 / 46, 0},
                         blackman = {0.42, 0.5, 0.08};

template <const Cosines &window>
static LogicalResult importWindow(NodeImporter &node) {
  FailureOr<SmallVector<int64_t>> size = node.constantInts(0, "the size");
  if (failed(size))
    return failure();
  int64_t count = size->size() == 1 ? size->front() : -1;
  if (count < 0 || count > maximumElements)
    return node.invalid("expected one size from 0 to 2^24, found " +
                        (size->size() == 1 ? Twine(count) : Twine("others")));
  double turn = node.intAttribute("periodic", 1) ? count : count - 1;
  SmallVector<double> values;
  for (int64_t i = 0; i != count; ++i) {
    double x = 2 * M_PI * i / turn;
    values.push_back(window.offset - window.first * std::cos(x) +
                     window.second * std::cos(2 * x));
  }
  return setTable(node, values, {count});
}

/// Triangles over the bins of a spectrum, of equal width on the mel scale.
static LogicalResult importMelWeightMatrix(NodeImporter &node) {
  SmallVector<double> given;
  const StringRef roles[] = {"the number of bins", "the length",
                             "the sample rate", "the lower edge",
                             "the upper edge"};
  for (auto [i, role] : llvm::enumerate(roles)) {
    SmallVector<double> values;
    if (isFloat(node.operandType(i))) {
      auto floats = node.constantFloats(i, role);
      if (failed(floats))
        return failure();
      values = *floats;
    } else {
      auto ints = node.constantInts(i, role);
      if (failed(ints))
        return failure();
      values.assign(ints->begin(), ints->end());
    }
    if (values.size() != 1)
      return expectOneElement(node, i);
    given.push_back(values[0]);
  }
  // Comparisons are written so that NaN is refused.
  if (!(given[0] >= 0 && given[1] >= 0 && given[2] > 0 && given[3] >= 0 &&
        given[4] >= given[3] && given[4] <= given[2] &&
        (given[0] + 1) * (given[1] / 2 + 1) <= maximumElements))
    return node.invalid("expected sizes and edges within the sample rate");
  int64_t bins = given[0], length = given[1], rows = length / 2 + 1;
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double low = mel(given[3]), step = (mel(given[4]) - low) / (bins + 2);
  SmallVector<int64_t> edges;
  for (int64_t i = 0; i != bins + 2; ++i) {
    double hertz = 700 * (std::pow(10, (low + i * step) / 2595) - 1);
    int64_t edge = std::floor((length + 1) * hertz / given[2]);
    edges.push_back(std::clamp<int64_t>(edge, 0, rows));
  }
  SmallVector<double> values(rows * bins, 0);
  auto set = [&](int64_t row, int64_t bin, double value) {
    if (row < rows)
      values[row * bins + bin] = value;
  };
  for (int64_t i = 0; i != bins; ++i) {
    int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    if (left == centre)
      set(centre, i, 1);
    else
      for (int64_t j = left; j <= centre; ++j)
        set(j, i, double(j - left) / (centre - left));
    for (int64_t j = centre; j < right; ++j)
      set(j, i, double(right - j) / (right - centre));
  }
  return setTable(node, values, {rows, bins});
}

void ashlar::onnx_import::registerSignalWindowsOperators(
    OperatorRegistry &registry) {
  registry.add("HannWindow", 17, importWindow<hann>);
  registry.add("HammingWindow", 17, importWindow<hamming>);
  registry.add("BlackmanWindow", 17, importWindow<blackman>);
  registry.add("MelWeightMatrix", 17, importMelWeightMatrix);
}
