// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Arrays.h"
#include "Module.h"
#include "NumPy.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace ashlar;
using namespace ashlar::python;

namespace {

using Code = nb::dlpack::dtype_code;

/// How an element type looks to Python: as DLPack names it, and, where arrays
/// of NumPy cannot be had by that name, numpy's dtype and the unsigned integers
/// that stand for it on the way.
struct TypeForm {
  uint32_t type;
  Code code;
  uint8_t bits;
  const char *view; ///< of ml_dtypes; null: NumPy has it
};

const TypeForm forms[] = {
    {ASHLAR_TYPE_BOOL, Code::Bool, 8, nullptr},
    {ASHLAR_TYPE_I8, Code::Int, 8, nullptr},
    {ASHLAR_TYPE_I16, Code::Int, 16, nullptr},
    {ASHLAR_TYPE_I32, Code::Int, 32, nullptr},
    {ASHLAR_TYPE_I64, Code::Int, 64, nullptr},
    {ASHLAR_TYPE_U8, Code::UInt, 8, nullptr},
    {ASHLAR_TYPE_U16, Code::UInt, 16, nullptr},
    {ASHLAR_TYPE_U32, Code::UInt, 32, nullptr},
    {ASHLAR_TYPE_U64, Code::UInt, 64, nullptr},
    {ASHLAR_TYPE_F16, Code::Float, 16, nullptr},
    {ASHLAR_TYPE_F32, Code::Float, 32, nullptr},
    {ASHLAR_TYPE_F64, Code::Float, 64, nullptr},
    {ASHLAR_TYPE_BF16, Code::Bfloat, 16, "bfloat16"},
    {ASHLAR_TYPE_F8E4M3FN, Code::Float8_E4M3FN, 8, "float8_e4m3fn"},
    {ASHLAR_TYPE_F8E4M3FNUZ, Code::Float8_E4M3FNUZ, 8, "float8_e4m3fnuz"},
    {ASHLAR_TYPE_F8E5M2, Code::Float8_E5M2, 8, "float8_e5m2"},
    {ASHLAR_TYPE_F8E5M2FNUZ, Code::Float8_E5M2FNUZ, 8, "float8_e5m2fnuz"},
    {ASHLAR_TYPE_F8E8M0, Code::Float8_E8M0FNU, 8, "float8_e8m0fnu"},
    // A byte an element, which DLPack would not say by these codes.
    {ASHLAR_TYPE_F4E2M1, Code::UInt, 0, "float4_e2m1fn"},
    {ASHLAR_TYPE_I4, Code::UInt, 0, "int4"},
    {ASHLAR_TYPE_U4, Code::UInt, 0, "uint4"},
    {ASHLAR_TYPE_I2, Code::UInt, 0, "int2"},
    {ASHLAR_TYPE_U2, Code::UInt, 0, "uint2"},
};

const TypeForm *formOf(uint32_t type) {
  for (const TypeForm &form : forms)
    if (form.type == type)
      return &form;
  return nullptr;
}

/// The unsigned integers of as many bits as a type that NumPy lacks.
uint32_t bitsOf(uint32_t type) {
  return ashlar_element_type_size(type) == 2 ? ASHLAR_TYPE_U16 : ASHLAR_TYPE_U8;
}

/// What is pinned for a GPU is host memory as well: CUDAHost and ROCMHost.
bool isHost(int64_t device) {
  return device == nb::device::cpu::value || device == 3 || device == 11;
}

/// Whether an array can be passed on as it is.
template <typename Array> bool isTaken(const Array &array, uint32_t type) {
  const TypeForm *form = formOf(type);
  nb::dlpack::dtype found = array.dtype();
  if (!form || found.code != uint8_t(form->code) || found.bits != form->bits ||
      found.lanes != 1 || array.ndim() > ASHLAR_MAX_RANK)
    return false;
  if (!isHost(array.device_type()))
    return false;
  int64_t expected = 1;
  bool isEmpty = false, isDense = true;
  for (size_t d = array.ndim(); d-- > 0;) {
    int64_t size = int64_t(array.shape(d));
    if (size < 0 ||
        __builtin_mul_overflow(expected, size ? size : 1, &expected))
      return false;
    isEmpty |= size == 0;
  }
  if (__builtin_mul_overflow(expected, int64_t(8), &expected))
    return false;
  if (const int64_t *strides = array.stride_ptr()) {
    int64_t stride = 1;
    for (size_t d = array.ndim(); d-- > 0; stride *= int64_t(array.shape(d)))
      isDense &= array.shape(d) == 1 || strides[d] == stride;
  }
  return isEmpty || (isDense && array.data());
}

template <typename Array>
ashlar_tensor_t tensorOf(const Array &array, const Port &port) {
  ashlar_tensor_t tensor = {};
  tensor.data = const_cast<void *>(static_cast<const void *>(array.data()));
  tensor.type = port.info.type;
  tensor.rank = uint32_t(array.ndim());
  uint64_t elements = 1;
  for (uint32_t d = 0; d < tensor.rank; ++d) {
    tensor.shape[d] = int64_t(array.shape(d));
    elements *= uint64_t(tensor.shape[d]);
  }
  tensor.capacity = elements * ashlar_element_type_size(tensor.type);
  // Arrays without elements may be nowhere.
  static char nowhere[64];
  if (!tensor.data)
    tensor.data = nowhere;
  return tensor;
}

/// An attribute, or nothing: one that raises whatever it likes is none.
nb::object attributeOf(nb::handle object, const char *name) {
  PyObject *found = PyObject_GetAttrString(object.ptr(), name);
  if (!found && !PyErr_ExceptionMatches(PyExc_Exception))
    throw nb::python_error();
  if (!found)
    PyErr_Clear();
  return nb::steal(found);
}

/// Whether it is a tensor of PyTorch whose sign is yet to be turned, as those
/// of complex conjugates: its DLPack lends their memory without a word of it.
bool isToBeNegated(nb::handle object) {
  nb::object ask;
  if (!isNumPyArray(object))
    ask = attributeOf(object, "is_neg");
  // Where it fails, _arrays.prepare asks again and says why.
  try {
    return ask.is_valid() && nb::bool_(ask());
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_Exception))
      throw;
    return true;
  }
}

