// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: sh -c 'for name in mine other; do openssl genpkey -algorithm ed25519 -out $name.pem && openssl pkey -in $name.pem -pubout -out $name.pub; done'
// RUN: ashlar-compile %s -o y.ash --sign-key=mine.pem
// RUN: ashlar-compile %s -o plain.ash && ashlar-compile %s -o again.ash --sign-key=mine.pem
// RUN: cmp y.ash again.ash

// OpenSSL, which has no part in it, finds the signature of all that is before.
// RUN: sh -c 'head -c -64 y.ash > bytes && tail -c 64 y.ash > signature'
// RUN: openssl pkeyutl -verify -pubin -inkey mine.pub -rawin -in bytes -sigfile signature | FileCheck %s --check-prefix=OPENSSL
// OPENSSL: Signature Verified Successfully

// RUN: ashlar-run y.ash --input=arg0=random --signature-key=mine.pub
// RUN: ashlar-run y.ash --input=arg0=random --signature-key=other.pub --signature-key=mine.pub
// RUN: ashlar-run y.ash --input=arg0=random
// RUN: ashlar-inspect y.ash --verify-signature=mine.pub | FileCheck %s --check-prefix=RIGHT
// RIGHT: the signature is right

// What is refused says why, and what to do.
// RUN: sh -c 'ashlar-run plain.ash --input=arg0=random --signature-key=mine.pub 2>out; test $? -eq 1' && FileCheck %s --check-prefix=PLAIN < out
// PLAIN: the module is not signed, but this runtime takes signed ones alone: compile it with ashlar-compile --sign-key [UNSUPPORTED]
// RUN: sh -c 'ashlar-run y.ash --input=arg0=random --signature-key=other.pub 2>out; test $? -eq 1' && FileCheck %s --check-prefix=OTHER < out
// OTHER: the module names the key that begins with {{[0-9a-f]+}}, which is none of the 1 trusted: add it if you trust who signed [UNSUPPORTED]
// RUN: sh -c 'cp y.ash bad.ash && printf x | dd of=bad.ash bs=1 seek=4096 conv=notrunc 2>/dev/null'
// RUN: not ashlar-run bad.ash --input=arg0=random --signature-key=mine.pub 2>&1 | FileCheck %s --check-prefix=ALTERED
// RUN: not ashlar-inspect bad.ash --verify-signature=mine.pub 2>&1 | FileCheck %s --check-prefix=ALTERED
// ALTERED: the signature does not fit the module, which was altered after it was signed: get the file again [CORRUPT]
// RUN: sh -c 'head -c -10 y.ash > cut.ash'
// RUN: not ashlar-run cut.ash --input=arg0=random --signature-key=mine.pub 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: it was cut off or appended to [CORRUPT]

// Keys that are none, and requests that sign nothing.
// RUN: not ashlar-compile %s -o z.ash --sign-key=mine.pub 2>&1 | FileCheck %s --check-prefix=PUBLIC
// PUBLIC: error: --sign-key: 'mine.pub': expected a PRIVATE KEY of Ed25519 (PEM), as 'openssl genpkey -algorithm ed25519' writes it
// RUN: not ashlar-compile %s -o z.ash --sign-key=none.pem 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: --sign-key: 'none.pem': No such file or directory
// RUN: not ashlar-run y.ash --input=arg0=random --signature-key=mine.pem 2>&1 | FileCheck %s --check-prefix=PRIVATE
// PRIVATE: --signature-key=mine.pem: expected a PUBLIC KEY of Ed25519 (PEM), as 'openssl pkey -in KEY -pubout' writes it
// RUN: not ashlar-compile %s -o mine.pem --sign-key=mine.pem 2>&1 | FileCheck %s --check-prefix=SAME
// SAME: error: -o mine.pem is the signing key; give the module another name
// RUN: sh -c 'ashlar-compile %s --until=fuse --sign-key=mine.pem 2>out; test $? -eq 2' && FileCheck %s --check-prefix=NOTHING < out
// NOTHING: ashlar-compile: --sign-key signs a module; leave it out where none is made
// Where libsodium cannot be opened, only those who ask for it are told.
// RUN: sh -c 'mkdir lib && echo no > lib/libsodium.so.23 && echo no > lib/libsodium.so.26'
// RUN: sh -c 'LD_LIBRARY_PATH=lib ashlar-run y.ash --input=arg0=random --signature-key=mine.pub 2>out; test $? -eq 1' && FileCheck %s --check-prefix=SODIUM < out
// RUN: sh -c 'LD_LIBRARY_PATH=lib ashlar-compile %s -o z.ash --sign-key=mine.pem 2>out; test $? -eq 1' && FileCheck %s --check-prefix=SODIUM < out
// SODIUM: libsodium.so.23 or .26 cannot be opened: install libsodium (Debian: libsodium23)
// RUN: env LD_LIBRARY_PATH=lib ashlar-run y.ash --input=arg0=random
// RUN: not ls z.ash
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>)
                  outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
