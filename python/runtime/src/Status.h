// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the C API's status to Python's exceptions.
#ifndef ASHLAR_PYTHON_STATUS_H
#define ASHLAR_PYTHON_STATUS_H

#include <ashlar/runtime/api.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <string>

namespace nb = nanobind;

namespace ashlar::python {

/// Raises the class of `code` with what its sentence says. Needs the GIL.
[[noreturn]] void raise(int32_t code, const std::string &message,
                        const std::string &place);

/// Has pickle and copy raise a TypeError that says what to do instead.
template <typename Class> void refuseCopies(Class &type) {
  type.def(
      "__reduce_ex__",
      [](nb::object self, nb::object protocol) {
        return nb::module_::import_("ashlar._copies")
            .attr("refuse")(self, protocol);
      },
      nb::arg("protocol"),
      nb::sig("def __reduce_ex__(self, protocol: typing.SupportsIndex, /) -> "
              "typing.NoReturn"));
}

/// Raises unless the status is OK. Needs the GIL.
void check(const ashlar_status_t &status);

/// A status whose strings outlive the thread's next call.
struct KeptStatus {
  int32_t code = ASHLAR_OK;
  std::string message, place;
  KeptStatus() = default;
  KeptStatus(const ashlar_status_t &status) : code(status.code) {
    if (code != ASHLAR_OK) {
      message = status.message;
      place = status.place;
    }
  }
  void check() const {
    if (code != ASHLAR_OK)
      raise(code, message, place);
  }
};

} // namespace ashlar::python

#endif // ASHLAR_PYTHON_STATUS_H
