// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef ASHLAR_TOOLS_LIB_COMPARETENSORS_H
#define ASHLAR_TOOLS_LIB_COMPARETENSORS_H

#include "Tensor.h"

namespace ashlar::tools {

struct Comparison {
  bool equal = true;
  int64_t mismatches = 0;
  int64_t worst = -1;           // element furthest beyond its tolerance
  double maximumDifference = 0; // largest |a - b| of finite pairs
  double maximumReference = 0;  // largest |b|, finite
  std::string difference;       // of type or shape; the rest is unset then
  /// max |a - b| / max |b|.
  double relative() const;
};

/// Element by element |a - b| <= atol + rtol * |b|. NaN equals NaN, an
/// infinity itself.
Comparison compareTensors(const Tensor &actual, const Tensor &expected,
                          double rtol, double atol);

/// Two or three lines for people.
std::string describeComparison(const std::string &name, const Tensor &actual,
                               const Tensor &expected,
                               const Comparison &result);

/// The whole tensor, long ones shortened, as NumPy prints it.
std::string printTensor(const std::string &name, const Tensor &tensor);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_COMPARETENSORS_H
