// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Module.h"
#include "Arrays.h"
#include "Gil.h"
#include <cstring>
#include <nanobind/stl/vector.h>

using namespace ashlar;
using namespace ashlar::python;

static nb::object textOf(const char *text, size_t bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(text, bytes, "surrogateescape"));
}
static nb::object textOf(const char *text) {
  return textOf(text, std::strlen(text));
}

/// A name that dicts are asked for.
static nb::object internedText(const char *text) {
  PyObject *name = textOf(text).release().ptr();
  PyUnicode_InternInPlace(&name);
  return nb::steal(name);
}

static std::vector<Port>
portsOf(ashlar_entry_t *entry, size_t count,
        ashlar_status_t (*query)(const ashlar_entry_t *, size_t,
                                 ashlar_tensor_info_t *)) {
  std::vector<Port> ports(count);
  for (size_t i = 0; i < count; ++i) {
    ports[i].info = ASHLAR_TENSOR_INFO_INIT;
    check(query(entry, i, &ports[i].info));
    ports[i].name = internedText(ports[i].info.name);
    ports[i].view = viewedType(ports[i].info.type);
  }
  return ports;
}

Module::Module(const Runtime &runtime, nb::bytes path, const Budget *budget,
               nb::object name, bool allowNativeCode, bool verifyWeights,
               const std::vector<std::string> &devices, bool isSoft)
    : runtime(runtime.id()) {
  if (budget)
    budget->checkOf(runtime.id());
  ashlar_load_options_t options = ASHLAR_LOAD_OPTIONS_INIT;
  options.budget = Budget::handleOf(budget);
  std::string nameText;
  if (!name.is_none()) {
    nameText = nb::cast<std::string>(name);
    options.name = nameText.c_str();
  }
  options.allow_native_code = allowNativeCode;
  options.verify_weights = verifyWeights;
  std::vector<const char *> names;
  for (const std::string &device : devices)
    names.push_back(device.c_str());
  options.devices = names.data();
  options.device_count = names.size();
  options.placement = isSoft ? ASHLAR_PLACEMENT_SOFT : ASHLAR_PLACEMENT_STRICT;
  KeptStatus status;
  {
    ReleasedGil released;
    status = ashlar_module_load_file(runtime.get(), path.c_str(), &options,
                                     handle.out());
  }
  status.check();
  for (size_t i = 0, count = query().entry_count; i < count; ++i) {
    Entry entry;
    check(ashlar_module_entry_at(get(), i, &entry.handle));
    entry.name = internedText(ashlar_entry_name(entry.handle));
    entry.inputs = portsOf(entry.handle, ashlar_entry_input_count(entry.handle),
                           ashlar_entry_input);
    entry.outputs =
        portsOf(entry.handle, ashlar_entry_output_count(entry.handle),
                ashlar_entry_output);
    all.push_back(std::move(entry));
  }
}

ashlar_module_info_t Module::query() const {
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  check(ashlar_module_query(get(), &info));
  return info;
}

const Entry &Module::entry(nb::handle name) const {
  if (name.is_none() && !all.empty())
    return all.front();
  std::string names;
  for (const Entry &entry : all) {
    if (!name.is_none() && entry.name.equal(name))
      return entry;
    names += (names.empty() ? "" : ", ") +
             nb::cast<std::string>(nb::repr(entry.name));
  }
  raise(ASHLAR_NOT_FOUND,
        "expected one of the module's entries, " + names + ", found " +
            nb::cast<std::string>(
                nb::module_::import_("ashlar._errors").attr("quoted")(name)),
        "entry");
}

static nb::tuple sizesOf(const int64_t *sizes, uint32_t rank) {
  nb::list list;
  for (uint32_t d = 0; d < rank; ++d)
    list.append(sizes[d]);
  return nb::tuple(list);
}

static nb::list describePorts(const std::vector<Port> &ports) {
  nb::list result;
  for (const Port &port : ports)
    result.append(
        nb::make_tuple(port.name, ashlar_element_type_name(port.info.type),
                       sizesOf(port.info.shape, port.info.rank),
                       sizesOf(port.info.maximum, port.info.rank),
                       textOf(port.info.shape_text), port.info.maximum_bytes));
  return result;
}

static nb::list describeEntries(const Module &module) {
  nb::list result;
  for (const Entry &entry : module.entries()) {
    ashlar_contract_t cost = ASHLAR_CONTRACT_INIT;
    check(ashlar_entry_contract(entry.handle, &cost));
    result.append(nb::make_tuple(
        entry.name, describePorts(entry.inputs), describePorts(entry.outputs),
        nb::make_tuple(cost.weights_bytes, cost.code_bytes, cost.arena_bytes,
                       cost.arena_lower_bound_bytes, cost.outputs_bytes,
                       cost.staging_bytes, cost.scratch_bytes_per_worker,
                       cost.peak_bytes)));
  }
  return result;
}

static nb::dict describe(const Module &module) {
  ashlar_module_info_t info = module.query();
  nb::dict result;
  result["name"] = textOf(info.name);
  result["target"] = textOf(info.target);
  result["preset"] = textOf(info.preset);
  result["device"] = textOf(info.device);
  result["placement"] = textOf(info.placement_log);
  result["weights_bytes"] = info.weights_bytes;
  result["code_bytes"] = info.code_bytes;
  result["load_ns"] = info.load_ns;
  result["program_count"] = info.program_count;
  result["fallbacks"] = info.fallbacks;
  return result;
}

static nb::dict metadata(const Module &module) {
  nb::dict result;
  for (size_t i = 0, n = ashlar_module_metadata_count(module.get()); i < n;
       ++i) {
    ashlar_metadata_t item = ASHLAR_METADATA_INIT;
    check(ashlar_module_metadata_at(module.get(), i, &item));
    result[textOf(item.key)] = textOf(item.value, item.value_bytes);
  }
  return result;
}

void python::bindModule(nb::module_ &module) {
  nb::class_<Module> loaded(module, "_Module");
  refuseCopies(loaded);
  loaded
      .def(nb::init<const Runtime &, nb::bytes, const Budget *, nb::object,
                    bool, bool, const std::vector<std::string> &, bool>(),
           nb::arg("runtime"), nb::arg("path"), nb::arg("budget").none(),
           nb::arg("name").none(), nb::arg("allow_native_code"),
           nb::arg("verify_weights"), nb::arg("devices"), nb::arg("is_soft"))
      .def("_describe", &describe)
      .def("_entries", &describeEntries)
      .def("_metadata", &metadata);
}
