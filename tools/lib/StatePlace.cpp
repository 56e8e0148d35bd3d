// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StatePlace.h"

#include "Failure.h"

#include <cstring>

namespace ashlar::tools {

/// Calls `copy(inside, within, bytes)` for each row of a tensor of `shape`: the
/// row's bytes from its beginning, and those from the place's.
template <typename Copy>
static void forEachRow(const std::vector<int64_t> &shape, const Tensor &place,
                       Copy copy) {
  int64_t width = ashlar_element_type_size(place.type());
  int64_t rows = 1, row = shape.empty() ? 1 : shape.back();
  for (size_t d = 0; d + 1 < shape.size(); ++d)
    rows *= shape[d];
  if (row == 0)
    return;
  for (int64_t number = 0; number < rows; ++number) {
    int64_t rest = number, stride = width, within = 0;
    for (size_t d = shape.size(); d-- > 0;) {
      if (d + 1 != shape.size()) {
        within += rest % shape[d] * stride;
        rest /= shape[d];
      }
      stride *= place.shape()[d];
    }
    copy(number * row * width, within, row * width);
  }
}

void fillPlace(const std::string &name, const Tensor &from, Tensor &place) {
  bool fits = from.type() == place.type() &&
              from.shape().size() == place.shape().size();
  for (size_t d = 0; fits && d < from.shape().size(); ++d)
    fits = from.shape()[d] <= place.shape()[d];
  if (!fits)
    throw Failure(Refused,
                  "input '" + name + "' is " +
                      ashlar_element_type_name(from.type()) + " " +
                      shapeText(from.shape()) +
                      "; expected what fits into the place of its state, " +
                      ashlar_element_type_name(place.type()) + " " +
                      shapeText(place.shape()));
  forEachRow(from.shape(), place,
             [&](int64_t inside, int64_t within, int64_t bytes) {
               std::memcpy(place.data() + within, from.data() + inside, bytes);
             });
}

Tensor readPlace(const Tensor &place, std::vector<int64_t> shape) {
  Tensor tensor(place.type(), shape);
  forEachRow(shape, place, [&](int64_t inside, int64_t within, int64_t bytes) {
    std::memcpy(tensor.data() + inside, place.data() + within, bytes);
  });
  return tensor;
}

} // namespace ashlar::tools