/// Whether it may have a mask, as arrays of numpy.ma: they lend their memory
/// without it.
bool isMasked(nb::handle object) {
  return !isNumPyArray(object) && attributeOf(object, "mask").is_valid() &&
         attributeOf(object, "filled").is_valid();
}

/// The capsule that an object lends its memory by, which may not be one that
/// was consumed before; null: it has none to give. What it raised is `refusal`.
nb::object lendingOf(nb::handle object, nb::object &refusal) {
  // Those of NumPy are made for each call.
  nb::object ask = attributeOf(object, "__dlpack__");
  if (!ask.is_valid())
    return {};
  for (bool isVersioned : {true, false})
    try {
      return isVersioned ? ask(nb::arg("max_version") = nb::make_tuple(1, 0))
                         : ask();
    } catch (nb::python_error &error) {
      if (isVersioned && error.matches(PyExc_TypeError))
        continue;
      if (!error.matches(PyExc_Exception))
        throw;
      refusal = nb::borrow(error.value());
      break;
    }
  return {};
}

/// Whether it says to be in the host's memory, or nothing: a capsule of one
/// that says otherwise is not asked for.
bool isOnHost(nb::handle object) {
  nb::object ask = attributeOf(object, "__dlpack_device__");
  if (!ask.is_valid())
    return true;
  // Where it is wrong, _arrays.prepare asks again and says why.
  try {
    nb::object claim = ask();
    Py_ssize_t device = -1, number = -1;
    if (PyTuple_Check(claim.ptr()) && PyTuple_Size(claim.ptr()) == 2) {
      device = PyNumber_AsSsize_t(PyTuple_GetItem(claim.ptr(), 0), nullptr);
      if (!PyErr_Occurred())
        number = PyNumber_AsSsize_t(PyTuple_GetItem(claim.ptr(), 1), nullptr);
    }
    if (PyErr_Occurred())
      throw nb::python_error();
    return isHost(device) && number >= 0;
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_Exception))
      throw;
    return false;
  }
}

