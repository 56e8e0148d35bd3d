// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexVerifier.h"

#include "CheckedMath.h"
#include "MakeWeights.h"
#include "SortPlain.h"
#include "TensorShape.h"
#include "ashlar/runtime/module_format.h"
#include "devices/CommandList.h"

#include <algorithm>
#include <string_view>

namespace ashlar::runtime {

Status verifyFlatBuffer(const uint8_t *bytes, size_t size) {
  // The verifier asserts this much; less cannot be an index.
  if (size < 16)
    return corrupt(concat("an index of ", size, " bytes is too short"),
                   "index");
  flatbuffers::Verifier::Options options;
  // An entry's own tables, and two for each block inside another.
  options.max_depth = 16 + 2 * maximumNesting;
  // A table is reached through an offset of four bytes. Shared tables count
  // each time, so this also bounds the work that sharing can cause.
  options.max_tables = flatbuffers::uoffset_t(size / 4);
  flatbuffers::Verifier verifier(bytes, size, options);
  if (!fb::VerifyModuleBuffer(verifier))
    return corrupt("the index is not a sound FlatBuffer of an Ashlar module",
                   "index");
  return {};
}

static Status verifySymbols(const fb::Module &module) {
  for (size_t i = 0; i < count(module.symbols()); ++i) {
    const fb::Symbol *symbol = module.symbols()->Get(uint32_t(i));
    String place = concat("symbols[", i, "]");
    if (!present(symbol->name()))
      return corrupt("a symbol has no name", place);
    if (symbol->minimum() < 0 || symbol->maximum() < symbol->minimum())
      return corrupt(concat("symbol ", symbol->name()->string_view(),
                            " ranges from ", symbol->minimum(), " to ",
                            symbol->maximum()),
                     place);
    if (symbol->step() < 1)
      return corrupt(concat("symbol ", symbol->name()->string_view(),
                            " has the step ", symbol->step()),
                     place);
  }
  return {};
}

static Status verifySections(const fb::Module &module, uint64_t indexEnd,
                             uint64_t fileSize) {
  Vector<const fb::Section *> sorted;
  bool hasRandom = false;
  for (size_t i = 0; i < count(module.sections()); ++i) {
    const fb::Section *section = module.sections()->Get(uint32_t(i));
    String place = concat("sections[", i, "]");
    if (section->kind() > fb::SectionKind::MAX)
      return corrupt(concat("unknown kind ", unsigned(section->kind())), place);
    if (section->offset() % ASHLAR_MODULE_SECTION_ALIGNMENT)
      return corrupt(
          concat("offset ", section->offset(), " is not a multiple of 4096"),
          place);
    if (section->kind() == fb::SectionKind::Random) {
      if (section->offset() < fileSize ||
          section->size() > ASHLAR_MODULE_MAX_RANDOM_SIZE || hasRandom)
        return corrupt(concat(section->size(), " random bytes at ",
                              section->offset(),
                              "; expected one section of them at most, behind "
                              "the file's end at ",
                              fileSize, " and of ",
                              ASHLAR_MODULE_MAX_RANDOM_SIZE, " at most"),
                       place);
      hasRandom = true;
      continue;
    }
    if (section->offset() < indexEnd ||
        !fits(section->offset(), section->size(), fileSize))
      return corrupt(concat(section->size(), " bytes at ", section->offset(),
                            " do not lie between the index' end at ", indexEnd,
                            " and the file's at ", fileSize),
                     place);
    sorted.push_back(section);
  }
  using Section = const fb::Section *;
  sortPlain<Section>(sorted, [](const Section &a, const Section &b) {
    return compare(a->offset(), b->offset());
  });
  for (size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1]->offset() + sorted[i - 1]->size() > sorted[i]->offset())
      return corrupt(concat("sections overlap at byte ", sorted[i]->offset()),
                     "sections");
  return {};
}

static Status verifyWeight(const fb::Module &module, const fb::Weight &weight,
                           String place) {
  if (!weight.name())
    return corrupt("a weight has no name", place);
  auto kind =
      weight.random() ? fb::SectionKind::Random : fb::SectionKind::Weights;
  if (weight.section() >= count(module.sections()) ||
      module.sections()->Get(weight.section())->kind() != kind)
    return corrupt(concat("section ", weight.section(), " of weight ",
                          weight.name()->string_view(),
                          " is not a section of weights"),
                   place);
  const fb::Section *section = module.sections()->Get(weight.section());
  if (weight.offset() % ASHLAR_MODULE_WEIGHT_ALIGNMENT)
    return corrupt(
        concat("offset ", weight.offset(), " is not a multiple of 64"), place);
  if (!fits(weight.offset(), weight.size(), section->size()))
    return corrupt(concat("weight ", weight.name()->string_view(), " of ",
                          weight.size(), " bytes at ", weight.offset(),
                          " exceeds its section of ", section->size()),
                   place);
  uint64_t bytes = 0;
  uint32_t rank = uint32_t(count(weight.shape()));
  // The alignment of vectors is not FlatBuffers' verifier's concern.
  if (rank > ASHLAR_MAX_RANK ||
      (rank && reinterpret_cast<uintptr_t>(weight.shape()->Data()) % 8) ||
      ashlar_element_type_size(uint32_t(weight.type())) == 0 ||
      !shapeBytes(uint32_t(weight.type()),
                  rank ? weight.shape()->data() : nullptr, rank, bytes) ||
      bytes > weight.size())
    return corrupt(concat("type and shape of weight ",
                          weight.name()->string_view(), " do not fit its ",
                          weight.size(), " bytes"),
                   place);
  return weight.random() ? verifyRandomWeight(weight, place) : Status();
}

