// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions for tests of the systolic target, what they compute by plain
// loops, and what the simulator makes of their streams.
#ifndef ASHLAR_TEST_UNIT_TARGETS_SYSTOLICCONTRACTS_H
#define ASHLAR_TEST_UNIT_TARGETS_SYSTOLICCONTRACTS_H

#include "Lowering.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ashlar::systolic::test {

struct Operand {
  std::string map; ///< of the dims' names, as in a map's results
  std::vector<int64_t> shape;
  std::string type;
  double scale = 1;                           ///< of its random numbers
  std::optional<double> value = std::nullopt; ///< of all elements, instead
};

/// A kernel of one contraction.
struct Contract {
  std::string input;             ///< "bf16" or "i8"
  std::string parallel, reduced; ///< names of dims: "m, n"
  std::vector<int64_t> parallelSizes, reducedSizes;
  Operand a, b, result;
  std::vector<Operand> operands; ///< of the epilogue
  std::string body;              ///< from %sum and %0, %1... to %z
  std::string pad;               ///< " pad = ..." or empty
  int64_t sumBits = 0;           ///< that sums are known to fit in; 0: nothing
  bool hasOnes = false;          ///< it is known that b has nothing else
  /// The same on numbers.
  std::function<double(double, const std::vector<double> &)> epilogue;
  /// How far a result may be off: of its size, and of the sums of sizes.
  double relative = 0, ofTerms = 0;

  std::string text() const;
};

Contract product(const std::string &type, int64_t m, int64_t n, int64_t k,
                 bool isTransposed);
Contract batched(const std::string &type, int64_t count, int64_t m, int64_t n,
                 int64_t k, bool isTransposed);

struct Convolution {
  int64_t images = 1, height = 8, width = 8, channels = 16, filters = 16;
  int64_t filterHeight = 3, filterWidth = 3;
  int64_t stride = 1, dilation = 1;
  int64_t margin = 0; ///< of the result, filled with zeros
};
/// Of each channel with a filter of its own.
Contract depthwise(const std::string &type, const Convolution &size);
/// With a bias for each column, of 32 bits, and a relu, as inputs are.
Contract withBias(Contract contract);
/// With an epilogue of f32 as `body` says, from %sum (and %0...) to %f.
Contract
withBody(Contract contract, const std::string &body,
         std::function<double(double, const std::vector<double> &)> epilogue,
         std::vector<Operand> operands = {});
Contract convolution(const std::string &type, const Convolution &size);

struct Compiled {
  std::string error;
  Kernel kernel;
  std::vector<std::vector<Alternative>> alternatives; ///< by contraction
};
/// `beside`: with as many results side by side; 0: as the search likes it.
Compiled compile(const Contract &contract, const Machine &machine,
                 int64_t beside = 0, const SearchOptions &options = {});

/// Empty, or what is wrong.
std::string runAndCompare(const Contract &contract, const Machine &machine,
                          const Compiled &compiled, uint64_t seed);

} // namespace ashlar::systolic::test

#endif // ASHLAR_TEST_UNIT_TARGETS_SYSTOLICCONTRACTS_H
