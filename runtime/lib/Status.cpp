// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Status.h"

#include <cstring>

namespace ashlar::runtime {

void Piece::appendTo(std::string &out) const {
  if (text)
    out.append(text, value);
  else
    out += isSigned ? std::to_string(int64_t(value)) : std::to_string(value);
}

std::string join(std::initializer_list<Piece> pieces) {
  std::string text;
  for (const Piece &piece : pieces)
    piece.appendTo(text);
  return text;
}

namespace {
// Fixed, so that reporting a failure cannot fail.
struct ThreadStrings {
  char message[2048];
  char place[512];
};
thread_local ThreadStrings strings;

template <size_t N> void copyCut(char (&target)[N], const char *text) {
  size_t length = strnlen(text, N - 1);
  std::memcpy(target, text, length);
  target[length] = 0;
}
} // namespace

ashlar_status_t exportOk() noexcept { return {ASHLAR_OK, "", ""}; }

ashlar_status_t exportStatus(const Status &status) noexcept {
  copyCut(strings.message, status.message());
  copyCut(strings.place, status.place());
  return {status.code(), strings.message, strings.place};
}

ashlar_status_t exportOutOfMemory() noexcept {
  return {ASHLAR_INTERNAL, "the system has no more memory", ""};
}

} // namespace ashlar::runtime

extern "C" const char *ashlar_status_code_name(int32_t code) {
  switch (code) {
  case ASHLAR_OK:
    return "OK";
  case ASHLAR_INVALID_ARGUMENT:
    return "INVALID_ARGUMENT";
  case ASHLAR_NOT_FOUND:
    return "NOT_FOUND";
  case ASHLAR_OUT_OF_BUDGET:
    return "OUT_OF_BUDGET";
  case ASHLAR_UNSUPPORTED:
    return "UNSUPPORTED";
  case ASHLAR_CORRUPT:
    return "CORRUPT";
  case ASHLAR_DEVICE_LOST:
    return "DEVICE_LOST";
  case ASHLAR_CANCELLED:
    return "CANCELLED";
  case ASHLAR_INTERNAL:
    return "INTERNAL";
  default:
    return "UNKNOWN";
  }
}
