// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramChoice.h"

#include "IndexVerifier.h"

namespace ashlar::runtime {

static std::string_view text(const flatbuffers::String *string) {
  return string ? string->string_view() : std::string_view();
}

static std::string programName(const fb::Program &program) {
  std::string name = concat("program ", text(program.target()));
  if (present(program.preset()))
    name += concat(":", text(program.preset()));
  return name;
}

/// Empty if the program can run on the device.
static std::string reasonAgainst(const fb::Program &program,
                                 const ashlar_device_t &device) {
  std::string missing;
  for (size_t i = 0; i < count(program.required_features()); ++i) {
    auto feature = text(program.required_features()->Get(uint32_t(i)));
    if (!device.hasFeature(feature))
      missing += concat(missing.empty() ? "" : ", ", feature);
  }
  if (!missing.empty())
    return concat("lacks ", missing);
  for (size_t i = 0; i < count(program.executables()); ++i) {
    auto format = text(program.executables()->Get(uint32_t(i))->format());
    if (!device.ops.accepts(device.state, format))
      return concat("does not run ", format);
  }
  return "";
}

/// Looks for a program on devices of one name; true if one was found.
static bool tryDevice(Runtime &runtime, const fb::Module &module,
                      const std::string &name, ProgramChoice &out) {
  ashlar_device_t *device = nullptr;
  Status opened = runtime.device(name, device);
  if (!opened.ok()) {
    out.log += concat(name, ": ", opened.message(), "\n");
    return false;
  }
  bool any = false;
  for (uint32_t i = 0; i < module.programs()->size(); ++i) {
    const fb::Program &program = *module.programs()->Get(i);
    if (text(program.device_type()) != device->ops.type)
      continue;
    any = true;
    std::string reason = reasonAgainst(program, *device);
    std::string name = programName(program);
    if (reason.empty()) {
      out.log += concat(name, ": taken, on ", device->name, "\n");
      out.program = i;
      out.device = device;
      return true;
    }
    out.log += concat(name, ": not taken, ", device->name, " ", reason, "\n");
  }
  if (!any)
    out.log += concat(device->name, ": no program is for it\n");
  return false;
}

/// Any device: programs in the file's order.
static bool tryPrograms(Runtime &runtime, const fb::Module &module,
                        ProgramChoice &out) {
  for (uint32_t i = 0; i < module.programs()->size(); ++i) {
    const fb::Program &program = *module.programs()->Get(i);
    std::string name = programName(program);
    ashlar_device_t *device = nullptr;
    Status opened = runtime.device(text(program.device_type()), device);
    std::string reason = opened.ok() ? reasonAgainst(program, *device)
                                     : std::string(opened.message());
    if (reason.empty()) {
      out.log += concat(name, ": taken, on ", device->name, "\n");
      out.program = i;
      out.device = device;
      return true;
    }
    out.log +=
        concat(name, ": not taken, ",
               device ? device->name + " " : std::string(), reason, "\n");
  }
  return false;
}

Status chooseProgram(Runtime &runtime, const fb::Module &module,
                     const ProgramRequest &request, ProgramChoice &out) {
  for (const std::string &name : request.devices) {
    if (tryDevice(runtime, module, name, out))
      return {};
    if (request.strict)
      break;
    ++out.fallbacks;
  }
  bool free = request.devices.empty() || !request.strict;
  if (free && tryPrograms(runtime, module, out))
    return {};
  return Status(ASHLAR_UNSUPPORTED,
                concat("no program of the module can run here:\n", out.log),
                "programs");
}

} // namespace ashlar::runtime
