// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the C API's opaque handles are, and how its growing structs are read.

#ifndef ASHLAR_RUNTIME_LIB_HANDLES_H
#define ASHLAR_RUNTIME_LIB_HANDLES_H

#include "Birth.h"
#include "OwnMemory.h"
#include "Session.h"
#include "SharedMemory.h"

#include <algorithm>
#include <cstring>

/// Each holds what it stands for; a module, say, lives until its sessions are
/// gone as well.
struct ashlar_runtime_t {
  ASHLAR_OWN_NEW
  std::shared_ptr<ashlar::runtime::Runtime> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_budget_t {
  ASHLAR_OWN_NEW
  std::shared_ptr<ashlar::runtime::Budget> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_memory_t {
  ASHLAR_OWN_NEW
  std::shared_ptr<ashlar::runtime::SharedMemory> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_arena_t {
  ASHLAR_OWN_NEW
  std::shared_ptr<ashlar::runtime::SharedArena> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_module_t {
  ASHLAR_OWN_NEW
  std::shared_ptr<ashlar::runtime::Module> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_session_t {
  ASHLAR_OWN_NEW
  std::shared_ptr<ashlar::runtime::Session> impl;
  ashlar::runtime::Birth birth = {};
};
struct ashlar_bindings_t {
  ASHLAR_OWN_NEW
  std::shared_ptr<ashlar::runtime::Session> session;
  std::unique_ptr<ashlar::runtime::BoundCall> call; // of the session
  ashlar::runtime::Birth birth = {};
};
struct ashlar_event_t {
  ASHLAR_OWN_NEW
  std::shared_ptr<ashlar::runtime::Event> impl;
  ashlar::runtime::Birth birth = {};
};

namespace ashlar::runtime {

/// INVALID_ARGUMENT: "runtime is NULL".
Status isNull(const char *argument);

/// Of the runtime that a handle belongs to.
OwnMemory *memoryOf(const ashlar_runtime_t &handle);
/// The same of the others.
OwnMemory *memoryOf(const ashlar_budget_t &handle);
OwnMemory *memoryOf(const ashlar_memory_t &handle);
OwnMemory *memoryOf(const ashlar_module_t &handle);
OwnMemory *memoryOf(const ashlar_session_t &handle);
OwnMemory *memoryOf(const ashlar_bindings_t &handle);

/// Runs the body of a C function of a handle, which may be null; what it
/// allocates is counted at its runtime.
template <typename Handle, typename Body>
ashlar_status_t guard(const Handle *handle, Body &&body) noexcept {
  OwnMemory::Scope scope(handle ? memoryOf(*handle) : nullptr);
  return guard(body);
}

/// Whether it is there and was made in this process.
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
/// As many as the caller's size says; fails where that is none.
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
