// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WeightTable.h"
#include "RandomWeights.h"
#include "RoundFloats.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/ConstantBytes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ScopeExit.h"
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace mlir;
using namespace ashlar;

static constexpr uint64_t weightAlignment = 64;
static constexpr uint64_t pieceBytes = 1 << 20;

WeightBytes::WeightBytes(TypedAttr value) {
  uint64_t written = byteSize(cast<RankedTensorType>(value.getType()));
  packed = dyn_cast<tile::PackedAttr>(value);
  if (packed)
    value = packed.getSource();
  if (auto stacked = dyn_cast<tile::StackedAttr>(value)) {
    for (TypedAttr source : stacked.getSources())
      parts.emplace_back(source);
    rounded = parts.front().rounded;
    partElements =
        cast<RankedTensorType>(stacked.getSources().front().getType())
            .getNumElements();
    bytes = written;
    return;
  }
  if (auto attribute = dyn_cast<tile::RoundedAttr>(value)) {
    rounded = attribute.getType().getElementType();
    value = attribute.getSource();
  }
  auto type = cast<RankedTensorType>(value.getType());
  bytes = byteSize(type);
  auto setBytes = llvm::make_scope_exit([&] { bytes = written; });
  if ((random = dyn_cast<tile::RandomAttr>(value)))
    return;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    data = resourceBytes(resource);
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

bool WeightBytes::isRandom() const {
  return parts.empty() ? bool(random)
                       : llvm::all_of(parts, [](const WeightBytes &part) {
                           return part.isRandom();
                         });
}

SmallVector<tile::RandomAttr> WeightBytes::randomSources() const {
  if (random)
    return {random};
  SmallVector<tile::RandomAttr> all;
  for (const WeightBytes &part : parts)
    llvm::append_range(all, part.randomSources());
  return all;
}

void WeightBytes::makeRandom() {
  for (WeightBytes &part : parts)
    part.makeRandom();
  if (!random)
    return;
  Type type = random.getType().getElementType();
  float scale = float(random.getScale().getValueAsDouble());
  int64_t count = random.getType().getNumElements();
  owned.reserve(count * elementBytes(type));
  for (int64_t i = 0; i != count; ++i) {
    float value = randomElement(random.getSeed(), random.getNumber(), i, scale);
    auto append = [&](auto bits) {
      auto *first = reinterpret_cast<const char *>(&bits);
      owned.append(first, first + sizeof(bits));
    };
    if (type.isF32())
      append(value);
    else
      append(type.isBF16() ? roundToBFloat(value) : roundToHalf(value));
  }
  random = {};
}

void WeightBytes::forEachPiece(
    llvm::function_ref<void(ArrayRef<char>)> use) const {
  if (!randomSources().empty()) {
    WeightBytes made(*this);
    made.makeRandom();
    return made.forEachPiece(use);
  }
  if (!rounded)
    return forEachSourcePiece(use);
  SmallVector<char, 0> piece;
  forEachSourcePiece([&](ArrayRef<char> source) {
    piece.resize_for_overwrite(source.size() / 2);
    for (size_t at = 0; at < source.size(); at += sizeof(float)) {
      float value;
      std::memcpy(&value, source.data() + at, sizeof(value));
      uint16_t bits =
          rounded.isBF16() ? roundToBFloat(value) : roundToHalf(value);
      std::memcpy(piece.data() + at / 2, &bits, sizeof(bits));
    }
    use(piece);
  });
}

void WeightBytes::forEachSourcePiece(
    llvm::function_ref<void(ArrayRef<char>)> use) const {
  if (packed)
    return forEachPackedPiece(use);
  for (const WeightBytes &part : parts)
    part.forEachSourcePiece(use);
  if (!parts.empty())
    return;
  uint64_t bytes = rounded ? 2 * this->bytes : this->bytes;
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

/// Copies `count` elements of `width` bytes that lie `stride` elements apart.
static void copyRow(char *to, const char *from, int64_t count, int64_t stride,
                    int64_t width) {
  if (stride == 1) {
    std::memcpy(to, from, count * width);
    return;
  }
  auto copy = [&](auto element) {
    for (int64_t i = 0; i != count; ++i)
      std::memcpy(to + i * sizeof(element),
                  from + i * stride * int64_t(sizeof(element)),
                  sizeof(element));
  };
  switch (width) {
  case 1:
    return copy(uint8_t());
  case 2:
    return copy(uint16_t());
  case 4:
    return copy(uint32_t());
  case 8:
    return copy(uint64_t());
  }
  llvm_unreachable("elements take 1, 2, 4 or 8 bytes");
}

std::pair<const char *, bool> WeightBytes::elementAt(int64_t place,
                                                     int64_t width) const {
  if (!parts.empty())
    return parts[place / partElements].elementAt(place % partElements, width);
  const char *source = data.empty() ? owned.data() : data.data();
  return {source + (isSplat ? 0 : place * width), isSplat};
}

void WeightBytes::forEachPackedPiece(
    llvm::function_ref<void(ArrayRef<char>)> use) const {
  auto type = cast<RankedTensorType>(packed.getType());
  // A row is the columns of a panel, each with its group.
  int64_t group = packed.getGroup();
  ArrayRef<int64_t> shape = type.getShape().drop_back(group == 1 ? 1 : 2);
  SmallVector<int64_t> strides(packed.getStrides());
  int64_t panel = packed.getPanel(),
          width = rounded ? sizeof(float) : elementBytes(type.getElementType());
  SmallVector<int64_t> at(shape.size(), 0);
  SmallVector<char, 0> piece;
  int64_t row = 0, rows = ShapedType::getNumElements(shape);
  int64_t rowBytes = panel * group * width, column = strides[shape.size()];
  int64_t perPiece = std::max<int64_t>(1, pieceBytes / rowBytes);
  while (row != rows) {
    int64_t end = std::min(rows, row + perPiece);
    piece.assign((end - row) * rowBytes, 0);
    for (char *to = piece.data(); row != end; ++row, to += rowBytes) {
      int64_t place = 0;
      for (auto [index, stride] : llvm::zip(at, strides))
        place += index * stride;
      int64_t columns = std::min(panel, packed.getClip() - at.front() * panel);
      auto [from, isSame] = elementAt(place, width);
      if (group == 1)
        copyRow(to, from, columns, isSame ? 0 : column, width);
      else
        for (int64_t c = 0; c < columns; ++c)
          copyRow(to + c * group * width,
                  from + (isSame ? 0 : c * column * width), group,
                  isSame ? 0 : strides.back(), width);
      for (size_t d = at.size(); d-- > 0 && ++at[d] == shape[d];)
        at[d] = 0;
    }
    use(piece);
  }
}

static uint64_t hashOf(const WeightBytes &bytes) {
  if (SmallVector<tile::RandomAttr> sources = bytes.randomSources();
      !sources.empty())
    return mixBits(sources.front().getNumber());
  XXH3_state_t *state = XXH3_createState();
  XXH3_64bits_reset(state);
  bytes.forEachPiece([&](ArrayRef<char> piece) {
    XXH3_64bits_update(state, piece.data(), piece.size());
  });
  uint64_t hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return hash;
}

static bool equalTypes(Type x, Type y) {
  if (x.getContext() == y.getContext())
    return x == y;
  auto tensor = cast<RankedTensorType>(x), other = cast<RankedTensorType>(y);
  auto spell = [](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  };
  return tensor.getShape() == other.getShape() &&
         spell(tensor.getElementType()) == spell(other.getElementType());
}

/// Of two contexts: what is one attribute in each is one weight.
static bool equalElements(TypedAttr x, TypedAttr y) {
  auto dense = dyn_cast<DenseElementsAttr>(x);
  auto other = dyn_cast<DenseElementsAttr>(y);
  return dense && other && dense.isSplat() == other.isSplat() &&
         dense.getRawData() == other.getRawData();
}

static bool equal(TypedAttr x, TypedAttr y) {
  if (!equalTypes(x.getType(), y.getType()))
    return false;
  if (x.getContext() != y.getContext() && equalElements(x, y))
    return true;
  auto randomX = dyn_cast<tile::RandomAttr>(x);
  auto randomY = dyn_cast<tile::RandomAttr>(y);
  if (randomX || randomY)
    return randomX && randomY && randomX.getSeed() == randomY.getSeed() &&
           randomX.getNumber() == randomY.getNumber();
  auto packedX = dyn_cast<tile::PackedAttr>(x);
  auto packedY = dyn_cast<tile::PackedAttr>(y);
  if (bool(packedX) != bool(packedY))
    return false;
  if (packedX)
    return packedX.getStrides() == packedY.getStrides() &&
           packedX.getPanel() == packedY.getPanel() &&
           packedX.getClip() == packedY.getClip() &&
           packedX.getGroup() == packedY.getGroup() &&
           equal(packedX.getSource(), packedY.getSource());
  auto stackedX = dyn_cast<tile::StackedAttr>(x);
  auto stackedY = dyn_cast<tile::StackedAttr>(y);
  if (bool(stackedX) != bool(stackedY))
    return false;
  if (stackedX)
    return llvm::equal(stackedX.getSources(), stackedY.getSources(), equal);
  auto roundedX = dyn_cast<tile::RoundedAttr>(x);
  auto roundedY = dyn_cast<tile::RoundedAttr>(y);
  if (roundedX && roundedY)
    return equal(roundedX.getSource(), roundedY.getSource());
  WeightBytes first(x), second(y);
  // A splat beside its written-out twin stays a weight of its own.
  return first.isWhole() && second.isWhole() && first.whole() == second.whole();
}

unsigned WeightTable::add(TypedAttr value) {
  auto [known, isNew] = numbers.try_emplace(value, weights.size());
  if (!isNew)
    return known->second;
  WeightBytes bytes(value);
  // What is packed is looked up by its source: packing it takes longer.
  auto packed = dyn_cast<tile::PackedAttr>(value);
  uint64_t hash = hashOf(packed ? WeightBytes(packed.getSource()) : bytes);
  auto [begin, last] = byHash.equal_range(hash);
  for (auto it = begin; it != last; ++it)
    if (equal(weights[it->second].value, value))
      return known->second = it->second;
  byHash.emplace(hash, weights.size());
  uint64_t &end = ends[bytes.isRandom()];
  end = llvm::alignTo(end, weightAlignment);
  weights.push_back({value, end, bytes.size(), bytes.isRandom()});
  end += bytes.size();
  return known->second;
}
