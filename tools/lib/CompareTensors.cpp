// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CompareTensors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace ashlar::tools {

double Comparison::relative() const {
  if (maximumDifference == 0)
    return 0;
  return maximumReference == 0 ? INFINITY
                               : maximumDifference / maximumReference;
}

/// How far beyond the tolerance: 0 when inside.
static double excess(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
  if (std::isinf(a) || std::isinf(b))
    return a == b ? 0 : INFINITY;
  return std::max(0.0, std::fabs(a - b) - tolerance);
}

Comparison compareTensors(const Tensor &actual, const Tensor &expected,
                          double rtol, double atol) {
  Comparison result;
  if (actual.type() != expected.type() || actual.shape() != expected.shape()) {
    result.equal = false;
    result.difference = "found " +
                        std::string(ashlar_element_type_name(actual.type())) +
                        " " + shapeText(actual.shape()) + ", expected " +
                        ashlar_element_type_name(expected.type()) + " " +
                        shapeText(expected.shape());
    return result;
  }
  double worstExcess = 0;
  bool exact = !actual.isFloat() && rtol == 0 && atol == 0;
  for (int64_t i = 0; i < actual.count(); ++i) {
    double a = actual.number(i), b = expected.number(i);
    if (std::isfinite(a) && std::isfinite(b)) {
      result.maximumDifference =
          std::max(result.maximumDifference, std::fabs(a - b));
      result.maximumReference = std::max(result.maximumReference, std::fabs(b));
    }
    double beyond = excess(a, b, atol + rtol * std::fabs(b));
    // Integers beyond 2^53 may be equal as doubles.
    if (exact && beyond == 0 && actual.text(i) != expected.text(i))
      beyond = 1;
    if (beyond == 0)
      continue;
    ++result.mismatches;
    if (result.worst < 0 || beyond > worstExcess) {
      worstExcess = beyond;
      result.worst = i;
    }
  }
  result.equal = result.mismatches == 0;
  return result;
}

static std::string number(const char *format, double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

std::string describeComparison(const std::string &name, const Tensor &actual,
                               const Tensor &expected,
                               const Comparison &result) {
  if (!result.difference.empty())
    return name + ": differs: " + result.difference + "\n";
  std::string text =
      name + ": " + (result.equal ? "equal within tolerance" : "differs") +
      ", max|diff| " + number("%.3g", result.maximumDifference) +
      ", max|diff|/max|ref| " + number("%.3g", result.relative()) + "\n";
  if (result.equal)
    return text;
  return text + "  " + std::to_string(result.mismatches) + " of " +
         std::to_string(actual.count()) + " elements; worst at " +
         indexText(actual.shape(), result.worst) + ": found " +
         number("%.9g", actual.number(result.worst)) + ", expected " +
         number("%.9g", expected.number(result.worst)) + "\n";
}

static void printPart(const Tensor &tensor, size_t dimension, int64_t first,
                      std::string &out) {
  constexpr int64_t edge = 3, whole = 8;
  if (dimension == tensor.shape().size()) {
    out += tensor.text(first);
    return;
  }
  int64_t size = tensor.shape()[dimension], stride = 1;
  for (size_t i = dimension + 1; i < tensor.shape().size(); ++i)
    stride *= tensor.shape()[i];
  bool innermost = dimension + 1 == tensor.shape().size();
  std::string separator =
      innermost ? ", " : ",\n" + std::string(dimension + 1, ' ');
  bool shorten = size > whole && tensor.count() > 64;
  out += '[';
  for (int64_t i = 0; i < size; ++i) {
    if (i)
      out += separator;
    if (shorten && i == edge) {
      out += "...";
      i = size - edge - 1;
      continue;
    }
    printPart(tensor, dimension + 1, first + i * stride, out);
  }
  out += ']';
}

std::string printTensor(const std::string &name, const Tensor &tensor) {
  std::string text = name + " " + ashlar_element_type_name(tensor.type()) +
                     " " + shapeText(tensor.shape()) + "\n";
  // As NumPy: rows of nothing may be any number.
  if (tensor.count() == 0)
    return text + "[]\n";
  printPart(tensor, 0, 0, text);
  return text + "\n";
}

} // namespace ashlar::tools
