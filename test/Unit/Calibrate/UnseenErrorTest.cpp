// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "UnseenError.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <random>

using ashlar::unseenError;

/// Errors whose logarithms are normal.
static std::vector<double> draw(size_t count, double spread, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(std::log(1e-3), spread);
  std::vector<double> errors(count);
  for (double &error : errors)
    error = std::exp(normal(engine));
  return errors;
}

TEST(UnseenError, IsNeverBelowTheLargest) {
  for (unsigned seed = 0; seed != 50; ++seed) {
    std::vector<double> errors = draw(1 + seed, 0.5, seed);
    EXPECT_GE(unseenError(errors),
              *std::max_element(errors.begin(), errors.end()));
  }
  EXPECT_EQ(unseenError({0, 0, 0}), 0);
  EXPECT_EQ(unseenError({1e-3, INFINITY}), INFINITY);
}

TEST(UnseenError, OneInputShowsLittle) {
  EXPECT_GT(unseenError({1e-3}), 1.5e-3);
  EXPECT_LT(unseenError({1e-3}), 4e-3);
}

TEST(UnseenError, EqualErrorsPromiseMoreOfTheSame) {
  EXPECT_LT(unseenError(std::vector<double>(16, 1e-3)), 1.2e-3);
}

TEST(UnseenError, EasyInputsDoNotCount) {
  EXPECT_EQ(unseenError({1e-9, 1e-7, 1e-3, 2e-3, 3e-3}),
            unseenError({1e-3, 1e-3, 1e-3, 2e-3, 3e-3}));
}

// Of inputs drawn after those that were seen, 99 in 100 stay below in most
// cases, however widely errors spread.
TEST(UnseenError, HoldsOfWhatIsDrawnLater) {
  for (double spread : {0.1, 0.5, 1.2})
    for (size_t count : {8, 16, 32}) {
      unsigned kept = 0;
      for (unsigned seed = 0; seed != 200; ++seed) {
        double bound = unseenError(draw(count, spread, seed));
        std::vector<double> later = draw(1000, spread, seed + 1000);
        kept += std::count_if(later.begin(), later.end(), [&](double error) {
                  return error <= bound;
                }) >= 990;
      }
      EXPECT_GE(kept, 110u) << count << " inputs, spread " << spread;
    }
}
