// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of a module: mapped from a file or lent by the caller, with the
// header checked and the index copied out and verified. The index is copied so
// that nobody who can write to the file changes it after it was checked.

#ifndef ASHLAR_RUNTIME_LIB_MODULEFILE_H
#define ASHLAR_RUNTIME_LIB_MODULEFILE_H

#include "Status.h"
#include "ashlar/runtime/module_format.h"
#include "ashlar/runtime/module_generated.h"

#include <memory>

namespace ashlar::runtime {

class ModuleFile {
public:
  ASHLAR_OWN_NEW
  ModuleFile() = default;
  ModuleFile(const ModuleFile &) = delete;
  ModuleFile &operator=(const ModuleFile &) = delete;
  ~ModuleFile();

  /// With keys, only what one of them has signed: see Signature.h.
  static Status openFile(const char *path, std::unique_ptr<ModuleFile> &out,
                         std::string_view keys = {});
  static Status openMemory(const void *data, size_t size,
                           std::unique_ptr<ModuleFile> &out,
                           std::string_view keys = {});

  const ashlar_module_header_t &header() const { return fileHeader; }
  const fb::Module &index() const { return *root; }
  const uint8_t *sectionData(const fb::Section &section) const {
    return data + section.offset();
  }
  uint64_t size() const { return byteCount; }
  /// What was copied is not read again soon: its pages leave the process, and
  /// come back from the file if they are.
  void release(uint64_t offset, uint64_t bytes) const;
  const uint8_t *at(uint64_t offset) const {
    return isMade(offset) ? made + (offset - madeBegin) : data + offset;
  }
  /// Whether what is there is made, not read: weights of the section Random,
  /// each by `make` before it is used. Until then it takes no memory.
  bool isMade(uint64_t offset) const { return made && offset >= madeBegin; }
  void make(const fb::Weight &weight) const;
  /// Stays as long as this does.
  bool isMapped() const { return mapped; }

  /// Reads every weights section and compares its hash.
  Status verifyWeights() const;
  /// The same for one section.
  Status verifyHash(const fb::Section &section, const char *what) const;

private:
  Status map(const char *path);
  Status read(std::string_view keys);
  Status readHeader();
  Status readIndex();
  Status reserveMade();

  const uint8_t *data = nullptr;
  uint64_t byteCount = 0;
  bool mapped = false;
  uint8_t *made = nullptr;
  uint64_t madeBegin = 0, madeBytes = 0;
  ashlar_module_header_t fileHeader = {};
  Vector<uint8_t> indexBytes;
  const fb::Module *root = nullptr;
};

/// 64 bits of XXH3, the hash of the format.
uint64_t hashBytes(const void *data, size_t size);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_MODULEFILE_H
