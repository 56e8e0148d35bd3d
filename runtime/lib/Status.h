// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How functions inside the runtime say that something went wrong. A Status
// without detail is success and costs one null pointer. At the C boundary it
// becomes an ashlar_status_t whose strings live in the calling thread.

#ifndef ASHLAR_RUNTIME_LIB_STATUS_H
#define ASHLAR_RUNTIME_LIB_STATUS_H

#include "ashlar/runtime/api.h"

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace ashlar::runtime {

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(ashlar_status_code_t code, std::string message,
         std::string place = {});
  Status(const Status &other) noexcept : detail(other.detail) {
    if (detail)
      retain();
  }
  Status(Status &&other) noexcept : detail(other.detail) {
    other.detail = nullptr;
  }
  Status &operator=(Status other) noexcept {
    std::swap(detail, other.detail);
    return *this;
  }
  ~Status() {
    if (detail)
      release();
  }

  bool ok() const { return !detail; }
  ashlar_status_code_t code() const;
  const char *message() const;
  const char *place() const;

private:
  struct Detail;
  // Out of line: nearly every function returns a status, few fail.
  void retain() noexcept;
  void release() noexcept;

  // Counted, since an event hands the same failure to everyone who waits.
  Detail *detail = nullptr;
};

#define ASHLAR_RETURN_IF_ERROR(expression)                                     \
  do {                                                                         \
    if (::ashlar::runtime::Status status_ = (expression); !status_.ok())       \
      return status_;                                                          \
  } while (false)

/// A part of a message: text or an integer. Small, since messages are built in
/// many places.
class Piece {
public:
  Piece(std::string_view text)
      : kind(reinterpret_cast<uintptr_t>(text.data() ? text.data() : "")),
        value(text.size()) {}
  Piece(const std::string &text) : Piece(std::string_view(text)) {}
  Piece(const char *text)
      : kind(reinterpret_cast<uintptr_t>(text)), value(untilNul) {}
  template <typename Integer,
            typename = std::enable_if_t<std::is_integral_v<Integer>>>
  Piece(Integer number)
      : kind(std::is_signed_v<Integer>), value(uint64_t(number)) {}

  void appendTo(std::string &out) const;

private:
  static constexpr uint64_t untilNul = ~uint64_t(0);

  uintptr_t kind; // 0: a number, 1: one with a sign, else the text's address
  uint64_t value; // the number or the text's length
};

std::string join(const Piece *pieces, size_t count);

/// Joins strings and integers into one message. In place: a function for each
/// combination of types would be more code than its calls.
template <typename... Pieces>
[[gnu::always_inline]] inline std::string concat(const Pieces &...pieces) {
  const Piece list[] = {Piece(pieces)...};
  return join(list, sizeof...(pieces));
}

Status invalidArgument(std::string message, std::string place = {});
Status corrupt(std::string message, std::string place = {});

/// Hands a status to C. Never throws: a message that does not fit is cut.
ashlar_status_t exportStatus(const Status &status) noexcept;
ashlar_status_t exportOutOfMemory() noexcept;
ashlar_status_t exportOk() noexcept;

/// Runs the body of a C function: nothing thrown inside leaves the library.
template <typename Body> ashlar_status_t guard(Body &&body) noexcept {
  try {
    Status status = body();
    return status.ok() ? exportOk() : exportStatus(status);
  } catch (const std::bad_alloc &) {
    return exportOutOfMemory();
  } catch (const std::exception &error) {
    return exportStatus(Status(ASHLAR_INTERNAL, error.what()));
  }
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_STATUS_H
