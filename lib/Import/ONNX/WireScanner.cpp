// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WireScanner.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>

using namespace ashlar::onnx_import;
using llvm::StringRef;

namespace {
/// The messages that can hold a TensorProto, and what their fields hold.
enum class Message {
  Opaque,
  Model,
  Graph,
  Node,
  Attribute,
  Function,
  Tensor,
  SparseTensor,
  RawData
};

/// Field numbers are those of onnx-ml.proto.
Message fieldMessage(Message parent, uint64_t field) {
  switch (parent) {
  case Message::Model:
    return field == 7    ? Message::Graph
           : field == 25 ? Message::Function
                         : Message::Opaque;
  case Message::Graph:
    return field == 1    ? Message::Node
           : field == 5  ? Message::Tensor
           : field == 15 ? Message::SparseTensor
                         : Message::Opaque;
  case Message::Node:
    return field == 5 ? Message::Attribute : Message::Opaque;
  case Message::Function:
    return field == 7    ? Message::Node
           : field == 11 ? Message::Attribute
                         : Message::Opaque;
  case Message::Attribute:
    switch (field) {
    case 5:
    case 10:
      return Message::Tensor;
    case 6:
    case 11:
      return Message::Graph;
    case 22:
    case 23:
      return Message::SparseTensor;
    default:
      return Message::Opaque;
    }
  case Message::SparseTensor:
    return field <= 2 ? Message::Tensor : Message::Opaque;
  case Message::Tensor:
    return field == 9 ? Message::RawData : Message::Opaque;
  case Message::Opaque:
  case Message::RawData:
    return Message::Opaque;
  }
  llvm_unreachable("covered switch");
}

/// Subgraphs nest; protobuf's own default limit is 100 levels of messages.
constexpr unsigned maximumDepth = 100;

class Scanner {
public:
  explicit Scanner(StringRef bytes) : bytes(bytes) {}

  llvm::Error scan(uint64_t begin, uint64_t end, Message message,
                   unsigned depth, std::string &out);

private:
  llvm::Error malformed(uint64_t at, StringRef what) {
    return llvm::createStringError(
        llvm::formatv("malformed data at byte {0}: {1}", at, what).str());
  }
  llvm::Error readVarint(uint64_t &at, uint64_t end, uint64_t &value) {
    uint64_t begin = at;
    value = 0;
    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
      uint8_t byte = bytes[at++];
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return llvm::Error::success();
    }
    return malformed(begin,
                     "expected an integer, found the end of its message");
  }

  StringRef bytes;
};

void appendVarint(std::string &out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(char(value | 0x80));
    value >>= 7;
  }
  out.push_back(char(value));
}
} // namespace

llvm::Error Scanner::scan(uint64_t at, uint64_t end, Message message,
                          unsigned depth, std::string &out) {
  if (depth > maximumDepth)
    return malformed(at, "messages nested deeper than 100");
  while (at < end) {
    uint64_t begin = at, tag, length;
    if (llvm::Error error = readVarint(at, end, tag))
      return error;
    switch (tag & 7) {
    case 0: // varint
      if (llvm::Error error = readVarint(at, end, length))
        return error;
      break;
    case 1: // 64 bits
    case 5: // 32 bits
      length = (tag & 7) == 1 ? 8 : 4;
      if (end - at < length)
        return malformed(begin, "a number is cut off");
      at += length;
      break;
    case 2: { // length-delimited
      if (llvm::Error error = readVarint(at, end, length))
        return error;
      if (length > end - at)
        return malformed(begin,
                         llvm::formatv("a field of {0} bytes is cut off: {1} "
                                       "are left",
                                       length, end - at)
                             .str());
      Message child = fieldMessage(message, tag >> 3);
      if (child == Message::Opaque)
        break;
      std::string inner;
      if (child == Message::RawData) {
        RawDataPlace place{at, length};
        inner.assign(reinterpret_cast<const char *>(&place), sizeof(place));
      } else if (llvm::Error error =
                     scan(at, at + length, child, depth + 1, inner)) {
        return error;
      }
      appendVarint(out, tag);
      appendVarint(out, inner.size());
      out += inner;
      at += length;
      continue;
    }
    default:
      return malformed(begin, "unknown wire type");
    }
    if ((tag & 7) == 2)
      at += length;
    out.append(bytes.data() + begin, at - begin);
  }
  return llvm::Error::success();
}

llvm::Expected<std::string> ashlar::onnx_import::stripRawData(StringRef model) {
  std::string out;
  if (llvm::Error error =
          Scanner(model).scan(0, model.size(), Message::Model, 0, out))
    return error;
  return out;
}

RawDataPlace ashlar::onnx_import::decodePlace(StringRef rawData) {
  RawDataPlace place{0, 0};
  assert(rawData.size() == sizeof(place) && "raw_data was not stripped");
  std::memcpy(&place, rawData.data(), sizeof(place));
  return place;
}
