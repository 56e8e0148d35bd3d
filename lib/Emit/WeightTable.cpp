// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WeightTable.h"
#include "ashlar/Analysis/ByteSize.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace mlir;
using namespace ashlar;

static constexpr uint64_t weightAlignment = 64;
static constexpr uint64_t pieceBytes = 1 << 20;

WeightBytes::WeightBytes(TypedAttr value) {
  auto type = cast<RankedTensorType>(value.getType());
  bytes = byteSize(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      data = blob->getData();
    assert(data.size() == bytes && "resource of another size than its type");
    return;
  }
  auto dense = cast<DenseElementsAttr>(value);
  isSplat = dense.isSplat();
  if (!type.getElementType().isInteger(1)) {
    data = dense.getRawData();
    return;
  }
  // Attributes pack the bits of booleans, memory holds a byte for each.
  if (isSplat)
    owned.push_back(dense.getSplatValue<bool>());
  else
    for (bool bit : dense.getValues<bool>())
      owned.push_back(bit);
  data = owned;
}

void WeightBytes::forEachPiece(
    llvm::function_ref<void(ArrayRef<char>)> use) const {
  ArrayRef<char> source = data.empty() ? ArrayRef<char>(owned) : data;
  if (!isSplat) {
    for (uint64_t at = 0; at < bytes; at += pieceBytes)
      use(source.slice(at, std::min(pieceBytes, bytes - at)));
    return;
  }
  if (source.empty())
    return;
  SmallVector<char, 0> piece(std::min(pieceBytes, bytes));
  for (uint64_t at = 0; at < piece.size(); at += source.size())
    std::memcpy(piece.data() + at, source.data(), source.size());
  for (uint64_t at = 0; at < bytes; at += piece.size())
    use(ArrayRef<char>(piece).take_front(bytes - at));
}

static uint64_t hashOf(const WeightBytes &bytes) {
  XXH3_state_t *state = XXH3_createState();
  XXH3_64bits_reset(state);
  bytes.forEachPiece([&](ArrayRef<char> piece) {
    XXH3_64bits_update(state, piece.data(), piece.size());
  });
  uint64_t hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return hash;
}

static bool equal(TypedAttr x, TypedAttr y) {
  if (x.getType() != y.getType())
    return false;
  WeightBytes first(x), second(y);
  // A splat beside its written-out twin stays a weight of its own.
  return first.isWhole() && second.isWhole() && first.whole() == second.whole();
}

unsigned WeightTable::add(TypedAttr value) {
  auto [known, isNew] = numbers.try_emplace(value, weights.size());
  if (!isNew)
    return known->second;
  WeightBytes bytes(value);
  uint64_t hash = hashOf(bytes);
  auto [begin, last] = byHash.equal_range(hash);
  for (auto it = begin; it != last; ++it)
    if (equal(weights[it->second].value, value))
      return known->second = it->second;
  byHash.emplace(hash, weights.size());
  end = llvm::alignTo(end, weightAlignment);
  weights.push_back({value, end, bytes.size()});
  end += bytes.size();
  return known->second;
}
