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

std::string ashlar::check::spellIndex(int64_t place,
                                      const std::vector<int64_t> &shape) {
  if (llvm::is_contained(shape, 0))
    return "[]";
  std::string text;
  for (size_t i = shape.size(); i-- != 0; place /= shape[i])
    text = std::to_string(place % shape[i]) + (text.empty() ? "" : ", ") + text;
  return "[" + text + "]";
}

std::string ashlar::check::compare(const Tensor &found, const Tensor &expected,
                                   Tolerance tolerance) {
  if (found.type != expected.type || found.shape != expected.shape)
    return "is " +
           spellType(found.type, found.shape.data(), found.shape.size()) +
           ", expected " +
           spellType(expected.type, expected.shape.data(),
                     expected.shape.size());
  size_t width = ashlar_element_type_size(expected.type);
  int64_t count = expected.elementCount(), wrong = 0, first = 0;
  auto element = [&](const std::vector<char> &bytes, int64_t i) {
    return load(bytes.data() + i * width, expected.type);
  };
  for (int64_t i = 0; i != count; ++i)
    if (!agree(element(found.bytes, i), element(expected.bytes, i),
               tolerance)) {
      first = wrong ? first : i;
      ++wrong;
    }
  if (wrong == 0)
    return "";
  return formatv("differs in {0} of {1} elements, first at {2}: is {3}, "
                 "expected {4}",
                 wrong, count, spellIndex(first, expected.shape),
                 spell(element(found.bytes, first), expected.type),
                 spell(element(expected.bytes, first), expected.type));
}

/// The distance between neighbouring numbers of the type at `number`; 0 for
/// types that are compared by their bits.
static double unitInLastPlace(uint32_t type, double number) {
  int precision = 0, least = 0;
  switch (type) {
  case ASHLAR_TYPE_F64:
    precision = 53, least = -1074;
    break;
  case ASHLAR_TYPE_F32:
    precision = 24, least = -149;
    break;
  case ASHLAR_TYPE_F16:
    precision = 11, least = -24;
    break;
  case ASHLAR_TYPE_BF16:
    precision = 8, least = -133;
    break;
  default:
    return 0;
  }
  int exponent = 0;
  std::frexp(number, &exponent);
  return std::ldexp(1.0, std::max(exponent - precision, least));
}

Difference ashlar::check::measure(const Tensor &found, const Tensor &expected) {
  Difference difference;
  if (found.type != expected.type || found.shape != expected.shape) {
    difference.otherType = true;
    return difference;
  }
  size_t width = ashlar_element_type_size(expected.type);
  double worst = -1;
  for (int64_t i = 0, count = expected.elementCount(); i != count; ++i) {
    Element a = load(found.bytes.data() + i * width, found.type);
    Element b = load(expected.bytes.data() + i * width, expected.type);
    double distance = 0;
    bool finite =
        a.isFloat && std::isfinite(a.number) && std::isfinite(b.number);
    if (finite)
      distance = std::abs(a.number - b.number);
    else if (!agree(a, b, {0, 0}))
      distance = INFINITY;
    if (b.isFloat && std::isfinite(b.number))
      difference.scale = std::max(difference.scale, std::abs(b.number));
    difference.unequal += distance > 0;
    difference.apart += std::isinf(distance);
    if (distance <= worst)
      continue;
    worst = distance;
    difference.place = i;
  }
  if (worst < 0)
    return difference;
  difference.largest = worst;
  Element a = load(found.bytes.data() + difference.place * width, found.type);
  Element b =
      load(expected.bytes.data() + difference.place * width, expected.type);
  difference.found = spell(a, found.type);
  difference.expected = spell(b, expected.type);
  if (double unit = unitInLastPlace(expected.type, b.number);
      unit > 0 && std::isfinite(worst))
    difference.ulps = worst / unit;
  if (b.isFloat && b.number != 0 && std::isfinite(worst))
    difference.relative = worst / std::abs(b.number);
  return difference;
}
