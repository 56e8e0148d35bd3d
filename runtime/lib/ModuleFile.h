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

/// Opened by one thread; then any thread reads. Weights that are made are the
/// exception: their load makes them before others look.
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
  /// The same of bytes that are the caller's and stay.
  static Status openMemory(const void *data, size_t size,
                           std::unique_ptr<ModuleFile> &out,
                           std::string_view keys = {});

  /// Checked.
  const ashlar_module_header_t &header() const { return fileHeader; }
  /// Verified; a copy of the file's.
  const fb::Module &index() const { return *root; }
  /// In the file, within its bounds.
  const uint8_t *sectionData(const fb::Section &section) const {
    return data + section.offset();
  }
  /// Of the file, in bytes.
  uint64_t size() const { return byteCount; }
  /// What was copied is not read again soon: its pages leave the process, and
  /// come back from the file if they are.
  void release(uint64_t offset, uint64_t bytes) const;
  /// What is at an offset: in the file, or made.
  const uint8_t *at(uint64_t offset) const {
    return isMade(offset) ? made + (offset - madeBegin) : data + offset;
  }
  /// Whether what is there is made, not read: weights of the section Random,
  /// each by `make` before it is used. Until then it takes no memory.
  bool isMade(uint64_t offset) const { return made && offset >= madeBegin; }
  /// One weight, into its place.
  void make(const fb::Weight &weight) const;
  /// Stays as long as this does.
  bool isMapped() const { return mapped; }

  /// Reads every weights section and compares its hash.
  Status verifyWeights() const;
  /// The same for one section.
  Status verifyHash(const fb::Section &section, const char *what) const;

private:
  /// Or says what is wrong with the path.
  Status map(const char *path);
  /// Header, signature and index, once the bytes are there.
  Status read(std::string_view keys);
  /// CORRUPT, or UNSUPPORTED where another version is needed.
  Status readHeader();
  /// Copies and verifies it.
  Status readIndex();
  /// Addresses for weights that are made; memory comes with the first write.
  Status reserveMade();

  const uint8_t *data = nullptr;         // the file's first byte
  uint64_t byteCount = 0;                // of the file
  bool mapped = false;                   // here; false: lent by the caller
  uint8_t *made = nullptr;               // weights that are made; null: none is
  uint64_t madeBegin = 0, madeBytes = 0; // offset of the first; room
  ashlar_module_header_t fileHeader = {}; // a copy
  Vector<uint8_t> indexBytes;             // a copy, which `root` is in
  const fb::Module *root = nullptr;       // null: not opened
};

/// 64 bits of XXH3, the hash of the format.
uint64_t hashBytes(const void *data, size_t size);

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_MODULEFILE_H
