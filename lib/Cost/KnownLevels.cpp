// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Cost/KnownLevels.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"

using namespace mlir;
using namespace ashlar;

/// Attributes and types are unique in their context.
KnownLevels::Key KnownLevels::keyOf(tile::ContractOp op, bool openSizes) {
  static constexpr char open = 0;
  Key key = {op.getMapsAttr().getAsOpaquePointer(),
             op.getParallelAttr().getAsOpaquePointer(),
             op.getReducedAttr().getAsOpaquePointer(),
             op.getAUnsignedAttr().getAsOpaquePointer(),
             op.getBUnsignedAttr().getAsOpaquePointer(),
             op.getPadAttr().getAsOpaquePointer(),
             op.getDeviceAttr().getAsOpaquePointer(),
             op.getAccumulatorType().getAsOpaquePointer(),
             openSizes ? &open : nullptr};
  for (Value operand : op->getOperands()) {
    key.push_back(operand.getType().getAsOpaquePointer());
    if (auto decode = operand.getDefiningOp<tile::DecodeOp>()) {
      key.push_back(decode.getMaps().getAsOpaquePointer());
      key.push_back(decode.getPaddedAttr().getAsOpaquePointer());
      for (Type type : decode->getOperandTypes())
        key.push_back(type.getAsOpaquePointer());
      for (Operation &inner : decode.getBody().front())
        key.push_back(inner.getName().getAsOpaquePointer());
    }
  }
  return key;
}

std::optional<std::optional<LevelChoice>>
KnownLevels::find(tile::ContractOp op, bool openSizes) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = choices.find(keyOf(op, openSizes));
  if (found == choices.end())
    return std::nullopt;
  return found->second;
}

void KnownLevels::add(tile::ContractOp op, bool openSizes,
                      std::optional<LevelChoice> choice) {
  std::lock_guard<std::mutex> lock(mutex);
  choices.emplace(keyOf(op, openSizes), std::move(choice));
}
