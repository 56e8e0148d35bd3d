// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MessagePack.h"

namespace ashlar::runtime::hip {

static constexpr unsigned deepest = 16;

/// Big-endian.
static bool takeNumber(std::string_view &bytes, unsigned size, uint64_t &out) {
  if (bytes.size() < size)
    return false;
  out = 0;
  for (unsigned i = 0; i < size; ++i)
    out = out << 8 | uint8_t(bytes[i]);
  bytes.remove_prefix(size);
  return true;
}

static Value takeText(std::string_view &bytes, uint64_t size,
                      Value::Kind kind) {
  if (size > bytes.size())
    return {};
  Value value;
  value.kind = kind;
  value.text = bytes.substr(0, size_t(size));
  bytes.remove_prefix(size_t(size));
  return value;
}

static Value takeItems(std::string_view &bytes, uint64_t count,
                       Value::Kind kind, unsigned depth) {
  // Each item is a byte at least, so no count makes this long.
  if (depth == deepest || count > bytes.size())
    return {};
  Value value;
  value.kind = kind;
  value.count = uint32_t(count);
  value.items = bytes;
  for (uint64_t i = kind == Value::Map ? 2 * count : count; i; --i)
    if (take(bytes, depth + 1).kind == Value::Bad)
      return {};
  return value;
}

Value take(std::string_view &bytes, unsigned depth) {
  uint64_t first, number = 0;
  if (!takeNumber(bytes, 1, first))
    return {};
  Value value;
  value.kind = Value::Number;
  value.number = first;
  if (first < 0x80)
    return value;
  if (first < 0x90)
    return takeItems(bytes, first & 15, Value::Map, depth);
  if (first < 0xa0)
    return takeItems(bytes, first & 15, Value::Array, depth);
  if (first < 0xc0)
    return takeText(bytes, first & 31, Value::Text);
  value.kind = Value::Other;
  if (first >= 0xe0 || first == 0xc0 || first == 0xc2 || first == 0xc3)
    return value; // below zero, nil, false, true
  // What has a size of 1, 2, 4 or 8 bytes says so in its last bits.
  const unsigned size = 1u << (first & 3);
  switch (first) {
  case 0xcc:
  case 0xcd:
  case 0xce:
  case 0xcf:
    value.kind = Value::Number;
    return takeNumber(bytes, size, value.number) ? value : Value();
  case 0xd0:
  case 0xd1:
  case 0xd2:
  case 0xd3:
    return takeNumber(bytes, size, number) ? value : Value();
  case 0xca: // floats
  case 0xcb:
    return takeText(bytes, first == 0xca ? 4 : 8, Value::Other);
  case 0xd9:
  case 0xda:
  case 0xdb:
    return takeNumber(bytes, 1u << (first - 0xd9), number)
               ? takeText(bytes, number, Value::Text)
               : Value();
  case 0xc4: // bytes
  case 0xc5:
  case 0xc6:
    return takeNumber(bytes, size, number)
               ? takeText(bytes, number, Value::Other)
               : Value();
  case 0xdc:
  case 0xdd:
    return takeNumber(bytes, first == 0xdc ? 2 : 4, number)
               ? takeItems(bytes, number, Value::Array, depth)
               : Value();
  case 0xde:
  case 0xdf:
    return takeNumber(bytes, first == 0xde ? 2 : 4, number)
               ? takeItems(bytes, number, Value::Map, depth)
               : Value();
  default:
    return {}; // extensions, of which code objects have none
  }
}

Value find(const Value &map, std::string_view key) {
  if (map.kind != Value::Map)
    return {};
  std::string_view rest = map.items;
  for (uint32_t i = 0; i < map.count; ++i) {
    const Value name = take(rest), value = take(rest);
    if (name.kind == Value::Text && name.text == key)
      return value;
  }
  return {};
}

} // namespace ashlar::runtime::hip
