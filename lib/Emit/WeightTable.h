// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of all programs, each distinct value once.
#ifndef ASHLAR_LIB_EMIT_WEIGHTTABLE_H
#define ASHLAR_LIB_EMIT_WEIGHTTABLE_H

#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <unordered_map>
#include <vector>

namespace ashlar {

/// One constant's bytes as the file holds them, read in pieces.
class WeightBytes {
public:
  explicit WeightBytes(mlir::TypedAttr value);

  uint64_t size() const { return bytes; }
  /// Whether all bytes lie in memory already, and those.
  bool isWhole() const {
    return !isSplat && !packed && !rounded && parts.empty() && !random;
  }
  llvm::ArrayRef<char> whole() const {
    return data.empty() ? llvm::ArrayRef<char>(owned) : data;
  }
  /// Calls `use` with consecutive pieces that add up to size() bytes.
  void forEachPiece(llvm::function_ref<void(llvm::ArrayRef<char>)> use) const;
  /// Whether all of its sources are random, so that a module needs no bytes.
  bool isRandom() const;
  tile::PackedAttr packing() const { return packed; }
  /// Of what is random: the constants, one behind the other.
  llvm::SmallVector<tile::RandomAttr> randomSources() const;

private:
  /// Makes the elements of what is random.
  void makeRandom();
  void
  forEachPackedPiece(llvm::function_ref<void(llvm::ArrayRef<char>)> use) const;

  /// As they lie in the constant: before they are rounded.
  void
  forEachSourcePiece(llvm::function_ref<void(llvm::ArrayRef<char>)> use) const;

  /// Where element `place` of the source lies, and whether those that follow
  /// are the same.
  std::pair<const char *, bool> elementAt(int64_t place, int64_t width) const;

  uint64_t bytes = 0;
  bool isSplat = false;
  tile::PackedAttr packed; ///< null, or how `data` is brought into order
  /// Null, or the type of elements that those of `data` are rounded to.
  mlir::Type rounded;
  llvm::ArrayRef<char> data;         ///< of a splat: one element
  llvm::SmallVector<char, 16> owned; ///< where `data` had to be made
  tile::RandomAttr random; ///< null, or what the elements are in place of data
  /// What lies one behind the other; `data` is empty then.
  std::vector<WeightBytes> parts;
  int64_t partElements = 0; ///< of each
};

class WeightTable {
public:
  struct Weight {
    mlir::TypedAttr value;
    uint64_t offset; ///< in its section, a multiple of 64
    uint64_t size;
    bool isRandom = false; ///< and in the section of such
  };

  /// The number of `value`, equal for values with equal type and bytes.
  unsigned add(mlir::TypedAttr value);
  /// The number of a value that was added.
  unsigned numberOf(mlir::Attribute value) const { return numbers.at(value); }
  llvm::ArrayRef<Weight> all() const { return weights; }
  uint64_t sectionSize() const { return ends[0]; }
  uint64_t randomSize() const { return ends[1]; }

private:
  llvm::SmallVector<Weight> weights;
  uint64_t ends[2] = {}; ///< of what is stored, and of what is random
  llvm::DenseMap<mlir::Attribute, unsigned> numbers;
  std::unordered_multimap<uint64_t, unsigned> byHash;
};

} // namespace ashlar

#endif // ASHLAR_LIB_EMIT_WEIGHTTABLE_H
