// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format: numpy.lib.format's documentation, versions 1.0 to 3.0.

#include "Failure.h"
#include "TensorFile.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace ashlar::tools {

namespace {
struct TypeCode {
  const char *code; // without byte order
  uint32_t type;
};
} // namespace

static const TypeCode typeCodes[] = {
    {"b1", ASHLAR_TYPE_BOOL}, {"i1", ASHLAR_TYPE_I8},  {"i2", ASHLAR_TYPE_I16},
    {"i4", ASHLAR_TYPE_I32},  {"i8", ASHLAR_TYPE_I64}, {"u1", ASHLAR_TYPE_U8},
    {"u2", ASHLAR_TYPE_U16},  {"u4", ASHLAR_TYPE_U32}, {"u8", ASHLAR_TYPE_U64},
    {"f2", ASHLAR_TYPE_F16},  {"f4", ASHLAR_TYPE_F32}, {"f8", ASHLAR_TYPE_F64},
    {"V2", ASHLAR_TYPE_BF16},
};

static Failure wrong(const std::string &path, const std::string &why) {
  return Failure(Refused, path + ": not a .npy file that can be read: " + why);
}

/// What follows 'key': in the header, up to the end.
static std::string valueOf(const std::string &header, const std::string &key,
                           const std::string &path) {
  size_t at = header.find("'" + key + "':");
  if (at == header.npos)
    throw wrong(path, "its header lacks '" + key + "'");
  at = header.find_first_not_of(' ', at + key.size() + 3);
  return at == header.npos ? "" : header.substr(at);
}

static uint32_t parseType(const std::string &header, const std::string &path) {
  std::string value = valueOf(header, "descr", path);
  size_t end = value.find('\'', 1);
  if (value.empty() || value[0] != '\'' || end == value.npos || end < 3)
    throw wrong(path, "its elements are records");
  std::string code = value.substr(1, end - 1);
  if (code[0] == '>')
    throw wrong(path, "it is big-endian");
  for (const TypeCode &known : typeCodes)
    if (code.substr(1) == known.code)
      return known.type;
  throw wrong(path, "unknown element type " + code);
}

static std::vector<int64_t> parseNpyShape(const std::string &header,
                                          const std::string &path) {
  std::string value = valueOf(header, "shape", path);
  size_t end = value.find(')');
  if (value.empty() || value[0] != '(' || end == value.npos)
    throw wrong(path, "its shape is not a tuple");
  std::vector<int64_t> shape;
  const char *at = value.c_str() + 1, *last = value.c_str() + end;
  while (at < last) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    char *after = nullptr;
    errno = 0;
    long long dimension = std::strtoll(at, &after, 10);
    if (after == at || errno != 0 || dimension < 0 ||
        shape.size() == ASHLAR_MAX_RANK)
      throw wrong(path, "its shape has a bad dimension");
    shape.push_back(dimension);
    at = after;
  }
  return shape;
}

Tensor parseNpy(const std::string &contents, const std::string &path) {
  constexpr size_t prefix = 10;
  if (contents.size() < prefix + 2 ||
      contents.compare(0, 6, "\x93NUMPY", 6) != 0)
    throw wrong(path, "its first bytes differ");
  auto byte = [&](size_t i) { return size_t(uint8_t(contents[i])); };
  size_t start = prefix, length = byte(8) | byte(9) << 8;
  if (byte(6) >= 2) {
    start = prefix + 2;
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > contents.size() - start)
    throw wrong(path, "it is cut off in its header");
  std::string header = contents.substr(start, length);
  if (valueOf(header, "fortran_order", path).compare(0, 4, "True") == 0)
    throw wrong(path, "it is in Fortran order; save "
                      "numpy.ascontiguousarray(array)");
  uint32_t type = parseType(header, path);
  std::vector<int64_t> shape = parseNpyShape(header, path);
  uint64_t needed = Tensor::bytesOf(type, shape);
  if (contents.size() - start - length != needed)
    throw wrong(path, "its shape needs " + std::to_string(needed) +
                          " bytes, it has " +
                          std::to_string(contents.size() - start - length));
  Tensor tensor(type, std::move(shape));
  if (tensor.bytes())
    std::memcpy(tensor.data(), contents.data() + start + length,
                tensor.bytes());
  return tensor;
}

std::string formatNpy(const Tensor &tensor) {
  std::string shape;
  for (int64_t dimension : tensor.shape())
    shape += std::to_string(dimension) + ", ";
  if (tensor.shape().size() > 1)
    shape.resize(shape.size() - 2);
  std::string code;
  for (const TypeCode &known : typeCodes)
    if (known.type == tensor.type())
      code = known.code;
  bool ordered = code[1] != '1' && code[0] != 'V';
  std::string header = "{'descr': '" + std::string(ordered ? "<" : "|") + code +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The data starts at a multiple of 64.
  while ((10 + header.size() + 1) % 64)
    header += ' ';
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += char(header.size() & 0xff);
  file += char(header.size() >> 8);
  file += header;
  file.append(tensor.data(), tensor.bytes());
  return file;
}

Tensor readTensorFile(const std::string &path) {
  auto endsWith = [&](const std::string &ending) {
    return path.size() >= ending.size() &&
           path.compare(path.size() - ending.size(), ending.size(), ending) ==
               0;
  };
  constexpr uint64_t limit = uint64_t(1) << 36;
  if (endsWith(".npy"))
    return parseNpy(readWholeFile(path, limit), path);
  if (endsWith(".pb"))
    return parseTensorProto(readWholeFile(path, limit), path);
  throw Failure(WrongUsage, path + ": expected a name ending in .npy or .pb");
}

} // namespace ashlar::tools
