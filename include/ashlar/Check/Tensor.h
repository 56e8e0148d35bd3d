// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of ONNX's test data, and how results are held against them.
#ifndef ASHLAR_CHECK_TENSOR_H
#define ASHLAR_CHECK_TENSOR_H

#include "ashlar/Check/CheckOptions.h"
#include "ashlar/runtime/api.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace onnx {
class TensorProto;
}

namespace ashlar::check {

/// A dense row-major tensor that owns its bytes.
struct Tensor {
  std::string name; ///< "" where the file gives none
  ashlar_element_type_t type = ASHLAR_TYPE_NONE;
  std::vector<int64_t> shape;
  std::vector<char> bytes;

  int64_t elementCount() const;
};

/// Every element as a number that reads back as the same value.
std::vector<std::string> numbers(const Tensor &tensor);

/// "f32 2x3"; a scalar is "f32 scalar".
std::string spellType(uint32_t type, const int64_t *shape, size_t rank);

/// A type or a container that Ashlar's runtime has no tensor for: no fault of
/// the file, and no failure of a test.
class NotATensor : public llvm::ErrorInfo<NotATensor> {
public:
  static char ID;
  explicit NotATensor(std::string what) : what(std::move(what)) {}
  void log(llvm::raw_ostream &out) const override { out << what; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string what;
};

/// Reads a file that holds one TensorProto.
llvm::Expected<Tensor> readTensor(llvm::StringRef path);

/// Its TensorProto::DataType.
int onnxType(ashlar_element_type_t type);

onnx::TensorProto toProto(const Tensor &tensor);

/// Writes one.
llvm::Error writeTensor(llvm::StringRef path, const Tensor &tensor);

/// What is wrong with `found`; empty if nothing is. Floats agree where
/// |found - expected| <= absolute + relative * |expected|, equal infinities and
/// NaN with NaN too; integers and bools agree where they are equal; types and
/// shapes must be the same.
std::string compare(const Tensor &found, const Tensor &expected,
                    Tolerance tolerance);

/// "[1, 0, 3]" of the element at this place in row-major order.
std::string spellIndex(int64_t place, const std::vector<int64_t> &shape);

/// How far two tensors are from each other.
struct Difference {
  bool otherType = false; ///< another type or shape; nothing else is set
  /// The largest |found - expected|; infinite where an element that is no
  /// finite float disagrees.
  double largest = 0;
  double scale = 0;    ///< the largest finite |expected|
  int64_t unequal = 0; ///< elements that differ at all
  int64_t apart = 0;   ///< of these, those without a finite difference
  /// The worst element: its place in row-major order, what it is, its
  /// difference in units of the expectation's last place and relative to it.
  int64_t place = 0;
  std::string found, expected;
  double ulps = 0, relative = 0;
};
Difference measure(const Tensor &found, const Tensor &expected);

} // namespace ashlar::check

#endif // ASHLAR_CHECK_TENSOR_H
