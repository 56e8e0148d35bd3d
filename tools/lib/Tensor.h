// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor in the host's memory, as tools read, make, compare and show it.

#ifndef ASHLAR_TOOLS_LIB_TENSOR_H
#define ASHLAR_TOOLS_LIB_TENSOR_H

#include "ashlar/runtime/api.h"

#include <memory>
#include <string>
#include <vector>

namespace ashlar::tools {

class Tensor {
public:
  Tensor() = default;
  /// Zeros. Throws a Failure when the shape is negative or too large.
  Tensor(uint32_t type, std::vector<int64_t> shape);
  /// What such a tensor takes, without taking it: to be asked before memory is
  /// spent on what a file claims. Throws likewise.
  static uint64_t bytesOf(uint32_t type, const std::vector<int64_t> &shape);

  uint32_t type() const { return elementType; }
  const std::vector<int64_t> &shape() const { return dimensions; }
  int64_t count() const { return elements; }
  uint64_t bytes() const { return elements * ashlar_element_type_size(type()); }
  char *data() { return storage.get(); }
  const char *data() const { return storage.get(); }

  /// Any element as a number; exact but for integers beyond 2^53.
  double number(int64_t index) const;
  /// As text, integers exact.
  std::string text(int64_t index) const;
  bool isFloat() const;

  /// Lends the memory, which is aligned to 64 bytes.
  ashlar_tensor_t view();

private:
  struct Free {
    void operator()(char *address) const;
  };
  uint32_t elementType = ASHLAR_TYPE_NONE;
  std::vector<int64_t> dimensions;
  int64_t elements = 0;
  std::unique_ptr<char, Free> storage;
};

/// "2x3", "scalar".
std::string shapeText(const std::vector<int64_t> &shape);
/// "[1, 0]", the place of an element.
std::string indexText(const std::vector<int64_t> &shape, int64_t index);
/// The opposite of shapeText; throws a Failure of wrong usage.
std::vector<int64_t> parseShape(const std::string &text);

float floatFromHalf(uint16_t bits);
float floatFromBfloat(uint16_t bits);

} // namespace ashlar::tools

#endif // ASHLAR_TOOLS_LIB_TENSOR_H
