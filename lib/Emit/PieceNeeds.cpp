// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IndexBuilder.h"
#include "PieceShapes.h"

using namespace mlir;
using namespace ashlar;

/// The most of two; weights are counted apart.
static void join(MemoryNeeds &most, const MemoryNeeds &needs) {
  auto raise = [](uint64_t &to, uint64_t value) { to = std::max(to, value); };
  raise(most.arena, needs.arena);
  raise(most.arenaLowerBound, needs.arenaLowerBound);
  raise(most.outputs, needs.outputs);
  raise(most.staging, needs.staging);
  raise(most.scratch, needs.scratch);
  most.code += needs.code;
  most.companions.resize(needs.companions.size());
  for (auto [to, of] : llvm::zip(most.companions, needs.companions)) {
    // What a further device reads of each piece may be the same.
    to.weights += of.weights;
    to.code += of.code;
    raise(to.arena, of.arena);
    raise(to.arenaLowerBound, of.arenaLowerBound);
  }
}

std::vector<MemoryNeeds> ashlar::measureMemory(const ModulePieces &pieces) {
  WeightTable weights;
  for (const ModulePieces::Piece &piece : pieces.pieces)
    collectWeights(piece.module, weights);
  std::vector<MemoryNeeds> result;
  for (size_t i = 0; i != pieces.pieces.front().binaries.size(); ++i) {
    MemoryNeeds most;
    llvm::SmallDenseSet<unsigned> read;
    for (const ModulePieces::Piece &piece : pieces.pieces)
      for (auto entry : programOf(piece, i).getOps<exec::ProgramOp>()) {
        join(most, memoryNeedsOf(entry, piece.binaries[i], weights));
        for (Attribute value : entry.getWeights())
          read.insert(weights.numberOf(value));
      }
    for (unsigned number : read)
      most.weights += weights.all()[number].size;
    result.push_back(std::move(most));
  }
  return result;
}