Status verifyTensor(const fb::Module &module,
                    const fb::TensorDescription &tensor, const String &place) {
  if (!tensor.name())
    return corrupt("a tensor has no name", place);
  if (ashlar_element_type_size(uint32_t(tensor.type())) == 0)
    return corrupt(concat("unknown element type ", unsigned(tensor.type())),
                   place);
  if (count(tensor.shape()) > ASHLAR_MAX_RANK)
    return corrupt(concat("rank ", count(tensor.shape()), "; expected at most ",
                          ASHLAR_MAX_RANK),
                   place);
  for (size_t i = 0; i < count(tensor.shape()); ++i) {
    Status status =
        verifySize(tensor.shape()->Get(uint32_t(i)), count(module.symbols()));
    if (!status.ok())
      return corrupt(status.message(), place);
  }
  int64_t shape[ASHLAR_MAX_RANK];
  uint64_t bytes;
  if (!maximumShape(tensor, shape, bytes))
    return corrupt("the largest shape is negative or has too many bytes",
                   place);
  return {};
}

static Status verifyTensors(
    const fb::Module &module,
    const flatbuffers::Vector<flatbuffers::Offset<fb::TensorDescription>>
        *tensors,
    const String &place) {
  for (size_t i = 0; i < count(tensors); ++i)
    ASHLAR_RETURN_IF_ERROR(verifyTensor(module, *tensors->Get(uint32_t(i)),
                                        concat(place, "[", i, "]")));
  return {};
}

/// The two ends of a state have one place.
static Status verifyStates(const fb::Entry &entry, const String &place) {
  for (uint32_t i = 0; i < count(entry.outputs()); ++i) {
    const fb::TensorDescription &output = *entry.outputs()->Get(i);
    if (!output.state_bytes() && !output.state_input())
      continue;
    uint32_t number = output.state_input().value_or(UINT32_MAX);
    if (number >= count(entry.inputs()) || !output.state_bytes() ||
        entry.inputs()->Get(number)->state_bytes() != output.state_bytes())
      return corrupt("an output is the state of no input of its bytes",
                     concat(place, ".outputs[", i, "]"));
  }
  return {};
}

static Status verifyEntries(const fb::Module &module) {
  Set<std::string_view> names;
  for (size_t i = 0; i < count(module.entries()); ++i) {
    const fb::Entry *entry = module.entries()->Get(uint32_t(i));
    String place = concat("entries[", i, "]");
    if (!present(entry->name()))
      return corrupt("an entry has no name", place);
    if (!names.insert(entry->name()->string_view()).second)
      return corrupt(
          concat("two entries are named ", entry->name()->string_view()),
          place);
    ASHLAR_RETURN_IF_ERROR(
        verifyTensors(module, entry->inputs(), place + ".inputs"));
    ASHLAR_RETURN_IF_ERROR(
        verifyTensors(module, entry->outputs(), place + ".outputs"));
    ASHLAR_RETURN_IF_ERROR(verifyStates(*entry, place));
  }
  return {};
}

static Status verifyMetadata(const fb::Module &module) {
  size_t entries = count(module.metadata());
  if (entries > ASHLAR_MODULE_MAX_METADATA)
    return corrupt(concat(entries, " entries of metadata; expected at most ",
                          ASHLAR_MODULE_MAX_METADATA),
                   "metadata");
  Set<std::string_view> keys;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < entries; ++i) {
    const fb::Metadata &metadata = *module.metadata()->Get(i);
    String place = concat("metadata[", i, "]");
    if (!present(metadata.key()))
      return corrupt("metadata has no key", place);
    if (!keys.insert(metadata.key()->string_view()).second)
      return corrupt(
          concat("metadata ", metadata.key()->string_view(), " is there twice"),
          place);
    // Strings may be shared, so the file's size is no bound.
    bytes += metadata.key()->size();
    bytes += metadata.value() ? metadata.value()->size() : 0;
    if (bytes > ASHLAR_MODULE_MAX_METADATA_SIZE)
      return corrupt(concat("metadata has more than ",
                            ASHLAR_MODULE_MAX_METADATA_SIZE, " bytes"),
                     place);
  }
  return {};
}

Status verifyIndex(const fb::Module &module, uint64_t indexEnd,
                   uint64_t fileSize) {
  ASHLAR_RETURN_IF_ERROR(verifySymbols(module));
  ASHLAR_RETURN_IF_ERROR(verifySections(module, indexEnd, fileSize));
  uint64_t randomEnd = 0;
  for (size_t i = 0; i < count(module.weights()); ++i) {
    const fb::Weight &weight = *module.weights()->Get(uint32_t(i));
    String place = concat("weights[", i, "]");
    ASHLAR_RETURN_IF_ERROR(verifyWeight(module, weight, place));
    if (!weight.random())
      continue;
    // So that a small file does not make the same bytes again and again.
    if (weight.offset() < randomEnd)
      return corrupt(concat("a weight that is made begins at ", weight.offset(),
                            ", before the one in front of it ends at ",
                            randomEnd),
                     place);
    randomEnd = weight.offset() + weight.size();
  }
  ASHLAR_RETURN_IF_ERROR(verifyEntries(module));
  ASHLAR_RETURN_IF_ERROR(verifyMetadata(module));
  if (count(module.programs()) == 0)
    return corrupt("the module holds no program", "programs");
  for (const fb::Program *program : *module.programs())
    ASHLAR_RETURN_IF_ERROR(verifyProgram(module, *program));
  return {};
}

} // namespace ashlar::runtime
