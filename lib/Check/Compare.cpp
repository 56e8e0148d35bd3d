// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Check/Tensor.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace ashlar::check;
using llvm::formatv;

int64_t Tensor::elementCount() const {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

static std::string spellShape(const int64_t *shape, size_t rank) {
  std::string text;
  for (size_t i = 0; i != rank; ++i)
    text += (i ? "x" : "") + std::to_string(shape[i]);
  return rank ? text : "scalar";
}

std::string ashlar::check::spellType(uint32_t type, const int64_t *shape,
                                     size_t rank) {
  return ashlar_element_type_name(type) + (" " + spellShape(shape, rank));
}

namespace {
/// One element: a float as double, anything else as its bits.
struct Element {
  bool isFloat;
  double number;
  uint64_t bits;
};
} // namespace

static double widen(const llvm::fltSemantics &semantics, uint16_t bits) {
  llvm::APFloat value(semantics,
                      llvm::APInt(llvm::APFloat::getSizeInBits(semantics), bits,
                                  false,
                                  /*implicitTrunc=*/true));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmTowardZero,
                &losesInfo);
  return value.convertToDouble();
}

/// The kinds of floats that fit into a byte; null for other types.
static const llvm::fltSemantics *smallFloat(uint32_t type) {
  switch (type) {
  case ASHLAR_TYPE_F8E4M3FN:
    return &llvm::APFloat::Float8E4M3FN();
  case ASHLAR_TYPE_F8E4M3FNUZ:
    return &llvm::APFloat::Float8E4M3FNUZ();
  case ASHLAR_TYPE_F8E5M2:
    return &llvm::APFloat::Float8E5M2();
  case ASHLAR_TYPE_F8E5M2FNUZ:
    return &llvm::APFloat::Float8E5M2FNUZ();
  case ASHLAR_TYPE_F8E8M0:
    return &llvm::APFloat::Float8E8M0FNU();
  case ASHLAR_TYPE_F4E2M1:
    return &llvm::APFloat::Float4E2M1FN();
  default:
    return nullptr;
  }
}

static Element load(const char *data, uint32_t type) {
  Element element{true, 0, 0};
  uint16_t half;
  float single;
  switch (type) {
  case ASHLAR_TYPE_F64:
    std::memcpy(&element.number, data, 8);
    break;
  case ASHLAR_TYPE_F32:
    std::memcpy(&single, data, 4);
    element.number = single;
    break;
  case ASHLAR_TYPE_F16:
    std::memcpy(&half, data, 2);
    element.number = widen(llvm::APFloat::IEEEhalf(), half);
    break;
  case ASHLAR_TYPE_BF16:
    std::memcpy(&half, data, 2);
    element.number = widen(llvm::APFloat::BFloat(), half);
    break;
  default:
    if (const llvm::fltSemantics *semantics = smallFloat(type)) {
      element.number = widen(*semantics, uint8_t(*data));
      break;
    }
    element.isFloat = false;
    std::memcpy(&element.bits, data, ashlar_element_type_size(type));
  }
  return element;
}

static bool agree(const Element &found, const Element &expected,
                  Tolerance tolerance) {
  if (!found.isFloat)
    return found.bits == expected.bits;
  if (std::isnan(found.number) || std::isnan(expected.number))
    return std::isnan(found.number) && std::isnan(expected.number);
  if (std::isinf(found.number) || std::isinf(expected.number))
    return found.number == expected.number;
  return std::abs(found.number - expected.number) <=
         tolerance.absolute + tolerance.relative * std::abs(expected.number);
}

static std::string spell(const Element &element, uint32_t type) {
  if (element.isFloat) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.9g", element.number);
    return text;
  }
  unsigned width = ashlar_element_type_size(type) * 8;
  bool isSigned = (type >= ASHLAR_TYPE_I8 && type <= ASHLAR_TYPE_I64) ||
                  type == ASHLAR_TYPE_I4 || type == ASHLAR_TYPE_I2;
  return isSigned ? std::to_string(llvm::SignExtend64(element.bits, width))
                  : std::to_string(element.bits);
}

std::vector<std::string> ashlar::check::numbers(const Tensor &tensor) {
  std::vector<std::string> texts;
  size_t width = ashlar_element_type_size(tensor.type);
  for (int64_t i = 0; i != tensor.elementCount(); ++i) {
    Element element = load(tensor.bytes.data() + i * width, tensor.type);
    char text[40];
    std::snprintf(text, sizeof(text), "%.17g", element.number);
    texts.push_back(element.isFloat ? text : spell(element, tensor.type));
  }
  return texts;
}

/// "[1, 0, 3]" of the element at this place in row-major order.
static std::string spellIndex(int64_t place,
                              const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t i = shape.size(); i-- != 0; place /= shape[i])
    text = std::to_string(place % shape[i]) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

std::string ashlar::check::compare(const ashlar_tensor_t &found,
                                   const Tensor &expected,
                                   Tolerance tolerance) {
  bool sameShape =
      found.rank == expected.shape.size() &&
      std::equal(expected.shape.begin(), expected.shape.end(), found.shape);
  if (found.type != uint32_t(expected.type) || !sameShape)
    return "is " + spellType(found.type, found.shape, found.rank) +
           ", expected " +
           spellType(expected.type, expected.shape.data(),
                     expected.shape.size());
  size_t width = ashlar_element_type_size(expected.type);
  int64_t count = expected.elementCount(), wrong = 0, first = 0;
  auto element = [&](const void *data, int64_t i) {
    return load(static_cast<const char *>(data) + i * width, expected.type);
  };
  for (int64_t i = 0; i != count; ++i)
    if (!agree(element(found.data, i), element(expected.bytes.data(), i),
               tolerance)) {
      first = wrong ? first : i;
      ++wrong;
    }
  if (wrong == 0)
    return "";
  return formatv("differs in {0} of {1} elements, first at {2}: is {3}, "
                 "expected {4}",
                 wrong, count, spellIndex(first, expected.shape),
                 spell(element(found.data, first), expected.type),
                 spell(element(expected.bytes.data(), first), expected.type));
}
