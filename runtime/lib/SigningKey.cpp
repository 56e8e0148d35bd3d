// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SigningKey.h"

#include "RegularFile.h"
#include "Sodium.h"
#include "ashlar/runtime/module_format.h"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace ashlar::runtime {

static constexpr uint64_t mostPemBytes = 4096;

/// A secret that was read leaves no copy behind.
struct Wiped {
  std::string text;
  ~Wiped() { explicit_bzero(text.data(), text.size()); }
};

static std::string readText(const std::string &path, std::string &out) {
  RegularFile file;
  std::string problem = file.open(path);
  if (!problem.empty())
    return problem;
  if (file.size() > mostPemBytes)
    return "it has " + std::to_string(file.size()) +
           " bytes; expected a key of at most " + std::to_string(mostPemBytes);
  return file.read(out);
}

/// The bytes of base64 with line ends between; false for anything else.
static bool decode(std::string_view text, std::string &out) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg"
                                             "hijklmnopqrstuvwxyz0123456789+/";
  uint32_t bits = 0, count = 0, padding = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r')
      continue;
    size_t value = digits.find(c);
    padding += c == '=';
    if (c != '=' && (value == digits.npos || padding))
      return false;
    bits = bits << 6 | uint32_t(c == '=' ? 0 : value);
    if (++count % 4 == 0)
      for (int shift = 16; shift >= 0; shift -= 8)
        out += char(bits >> shift & 255);
  }
  if (count % 4 || padding > 2)
    return false;
  out.resize(out.size() - padding);
  return true;
}

/// Of the block "-----BEGIN kind-----": the 32 bytes that follow `prefix`,
/// which says in DER that they are a key of Ed25519 (RFC 8410).
static std::string readPem(const std::string &path, std::string_view kind,
                           std::string_view prefix, const char *howTo,
                           std::string &out) {
  Wiped text, bytes;
  std::string problem = readText(path, text.text);
  if (!problem.empty())
    return problem;
  // The line's end, of either kind, is passed over with those in the base64.
  std::string begin = "-----BEGIN " + std::string(kind) + "-----";
  std::string end = "-----END " + std::string(kind) + "-----";
  size_t from = text.text.find(begin);
  size_t to = from == text.text.npos ? from : text.text.find(end, from);
  bool isKey = to != text.text.npos;
  if (isKey) {
    from += begin.size();
    bytes.text.reserve(mostPemBytes);
    isKey = decode(std::string_view(text.text).substr(from, to - from),
                   bytes.text) &&
            bytes.text.size() == prefix.size() + 32 &&
            bytes.text.compare(0, prefix.size(), prefix) == 0;
  }
  if (!isKey)
    return "expected a " + std::string(kind) + " of Ed25519 (PEM), as '" +
           howTo + "' writes it";
  out.assign(bytes.text, prefix.size(), 32);
  return "";
}

std::string readPublicKey(const std::string &path, std::string &out) {
  using namespace std::literals;
  return readPem(path, "PUBLIC KEY",
                 "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"sv,
                 "openssl pkey -in KEY -pubout", out);
}

SigningKey::~SigningKey() { explicit_bzero(secret, sizeof(secret)); }

std::string SigningKey::read(const std::string &path) {
  using namespace std::literals;
  Wiped seed;
  std::string problem = readPem(
      path, "PRIVATE KEY",
      "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"sv,
      "openssl genpkey -algorithm ed25519", seed.text);
  if (!problem.empty())
    return problem;
  using MakeKeys = int(unsigned char *publicKey, unsigned char *secret,
                       const unsigned char *seed);
  auto *makeKeys = sodiumFunction<MakeKeys>("crypto_sign_ed25519_seed_keypair");
  if (!makeKeys)
    return sodiumMissing;
  unsigned char publicKey[32];
  makeKeys(publicKey, secret,
           reinterpret_cast<const unsigned char *>(seed.text.data()));
  return "";
}

static bool writeAt(int descriptor, const void *data, size_t size,
                    uint64_t offset) {
  const char *from = static_cast<const char *>(data);
  while (size) {
    ssize_t done = pwrite(descriptor, from, size, off_t(offset));
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return false;
    from += done;
    offset += uint64_t(done);
    size -= size_t(done);
  }
  return true;
}

std::string SigningKey::sign(int descriptor, uint64_t size) const {
  ashlar_module_signature_t made = {};
  std::memcpy(made.magic, ASHLAR_MODULE_SIGNATURE_MAGIC, sizeof(made.magic));
  made.version = ASHLAR_MODULE_SIGNATURE_VERSION;
  made.algorithm = ASHLAR_MODULE_SIGNATURE_ED25519;
  made.size = sizeof(made);
  std::memcpy(made.public_key, secret + 32, sizeof(made.public_key));
  if (!writeAt(descriptor, &made, sizeof(made), size))
    return std::strerror(errno);
  size_t signedBytes = size + offsetof(ashlar_module_signature_t, signature);
  void *bytes =
      mmap(nullptr, signedBytes, PROT_READ, MAP_SHARED, descriptor, 0);
  if (bytes == MAP_FAILED)
    return std::strerror(errno);
  using Sign = int(unsigned char *signature, unsigned long long *outBytes,
                   const unsigned char *message, unsigned long long size,
                   const unsigned char *secret);
  auto *make = sodiumFunction<Sign>("crypto_sign_ed25519_detached");
  bool isMade = make && make(made.signature, nullptr,
                             static_cast<const unsigned char *>(bytes),
                             signedBytes, secret) == 0;
  munmap(bytes, signedBytes);
  if (!isMade)
    return "libsodium could not sign it";
  return writeAt(descriptor, made.signature, sizeof(made.signature),
                 signedBytes)
             ? ""
             : std::strerror(errno);
}

} // namespace ashlar::runtime
