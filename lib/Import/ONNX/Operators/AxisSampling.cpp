// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AxisSampling.h"
#include <algorithm>
#include <cmath>

using namespace ashlar::onnx_import;

/// Where element i of the resized axis lies in the axis it came from.
static double sourceCoordinate(const SamplingRules &rules,
                               const AxisTarget &target, double i) {
  // The size before it was rounded down to a whole number.
  double size = target.scale * target.dim;
  double last = double(target.dim) - 1;
  if (rules.transform == "align_corners")
    return size == 1 ? 0 : i * last / (size - 1);
  if (rules.transform == "asymmetric")
    return i / target.scale;
  if (rules.transform == "tf_crop_and_resize") {
    double span = target.roiEnd - target.roiStart;
    return target.size > 1 ? target.roiStart * last +
                                 i * span * last / (double(target.size) - 1)
                           : 0.5 * (target.roiStart + target.roiEnd) * last;
  }
  if (rules.transform == "tf_half_pixel_for_nn")
    return (i + 0.5) / target.scale;
  if (rules.transform == "pytorch_half_pixel" && target.size <= 1)
    return 0;
  double offset = 0;
  if (rules.transform == "half_pixel_symmetric")
    offset = double(target.dim) / 2 * (1 - double(target.size) / size);
  return offset + (i + 0.5) / target.scale - 0.5;
}

static double nearestPlace(const SamplingRules &rules, double x) {
  if (rules.nearest == "floor")
    return std::floor(x);
  if (rules.nearest == "ceil")
    return std::ceil(x);
  return rules.nearest == "round_prefer_ceil" ? std::floor(x + 0.5)
                                              : std::ceil(x - 0.5);
}

/// The weight of an element at distance x from the sample.
static double kernelWeight(const SamplingRules &rules, double x) {
  x = std::abs(x);
  if (rules.mode == "linear")
    return std::max(1 - x, 0.0);
  double a = rules.cubicA;
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

AxisSampling ashlar::onnx_import::sampleAxis(const SamplingRules &rules,
                                             const AxisTarget &target) {
  AxisSampling sampling;
  sampling.axis = target.axis;
  sampling.size = target.size;
  bool nearest = rules.mode == "nearest";
  // A filter that reads less than it skips is stretched.
  double stretch =
      rules.antialias && !nearest ? std::min(target.scale, 1.0) : 1;
  double radius = (rules.mode == "linear" ? 1 : 2) / stretch;
  int64_t first = int64_t(std::floor(-radius)) + 1;
  sampling.taps = nearest ? 1 : unsigned(2 - 2 * first);
  auto bounded = [&](double place) {
    return int64_t(std::clamp(place, 0.0, double(target.dim) - 1));
  };
  for (int64_t i = 0; i != target.size; ++i) {
    double x = sourceCoordinate(rules, target, double(i));
    bool outside = rules.transform == "tf_crop_and_resize" &&
                   !(x >= 0 && x <= double(target.dim) - 1);
    sampling.constants.push_back(outside ? rules.extrapolation : 0);
    if (nearest) {
      sampling.places.push_back(bounded(nearestPlace(rules, x)));
      sampling.weights.push_back(outside ? 0 : 1);
      continue;
    }
    // The last element at or before x, but one before it if x is on one.
    double base = std::ceil(x) - 1, sum = 0;
    size_t begin = sampling.weights.size();
    for (unsigned tap = 0; tap != sampling.taps; ++tap) {
      double place = base + double(first + int64_t(tap));
      double weight = kernelWeight(rules, (place - x) * stretch);
      if (rules.excludeOutside && (place < 0 || place > target.dim - 1.0))
        weight = 0;
      sampling.places.push_back(bounded(place));
      sampling.weights.push_back(weight);
      sum += weight;
    }
    bool normalize = rules.excludeOutside || stretch != 1;
    for (size_t at = begin; at != sampling.weights.size(); ++at)
      sampling.weights[at] = outside || sum == 0 ? 0
                             : normalize         ? sampling.weights[at] / sum
                                                 : sampling.weights[at];
  }
  return sampling;
}
