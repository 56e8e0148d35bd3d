// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys of Ed25519 in PEM files, as OpenSSL writes them, and how a module is
// signed with one:
//
//   openssl genpkey -algorithm ed25519 -out key.pem
//   openssl pkey -in key.pem -pubout -out key.pub

#ifndef ASHLAR_RUNTIME_LIB_SIGNINGKEY_H
#define ASHLAR_RUNTIME_LIB_SIGNINGKEY_H

#include <cstdint>
#include <string>

namespace ashlar::runtime {

/// Reads the 32 bytes of a public key; in words why not.
std::string readPublicKey(const std::string &path, std::string &out);

/// A private key, wiped at its end.
class SigningKey {
public:
  SigningKey() = default;
  SigningKey(const SigningKey &) = delete;
  SigningKey &operator=(const SigningKey &) = delete;
  ~SigningKey();

  /// In words why not; libsodium must be there.
  std::string read(const std::string &path);
  /// Appends the signature to a file of so many bytes, open to be read and
  /// written, whose header counts it already; in words why not.
  std::string sign(int descriptor, uint64_t size) const;

private:
  unsigned char secret[64] =
      {}; // as libsodium has it: the seed, the public key
};

} // namespace ashlar::runtime

#endif // ASHLAR_RUNTIME_LIB_SIGNINGKEY_H
