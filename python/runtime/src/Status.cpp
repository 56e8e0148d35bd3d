// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Status.h"

using namespace ashlar;

/// Messages may cite bytes of a file.
static nb::object textOf(const std::string &text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), text.size(), "backslashreplace"));
}

void python::raise(int32_t code, const std::string &message,
                   const std::string &place) {
  nb::object error =
      nb::module_::import_("ashlar._errors")
          .attr("from_status")(code, textOf(message), textOf(place));
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                  error.ptr());
  throw nb::python_error();
}

void python::check(const ashlar_status_t &status) {
  if (status.code != ASHLAR_OK)
    KeptStatus(status).check();
}
