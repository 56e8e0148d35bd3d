// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution of few filters fills half of the array's columns or less. Two
// neighbouring results side by side, w = 2 v + p, fill twice as many: both read
// the taps s + p * step of the same rows of A, and the matrix of taps has zeros
// where one of them does not reach. With three taps and a step of one that is
// four taps for two results instead of six.
#include "PackColumns.h"

using namespace ashlar::systolic;

/// A dim of K that moves the same coordinate of A as dim `w` of M; -1: none.
static int tapBeside(const Problem &problem, unsigned w, int64_t &step) {
  for (const Coordinate &coordinate : problem.aCoordinates) {
    if (coordinate.factors[w] == 0)
      continue;
    int found = -1;
    for (unsigned d : problem.k) {
      if (coordinate.factors[d] == 0 || problem.sizes[d] == 1)
        continue;
      if (found >= 0 || coordinate.factors[w] % coordinate.factors[d] != 0)
        return -1;
      found = int(d);
      step = coordinate.factors[w] / coordinate.factors[d];
    }
    return found;
  }
  return -1;
}

std::optional<Problem> ashlar::systolic::packColumns(const Problem &problem,
                                                     const Machine &machine) {
  int64_t columns = problem.count(problem.n);
  if (!(machine.flags & ASHLAR_SYSTOLIC_EXTENDED) || problem.isDepthwise ||
      problem.m.empty() || 2 * columns > machine.dim ||
      problem.sideBySide.taps != 0)
    return std::nullopt;
  for (const EpilogueValue &value : problem.epilogue.values)
    if (value.reach == Reach::Column)
      return std::nullopt;
  // B's columns lie side by side.
  int64_t inner = 1;
  for (size_t i = problem.n.size(); i-- > 0;) {
    if (problem.sizes[problem.n[i]] > 1 &&
        problem.b.strides[problem.n[i]] != inner)
      return std::nullopt;
    inner *= problem.sizes[problem.n[i]];
  }
  unsigned w = problem.m.back();
  int64_t step = 0;
  int s = tapBeside(problem, w, step);
  if (s < 0 || step < 1 || problem.sizes[w] % 2 != 0 ||
      step >= problem.sizes[size_t(s)])
    return std::nullopt;

  Problem packed = problem;
  auto p = unsigned(packed.sizes.size());
  packed.sizes.push_back(2);
  packed.sizes[w] /= 2;
  packed.sideBySide = {unsigned(s), packed.sizes[size_t(s)], step, columns};
  packed.sizes[size_t(s)] += step;
  packed.n.insert(packed.n.begin(), p);
  auto split = [&](Access &access, bool moves) {
    access.strides.push_back(moves ? access.strides[w] : 0);
    access.strides[w] *= 2;
  };
  split(packed.a, false);
  split(packed.b, false);
  split(packed.result, true);
  for (Access &operand : packed.operands)
    split(operand, true);
  for (Coordinate &coordinate : packed.aCoordinates) {
    coordinate.factors.push_back(0);
    coordinate.factors[w] *= 2;
  }
  return packed;
}
