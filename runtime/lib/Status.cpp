// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Logger.h"

#include <charconv>
#include <cstring>

namespace ashlar::runtime {

struct Status::Detail {
  ASHLAR_OWN_NEW
  ashlar_status_code_t code;
  String message;
  String place;
  std::atomic<uint32_t> owners{1};
};

Status::Status(ashlar_status_code_t code, String message, String place)
    : detail(new Detail{code, std::move(message), std::move(place)}) {}

void Status::retain() noexcept {
  detail->owners.fetch_add(1, std::memory_order_relaxed);
}

void Status::release() noexcept {
  if (detail->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete detail;
}

ashlar_status_code_t Status::code() const {
  return detail ? detail->code : ASHLAR_OK;
}

const char *Status::message() const {
  return detail ? detail->message.c_str() : "";
}

const char *Status::place() const {
  return detail ? detail->place.c_str() : "";
}

Status failure(ashlar_status_code_t code, const Words &message,
               const Words &place) {
  return Status(code, message.text(), place.text());
}

Status invalidArgument(const Words &message, const Words &place) {
  return failure(ASHLAR_INVALID_ARGUMENT, message, place);
}

Status corrupt(const Words &message, const Words &place) {
  return failure(ASHLAR_CORRUPT, message, place);
}

static void appendNumber(String &text, uint64_t word, bool isSigned) {
  char digits[24];
  auto end = isSigned ? std::to_chars(digits, std::end(digits), int64_t(word))
                      : std::to_chars(digits, std::end(digits), word);
  text.append(digits, end.ptr);
}

String join(const char *letters, const uint64_t *words) {
  String text;
  for (; *letters; ++letters) {
    uint64_t word = *words++;
    auto *characters = reinterpret_cast<const char *>(uintptr_t(word));
    if (*letters == 't')
      text += characters;
    else if (*letters == 's')
      text.append(characters, size_t(*words++));
    else
      appendNumber(text, word, *letters == 'i');
  }
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

void Logger::log(ashlar_log_level_t level, const char *place,
                 const Words &message) const {
  if (wants(level))
    logger.log(logger.context, level, place, message.text().c_str());
}

ashlar_status_t guardCall(Status (*call)(void *body), void *body) noexcept {
  try {
    Status status = call(body);
    return status.ok() ? exportOk() : exportStatus(status);
  } catch (const std::bad_alloc &) {
    return exportOutOfMemory();
  } catch (const std::exception &error) {
    return exportStatus(Status(ASHLAR_INTERNAL, error.what()));
  }
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
