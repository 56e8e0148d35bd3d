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

template <size_t N> struct Message;

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
  template <size_t N> Piece(const Message<N> &) = delete; // would dangle
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

/// What concat gives: a string as soon as one is asked for. Until then it looks
/// at what it was given, so it is not to be kept.
template <size_t N> struct Message {
  Piece pieces[N];
  operator std::string() const { return join(pieces, N); }
};

/// Joins strings and integers into one message. In place: a function for each
/// combination of types would be more code than its calls.
template <typename... Pieces>
[[gnu::always_inline]] inline Message<sizeof...(Pieces)>
concat(const Pieces &...pieces) {
  return {{Piece(pieces)...}};
}

/// A message or a plain text that is about to become part of a status.
class Words {
public:
  Words(const char *text) : single(text) {}
  Words(std::string_view text) : single(text) {}
  Words(const std::string &text) : single(text) {}
  template <size_t N>
  Words(const Message<N> &message)
      : single(""), list(message.pieces), count(N) {}
  std::string text() const { return join(list ? list : &single, count); }

private:
  Piece single;
  const Piece *list = nullptr;
  size_t count = 1;
};

// Out of line, so that who fails makes no strings.
Status failure(ashlar_status_code_t code, const Words &message,
               const Words &place = "");
Status invalidArgument(const Words &message, const Words &place = "");
Status corrupt(const Words &message, const Words &place = "");

/// Hands a status to C. Never throws: a message that does not fit is cut.
ashlar_status_t exportStatus(const Status &status) noexcept;
ashlar_status_t exportOutOfMemory() noexcept;
ashlar_status_t exportOk() noexcept;

/// Runs the body of a C function: nothing thrown inside leaves the library.
ashlar_status_t guardCall(Status (*call)(void *body), void *body) noexcept;
template <typename Body> ashlar_status_t guard(Body &&body) noexcept {
  return guardCall(
      [](void *given) {
        return (*static_cast<std::remove_reference_t<Body> *>(given))();
      },
      &body);
}

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_STATUS_H
