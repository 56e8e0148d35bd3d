// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EntryPieces.h"

#include "IndexVerifier.h"
#include "SizeExpression.h"
#include "TensorShape.h"

#include <algorithm>

namespace ashlar::runtime {

static bool holds(const fb::ProgramEntry &piece, const int64_t *symbols) {
  for (uint32_t i = 0; i < count(piece.ranges()); ++i) {
    const fb::SizeRange &range = *piece.ranges()->Get(i);
    if (symbols[i] >= 0 &&
        (symbols[i] < range.minimum() || symbols[i] > range.maximum() ||
         symbols[i] % range.step() != 0))
      return false;
  }
  return true;
}

Vector<const fb::ProgramEntry *> allEntries(const fb::Program &program) {
  Vector<const fb::ProgramEntry *> all;
  for (const auto *list : {program.entries(), program.pieces()})
    for (uint32_t i = 0; i < count(list); ++i)
      all.push_back(list->Get(i));
  return all;
}

String rangesText(const fb::Module &module, const fb::ProgramEntry &piece) {
  String text;
  for (uint32_t i = 0; i < count(piece.ranges()); ++i) {
    const fb::SizeRange &range = *piece.ranges()->Get(i);
    text += concat(i ? ", " : "", module.symbols()->Get(i)->name()->c_str(),
                   "=", range.minimum());
    if (range.maximum() != range.minimum())
      text += concat("..", range.maximum());
    if (range.step() != 1 && range.maximum() != range.minimum())
      text += concat(":", range.step());
  }
  return text;
}

Status findPiece(const fb::Module &module,
                 const Vector<const fb::ProgramEntry *> &pieces,
                 const int64_t *symbols, const fb::ProgramEntry *&out) {
  for (const fb::ProgramEntry *piece : pieces)
    if (holds(*piece, symbols)) {
      out = piece;
      return {};
    }
  String sizes, ranges;
  for (uint32_t i = 0; i < count(module.symbols()); ++i)
    if (symbols[i] >= 0)
      sizes +=
          concat(sizes.empty() ? "" : ", ",
                 module.symbols()->Get(i)->name()->c_str(), "=", symbols[i]);
  constexpr size_t most = 16;
  for (size_t i = 0; i < std::min(pieces.size(), most); ++i)
    ranges += concat(i ? "; " : "", rangesText(module, *pieces[i]));
  if (pieces.size() > most)
    ranges += concat("; and ", pieces.size() - most, " more");
  return invalidArgument(
      concat(sizes, ": the module was compiled for ", ranges), "inputs");
}

bool isBound(const ashlar_entry_t &entry, size_t output, size_t dimension) {
  const fb::SizeExpression &whole = *entry.entry->outputs()
                                         ->Get(uint32_t(output))
                                         ->shape()
                                         ->Get(uint32_t(dimension));
  for (const fb::ProgramEntry *piece : entry.pieces) {
    for (uint32_t i = 0; i < count(piece->output_sizes()); ++i) {
      const fb::OutputSize &size = *piece->output_sizes()->Get(i);
      if (size.output() == output && size.dimension() == dimension)
        return true;
    }
    const fb::SizeExpression &own = *outputsOf(*entry.entry, *piece)
                                         ->Get(uint32_t(output))
                                         ->shape()
                                         ->Get(uint32_t(dimension));
    if (isConstantSize(whole) &&
        (!isConstantSize(own) || own.constant() != whole.constant()))
      return true;
  }
  return false;
}

static Status verifyRanges(const fb::Module &module,
                           const fb::ProgramEntry &piece) {
  if (count(piece.ranges()) != count(module.symbols()))
    return corrupt(concat("a piece has ", count(piece.ranges()), " ranges for ",
                          count(module.symbols()), " symbols"));
  for (uint32_t i = 0; i < count(piece.ranges()); ++i) {
    const fb::SizeRange &range = *piece.ranges()->Get(i);
    const fb::Symbol &symbol = *module.symbols()->Get(i);
    if (range.minimum() < symbol.minimum() ||
        range.maximum() > symbol.maximum() ||
        range.maximum() < range.minimum() || range.step() < 1)
      return corrupt(concat(
          "a piece is for ", range.minimum(), " to ", range.maximum(), " by ",
          range.step(), " of ", symbol.name()->string_view(),
          ", which ranges from ", symbol.minimum(), " to ", symbol.maximum()));
  }
  return {};
}

Status verifyPiece(const fb::Module &module, const fb::Entry &entry,
                   const fb::ProgramEntry &piece) {
  ASHLAR_RETURN_IF_ERROR(verifyRanges(module, piece));
  if (count(piece.outputs()) != count(entry.outputs()))
    return corrupt(concat("a piece has ", count(piece.outputs()),
                          " outputs, its entry ", count(entry.outputs())));
  for (uint32_t i = 0; i < count(piece.outputs()); ++i) {
    const fb::TensorDescription &whole = *entry.outputs()->Get(i);
    const fb::TensorDescription &own = *piece.outputs()->Get(i);
    String place = concat("outputs[", i, "]");
    ASHLAR_RETURN_IF_ERROR(verifyTensor(module, own, place));
    if (own.type() != whole.type() ||
        own.state_bytes() != whole.state_bytes() ||
        own.state_input() != whole.state_input() ||
        count(own.shape()) != count(whole.shape()))
      return corrupt("a piece's output is of another type or rank than its "
                     "entry's, or another state",
                     place);
    int64_t most[ASHLAR_MAX_RANK], shape[ASHLAR_MAX_RANK];
    uint64_t bytes;
    if (!maximumShape(whole, most, bytes) || !maximumShape(own, shape, bytes))
      return corrupt("the largest shape overflows", place);
    for (uint32_t j = 0; j < count(own.shape()); ++j)
      if (shape[j] > most[j])
        return corrupt(concat("a piece's output has the size ", shape[j],
                              ", its entry's ", most[j]),
                       place);
  }
  return {};
}

} // namespace ashlar::runtime
