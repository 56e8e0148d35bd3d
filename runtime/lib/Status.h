// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How functions inside the runtime say that something went wrong. A Status
// without detail is success and costs one null pointer. At the C boundary it
// becomes an ashlar_status_t whose strings live in the calling thread.

#ifndef ASHLAR_RUNTIME_LIB_STATUS_H
#define ASHLAR_RUNTIME_LIB_STATUS_H

#include "OwnMemory.h"
#include "ashlar/runtime/api.h"

#include <string_view>
#include <type_traits>

namespace ashlar::runtime {

/// A code, a sentence and what that is about. A copy is the same failure; any
/// thread.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(ashlar_status_code_t code, String message, String place = {});
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

/// What concat gives: a string as soon as one is asked for. Until then it looks
/// at what it was given, so it is not to be kept. Small, since messages are
/// built in many places: a letter says what a part is, and one or two words
/// where.
template <size_t N> struct Message {
  const char *letters; // of letterOf, ended
  uint64_t words[N];   // wordsOf each
  operator String() const;
};

/// Text that ends, a number without or with a sign, text of a length.
template <typename Part> constexpr char letterOf() {
  if (std::is_integral_v<Part>)
    return std::is_signed_v<Part> ? 'i' : 'u';
  return std::is_convertible_v<const Part &, const char *> ? 't' : 's';
}
/// A pointer or a number is one word, text with a length two.
template <typename Part> constexpr size_t wordsOf() {
  return letterOf<Part>() == 's' ? 2 : 1;
}
/// Letters in one text.
template <char... Letters> struct LettersOf {
  static constexpr char text[] = {Letters..., 0};
};

/// Writes a part's words and gives the place behind them.
inline uint64_t *addWord(uint64_t *at, const char *text) {
  *at = reinterpret_cast<uintptr_t>(text);
  return at + 1;
}
inline uint64_t *addWord(uint64_t *at, std::string_view text) {
  at[0] = reinterpret_cast<uintptr_t>(text.data());
  at[1] = text.size();
  return at + 2;
}
template <typename Integer,
          typename = std::enable_if_t<std::is_integral_v<Integer>>>
uint64_t *addWord(uint64_t *at, Integer number) {
  *at = uint64_t(number);
  return at + 1;
}
template <size_t N>
uint64_t *addWord(uint64_t *, const Message<N> &) = delete; // would dangle

/// What letters and words say.
String join(const char *letters, const uint64_t *words);

template <size_t N> Message<N>::operator String() const {
  return join(letters, words);
}

/// Joins strings and integers into one message. In place: a function for each
/// combination of types would be more code than its calls.
template <typename... Parts>
[[gnu::always_inline]] inline Message<(wordsOf<Parts>() + ...)>
concat(const Parts &...parts) {
  Message<(wordsOf<Parts>() + ...)> message;
  message.letters = LettersOf<letterOf<Parts>()...>::text;
  uint64_t *at = message.words;
  ((at = addWord(at, parts)), ...);
  return message;
}

/// A message or a plain text that is about to become part of a status.
class Words {
public:
  Words(const char *text) : letters("t") { addWord(own, text); }
  Words(std::string_view text) : letters("s") { addWord(own, text); }
  Words(const String &text) : Words(std::string_view(text)) {}
  Words(const std::string &text) : Words(std::string_view(text)) {}
  template <size_t N>
  Words(const Message<N> &message)
      : letters(message.letters), words(message.words) {}
  /// Makes the string.
  String text() const { return join(letters, words ? words : own); }

private:
  const char *letters;             // as a message's
  const uint64_t *words = nullptr; // of a message
  uint64_t own[2];                 // of a plain text
};

// Out of line, so that who fails makes no strings.
Status failure(ashlar_status_code_t code, const Words &message,
               const Words &place = "");
/// INVALID_ARGUMENT.
Status invalidArgument(const Words &message, const Words &place = "");
/// CORRUPT.
Status corrupt(const Words &message, const Words &place = "");

/// Hands a status to C. Never throws: a message that does not fit is cut.
ashlar_status_t exportStatus(const Status &status) noexcept;
/// INTERNAL, where no memory for a message is left.
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
