// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The transforms of Winograd convolution with 3 taps, from Lavin and Gray,
// "Fast Algorithms for Convolutional Neural Networks", 2015, section 4. With
// o outputs and t = o + 2 places: y = output * ((filter * g) . (input * d)) in
// one dim, applied to rows and columns in two.
#ifndef ASHLAR_DIALECTS_TILE_IR_WINOGRAD_H
#define ASHLAR_DIALECTS_TILE_IR_WINOGRAD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace ashlar::tile {

/// Matrices row by row.
struct WinogradTransform {
  int64_t outputs;                ///< o
  llvm::ArrayRef<double> input;   ///< t x t
  llvm::ArrayRef<double> filter;  ///< t x 3
  llvm::ArrayRef<double> results; ///< o x t

  int64_t places() const { return outputs + 2; }
};

/// For boxes of 2 or 4 outputs.
const WinogradTransform &winogradTransform(int64_t outputs);

} // namespace ashlar::tile

#endif // ASHLAR_DIALECTS_TILE_IR_WINOGRAD_H