/// Fills `array` from any object that holds memory of the port's type, or
/// raises what is wrong with it. What NumPy has no name for in DLPack, and
/// whatever is to be refused, takes the way through _arrays.prepare, which
/// gives integers of as many bits.
template <typename Array>
ashlar_tensor_t take(nb::handle object, const Port &port, bool isOutput,
                     Array &array) {
  ashlar_tensor_t plain;
  if (toTensor(object, port.info.type, isOutput, plain))
    return plain;
  // JAX lends its arrays without saying that nobody may write to them.
  bool isJax = isOutput &&
               nb::cast<std::string>(nb::str(object.type().attr("__module__")))
                       .rfind("jax", 0) == 0;
  nb::object refusal;
  bool isNumpy = isNumPyArray(object);
  if (!isJax && !isToBeNegated(object) && !isMasked(object) &&
      (isNumpy || isOnHost(object))) {
    // A capsule is consumed as such, so that its name says so.
    nb::object lent;
    if (!isNumpy)
      lent = lendingOf(object, refusal);
    if (nb::try_cast<Array>(lent.is_valid() ? nb::handle(lent) : object, array,
                            false) &&
        isTaken(array, port.info.type))
      return tensorOf(array, port);
  }
  nb::object prepared;
  try {
    prepared = nb::module_::import_("ashlar._arrays")
                   .attr("prepare")(object, port.name,
                                    ashlar_element_type_name(port.info.type),
                                    port.info.shape_text, isOutput,
                                    refusal.is_valid() ? refusal : nb::none());
  } catch (nb::python_error &error) {
    if (refusal.is_valid())
      PyException_SetCause(error.value().ptr(), refusal.release().ptr());
    throw;
  }
  uint32_t asBits = port.info.type;
  if (!port.view.is_none())
    asBits = bitsOf(asBits);
  if (!nb::try_cast<Array>(prepared, array, false) || !isTaken(array, asBits))
    raise(ASHLAR_INVALID_ARGUMENT,
          "expected an array that is dense and in host memory, found " +
              nb::cast<std::string>(nb::str(nb::handle(
                  reinterpret_cast<PyObject *>(Py_TYPE(object.ptr()))))),
          port.info.name);
  return tensorOf(array, port);
}

/// The objects for the ports, in their order.
std::vector<nb::object> inOrder(const std::vector<Port> &ports,
                                nb::handle objects, const char *what) {
  std::vector<nb::object> result(ports.size());
  size_t found = 0;
  if (PyDict_Check(objects.ptr())) {
    for (size_t i = 0; i < ports.size(); ++i) {
      result[i] = nb::borrow(
          PyDict_GetItemWithError(objects.ptr(), ports[i].name.ptr()));
      found += result[i].is_valid();
    }
    if (PyErr_Occurred())
      throw nb::python_error();
    if (found == ports.size() && size_t(PyDict_Size(objects.ptr())) == found)
      return result;
  } else if (bool isTuple = PyTuple_Check(objects.ptr());
             isTuple || PyList_Check(objects.ptr())) {
    // What they hold, whatever a class of its own says of it.
    auto sizeOf = isTuple ? PyTuple_Size : PyList_Size;
    auto itemOf = isTuple ? PyTuple_GetItem : PyList_GetItem;
    if (size_t(sizeOf(objects.ptr())) == ports.size()) {
      for (size_t i = 0; i < ports.size(); ++i) {
        result[i] = nb::borrow(itemOf(objects.ptr(), Py_ssize_t(i)));
        if (!result[i].is_valid())
          throw nb::python_error();
      }
      return result;
    }
  } else if (ports.size() == 1) {
    result[0] = nb::borrow(objects);
    return result;
  }
  nb::list names;
  for (const Port &port : ports)
    names.append(port.name);
  nb::module_::import_("ashlar._arrays")
      .attr("refuse_names")(objects, names, what);
  raise(ASHLAR_INTERNAL, "arguments were refused without a reason", what);
}

