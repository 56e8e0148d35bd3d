// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX's TensorProto in protobuf's wire format, the few fields that a tensor
// of test data has. Field and type numbers: onnx.proto.

#include "Failure.h"
#include "TensorFile.h"

#include <cstring>

namespace ashlar::tools {

namespace {

/// Steps through a message without leaving its bytes.
class WireReader {
public:
  WireReader(const char *begin, size_t size, const std::string &path)
      : at(begin), end(begin + size), path(path) {}

  bool done() const { return at == end; }

  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at == end)
        throw wrong("it is cut off");
      uint8_t byte = uint8_t(*at++);
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
    throw wrong("a number is too long");
  }
  const char *bytes(uint64_t size) {
    if (size > uint64_t(end - at))
      throw wrong("it is cut off");
    const char *start = at;
    at += size;
    return start;
  }
  WireReader message() {
    uint64_t size = varint();
    return WireReader(bytes(size), size_t(size), path);
  }
  size_t remaining() const { return size_t(end - at); }
  Failure wrong(const std::string &why) const {
    return Failure(Refused, path + ": not an ONNX tensor: " + why);
  }

private:
  const char *at;
  const char *end;
  const std::string &path;
};

struct Parts {
  std::vector<int64_t> shape;
  uint64_t type = 0;
  bool hasRaw = false;
  std::string raw;
  // Of the typed fields: floats and doubles as bytes, integers as numbers.
  std::string fixed;
  std::vector<uint64_t> integers;
};

} // namespace

static uint32_t typeOf(uint64_t onnxType) {
  switch (onnxType) {
  case 1:
    return ASHLAR_TYPE_F32;
  case 2:
    return ASHLAR_TYPE_U8;
  case 3:
    return ASHLAR_TYPE_I8;
  case 4:
    return ASHLAR_TYPE_U16;
  case 5:
    return ASHLAR_TYPE_I16;
  case 6:
    return ASHLAR_TYPE_I32;
  case 7:
    return ASHLAR_TYPE_I64;
  case 9:
    return ASHLAR_TYPE_BOOL;
  case 10:
    return ASHLAR_TYPE_F16;
  case 11:
    return ASHLAR_TYPE_F64;
  case 12:
    return ASHLAR_TYPE_U32;
  case 13:
    return ASHLAR_TYPE_U64;
  case 16:
    return ASHLAR_TYPE_BF16;
  default:
    return ASHLAR_TYPE_NONE;
  }
}

static void readIntegers(WireReader &reader, unsigned wire,
                         std::vector<uint64_t> &out) {
  if (wire == 0) {
    out.push_back(reader.varint());
    return;
  }
  WireReader packed = reader.message();
  while (!packed.done())
    out.push_back(packed.varint());
}

static void readFixed(WireReader &reader, unsigned wire, std::string &out) {
  if (wire != 2) {
    size_t size = wire == 5 ? 4 : 8;
    out.append(reader.bytes(size), size);
    return;
  }
  WireReader packed = reader.message();
  size_t size = packed.remaining();
  out.append(packed.bytes(size), size);
}

static void skip(WireReader &reader, unsigned wire) {
  if (wire == 0)
    reader.varint();
  else if (wire == 1)
    reader.bytes(8);
  else if (wire == 2)
    reader.message();
  else if (wire == 5)
    reader.bytes(4);
  else
    throw reader.wrong("an unknown kind of field");
}

static Parts readParts(WireReader reader) {
  Parts parts;
  std::vector<uint64_t> dimensions;
  while (!reader.done()) {
    uint64_t tag = reader.varint();
    unsigned wire = tag & 7;
    uint64_t field = tag >> 3;
    bool isList = wire == 0 || wire == 2;
    if (field == 1 && isList) {
      readIntegers(reader, wire, dimensions);
    } else if (field == 2 && wire == 0) {
      parts.type = reader.varint();
    } else if ((field == 5 || field == 7 || field == 11) && isList) {
      readIntegers(reader, wire, parts.integers);
    } else if ((field == 4 && (wire == 2 || wire == 5)) ||
               (field == 10 && (wire == 2 || wire == 1))) {
      readFixed(reader, wire, parts.fixed);
    } else if (field == 9 && wire == 2) {
      parts.hasRaw = true;
      readFixed(reader, wire, parts.raw);
    } else if (field == 14 && wire == 0) {
      if (reader.varint() != 0)
        throw reader.wrong("its data is in another file");
    } else {
      skip(reader, wire);
    }
    if (dimensions.size() > ASHLAR_MAX_RANK)
      throw reader.wrong("it has more than 16 dimensions");
  }
  for (uint64_t dimension : dimensions)
    parts.shape.push_back(int64_t(dimension));
  return parts;
}

Tensor parseTensorProto(const std::string &contents, const std::string &path) {
  WireReader reader(contents.data(), contents.size(), path);
  Parts parts = readParts(reader);
  uint32_t type = typeOf(parts.type);
  if (type == ASHLAR_TYPE_NONE)
    throw reader.wrong("element type " + std::to_string(parts.type) +
                       " is not supported");
  uint64_t needed = Tensor::bytesOf(type, parts.shape);
  size_t size = ashlar_element_type_size(type);
  const std::string &whole = parts.hasRaw ? parts.raw : parts.fixed;
  bool inIntegers =
      !parts.hasRaw && type != ASHLAR_TYPE_F32 && type != ASHLAR_TYPE_F64;
  uint64_t found = inIntegers ? parts.integers.size() * size : whole.size();
  if (found != needed)
    throw reader.wrong("shape " + shapeText(parts.shape) + " needs " +
                       std::to_string(needed) + " bytes, found " +
                       std::to_string(found));
  Tensor tensor(type, parts.shape);
  if (!inIntegers) {
    if (found)
      std::memcpy(tensor.data(), whole.data(), found);
    return tensor;
  }
  // Little endian: the low bytes of each number are the element, also of
  // float16 and bfloat16, which are stored by their bits.
  for (size_t i = 0; i < parts.integers.size(); ++i)
    std::memcpy(tensor.data() + i * size, &parts.integers[i], size);
  return tensor;
}

} // namespace ashlar::tools
