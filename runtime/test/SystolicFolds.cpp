// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cycles of one layer as folds of one fixed dataflow, operands on chip, without
// shadow loading and with it: AshlarSystolicFolds DIM ws|os|is M N K. What
// benchmarks/systolic_cycles.py compares with SCALE-Sim.

#include "SystolicMachines.h"
#include "systolic/StreamBuilder.h"
#include "systolic/Timing.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace ashlar::systolic;

/// A fold for each block of the stationary operand, `height` x `width`; the
/// other one passes in `rows` rows.
static void stationaryFolds(StreamBuilder &b, uint32_t dim, uint32_t height,
                            uint32_t width, uint32_t rows) {
  for (uint32_t i = 0; i < height; i += dim)
    for (uint32_t j = 0; j < width; j += dim) {
      uint32_t depth = std::min(dim, height - i);
      uint32_t columns = std::min(dim, width - j);
      b.preload({0, depth, columns},
                {ASHLAR_SYSTOLIC_ACCUMULATOR, rows, columns});
      b.compute({0, rows, depth}, Matrix::none(), true);
    }
}

static void outputFolds(StreamBuilder &b, uint32_t dim, uint32_t m, uint32_t n,
                        uint32_t k) {
  for (uint32_t i = 0; i < m; i += dim)
    for (uint32_t j = 0; j < n; j += dim)
      for (uint32_t l = 0; l < k; l += dim) {
        uint32_t rows = std::min(dim, m - i), columns = std::min(dim, n - j);
        uint32_t steps = std::min(dim, k - l);
        b.preload(Matrix::none(),
                  l + dim < k
                      ? Matrix::none()
                      : Matrix{ASHLAR_SYSTOLIC_ACCUMULATOR, rows, columns});
        b.compute({0, rows, steps}, {0, steps, columns}, l == 0);
      }
}

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  auto number = [&](int i) { return uint32_t(std::atoi(argv[i])); };
  const std::string dataflow = argv[2];
  const uint32_t m = number(3), n = number(4), k = number(5);
  Machine machine = small(number(1), ASHLAR_SYSTOLIC_BF16);
  machine.scratchpad_rows = machine.accumulator_rows = 1 << 16;
  machine.command_rows = 65535;
  for (bool hasShadow : {false, true}) {
    machine.flags = hasShadow ? machine.flags | ASHLAR_SYSTOLIC_SHADOW
                              : machine.flags & ~ASHLAR_SYSTOLIC_SHADOW;
    StreamBuilder b("folds", 0);
    bool isOS = dataflow == "os";
    b.configExecute(isOS ? ASHLAR_SYSTOLIC_OUTPUT_STATIONARY
                         : ASHLAR_SYSTOLIC_WEIGHT_STATIONARY);
    b.region(dataflow, ASHLAR_SYSTOLIC_CONTRACTION, uint64_t(m) * n * k);
    if (isOS)
      outputFolds(b, machine.dim, m, n, k);
    else if (dataflow == "ws")
      stationaryFolds(b, machine.dim, k, n, m);
    else // the transposed product: inputs stay, weights pass
      stationaryFolds(b, machine.dim, k, m, n);
    Decoder decoder(machine, b.kernel);
    Timing timing(machine, 1);
    for (Action action; decoder.next(action);)
      timing.add(action);
    timing.finish();
    if (decoder.failed()) {
      std::fprintf(stderr, "%s\n", decoder.error().c_str());
      return 1;
    }
    const RegionTime &time = timing.regions()[0];
    std::printf("%llu ",
                static_cast<unsigned long long>(time.last - time.first));
  }
  std::printf("\n");
  return 0;
}
