// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModuleFile.h"

#include "CheckedMath.h"
#include "IndexVerifier.h"
#include "MakeWeights.h"
#include "RegularFile.h"
#include "Signature.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace ashlar::runtime {

ModuleFile::~ModuleFile() {
  if (mapped)
    munmap(const_cast<uint8_t *>(data), byteCount);
  if (made)
    munmap(made, madeBytes);
}

Status ModuleFile::map(const char *path) {
  RegularFile file;
  std::string problem = file.open(path);
  if (!problem.empty())
    return Status(file.isMissing()    ? ASHLAR_NOT_FOUND
                  : file.isShortage() ? ASHLAR_INTERNAL
                                      : ASHLAR_INVALID_ARGUMENT,
                  concat("cannot open the module: ", problem), path);
  if (file.size() < sizeof(ashlar_module_header_t))
    return corrupt(
        concat("the file has ", file.size(), " bytes, a module at least 64"),
        path);
  byteCount = file.size();
  void *address =
      mmap(nullptr, byteCount, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (address == MAP_FAILED)
    return failure(ASHLAR_INTERNAL,
                   concat("cannot map the module: ", std::strerror(errno)),
                   path);
  data = static_cast<const uint8_t *>(address);
  mapped = true;
  return {};
}

void ModuleFile::release(uint64_t offset, uint64_t bytes) const {
  if (isMade(offset)) {
    // Only whole pages, for what lies beside it may be in use.
    uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
    uint64_t from = alignUp(offset - madeBegin, page);
    uint64_t to = (offset - madeBegin + bytes) / page * page;
    if (from < to)
      madvise(made + from, to - from, MADV_DONTNEED);
    return;
  }
  if (!mapped)
    return; // somebody else's memory
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  uint64_t begin = offset / page * page;
  // Nobody writes to a mapped module, so that nothing can be lost.
  madvise(const_cast<uint8_t *>(data) + begin, offset + bytes - begin,
          MADV_DONTNEED);
}

Status ModuleFile::openFile(const char *path, std::unique_ptr<ModuleFile> &out,
                            std::string_view keys) {
  auto file = std::make_unique<ModuleFile>();
  ASHLAR_RETURN_IF_ERROR(file->map(path));
  ASHLAR_RETURN_IF_ERROR(file->read(keys));
  out = std::move(file);
  return {};
}

Status ModuleFile::openMemory(const void *data, size_t size,
                              std::unique_ptr<ModuleFile> &out,
                              std::string_view keys) {
  if (reinterpret_cast<uintptr_t>(data) % ASHLAR_MODULE_WEIGHT_ALIGNMENT)
    return invalidArgument("a module in memory starts at a multiple of 64 "
                           "bytes, so that its weights do",
                           "data");
  if (size < sizeof(ashlar_module_header_t))
    return corrupt(concat("the module has ", size,
                          " bytes, at least 64 are "
                          "needed"),
                   "header");
  auto file = std::make_unique<ModuleFile>();
  file->data = static_cast<const uint8_t *>(data);
  file->byteCount = size;
  ASHLAR_RETURN_IF_ERROR(file->read(keys));
  out = std::move(file);
  return {};
}

Status ModuleFile::read(std::string_view keys) {
  ASHLAR_RETURN_IF_ERROR(readHeader());
  if (!keys.empty()) {
    ASHLAR_RETURN_IF_ERROR(verifySignature(data, byteCount, keys));
    release(0, byteCount);
  }
  return readIndex();
}

Status ModuleFile::readHeader() {
  std::memcpy(&fileHeader, data, sizeof(fileHeader));
  const ashlar_module_header_t &h = fileHeader;
  if (std::memcmp(h.magic, ASHLAR_MODULE_MAGIC, ASHLAR_MODULE_MAGIC_SIZE))
    return corrupt("this is not an Ashlar module: the first 8 bytes differ",
                   "header");
  if (h.major_version != ASHLAR_MODULE_MAJOR_VERSION)
    return failure(ASHLAR_UNSUPPORTED,
                   concat("the module has format version ", h.major_version,
                          ".", h.minor_version, ", this runtime reads ",
                          ASHLAR_MODULE_MAJOR_VERSION,
                          ".x: compile the model again or use another runtime"),
                   "header");
  if (h.file_size != byteCount)
    return corrupt(concat("the module has ", byteCount,
                          " bytes, its header says ", h.file_size,
                          ": it was cut off or appended to"),
                   "header");
  // Later minor versions may give meaning to what is zero now.
  bool sameMinor = h.minor_version <= ASHLAR_MODULE_MINOR_VERSION;
  static const uint8_t zero[sizeof(h.reserved)] = {};
  if (sameMinor && std::memcmp(h.reserved, zero, sizeof(zero)))
    return corrupt("reserved bytes of the header are not zero", "header");
  if (h.header_size < sizeof(h) || (sameMinor && h.header_size != sizeof(h)) ||
      h.index_offset < h.header_size || h.index_offset % 8 != 0)
    return corrupt(concat("a header of ", h.header_size,
                          " bytes and an index at ", h.index_offset,
                          "; expected 64 and 64"),
                   "header");
  if (h.index_size > ASHLAR_MODULE_MAX_INDEX_SIZE ||
      !fits(h.index_offset, h.index_size, byteCount))
    return corrupt(concat("the index of ", h.index_size, " bytes at ",
                          h.index_offset, " exceeds the file of ", byteCount),
                   "header");
  return {};
}

Status ModuleFile::readIndex() {
  size_t size = size_t(fileHeader.index_size);
  indexBytes.resize(size);
  std::memcpy(indexBytes.data(), data + fileHeader.index_offset, size);
  release(fileHeader.index_offset, size);
  if (hashBytes(indexBytes.data(), size) != fileHeader.index_hash)
    return corrupt("the hash of the index differs from the header's", "index");
  ASHLAR_RETURN_IF_ERROR(verifyFlatBuffer(indexBytes.data(), size));
  root = fb::GetModule(indexBytes.data());
  ASHLAR_RETURN_IF_ERROR(verifyIndex(
      *root, fileHeader.index_offset + fileHeader.index_size, byteCount));
  return reserveMade();
}

Status ModuleFile::reserveMade() {
  for (uint32_t i = 0; i < count(root->sections()); ++i) {
    const fb::Section &section = *root->sections()->Get(i);
    if (section.kind() != fb::SectionKind::Random || section.size() == 0)
      continue;
    void *address = mmap(nullptr, section.size(), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED)
      return failure(ASHLAR_INTERNAL,
                     concat("no room for ", section.size(),
                            " bytes of random weights: ", std::strerror(errno)),
                     "weights");
    made = static_cast<uint8_t *>(address);
    madeBegin = section.offset();
    madeBytes = section.size();
  }
  return {};
}

void ModuleFile::make(const fb::Weight &weight) const {
  makeWeight(weight, made + weight.offset());
}

Status ModuleFile::verifyHash(const fb::Section &section,
                              const char *what) const {
  if (hashBytes(sectionData(section), section.size()) == section.hash())
    return {};
  return corrupt(concat("the hash of a section of ", what, " at byte ",
                        section.offset(), " differs from the index"),
                 what);
}

Status ModuleFile::verifyWeights() const {
  if (root->sections())
    for (const fb::Section *section : *root->sections())
      if (section->kind() == fb::SectionKind::Weights)
        ASHLAR_RETURN_IF_ERROR(verifyHash(*section, "weights"));
  return {};
}

} // namespace ashlar::runtime
