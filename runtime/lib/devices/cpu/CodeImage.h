// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine code in this process. The image goes into anonymous sealed memory
// and through the system's own loader, so debuggers, profilers and unwinders
// see an ordinary library, and no page is ever writable and executable.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_CPU_CODEIMAGE_H
#define ASHLAR_RUNTIME_LIB_DEVICES_CPU_CODEIMAGE_H

#include "../../Status.h"

#include <cstdint>
#include <memory>

namespace ashlar::runtime {

/// Loaded once, by one thread; then any thread finds functions, which live as
/// long as it does.
class CodeImage {
public:
  ASHLAR_OWN_NEW
  CodeImage() = default;
  CodeImage(const CodeImage &) = delete;
  CodeImage &operator=(const CodeImage &) = delete;
  ~CodeImage();

  /// Verifies and copies the image. CORRUPT: it is none, or cannot be linked;
  /// UNSUPPORTED: it is for another version of the kernel ABI; INTERNAL: the
  /// system refuses.
  static Status load(const void *image, uint64_t size,
                     std::unique_ptr<CodeImage> &out);
  /// Null: the image has no such symbol.
  void *find(const char *symbol) const;

private:
  /// Into new memory, which nobody can change from then on.
  Status write(const void *image, uint64_t size);
  /// Has the system's loader map that memory.
  Status openLibrary();
  /// That kernels are called as this runtime calls them.
  Status checkVersion() const;

  int descriptor = -1;     // of the memory; negative: there is none
  void *library = nullptr; // the loader's handle
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_CODEIMAGE_H
