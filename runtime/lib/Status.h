// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How functions inside the runtime say that something went wrong. A Status
// without detail is success and costs one null pointer. At the C boundary it
// becomes an ashlar_status_t whose strings live in the calling thread.

#ifndef ASHLAR_RUNTIME_LIB_STATUS_H
#define ASHLAR_RUNTIME_LIB_STATUS_H

#include "ashlar/runtime/api.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace ashlar::runtime {

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(ashlar_status_code_t code, std::string message, std::string place = {})
      : detail(std::make_shared<const Detail>(
            Detail{code, std::move(message), std::move(place)})) {}

  bool ok() const { return !detail; }
  ashlar_status_code_t code() const {
    return detail ? detail->code : ASHLAR_OK;
  }
  const char *message() const { return detail ? detail->message.c_str() : ""; }
  const char *place() const { return detail ? detail->place.c_str() : ""; }

private:
  struct Detail {
    ashlar_status_code_t code;
    std::string message;
    std::string place;
  };
  // Shared, since an event hands the same failure to everyone who waits.
  std::shared_ptr<const Detail> detail;
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
      : text(text.data() ? text.data() : ""), value(text.size()) {}
  Piece(const std::string &text) : Piece(std::string_view(text)) {}
  Piece(const char *text) : Piece(std::string_view(text)) {}
  template <typename Integer,
            typename = std::enable_if_t<std::is_integral_v<Integer>>>
  Piece(Integer number)
      : isSigned(std::is_signed_v<Integer>), value(uint64_t(number)) {}

  void appendTo(std::string &out) const;

private:
  const char *text = nullptr; // null: a number
  bool isSigned = false;
  uint64_t value; // the number or the text's length
};

std::string join(std::initializer_list<Piece> pieces);

/// Joins strings and integers into one message.
template <typename... Pieces> std::string concat(const Pieces &...pieces) {
  return join({Piece(pieces)...});
}

inline Status invalidArgument(std::string message, std::string place = {}) {
  return Status(ASHLAR_INVALID_ARGUMENT, std::move(message), std::move(place));
}
inline Status corrupt(std::string message, std::string place = {}) {
  return Status(ASHLAR_CORRUPT, std::move(message), std::move(place));
}

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
