// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TensorShape.h"

#include "CheckedMath.h"
#include "IndexVerifier.h"

namespace ashlar::runtime {

bool shapeBytes(uint32_t type, const int64_t *shape, uint32_t rank,
                uint64_t &bytes) {
  // A zero anywhere makes the tensor empty, however large the rest is.
  bool empty = false;
  uint64_t product = ashlar_element_type_size(type);
  for (uint32_t i = 0; i < rank; ++i) {
    if (shape[i] < 0)
      return false;
    if (shape[i] == 0)
      empty = true;
    else if (!checkedMultiply(product, uint64_t(shape[i]), product))
      return false;
  }
  // Bytes are added to pointers and offsets of type int64_t later.
  if (product > uint64_t(INT64_MAX))
    return false;
  bytes = empty ? 0 : product;
  return true;
}

/// Of a state, its place; false where that is smaller than its elements.
static bool placeState(const fb::TensorDescription &tensor, uint64_t &bytes) {
  uint64_t elements = bytes;
  bytes = tensor.state_bytes().value_or(bytes);
  return bytes >= elements && bytes <= uint64_t(INT64_MAX);
}

bool evaluateShape(const fb::TensorDescription &tensor, const int64_t *symbols,
                   int64_t *shape, uint64_t &bytes) {
  uint32_t rank = uint32_t(count(tensor.shape()));
  for (uint32_t i = 0; i < rank; ++i)
    if (!evaluateSize(*tensor.shape()->Get(i), symbols, shape[i]))
      return false;
  return shapeBytes(uint32_t(tensor.type()), shape, rank, bytes) &&
         placeState(tensor, bytes);
}

bool maximumShape(const fb::TensorDescription &tensor, int64_t *shape,
                  uint64_t &bytes) {
  uint32_t rank = uint32_t(count(tensor.shape()));
  for (uint32_t i = 0; i < rank; ++i) {
    const fb::SizeExpression &size = *tensor.shape()->Get(i);
    shape[i] = size.constant();
    // A constant written as code.
    if (isConstantSize(size) && !evaluateSize(size, nullptr, shape[i]))
      return false;
  }
  return shapeBytes(uint32_t(tensor.type()), shape, rank, bytes) &&
         placeState(tensor, bytes);
}

bool isStatic(const fb::TensorDescription &tensor) {
  for (size_t i = 0; i < count(tensor.shape()); ++i)
    if (!isConstantSize(*tensor.shape()->Get(uint32_t(i))))
      return false;
  return true;
}

String shapeText(const int64_t *shape, uint32_t rank) {
  if (rank == 0)
    return "scalar";
  String text;
  for (uint32_t i = 0; i < rank; ++i)
    text += concat(i ? "x" : "", shape[i]);
  return text;
}

} // namespace ashlar::runtime
