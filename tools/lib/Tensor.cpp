// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tensor.h"

#include "Failure.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ashlar::tools {

std::string shapeText(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t dimension : shape)
    text += (text.empty() ? "" : "x") + std::to_string(dimension);
  return text;
}

std::string indexText(const std::vector<int64_t> &shape, int64_t index) {
  std::string text;
  for (size_t i = shape.size(); i-- != 0;) {
    text = std::to_string(index % shape[i]) + (text.empty() ? "" : ", ") + text;
    index /= shape[i];
  }
  return "[" + text + "]";
}

std::vector<int64_t> parseShape(const std::string &text) {
  std::vector<int64_t> shape;
  if (text == "scalar" || text.empty())
    return shape;
  const char *at = text.c_str();
  while (true) {
    char *end = nullptr;
    errno = 0;
    long long value = std::strtoll(at, &end, 10);
    if (end == at || errno != 0 || value < 0 || (*end != 'x' && *end != 0))
      throw Failure(WrongUsage, "'" + text + "' is not a shape such as 1x3x8");
    shape.push_back(value);
    if (*end == 0)
      return shape;
    at = end + 1;
  }
}

void Tensor::Free::operator()(char *address) const { std::free(address); }

uint64_t Tensor::bytesOf(uint32_t type, const std::vector<int64_t> &shape) {
  uint64_t size = ashlar_element_type_size(type);
  int64_t product = 1;
  bool sound = size != 0 && shape.size() <= ASHLAR_MAX_RANK;
  for (int64_t dimension : shape)
    sound = sound && dimension >= 0 &&
            !__builtin_mul_overflow(product, dimension, &product);
  if (!sound || uint64_t(product) > (uint64_t(1) << 46) / size)
    throw Failure(Refused, "a tensor of type " +
                               std::string(ashlar_element_type_name(type)) +
                               " and shape " + shapeText(shape) +
                               " cannot be held in memory");
  return uint64_t(product) * size;
}

Tensor::Tensor(uint32_t type, std::vector<int64_t> shape)
    : elementType(type), dimensions(std::move(shape)) {
  elements =
      int64_t(bytesOf(type, dimensions) / ashlar_element_type_size(type));
  storage.reset(
      static_cast<char *>(std::aligned_alloc(64, (bytes() + 64) / 64 * 64)));
  if (!storage)
    throw Failure(Refused,
                  "no memory for a tensor of shape " + shapeText(dimensions));
  std::memset(storage.get(), 0, bytes());
}

ashlar_tensor_t Tensor::view() {
  ashlar_tensor_t tensor = {};
  tensor.data = data();
  tensor.capacity = bytes();
  tensor.type = elementType;
  tensor.rank = uint32_t(dimensions.size());
  for (size_t i = 0; i < dimensions.size(); ++i)
    tensor.shape[i] = dimensions[i];
  return tensor;
}

template <typename T> static T element(const char *data, int64_t index) {
  T value;
  std::memcpy(&value, data + uint64_t(index) * sizeof(T), sizeof(T));
  return value;
}

bool Tensor::isFloat() const {
  return elementType >= ASHLAR_TYPE_F16 && elementType <= ASHLAR_TYPE_F64;
}

double Tensor::number(int64_t index) const {
  const char *at = data();
  switch (elementType) {
  case ASHLAR_TYPE_BOOL:
    return element<uint8_t>(at, index) != 0;
  case ASHLAR_TYPE_I8:
    return element<int8_t>(at, index);
  case ASHLAR_TYPE_I16:
    return element<int16_t>(at, index);
  case ASHLAR_TYPE_I32:
    return element<int32_t>(at, index);
  case ASHLAR_TYPE_I64:
    return double(element<int64_t>(at, index));
  case ASHLAR_TYPE_U8:
    return element<uint8_t>(at, index);
  case ASHLAR_TYPE_U16:
    return element<uint16_t>(at, index);
  case ASHLAR_TYPE_U32:
    return element<uint32_t>(at, index);
  case ASHLAR_TYPE_U64:
    return double(element<uint64_t>(at, index));
  case ASHLAR_TYPE_F16:
    return floatFromHalf(element<uint16_t>(at, index));
  case ASHLAR_TYPE_BF16:
    return floatFromBfloat(element<uint16_t>(at, index));
  case ASHLAR_TYPE_F32:
    return element<float>(at, index);
  case ASHLAR_TYPE_F64:
    return element<double>(at, index);
  case ASHLAR_TYPE_I4:
  case ASHLAR_TYPE_I2:
    return element<int8_t>(at, index);
  default: // small unsigned integers, and the codes of small floats
    return element<uint8_t>(at, index);
  }
}

std::string Tensor::text(int64_t index) const {
  if (elementType == ASHLAR_TYPE_I64)
    return std::to_string(element<int64_t>(data(), index));
  if (elementType == ASHLAR_TYPE_U64)
    return std::to_string(element<uint64_t>(data(), index));
  char buffer[40];
  const char *format = elementType == ASHLAR_TYPE_F64 ? "%.10g" : "%.6g";
  if (!isFloat())
    format = "%.0f";
  std::snprintf(buffer, sizeof(buffer), format, number(index));
  return buffer;
}

float floatFromBfloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

float floatFromHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  int fraction = bits & 1023;
  float magnitude;
  if (exponent == 31)
    magnitude = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    magnitude = std::ldexp(float(fraction), -24);
  else
    magnitude = std::ldexp(float(fraction + 1024), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

} // namespace ashlar::tools
