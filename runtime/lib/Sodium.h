// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libsodium, opened when a signature is asked for: those who sign nothing
// neither link nor load it.

#ifndef ASHLAR_RUNTIME_LIB_SODIUM_H
#define ASHLAR_RUNTIME_LIB_SODIUM_H

#include <dlfcn.h>

namespace ashlar::runtime {

/// What to say where openSodium gives null.
inline constexpr char sodiumMissing[] =
    "libsodium.so.23 or .26 cannot be opened: install libsodium (Debian: "
    "libsodium23)";

/// Its handle, ready to use; null where it is not installed. Stays open.
inline void *openSodium() {
  static void *const library = [] {
    void *found = dlopen("libsodium.so.23", RTLD_NOW | RTLD_LOCAL);
    if (!found)
      found = dlopen("libsodium.so.26", RTLD_NOW | RTLD_LOCAL);
    auto *init = found
                     ? reinterpret_cast<int (*)()>(dlsym(found, "sodium_init"))
                     : nullptr;
    return init && init() >= 0 ? found : nullptr;
  }();
  return library;
}

/// One of its functions; null where it is not installed or has no such.
template <typename Function> Function *sodiumFunction(const char *name) {
  void *library = openSodium();
  return library ? reinterpret_cast<Function *>(dlsym(library, name)) : nullptr;
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_SODIUM_H
