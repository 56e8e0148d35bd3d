// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runtime, Device and traces.
#include "Runtime.h"
#include "Gil.h"
#include <nanobind/stl/vector.h>
#include <sstream>

using namespace ashlar;
using namespace ashlar::python;

static std::atomic<uint64_t> runtimes{0};

Runtime::Runtime(uint32_t threads, const std::string &keys)
    : number(++runtimes) {
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  options.threads = threads;
  options.signature_keys = keys.data();
  options.signature_key_count = keys.size() / ASHLAR_SIGNATURE_KEY_BYTES;
  check(ashlar_runtime_create(&options, handle.out()));
}

namespace {
struct Device {
  ashlar_device_t *handle; ///< lives as long as the runtime
};
} // namespace

static std::vector<std::string> split(const char *text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    parts.push_back(part.substr(part.find_first_not_of(' ') == part.npos
                                    ? 0
                                    : part.find_first_not_of(' ')));
  return parts;
}

static void bindDevice(nb::module_ &module) {
  nb::class_<Device> device(
      module, "Device", "A device that programs run on; see Runtime.device().");
  refuseCopies(device);
  device
      .def_prop_ro(
          "name",
          [](const Device &device) {
            return std::string(ashlar_device_name(device.handle));
          },
          "Such as 'cpu:0'.")
      .def_prop_ro(
          "features",
          [](const Device &device) {
            return split(ashlar_device_features(device.handle));
          },
          "The instruction sets it has, in LLVM's names.")
      .def(
          "check",
          [](const Device &device) {
            check(ashlar_device_status(device.handle));
          },
          "Raises DeviceLost, with its first failure, if it has failed.")
      .def("__repr__", [](const Device &device) {
        return "<ashlar.Device " +
               std::string(ashlar_device_name(device.handle)) + ">";
      });
}

void python::bindRuntime(nb::module_ &module) {
  bindDevice(module);
  nb::class_<Runtime> runtime(
      module, "Runtime",
      "What devices, budgets and modules belong to. There is one that all use "
      "who\nname no other; make your own for other numbers of threads.");
  refuseCopies(runtime);
  runtime
      .def(
          "__init__",
          [](Runtime *runtime, nb::object threads, nb::object keys) {
            auto count =
                nb::cast<uint32_t>(nb::module_::import_("ashlar._sizes")
                                       .attr("thread_count")(threads));
            auto raw = nb::cast<nb::bytes>(nb::module_::import_("ashlar._keys")
                                               .attr("signature_keys")(keys));
            new (runtime) Runtime(count, std::string(raw.c_str(), raw.size()));
          },
          nb::arg("threads").none() = 0,
          nb::arg("signature_keys").none() = nb::tuple(),
          nb::sig("def __init__(self, threads: int = 0, signature_keys: "
                  "collections.abc.Sequence[str | os.PathLike[str] | bytes] = "
                  "()) -> None"),
          "threads: default of sessions; 0: as many as CPUs are allowed.\n"
          "signature_keys: public keys of Ed25519, each 32 bytes or the name "
          "of a PEM\nfile. With any, modules are loaded only if one of them "
          "has signed them; what\nis not is Unsupported, what was altered "
          "Corrupt.\n\n"
          "Raises InvalidArgument beyond 4096 threads, Unsupported without "
          "libsodium.")
      .def_prop_ro(
          "device_names",
          [](const Runtime &runtime) {
            return split(ashlar_device_names(runtime.get()));
          },
          "The devices that there are, the preferred first.")
      .def(
          "device",
          [](const Runtime &runtime, nb::object name) {
            auto text =
                nb::cast<std::string>(nb::module_::import_("ashlar._sizes")
                                          .attr("device_name")(name, "name"));
            ashlar_device_t *device;
            check(ashlar_device_open(runtime.get(), text.c_str(), &device));
            return Device{device};
          },
          nb::arg("name").none(), nb::keep_alive<0, 1>(),
          nb::sig("def device(self, name: str) -> Device"),
          "Opens a device on first use; 'cpu' means 'cpu:0'.\n\n"
          "Raises NotFound with the names there are.")
      .def(
          "_trace_start",
          [](const Runtime &runtime, nb::bytes path) {
            check(ashlar_trace_start(runtime.get(), path.c_str()));
          },
          nb::arg("path"))
      .def("_trace_stop", [](const Runtime &runtime) {
        KeptStatus status;
        {
          ReleasedGil released;
          status = ashlar_trace_stop(runtime.get());
        }
        status.check();
      });
}
