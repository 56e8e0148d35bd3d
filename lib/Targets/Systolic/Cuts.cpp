// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Cuts.h"
#include "TraceTiles.h"

#include <map>

using namespace ashlar;
using namespace ashlar::systolic;

namespace {
struct Range {
  int64_t first, count;
};

class CutReader {
public:
  CutReader(const ChipLayout &layout, Cuts &cuts)
      : layout(layout), contraction(layout.contraction), cuts(cuts) {}

  Refusal read(const std::vector<TracedBlock> &blocks);

private:
  /// The numbers that a box of some dims has; none: they do not follow each
  /// other.
  std::optional<Range> rangeOf(llvm::ArrayRef<unsigned> dims,
                               const DimBox &box) const;
  Refusal readRows(const DimBox &box, int64_t &number);
  Refusal readColumns(const DimBox &box, int64_t &number) const;
  bool hasFold(const DimBox &box, int64_t fold) const;
  Refusal readTerms(const TracedBlock &steps, std::vector<int64_t> &ends) const;

  const ChipLayout &layout;
  const Contraction &contraction;
  Cuts &cuts;
  std::map<std::vector<int64_t>, int64_t> chunks; ///< by where they begin
};
} // namespace

std::optional<Range> CutReader::rangeOf(llvm::ArrayRef<unsigned> dims,
                                        const DimBox &box) const {
  Range range{0, 1};
  bool isPart = false; // of what lies further in
  int64_t inner = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    unsigned d = dims[i];
    if (isPart && box.size[d] > 1)
      return std::nullopt;
    isPart |= box.size[d] < contraction.sizes[d];
    range.first += box.begin[d] * inner;
    range.count *= box.size[d];
    inner *= contraction.sizes[d];
  }
  return range;
}

Refusal CutReader::readRows(const DimBox &box, int64_t &number) {
  std::optional<Range> batch = rangeOf(contraction.batch, box);
  if (!batch || batch->count != 1)
    return "expected tiles of one batch";
  Chunk chunk{batch->first, 0, 1, {}, {}, 0};
  if (layout.choice.readsTapsInPlace) {
    for (unsigned d : contraction.m) {
      chunk.begin.push_back(box.begin[d]);
      chunk.size.push_back(box.size[d]);
      chunk.rows *= box.size[d];
    }
  } else if (auto rows = rangeOf(contraction.m, box)) {
    chunk.first = rows->first;
    chunk.rows = rows->count;
  } else {
    return "expected tiles of rows that follow each other";
  }
  std::vector<int64_t> key = {chunk.batch, chunk.first};
  key.insert(key.end(), chunk.begin.begin(), chunk.begin.end());
  auto [found, isNew] = chunks.insert({key, int64_t(cuts.chunks.size())});
  if (isNew)
    cuts.chunks.push_back(std::move(chunk));
  number = found->second;
  return std::nullopt;
}

Refusal CutReader::readColumns(const DimBox &box, int64_t &number) const {
  std::optional<Range> columns = rangeOf(contraction.n, box);
  if (columns && columns->first % layout.dim == 0) {
    number = columns->first / layout.dim;
    if (columns->count == layout.columnsOf(number))
      return std::nullopt;
  }
  return "expected tiles of " + std::to_string(layout.dim) +
         " columns, as many as the array has";
}

/// Whether its first term is in the box.
bool CutReader::hasFold(const DimBox &box, int64_t fold) const {
  int64_t term = layout.kBlocks[size_t(fold)].first;
  for (size_t i = contraction.k.size(); i-- > 0;) {
    unsigned d = contraction.k[i];
    int64_t at = term % contraction.sizes[d] - box.begin[d];
    if (at < 0 || at >= box.size[d])
      return false;
    term /= contraction.sizes[d];
  }
  return true;
}

Refusal CutReader::readTerms(const TracedBlock &steps,
                             std::vector<int64_t> &ends) const {
  int64_t fold = 0;
  for (const DimBox &box : steps) {
    int64_t terms = 1, folded = 0;
    for (unsigned d : contraction.k)
      terms *= box.size[d];
    while (fold < int64_t(layout.kBlocks.size()) && hasFold(box, fold))
      folded += layout.kBlocks[size_t(fold++)].depth;
    if (folded != terms)
      return "expected tiles of terms that are whole folds, in the order of "
             "folds";
    ends.push_back(fold);
  }
  return std::nullopt;
}

Refusal CutReader::read(const std::vector<TracedBlock> &blocks) {
  for (const TracedBlock &steps : blocks) {
    Cuts::Block block{};
    Refusal why = readRows(steps.front(), block.chunk);
    if (!why)
      why = readColumns(steps.front(), block.nBlock);
    std::vector<int64_t> ends;
    if (!why)
      why = readTerms(steps, ends);
    if (why)
      return why;
    cuts.blocks.push_back(block);
    cuts.tileEnds = std::move(ends);
  }
  return std::nullopt;
}

Refusal ashlar::systolic::cutsOf(tile::StrategyAttr strategy,
                                 const ChipLayout &layout, Cuts &cuts) {
  std::vector<TracedBlock> blocks;
  if (Refusal why = traceTiles(layout.contraction, strategy, blocks))
    return why;
  return CutReader(layout, cuts).read(blocks);
}
