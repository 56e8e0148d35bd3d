// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors are products of many factors: their logarithms are taken to be normal,
// upwards from the median. How widely they spread is a matter of the model.
// Behind a normalization all inputs come to much the same; behind a softmax of
// two classes one input has twenty times the error of most. What lies below the
// median says nothing about that: it is inputs on which errors do not show.
#include "UnseenError.h"
#include <algorithm>
#include <cmath>

/// A spread that is assumed before anything is seen, and how many inputs that
/// counts for.
static constexpr double assumedSpread = 0.3, assumedInputs = 2;
/// That of the errors of a bounded function of what spreads by more: where it
/// is steepest they end.
static constexpr double largestSpread = 1.3;
/// Below which share of all errors the bound is set, so that 99 % are below it
/// most of the time, though few of them were seen.
static constexpr double quantile = 0.998;

/// Where the standard normal distribution reaches a share; off by less than
/// 0.02 (Tukey's lambda distribution, Joiner and Rosenblatt 1971).
static double normalQuantile(double share) {
  return 4.91 * (std::pow(share, 0.14) - std::pow(1 - share, 0.14));
}

double ashlar::unseenError(const std::vector<double> &errors) {
  std::vector<double> sorted = errors;
  std::sort(sorted.begin(), sorted.end());
  double largest = sorted.back(), median = sorted[(sorted.size() - 1) / 2];
  if (!std::isfinite(largest) || !(largest > 0))
    return largest;
  double squares = assumedInputs * assumedSpread * assumedSpread;
  double above = assumedInputs;
  for (size_t i = (sorted.size() + 1) / 2; i != sorted.size(); ++i, ++above)
    squares +=
        std::pow(std::log(sorted[i] / std::max(median, 1e-6 * largest)), 2);
  double spread = std::min(std::sqrt(squares / above), largestSpread);
  // The largest of n lies about where n of n + 1 lie below.
  double seen = double(errors.size()) / double(errors.size() + 1);
  double further = normalQuantile(quantile) - normalQuantile(seen);
  return largest * std::exp(std::max(0.0, further) * spread);
}
