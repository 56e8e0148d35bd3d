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

class CodeImage {
public:
  ASHLAR_OWN_NEW
  CodeImage() = default;
  CodeImage(const CodeImage &) = delete;
  CodeImage &operator=(const CodeImage &) = delete;
  ~CodeImage();

  static Status load(const void *image, uint64_t size,
                     std::unique_ptr<CodeImage> &out);
  void *find(const char *symbol) const;

private:
  Status write(const void *image, uint64_t size);
  Status openLibrary();
  Status checkVersion() const;

  int descriptor = -1;
  void *library = nullptr;
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_DEVICES_CPU_CODEIMAGE_H