/// NumPy moves no array that is referred to weakly, whatever who resizes it in
/// place says of other references; `held` gets such, to it and to the array it
/// is a view of, beside the array.
void hold(nb::object array, std::vector<nb::object> &held) {
  held.push_back(array);
  for (int views = 0; views < 2 && array.is_valid() && isNumPyArray(array);
       ++views) {
    PyObject *reference = PyWeakref_NewRef(array.ptr(), nullptr);
    if (!reference)
      throw nb::python_error();
    held.push_back(nb::steal(reference));
    static PyObject *base = PyUnicode_InternFromString("base");
    array = array.attr(nb::handle(base));
  }
}

} // namespace

nb::object python::viewedType(uint32_t type) {
  const TypeForm *form = formOf(type);
  if (!form || !form->view)
    return nb::none();
  return nb::module_::import_("ashlar._dtypes").attr("view_type")(form->view);
}

bool python::isNarrowSigned(uint32_t type) {
  return type == ASHLAR_TYPE_I4 || type == ASHLAR_TYPE_I2;
}

Block::Block(size_t bytes)
    : memory(bytes > SIZE_MAX - 128
                 ? nullptr
                 : std::aligned_alloc(64, (bytes + 64) / 64 * 64)) {
  if (!memory)
    raise(ASHLAR_OUT_OF_BUDGET,
          "expected memory for an array of " + std::to_string(bytes) +
              " bytes, found that the system gives none",
          "memory");
  owner = nb::capsule(memory, [](void *data) noexcept { std::free(data); });
}

nb::object Block::array(const Port &port, const ashlar_tensor_t &tensor) const {
  uint32_t type = port.info.type;
  if (!port.view.is_none())
    type = bitsOf(type);
  nb::object result = toNumPy(memory, type, tensor.rank, tensor.shape, owner);
  if (port.view.is_none())
    return result;
  // ml_dtypes keeps the low bits alone of what the library sign-extends.
  return isNarrowSigned(port.info.type)
             ? result.attr("view")("int8").attr("astype")(port.view)
             : result.attr("view")(port.view);
}

Arguments::Arguments(const std::vector<Port> &inputPorts,
                     const std::vector<Port> &outputPorts, nb::handle inputs,
                     nb::handle out)
    : outputPorts(outputPorts), in(inputPorts.size()),
      results(outputPorts.size()), read(inputPorts.size()) {
  std::vector<nb::object> objects = inOrder(inputPorts, inputs, "inputs");
  held.reserve(3 * (in.size() + (out.is_none() ? 0 : results.size())));
  places.resize(results.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (!out.is_none() || !takeState(objects[i], i, inputPorts[i]))
      in[i] = take(objects[i], inputPorts[i], false, read[i]);
    hold(objects[i], held);
  }
  if (out.is_none()) {
    blocks.reserve(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const ashlar_tensor_info_t &info = outputPorts[i].info;
      if (places[i].is_valid()) {
        blocks.emplace_back(0);
        results[i] = in[info.state_input];
        continue;
      }
      blocks.emplace_back(info.maximum_bytes);
      results[i] = {};
      results[i].data = blocks.back().data();
      results[i].capacity = info.maximum_bytes;
    }
    return;
  }
  given = inOrder(outputPorts, out, "out");
  written.resize(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] = take(given[i], outputPorts[i], true, written[i]);
    hold(given[i], held);
    const ashlar_tensor_info_t &info = outputPorts[i].info;
    bool fits = !outputPorts[i].isFixed() || info.rank == results[i].rank;
    for (uint32_t d = 0; fits && d < info.rank; ++d)
      fits = info.shape[d] < 0 || info.shape[d] == results[i].shape[d] ||
             !outputPorts[i].isFixed();
    if (fits)
      continue;
    nb::list shape;
    for (uint32_t d = 0; d < results[i].rank; ++d)
      shape.append(results[i].shape[d]);
    nb::module_::import_("ashlar._arrays")
        .attr("refuse_shape")(shape, outputPorts[i].name,
                              ashlar_element_type_name(info.type),
                              info.shape_text);
  }
  offered = results;
}

