// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Tile/IR/Winograd.h"
#include <cassert>

using namespace ashlar::tile;

// clang-format off
static constexpr double input2[] = {1,  0, -1,  0,
                                    0,  1,  1,  0,
                                    0, -1,  1,  0,
                                    0,  1,  0, -1};
static constexpr double filter2[] = {1,    0,   0,
                                     0.5,  0.5, 0.5,
                                     0.5, -0.5, 0.5,
                                     0,    0,   1};
static constexpr double results2[] = {1, 1,  1,  0,
                                      0, 1, -1, -1};
static constexpr double input4[] = {4,  0, -5,  0, 1, 0,
                                    0, -4, -4,  1, 1, 0,
                                    0,  4, -4, -1, 1, 0,
                                    0, -2, -1,  2, 1, 0,
                                    0,  2, -1, -2, 1, 0,
                                    0,  4,  0, -5, 0, 1};
static constexpr double filter4[] = { 1.0 / 4,   0,        0,
                                     -1.0 / 6,  -1.0 / 6, -1.0 / 6,
                                     -1.0 / 6,   1.0 / 6, -1.0 / 6,
                                      1.0 / 24,  1.0 / 12, 1.0 / 6,
                                      1.0 / 24, -1.0 / 12, 1.0 / 6,
                                      0,         0,        1};
static constexpr double results4[] = {1, 1,  1, 1,  1, 0,
                                      0, 1, -1, 2, -2, 0,
                                      0, 1,  1, 4,  4, 0,
                                      0, 1, -1, 8, -8, 1};
// clang-format on

const WinogradTransform &ashlar::tile::winogradTransform(int64_t outputs) {
  static const WinogradTransform two{2, input2, filter2, results2};
  static const WinogradTransform four{4, input4, filter4, results4};
  assert((outputs == 2 || outputs == 4) && "no such transform");
  return outputs == 2 ? two : four;
}
