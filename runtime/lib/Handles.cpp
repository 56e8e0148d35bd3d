// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Handles.h"

namespace ashlar::runtime {

OwnMemory *memoryOf(const ashlar_runtime_t &handle) {
  return handle.impl->memory();
}
OwnMemory *memoryOf(const ashlar_budget_t &handle) {
  return handle.impl->memory();
}
OwnMemory *memoryOf(const ashlar_memory_t &handle) {
  return handle.impl->runtime->memory();
}
OwnMemory *memoryOf(const ashlar_module_t &handle) {
  return handle.impl->runtime->memory();
}
OwnMemory *memoryOf(const ashlar_session_t &handle) {
  return handle.impl->moduleOf().runtime->memory();
}
OwnMemory *memoryOf(const ashlar_bindings_t &handle) {
  return handle.session->moduleOf().runtime->memory();
}

Status isNull(const char *argument) {
  return invalidArgument(concat(argument, " is NULL"), argument);
}

Status unusable(const void *handle, const char *argument) {
  return handle ? invalidArgument(
                      "it was made before a fork, by the parent, whose threads "
                      "are not here; create a new session in the child",
                      argument)
                : isNull(argument);
}

/// No version of a struct is larger; a size beyond shows memory that was never
/// set.
static constexpr size_t largestStruct = 4096;

static Status readSize(const void *given, size_t &size, const char *argument) {
  std::memcpy(&size, given, sizeof(size));
  if (size >= sizeof(size_t) && size <= largestStruct)
    return {};
  return invalidArgument(
      concat("size is ", size, "; initialise the struct with its _INIT macro"),
      argument);
}

Status readBytes(const void *given, void *out, size_t bytes,
                 const char *argument) {
  if (!given)
    return {};
  size_t size = 0;
  ASHLAR_RETURN_IF_ERROR(readSize(given, size, argument));
  std::memcpy(out, given, std::min(size, bytes));
  return {};
}

Status writeBytes(const void *filled, void *out, size_t bytes,
                  const char *argument) {
  if (!out)
    return isNull(argument);
  size_t size = 0;
  ASHLAR_RETURN_IF_ERROR(readSize(out, size, argument));
  std::memcpy(static_cast<char *>(out) + sizeof(size_t),
              static_cast<const char *>(filled) + sizeof(size_t),
              std::min(size, bytes) - sizeof(size_t));
  return {};
}

} // namespace ashlar::runtime