/// An input that becomes an output in one place: where it is the beginning of
/// one, as what the last run gave is, it stays there; else it is copied to a
/// new one.
bool Arguments::takeState(nb::handle object, size_t input, const Port &port) {
  for (size_t i = 0; i < places.size(); ++i) {
    const ashlar_tensor_info_t &info = outputPorts[i].info;
    if (info.state_input != int64_t(input) || !port.view.is_none())
      continue;
    in[input] = {};
    places[i] = placeBehind(object, info.type, info.rank, info.maximum);
    if (places[i].is_valid()) {
      nb::tuple shape = nb::cast<nb::tuple>(object.attr("shape"));
      in[input].rank = info.rank;
      for (uint32_t d = 0; d < info.rank; ++d)
        in[input].shape[d] = nb::cast<int64_t>(shape[d]);
    } else {
      ashlar_tensor_t given = take(object, port, false, read[input]);
      bool fits = given.rank == info.rank;
      for (uint32_t d = 0; fits && d < info.rank; ++d)
        fits = given.shape[d] <= info.maximum[d];
      if (!fits) {
        nb::list shape;
        for (uint32_t d = 0; d < given.rank; ++d)
          shape.append(given.shape[d]);
        nb::module_::import_("ashlar._arrays")
            .attr("refuse_shape")(shape, port.name,
                                  ashlar_element_type_name(info.type),
                                  port.info.shape_text);
      }
      ashlar_tensor_t whole = given;
      std::copy_n(info.maximum, info.rank, whole.shape);
      places[i] = Block(info.maximum_bytes).array(outputPorts[i], whole);
      fillPlace(places[i], given);
      in[input] = given;
    }
    in[input].type = info.type;
    in[input].data = dataOf(places[i]);
    in[input].capacity = info.maximum_bytes;
    return true;
  }
  return false;
}

KeptStatus Arguments::explained(KeptStatus status) const {
  if (given.empty() || status.code != ASHLAR_INVALID_ARGUMENT ||
      status.message.rfind("capacity is ", 0) != 0 ||
      status.place.rfind("outputs[", 0) != 0)
    return status;
  size_t number = std::strtoull(status.place.c_str() + 8, nullptr, 10);
  if (number >= outputPorts.size())
    return status;
  const ashlar_tensor_info_t &info = outputPorts[number].info;
  nb::list maximum;
  for (uint32_t d = 0; d < info.rank; ++d)
    maximum.append(info.maximum[d]);
  nb::object advice =
      nb::module_::import_("ashlar._arrays")
          .attr("room_advice")(ashlar_element_type_name(info.type),
                               nb::tuple(maximum));
  status.message += "; " + nb::cast<std::string>(advice);
  return status;
}

nb::dict Arguments::named() const {
  nb::dict result;
  for (size_t i = 0; i < results.size(); ++i) {
    nb::object array;
    if (places[i].is_valid()) {
      array = partOfPlace(places[i], results[i].rank, results[i].shape);
    } else if (given.empty()) {
      array = blocks[i].array(outputPorts[i], results[i]);
    } else {
      array = given[i];
      bool same = results[i].rank == offered[i].rank;
      for (uint32_t d = 0; same && d < results[i].rank; ++d)
        same = results[i].shape[d] == offered[i].shape[d];
      if (!same) {
        nb::list shape;
        for (uint32_t d = 0; d < results[i].rank; ++d)
          shape.append(results[i].shape[d]);
        array = nb::module_::import_("ashlar._arrays")
                    .attr("beginning")(array, nb::tuple(shape));
      }
    }
    if (PyDict_SetItem(result.ptr(), outputPorts[i].name.ptr(), array.ptr()))
      throw nb::python_error();
  }
  return result;
}

nb::object python::alignedBytes(size_t bytes) {
  Block block(bytes);
  Port port = {};
  port.info.type = ASHLAR_TYPE_U8;
  port.view = nb::none();
  ashlar_tensor_t tensor = {};
  tensor.rank = 1;
  tensor.shape[0] = int64_t(bytes);
  return block.array(port, tensor);
}
