/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The first 64 bytes of a module file (.ash). The index that follows is the
 * FlatBuffer of runtime/schema/module.fbs. All integers are little endian.
 *
 * A reader refuses another major version. A higher minor version adds only
 * what an older reader may ignore, so it is accepted. docs/module-format.md
 * holds the promise in full.
 */
#ifndef ASHLAR_RUNTIME_MODULE_FORMAT_H
#define ASHLAR_RUNTIME_MODULE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0x89 keeps the file from passing as text; "\r\n" shows a transfer that
 * rewrites line ends, as in PNG's signature. */
#define ASHLAR_MODULE_MAGIC                                                    \
  "\x89"                                                                       \
  "ASHL\r\n\x1a"
#define ASHLAR_MODULE_MAGIC_SIZE 8

#define ASHLAR_MODULE_MAJOR_VERSION 1
#define ASHLAR_MODULE_MINOR_VERSION 0

/* Among a program's required_features: it has something that runtimes older
 * than this addition must not pass over (schema/module.fbs marks what). */
#define ASHLAR_MODULE_FORMAT_1_1 "format-1.1"

/* Sections start at multiples of this, so that they can be mapped alone. */
#define ASHLAR_MODULE_SECTION_ALIGNMENT 4096
/* Weights start at multiples of this inside their section. */
#define ASHLAR_MODULE_WEIGHT_ALIGNMENT 64
/* FlatBuffers addresses the index with 31 bits. */
#define ASHLAR_MODULE_MAX_INDEX_SIZE 0x7fffffffu
/* What a program with pieces of its entries requires: the runtime has it, and
 * not a device. */
#define ASHLAR_MODULE_FEATURE_PIECES "pieces"
/* Likewise one with states: inputs and outputs that are one place. */
#define ASHLAR_MODULE_FEATURE_STATE "state"
/* Likewise one of a module with weights that are made when it is loaded, and
 * how many bytes of such a module may have. */
#define ASHLAR_MODULE_FEATURE_RANDOM_WEIGHTS "random-weights"
#define ASHLAR_MODULE_MAX_RANDOM_SIZE (1ull << 40)
/* Of what a model says of itself: entries, and bytes of all keys and values. */
#define ASHLAR_MODULE_MAX_METADATA 65536
#define ASHLAR_MODULE_MAX_METADATA_SIZE (16u << 20)

typedef struct ashlar_module_header_t {
  uint8_t magic[ASHLAR_MODULE_MAGIC_SIZE];
  uint16_t major_version;
  uint16_t minor_version;
  uint32_t header_size;  /* 64; where a later version's longer header ends */
  uint64_t index_offset; /* 64 */
  uint64_t index_size;   /* bytes of the FlatBuffer, without padding */
  uint64_t index_hash;   /* XXH3, 64 bits, seed 0, of those bytes */
  uint64_t file_size;    /* of the whole file; a shorter file is truncated */
  uint8_t reserved[16];  /* zero */
} ashlar_module_header_t;

/* The last bytes of a signed module, which its header's file_size counts. They
 * lie in no section, so that who does not look for them passes over them. */
#define ASHLAR_MODULE_SIGNATURE_MAGIC                                          \
  "\x89"                                                                       \
  "ASHSIG\n"
#define ASHLAR_MODULE_SIGNATURE_VERSION 1
#define ASHLAR_MODULE_SIGNATURE_ED25519 1
typedef struct ashlar_module_signature_t {
  uint8_t magic[8];
  uint16_t version;
  uint16_t algorithm;
  uint32_t size; /* 112 */
  uint8_t public_key[32];
  uint8_t signature[64]; /* of all bytes of the file before it */
} ashlar_module_signature_t;

#ifdef __cplusplus
#define ASHLAR_LAYOUT_ASSERT(condition) static_assert(condition, #condition)
#else
#define ASHLAR_LAYOUT_ASSERT(condition) _Static_assert(condition, #condition)
#endif

ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_module_header_t) == 64);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_module_header_t, major_version) == 8);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_module_header_t, minor_version) == 10);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_module_header_t, header_size) == 12);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_module_header_t, index_offset) == 16);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_module_header_t, index_size) == 24);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_module_header_t, index_hash) == 32);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_module_header_t, file_size) == 40);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_module_header_t, reserved) == 48);

ASHLAR_LAYOUT_ASSERT(sizeof(ashlar_module_signature_t) == 112);
ASHLAR_LAYOUT_ASSERT(offsetof(ashlar_module_signature_t, signature) == 48);

#undef ASHLAR_LAYOUT_ASSERT

#ifdef __cplusplus
}
#endif
#endif /* ASHLAR_RUNTIME_MODULE_FORMAT_H */
