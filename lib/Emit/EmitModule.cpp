// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays the file out, then streams it: the weights are never in memory as a
// whole. Their hash is known only afterwards, so the index is written last, in
// the room kept for it.
#include "ashlar/Emit/EmitModule.h"
#include "IndexBuilder.h"
#include "OutputFile.h"
#include "SigningKey.h"
#include "WeightTable.h"
#include "ashlar/runtime/module_format.h"
#include "mlir/IR/Diagnostics.h"
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace mlir;
using namespace ashlar;

static uint64_t pageAlign(uint64_t offset) {
  return llvm::alignTo(offset, ASHLAR_MODULE_SECTION_ALIGNMENT);
}

/// Writes the weights section; returns its hash.
static uint64_t writeWeights(OutputFile &file, uint64_t begin,
                             const WeightTable &weights) {
  XXH3_state_t *state = XXH3_createState();
  XXH3_64bits_reset(state);
  static const char zeros[ASHLAR_MODULE_WEIGHT_ALIGNMENT] = {};
  uint64_t at = 0;
  for (const WeightTable::Weight &weight : weights.all()) {
    if (weight.isRandom)
      continue;
    XXH3_64bits_update(state, zeros, weight.offset - at);
    file.padTo(begin + weight.offset);
    WeightBytes(weight.value).forEachPiece([&](ArrayRef<char> piece) {
      XXH3_64bits_update(state, piece.data(), piece.size());
      file.write(piece);
    });
    at = weight.offset + weight.size;
  }
  uint64_t hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return hash;
}

/// The code of each program, that of its pieces side by side, then that in
/// other forms: as IndexBuilder::program numbers sections.
static SmallVector<StringRef> imagesOf(const ModulePieces &pieces) {
  SmallVector<StringRef> images, others;
  auto add = [&](const ProgramBinary &binary) {
    images.push_back(binary.image);
    for (const BinaryForm &form : binary.otherForms)
      others.push_back(form.image);
  };
  for (size_t i = 0; i != pieces.pieces.front().binaries.size(); ++i) {
    others.clear();
    for (const ModulePieces::Piece &piece : pieces.pieces) {
      add(piece.binaries[i]);
      for (const ProgramBinary &companion : piece.binaries[i].companions)
        add(companion);
    }
    llvm::append_range(images, others);
  }
  return images;
}

static llvm::Error writeModule(const ModulePieces &pieces,
                               const Provenance &provenance,
                               const runtime::SigningKey *signer,
                               OutputFile &file) {
  WeightTable weights;
  for (const ModulePieces::Piece &piece : pieces.pieces)
    collectWeights(piece.module, weights);
  using Kind = SectionPlace::Kind;
  SmallVector<SectionPlace> sections = {
      {Kind::Weights, 0, weights.sectionSize(), 0}};
  SmallVector<StringRef> images = imagesOf(pieces);
  for (StringRef image : images)
    sections.push_back(
        {Kind::Code, 0, image.size(), XXH3_64bits(image.data(), image.size())});
  if (weights.randomSize() != 0)
    sections.push_back({Kind::Random, 0, weights.randomSize(), 0});
  SmallVector<char, 0> index =
      buildIndex(pieces, weights, sections, provenance);
  uint64_t indexSize = index.size();
  uint64_t end = sizeof(ashlar_module_header_t) + indexSize;
  for (SectionPlace &section : sections) {
    // Behind the file, which may still be signed.
    if (section.kind == Kind::Random) {
      section.offset = pageAlign(end + sizeof(ashlar_module_signature_t));
      break;
    }
    section.offset = pageAlign(end);
    end = section.offset + section.size;
  }
  file.padTo(sections[0].offset);
  sections[0].hash = writeWeights(file, sections[0].offset, weights);
  for (auto [section, image] :
       llvm::zip(ArrayRef(sections).drop_front(), images)) {
    file.padTo(section.offset);
    file.write({image.data(), image.size()});
  }
  file.padTo(end);
  index = buildIndex(pieces, weights, sections, provenance);
  assert(index.size() == indexSize && "the index must keep its size");
  ashlar_module_header_t header = {};
  std::memcpy(header.magic, ASHLAR_MODULE_MAGIC, ASHLAR_MODULE_MAGIC_SIZE);
  header.major_version = ASHLAR_MODULE_MAJOR_VERSION;
  header.minor_version = ASHLAR_MODULE_MINOR_VERSION;
  header.header_size = sizeof(header);
  header.index_offset = sizeof(header);
  header.index_size = indexSize;
  header.index_hash = XXH3_64bits(index.data(), index.size());
  header.file_size = end + (signer ? sizeof(ashlar_module_signature_t) : 0);
  file.overwrite({reinterpret_cast<const char *>(&header), sizeof(header)}, 0);
  file.overwrite(index, sizeof(header));
  if (signer)
    if (llvm::Error error = file.sign(*signer, end))
      return error;
  return file.keep();
}

static LogicalResult report(const ModulePieces &pieces, llvm::Error error) {
  if (!error)
    return success();
  MLIRContext *context = pieces.pieces.front().module->getContext();
  return emitError(UnknownLoc::get(context))
         << llvm::toString(std::move(error));
}

LogicalResult ashlar::emitModule(const ModulePieces &pieces,
                                 const Provenance &provenance, StringRef path,
                                 const runtime::SigningKey *signer) {
  auto file = OutputFile::create(path);
  if (!file)
    return report(pieces, file.takeError());
  return report(pieces, writeModule(pieces, provenance, signer, *file));
}

LogicalResult ashlar::emitModule(const ModulePieces &pieces,
                                 const Provenance &provenance, int descriptor,
                                 const runtime::SigningKey *signer) {
  OutputFile file = OutputFile::at(descriptor);
  return report(pieces, writeModule(pieces, provenance, signer, file));
}
