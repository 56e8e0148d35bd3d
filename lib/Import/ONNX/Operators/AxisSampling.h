// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elements of an axis make which element of the resized axis.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_AXISSAMPLING_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_AXISSAMPLING_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>

namespace ashlar::onnx_import {

/// Resize's attributes, in its own words.
struct SamplingRules {
  std::string mode, transform, nearest;
  double cubicA = -0.75, extrapolation = 0;
  bool excludeOutside = false, antialias = false;
};

/// One axis of `dim` elements (one or more) that becomes `size` elements.
struct AxisTarget {
  int64_t axis, dim, size;
  double scale;
  double roiStart = 0, roiEnd = 1;
};

/// Element i is constants[i] plus the sum over t < taps of
/// weights[i * taps + t] times element places[i * taps + t].
struct AxisSampling {
  int64_t axis, size;
  unsigned taps;
  llvm::SmallVector<int64_t> places;
  llvm::SmallVector<double> weights, constants;
};

AxisSampling sampleAxis(const SamplingRules &rules, const AxisTarget &target);

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_AXISSAMPLING_H
