// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CodeImage.h"

#include "ElfVerifier.h"
#include "ashlar/runtime/kernel_abi.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace ashlar::runtime {

CodeImage::~CodeImage() {
  if (library)
    dlclose(library);
  if (descriptor >= 0)
    close(descriptor);
}

static Status systemError(const char *action) {
  return failure(ASHLAR_INTERNAL, concat(action, ": ", std::strerror(errno)),
                 "code");
}

Status CodeImage::write(const void *image, uint64_t size) {
  unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  // Kernels from 6.3 on can be set to want the flag; older ones refuse it.
  descriptor = memfd_create("ashlar-code", flags | MFD_EXEC);
  if (descriptor < 0 && errno == EINVAL)
    descriptor = memfd_create("ashlar-code", flags);
  if (descriptor < 0)
    return systemError("cannot create memory for code");
  const char *from = static_cast<const char *>(image);
  for (uint64_t done = 0; done < size;) {
    ssize_t count = ::write(descriptor, from + done, size - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return systemError("cannot write code");
    done += uint64_t(count);
  }
  if (fcntl(descriptor, F_ADD_SEALS,
            F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return systemError("cannot seal code");
  return {};
}

Status CodeImage::openLibrary() {
  // The loader takes two libraries of one name for the same one. The
  // descriptor stays open so that no later image gets this name, and the name
  // holds the process' number so that nobody else's habit of
  // "/proc/self/fd/N" collides with it.
  String path = concat("/proc/", getpid(), "/fd/", descriptor);
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    // The loader does not say in numbers that descriptors are short.
    int another = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (another < 0)
      return systemError("cannot link code");
    close(another);
    const char *why = dlerror();
    return corrupt(concat("cannot link code: ", why ? why : "unknown"), "code");
  }
  return {};
}

// ThreadSanitizer does not see the system's loader map pages: where another
// thread has just given back memory, it would take this read for a race.
#if defined(__SANITIZE_THREAD__)
#define ASHLAR_NO_THREAD_SANITIZER __attribute__((no_sanitize("thread")))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ASHLAR_NO_THREAD_SANITIZER __attribute__((no_sanitize("thread")))
#endif
#endif
#ifndef ASHLAR_NO_THREAD_SANITIZER
#define ASHLAR_NO_THREAD_SANITIZER
#endif

ASHLAR_NO_THREAD_SANITIZER
static uint32_t readVersion(const void *symbol) {
  return *static_cast<const volatile uint32_t *>(symbol);
}

Status CodeImage::checkVersion() const {
  const void *symbol = find(ASHLAR_KERNEL_ABI_SYMBOL);
  if (!symbol)
    return corrupt("the code lacks the symbol " ASHLAR_KERNEL_ABI_SYMBOL,
                   "code");
  if (reinterpret_cast<uintptr_t>(symbol) % alignof(uint32_t))
    return corrupt("the symbol " ASHLAR_KERNEL_ABI_SYMBOL " is misaligned",
                   "code");
  uint32_t version = readVersion(symbol);
  if (version != ASHLAR_KERNEL_ABI_VERSION)
    return failure(ASHLAR_UNSUPPORTED,
                   concat("the code has kernel ABI version ", version,
                          ", this runtime calls version ",
                          ASHLAR_KERNEL_ABI_VERSION,
                          ": compile the model again"),
                   "code");
  return {};
}

Status CodeImage::load(const void *image, uint64_t size,
                       std::unique_ptr<CodeImage> &out) {
  ASHLAR_RETURN_IF_ERROR(
      verifyElfImage(static_cast<const uint8_t *>(image), size));
  auto code = std::make_unique<CodeImage>();
  ASHLAR_RETURN_IF_ERROR(code->write(image, size));
  ASHLAR_RETURN_IF_ERROR(code->openLibrary());
  ASHLAR_RETURN_IF_ERROR(code->checkVersion());
  out = std::move(code);
  return {};
}

void *CodeImage::find(const char *symbol) const {
  return dlsym(library, symbol);
}

} // namespace ashlar::runtime
