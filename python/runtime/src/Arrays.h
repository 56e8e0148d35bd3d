// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between Python's arrays and the C API's tensors, without copies.
#ifndef ASHLAR_PYTHON_ARRAYS_H
#define ASHLAR_PYTHON_ARRAYS_H

#include "Status.h"
#include <memory>
#include <nanobind/ndarray.h>
#include <vector>

namespace ashlar::python {

struct Port;

/// numpy's dtype for a type that DLPack's arrays cannot carry into NumPy, such
/// as bf16; None for the others.
nb::object viewedType(uint32_t type);

/// Whether arrays of the type are copied both ways, as ml_dtypes holds the
/// elements in another form.
bool isNarrowSigned(uint32_t type);

/// Memory of our own that arrays of Python keep alive.
class Block {
public:
  explicit Block(size_t bytes);
  void *data() const { return memory; }
  /// An array over its beginning that shares it.
  nb::object array(const Port &port, const ashlar_tensor_t &tensor) const;

private:
  void *memory;
  nb::capsule owner;
};

/// The tensors of one call, and what keeps their memory until it is over.
class Arguments {
public:
  /// `inputs`: a dict by name, a sequence by position, or the one array there
  /// is to give; `out`: likewise, or None where fresh arrays are wanted.
  Arguments(const std::vector<Port> &inputPorts,
            const std::vector<Port> &outputPorts, nb::handle inputs,
            nb::handle out);

  const ashlar_tensor_t *inputs() const { return in.data(); }
  size_t inputCount() const { return in.size(); }
  ashlar_tensor_t *outputs() { return results.data(); }
  size_t outputCount() const { return results.size(); }

  /// A refusal of arrays to write to that are too small, with what is not.
  KeptStatus explained(KeptStatus status) const;

  /// The outputs by name, in the shapes that outputs() have now.
  nb::dict named() const;

private:
  bool takeState(nb::handle object, size_t input, const Port &port);

  const std::vector<Port> &outputPorts;
  std::vector<ashlar_tensor_t> in, results;
  std::vector<ashlar_tensor_t> offered; ///< `out` before the run
  std::vector<nb::ndarray<nb::ro>> read;
  std::vector<nb::ndarray<>> written;
  std::vector<nb::object> held;   ///< and weakly, so that no memory moves
  std::vector<nb::object> given;  ///< `out` by position; empty: none
  std::vector<Block> blocks;      ///< else
  std::vector<nb::object> places; ///< of outputs that are states; null: none
};

/// An array of `bytes` bytes that begins where the C library reads in place.
nb::object alignedBytes(size_t bytes);

} // namespace ashlar::python

#endif // ASHLAR_PYTHON_ARRAYS_H
