// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramChoice.h"

#include "IndexVerifier.h"

namespace ashlar::runtime {

static std::string_view text(const flatbuffers::String *string) {
  return string ? string->string_view() : std::string_view();
}

/// Of a program and of a companion.
template <typename Table> static std::string targetName(const Table &table) {
  std::string name(text(table.target()));
  if (present(table.preset()))
    name += concat(":", text(table.preset()));
  return name;
}

static std::string programName(const fb::Program &program) {
  std::string name = concat("program ", targetName(program));
  for (uint32_t i = 0; i < count(program.companions()); ++i)
    name += concat("+", targetName(*program.companions()->Get(i)));
  return name;
}

/// Why the program cannot run on `device` as its device `number`; empty: it
/// can.
static std::string reasonAgainst(
    const fb::Program &program, uint32_t number,
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>
        *features,
    const ashlar_device_t &device) {
  std::string missing;
  for (uint32_t i = 0; i < count(features); ++i)
    if (auto feature = text(features->Get(i)); !device.hasFeature(feature))
      missing += concat(missing.empty() ? "" : ", ", feature);
  if (!missing.empty())
    return concat(device.name, " lacks ", missing);
  for (uint32_t i = 0; i < count(program.executables()); ++i) {
    const fb::Executable &executable = *program.executables()->Get(i);
    auto format = text(executable.format());
    if (executable.device() == number &&
        !device.ops.accepts(device.state, format))
      return concat(device.name, " does not run ", format);
  }
  return "";
}

/// Finds the devices of a program, `asked` among them if it is not null; empty:
/// all of them can run their part.
static std::string takeDevices(Runtime &runtime, const fb::Program &program,
                               ashlar_device_t *asked,
                               std::vector<ashlar_device_t *> &out) {
  out.clear();
  std::string reason;
  auto take = [&](std::string_view type, const auto *features) {
    ashlar_device_t *device = asked;
    if (!asked || type != asked->ops.type) {
      Status opened = runtime.device(type, device);
      if (!opened.ok()) {
        reason = opened.message();
        return;
      }
    }
    reason = reasonAgainst(program, uint32_t(out.size()), features, *device);
    out.push_back(device);
  };
  take(text(program.device_type()), program.required_features());
  for (uint32_t i = 0; reason.empty() && i < count(program.companions()); ++i) {
    if (!out.front()->ops.sharesHostMemory)
      return concat(out.front()->name,
                    " has a memory of its own, so that nothing can be copied "
                    "to a second device");
    const fb::Companion &companion = *program.companions()->Get(i);
    take(text(companion.device_type()), companion.required_features());
  }
  return reason;
}

/// Whether the program or one of its companions runs on devices of the type.
static bool uses(const fb::Program &program, std::string_view type) {
  bool found = text(program.device_type()) == type;
  for (uint32_t i = 0; i < count(program.companions()); ++i)
    found |= text(program.companions()->Get(i)->device_type()) == type;
  return found;
}

static std::string deviceNames(const std::vector<ashlar_device_t *> &devices) {
  std::string names;
  for (const ashlar_device_t *device : devices)
    names += concat(names.empty() ? "" : " and ", device->name);
  return names;
}

/// Takes program `number` if it can run, and says so or why not.
static bool tryProgram(Runtime &runtime, const fb::Module &module,
                       uint32_t number, ashlar_device_t *asked,
                       ProgramChoice &out) {
  const fb::Program &program = *module.programs()->Get(number);
  std::string name = programName(program);
  std::string reason = takeDevices(runtime, program, asked, out.devices);
  if (!reason.empty()) {
    out.log += concat(name, ": not taken, ", reason, "\n");
    return false;
  }
  out.log += concat(name, ": taken, on ", deviceNames(out.devices), "\n");
  out.program = number;
  return true;
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
    if (!uses(*module.programs()->Get(i), device->ops.type))
      continue;
    any = true;
    if (tryProgram(runtime, module, i, device, out))
      return true;
  }
  if (!any)
    out.log += concat(device->name, ": no program is for it\n");
  return false;
}

/// Any device: programs in the file's order.
static bool tryPrograms(Runtime &runtime, const fb::Module &module,
                        ProgramChoice &out) {
  for (uint32_t i = 0; i < module.programs()->size(); ++i)
    if (tryProgram(runtime, module, i, nullptr, out))
      return true;
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
