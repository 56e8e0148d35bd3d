// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NumPy.h"
#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION
#include <numpy/arrayobject.h>

using namespace ashlar::python;
namespace nb = nanobind;

static int numpyType(uint32_t type) {
  switch (type) {
  case ASHLAR_TYPE_BOOL:
    return NPY_BOOL;
  case ASHLAR_TYPE_I8:
    return NPY_INT8;
  case ASHLAR_TYPE_I16:
    return NPY_INT16;
  case ASHLAR_TYPE_I32:
    return NPY_INT32;
  case ASHLAR_TYPE_I64:
    return NPY_INT64;
  case ASHLAR_TYPE_U8:
    return NPY_UINT8;
  case ASHLAR_TYPE_U16:
    return NPY_UINT16;
  case ASHLAR_TYPE_U32:
    return NPY_UINT32;
  case ASHLAR_TYPE_U64:
    return NPY_UINT64;
  case ASHLAR_TYPE_F16:
    return NPY_FLOAT16;
  case ASHLAR_TYPE_F32:
    return NPY_FLOAT32;
  case ASHLAR_TYPE_F64:
    return NPY_FLOAT64;
  }
  return NPY_NOTYPE;
}

void ashlar::python::importNumPy() {
  if (PyArray_ImportNumPyAPI() < 0)
    throw nb::python_error();
}

bool ashlar::python::isNumPyArray(nb::handle object) {
  return PyArray_CheckExact(object.ptr());
}

bool ashlar::python::toTensor(nb::handle object, uint32_t type, bool isOutput,
                              ashlar_tensor_t &tensor) {
  if (!isNumPyArray(object))
    return false;
  auto *array = reinterpret_cast<PyArrayObject *>(object.ptr());
  // As many elements as there are, that is: strides of 0 are not dense.
  if (PyArray_TYPE(array) != numpyType(type) || !PyArray_ISNOTSWAPPED(array) ||
      !PyArray_IS_C_CONTIGUOUS(array) ||
      (isOutput && !PyArray_ISWRITEABLE(array)) ||
      PyArray_NDIM(array) > ASHLAR_MAX_RANK)
    return false;
  tensor = {};
  tensor.data = PyArray_DATA(array);
  tensor.type = type;
  tensor.rank = uint32_t(PyArray_NDIM(array));
  for (uint32_t d = 0; d < tensor.rank; ++d)
    tensor.shape[d] = PyArray_DIM(array, int(d));
  tensor.capacity = uint64_t(PyArray_NBYTES(array));
  return tensor.data != nullptr;
}

nb::object ashlar::python::toNumPy(void *data, uint32_t type, uint32_t rank,
                                   const int64_t *shape, nb::handle owner) {
  npy_intp sizes[ASHLAR_MAX_RANK];
  for (uint32_t d = 0; d < rank; ++d)
    sizes[d] = npy_intp(shape[d]);
  nb::object array =
      nb::steal(PyArray_New(&PyArray_Type, int(rank), sizes, numpyType(type),
                            nullptr, data, 0, NPY_ARRAY_CARRAY, nullptr));
  if (!array.is_valid() ||
      PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(array.ptr()),
                            nb::borrow(owner).release().ptr()) < 0)
    throw nb::python_error();
  return array;
}

nb::object ashlar::python::placeBehind(nb::handle object, uint32_t type,
                                       uint32_t rank, const int64_t *maximum) {
  if (!isNumPyArray(object))
    return {};
  auto *array = reinterpret_cast<PyArrayObject *>(object.ptr());
  PyObject *base = PyArray_BASE(array);
  if (!base || !PyArray_CheckExact(base))
    return {};
  auto *place = reinterpret_cast<PyArrayObject *>(base);
  bool isPlace = PyArray_TYPE(place) == numpyType(type) &&
                 PyArray_TYPE(array) == PyArray_TYPE(place) &&
                 PyArray_ISNOTSWAPPED(place) &&
                 PyArray_IS_C_CONTIGUOUS(place) && PyArray_ISWRITEABLE(place) &&
                 PyArray_ISWRITEABLE(array) &&
                 uintptr_t(PyArray_DATA(place)) % 64 == 0 &&
                 PyArray_DATA(array) == PyArray_DATA(place) &&
                 uint32_t(PyArray_NDIM(place)) == rank &&
                 uint32_t(PyArray_NDIM(array)) == rank;
  for (int d = 0; isPlace && d < int(rank); ++d)
    isPlace = PyArray_DIM(place, d) == maximum[d] &&
              PyArray_DIM(array, d) <= PyArray_DIM(place, d) &&
              (PyArray_DIM(array, d) <= 1 ||
               PyArray_STRIDE(array, d) == PyArray_STRIDE(place, d));
  return isPlace ? nb::borrow(base) : nb::object();
}

nb::object ashlar::python::partOfPlace(nb::handle place, uint32_t rank,
                                       const int64_t *shape) {
  auto *whole = reinterpret_cast<PyArrayObject *>(place.ptr());
  npy_intp sizes[ASHLAR_MAX_RANK];
  for (uint32_t d = 0; d < rank; ++d)
    sizes[d] = npy_intp(shape[d]);
  nb::object part = nb::steal(
      PyArray_New(&PyArray_Type, int(rank), sizes, PyArray_TYPE(whole),
                  PyArray_STRIDES(whole), PyArray_DATA(whole), 0,
                  NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED, nullptr));
  if (!part.is_valid() ||
      PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(part.ptr()),
                            nb::borrow(place).release().ptr()) < 0)
    throw nb::python_error();
  return part;
}

void *ashlar::python::dataOf(nb::handle array) {
  return PyArray_DATA(reinterpret_cast<PyArrayObject *>(array.ptr()));
}

void ashlar::python::fillPlace(nb::handle place,
                               const ashlar_tensor_t &tensor) {
  nb::object part = partOfPlace(place, tensor.rank, tensor.shape);
  nb::object from =
      toNumPy(tensor.data, tensor.type, tensor.rank, tensor.shape, nb::none());
  if (PyArray_CopyInto(reinterpret_cast<PyArrayObject *>(part.ptr()),
                       reinterpret_cast<PyArrayObject *>(from.ptr())) < 0)
    throw nb::python_error();
}
