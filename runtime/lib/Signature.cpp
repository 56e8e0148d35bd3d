// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Signature.h"

#include "Sodium.h"
#include "ashlar/runtime/module_format.h"

#include <algorithm>
#include <cstring>

namespace ashlar::runtime {

using Verify = int(const unsigned char *signature, const unsigned char *message,
                   unsigned long long bytes, const unsigned char *key);

static Verify *findVerifier() {
  return sodiumFunction<Verify>("crypto_sign_ed25519_verify_detached");
}

Status openVerifier() {
  return findVerifier() ? Status()
                        : failure(ASHLAR_UNSUPPORTED, sodiumMissing,
                                  "options.signature_keys");
}

static constexpr uint64_t trailer = sizeof(ashlar_module_signature_t);

/// Of a module that does not end in one.
static Status explainMissing(const uint8_t *data, uint64_t size) {
  auto *magic =
      reinterpret_cast<const uint8_t *>(ASHLAR_MODULE_SIGNATURE_MAGIC);
  const uint8_t *end = data + size;
  const uint8_t *found =
      std::search(end - std::min(size, trailer), end, magic, magic + 8);
  if (found != end)
    return corrupt(concat("the module's signature was cut off after ",
                          uint64_t(end - found), " of ", trailer,
                          " bytes: get the file again"),
                   "signature");
  return failure(ASHLAR_UNSUPPORTED,
                 "the module is not signed, but this runtime takes signed ones "
                 "alone: compile it with ashlar-compile --sign-key",
                 "signature");
}

Status verifySignature(const uint8_t *data, uint64_t size,
                       std::string_view keys) {
  ashlar_module_signature_t found = {};
  if (size >= trailer)
    std::memcpy(&found, data + size - trailer, trailer);
  if (std::memcmp(found.magic, ASHLAR_MODULE_SIGNATURE_MAGIC,
                  sizeof(found.magic)))
    return explainMissing(data, size);
  if (found.version != ASHLAR_MODULE_SIGNATURE_VERSION ||
      found.algorithm != ASHLAR_MODULE_SIGNATURE_ED25519 ||
      found.size != trailer)
    return failure(
        ASHLAR_UNSUPPORTED,
        concat("the module has a signature of version ", found.version,
               " and algorithm ", found.algorithm,
               ", this runtime knows 1 and 1: sign it again, or use another "
               "runtime"),
        "signature");
  bool isTrusted = false;
  for (size_t at = 0; at < keys.size(); at += sizeof(found.public_key))
    isTrusted |= !std::memcmp(keys.data() + at, found.public_key,
                              sizeof(found.public_key));
  if (!isTrusted) {
    char digits[17];
    for (unsigned i = 0; i < 16; ++i)
      digits[i] =
          "0123456789abcdef"[found.public_key[i / 2] >> (i % 2 ? 0 : 4) & 15];
    digits[16] = 0;
    return failure(ASHLAR_UNSUPPORTED,
                   concat("the module names the key that begins with ", digits,
                          ", which is none of the ",
                          keys.size() / sizeof(found.public_key),
                          " trusted: add it if you trust who signed"),
                   "signature");
  }
  Verify *verify = findVerifier();
  if (!verify)
    return openVerifier();
  if (verify(found.signature, data, size - sizeof(found.signature),
             found.public_key))
    return corrupt("the signature does not fit the module, which was altered "
                   "after it was signed: get the file again",
                   "signature");
  return {};
}

} // namespace ashlar::runtime
