// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the C API's opaque handles are, and how its growing structs are read.

#ifndef ASHLAR_RUNTIME_LIB_HANDLES_H
#define ASHLAR_RUNTIME_LIB_HANDLES_H

#include "Session.h"

#include <algorithm>
#include <cstring>

struct ashlar_runtime_t {
  std::shared_ptr<ashlar::runtime::Runtime> impl;
};
struct ashlar_budget_t {
  std::shared_ptr<ashlar::runtime::Budget> impl;
};
struct ashlar_module_t {
  std::shared_ptr<ashlar::runtime::Module> impl;
};
struct ashlar_session_t {
  std::shared_ptr<ashlar::runtime::Session> impl;
};
struct ashlar_bindings_t {
  std::shared_ptr<ashlar::runtime::Session> session;
  std::unique_ptr<ashlar::runtime::BoundCall> call;
};
struct ashlar_event_t {
  std::shared_ptr<ashlar::runtime::Event> impl;
};

namespace ashlar::runtime {

inline Status isNull(const char *argument) {
  return invalidArgument(concat(argument, " is NULL"), argument);
}

/// No version of a struct is larger; a size beyond shows memory that was never
/// set.
constexpr size_t largestStruct = 4096;

template <typename T> Status checkSize(const T &given, const char *argument) {
  if (given.size >= sizeof(size_t) && given.size <= largestStruct)
    return {};
  return invalidArgument(concat("size is ", given.size,
                                "; initialise the struct with its _INIT macro"),
                         argument);
}

/// Copies the fields that both sides know over the defaults in `out`.
template <typename T>
Status readStruct(const T *given, T &out, const char *argument) {
  if (!given)
    return {};
  ASHLAR_RETURN_IF_ERROR(checkSize(*given, argument));
  std::memcpy(&out, given, std::min(given->size, sizeof(T)));
  return {};
}

/// Copies them to the caller, whose `size` stays as it is.
template <typename T>
Status writeStruct(const T &filled, T *out, const char *argument) {
  if (!out)
    return isNull(argument);
  ASHLAR_RETURN_IF_ERROR(checkSize(*out, argument));
  std::memcpy(reinterpret_cast<char *>(out) + sizeof(size_t),
              reinterpret_cast<const char *>(&filled) + sizeof(size_t),
              std::min(out->size, sizeof(T)) - sizeof(size_t));
  return {};
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_HANDLES_H
