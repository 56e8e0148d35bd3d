// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For modules that are measured elsewhere: weights without their bytes.
#include "RandomWeights.h"
#include "RoundFloats.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/ConstantBytes.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_RANDOMIZEWEIGHTSPASS
#include "ashlar/Transforms/Simplify/Passes.h.inc"
} // namespace ashlar

static double elementAt(const char *bytes, FloatType type) {
  uint32_t raw = 0;
  std::memcpy(&raw, bytes, type.getWidth() / 8);
  APFloat value(type.getFloatSemantics(), APInt(type.getWidth(), raw));
  return value.convertToDouble();
}

/// Of finite elements, from their mean on.
static double deviationOf(ArrayRef<char> bytes, FloatType type) {
  double sum = 0, squares = 0, count = 0;
  for (size_t at = 0; at < bytes.size(); at += type.getWidth() / 8) {
    double value = elementAt(bytes.data() + at, type);
    if (!std::isfinite(value))
      continue;
    sum += value;
    squares += value * value;
    ++count;
  }
  if (count == 0)
    return 0;
  double mean = sum / count;
  return std::sqrt(std::max(0.0, squares / count - mean * mean));
}

namespace {
struct RandomizeWeights
    : ashlar::impl::RandomizeWeightsPassBase<RandomizeWeights> {
  using RandomizeWeightsPassBase::RandomizeWeightsPassBase;

  void runOnOperation() override {
    llvm::MapVector<Attribute, tile::RandomAttr> known;
    getOperation().walk([&](arith::ConstantOp op) {
      auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
      auto type = resource ? dyn_cast<FloatType>(resource.getElementType())
                           : FloatType();
      if (!type || !(type.isF32() || type.isF16() || type.isBF16()) ||
          byteSize(resource.getType()) < leastBytes ||
          resourceBytes(resource).empty())
        return;
      auto [found, isNew] = known.try_emplace(resource);
      if (isNew)
        found->second = tile::RandomAttr::get(
            &getContext(), seed, known.size() - 1,
            FloatAttr::get(Float32Type::get(&getContext()),
                           deviationOf(resourceBytes(resource), type) /
                               randomDeviation),
            resource.getType());
      op.setValueAttr(cast<TypedAttr>(Attribute(found->second)));
    });
    numRandom = known.size();
  }
};
} // namespace
