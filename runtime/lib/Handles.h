// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the C API's opaque handles are, and how its growing structs are read.

#ifndef ASHLAR_RUNTIME_LIB_HANDLES_H
#define ASHLAR_RUNTIME_LIB_HANDLES_H

#include "Birth.h"
#include "Session.h"

#include <algorithm>
#include <cstring>

struct ashlar_runtime_t {
  std::shared_ptr<ashlar::runtime::Runtime> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_budget_t {
  std::shared_ptr<ashlar::runtime::Budget> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_arena_t {
  std::shared_ptr<ashlar::runtime::SharedArena> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_module_t {
  std::shared_ptr<ashlar::runtime::Module> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_session_t {
  std::shared_ptr<ashlar::runtime::Session> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_bindings_t {
  std::shared_ptr<ashlar::runtime::Session> session;
  std::unique_ptr<ashlar::runtime::BoundCall> call;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_event_t {
  std::shared_ptr<ashlar::runtime::Event> impl;
  ashlar::runtime::Birth birth = {};
};

namespace ashlar::runtime {

Status isNull(const char *argument);

template <typename T> bool isUsable(const T *handle) {
  return handle && handle->birth.isOurs();
}
/// Why not: null, or the parent's.
Status unusable(const void *handle, const char *argument);

/// What a parent made is only forgotten in the child: the threads that would
/// have to end first are not there.
template <typename T> void release(T *handle) {
  if (isUsable(handle))
    delete handle;
}

/// Every such struct begins with its size.
Status readBytes(const void *given, void *out, size_t bytes,
                 const char *argument);
Status writeBytes(const void *filled, void *out, size_t bytes,
                  const char *argument);

/// Copies the fields that both sides know over the defaults in `out`.
template <typename T>
Status readStruct(const T *given, T &out, const char *argument) {
  static_assert(offsetof(T, size) == 0);
  return readBytes(given, &out, sizeof(T), argument);
}

/// Copies them to the caller, whose `size` stays as it is.
template <typename T>
Status writeStruct(const T &filled, T *out, const char *argument) {
  static_assert(offsetof(T, size) == 0);
  return writeBytes(&filled, out, sizeof(T), argument);
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_HANDLES_H
