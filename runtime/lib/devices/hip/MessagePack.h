// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code objects say of their kernels is MessagePack
// (https://github.com/msgpack/msgpack/blob/master/spec.md): read in place, from
// bytes that nobody vouches for.

#ifndef ASHLAR_RUNTIME_LIB_DEVICES_HIP_MESSAGEPACK_H
#define ASHLAR_RUNTIME_LIB_DEVICES_HIP_MESSAGEPACK_H

#include <cstdint>
#include <string_view>

namespace ashlar::runtime::hip {

/// One value at the beginning of some bytes.
struct Value {
  enum Kind { Bad, Other, Number, Text, Array, Map } kind = Bad;
  uint64_t number = 0;         // a whole one that is not below zero
  std::string_view text = {};  // of Text
  uint32_t count = 0;          // items of an array, pairs of a map
  std::string_view items = {}; // the bytes from the first item on
};

/// Reads it and moves `bytes` behind it, and behind all in it. Bad: it is cut
/// short, nests too deep, or is none.
Value take(std::string_view &bytes, unsigned depth = 0);

/// The value of a key in a map; Bad: there is none.
Value find(const Value &map, std::string_view key);

} // namespace ashlar::runtime::hip

#endif // ASHLAR_RUNTIME_LIB_DEVICES_HIP_MESSAGEPACK_H
