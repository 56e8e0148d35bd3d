// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays of NumPy by its own C API, which takes a third of the time that DLPack
// and the buffer protocol do; all that is not quite so plain goes by those.
#ifndef ASHLAR_PYTHON_NUMPY_H
#define ASHLAR_PYTHON_NUMPY_H

#include <ashlar/runtime/api.h>
#include <nanobind/nanobind.h>

namespace ashlar::python {

/// Finds NumPy's functions; raises where there are none.
void importNumPy();

/// Whether it is an array of NumPy itself, of no class made from it.
bool isNumPyArray(nanobind::handle object);

/// Fills `tensor` from an array of NumPy itself that can be passed on as it is:
/// of that type, dense and, for an output, to be written to. False: it cannot,
/// for whatever reason. The array must be kept.
bool toTensor(nanobind::handle array, uint32_t type, bool isOutput,
              ashlar_tensor_t &tensor);

/// A new array over `data`, which `owner` keeps.
/// The array of shape `maximum` of which `array` is the beginning along each
/// dim, in the same memory, aligned to 64 bytes; null: there is none.
nanobind::object placeBehind(nanobind::handle array, uint32_t type,
                             uint32_t rank, const int64_t *maximum);

/// That beginning.
nanobind::object partOfPlace(nanobind::handle place, uint32_t rank,
                             const int64_t *shape);

void *dataOf(nanobind::handle array);

/// Copies the elements of a dense tensor to the beginning of a place.
void fillPlace(nanobind::handle place, const ashlar_tensor_t &tensor);

nanobind::object toNumPy(void *data, uint32_t type, uint32_t rank,
                         const int64_t *shape, nanobind::handle owner);

} // namespace ashlar::python

#endif // ASHLAR_PYTHON_NUMPY_H
