// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramChoice.h"

#include "EntryPieces.h"
#include "IndexVerifier.h"
#include "ashlar/runtime/module_format.h"

namespace ashlar::runtime {

static std::string_view text(const flatbuffers::String *string) {
  return string ? string->string_view() : std::string_view();
}

/// Of a program and of a companion.
template <typename Table> static String targetName(const Table &table) {
  String name(text(table.target()));
  if (present(table.preset()))
    name += concat(":", text(table.preset()));
  return name;
}

static String programName(const fb::Program &program) {
  String name = concat("program ", targetName(program));
  for (uint32_t i = 0; i < count(program.companions()); ++i)
    name += concat("+", targetName(*program.companions()->Get(i)));
  return name;
}

bool findForm(const fb::Program &program, uint32_t executable, uint32_t from,
              const ashlar_device_t &device, uint32_t &out) {
  for (out = from; out < count(program.executables()); ++out) {
    const fb::Executable &form = *program.executables()->Get(out);
    if ((out == executable || variantOf(form) == executable + 1) &&
        device.ops.accepts(device.state, text(form.format())))
      return true;
  }
  return false;
}

/// Why the program cannot run on `device` as its device `number`; empty: it
/// can.
static String reasonAgainst(
    const fb::Program &program, uint32_t number,
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>
        *features,
    const ashlar_device_t &device) {
  String missing;
  for (uint32_t i = 0; i < count(features); ++i)
    if (auto feature = text(features->Get(i));
        feature != ASHLAR_MODULE_FEATURE_PIECES &&
        feature != ASHLAR_MODULE_FEATURE_STATE &&
        feature != ASHLAR_MODULE_FEATURE_RANDOM_WEIGHTS &&
        feature != ASHLAR_MODULE_FORMAT_1_1 && !device.hasFeature(feature))
      missing += concat(missing.empty() ? "" : ", ", feature);
  if (!missing.empty())
    return concat(device.name, " lacks ", missing);
  for (uint32_t i = 0; i < count(program.executables()); ++i) {
    const fb::Executable &executable = *program.executables()->Get(i);
    uint32_t form;
    if (executable.device() == number && variantOf(executable) == 0 &&
        !findForm(program, i, i, device, form))
      return concat(device.name, " does not run ", text(executable.format()),
                    device.ops.needs ? "; that takes " : "",
                    device.ops.needs ? device.ops.needs : "");
  }
  return "";
}

/// Finds the devices of a program, `asked` among them if it is not null; empty:
/// all of them can run their part.
static String takeDevices(Runtime &runtime, const fb::Program &program,
                          ashlar_device_t *asked,
                          Vector<ashlar_device_t *> &out, bool &isLost) {
  out.clear();
  String reason;
  auto take = [&](std::string_view type, const auto *features) {
    ashlar_device_t *device = asked;
    if (!asked || type != asked->ops.programs) {
      Status opened = runtime.device(type, device);
      if (!opened.ok()) {
        reason = opened.message();
        isLost |= opened.code() == ASHLAR_DEVICE_LOST;
        return;
      }
    }
    reason = reasonAgainst(program, uint32_t(out.size()), features, *device);
    out.push_back(device);
  };
  take(text(program.device_type()), program.required_features());
  for (uint32_t i = 0; reason.empty() && i < count(program.companions()); ++i) {
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

static String deviceNames(const Vector<ashlar_device_t *> &devices) {
  String names;
  for (const ashlar_device_t *device : devices)
    names += concat(names.empty() ? "" : " and ", device->name);
  return names;
}

/// The targets of a program without their presets: those of the same ones are
/// variants, in the order that whoever made them wants.
static String variantsOf(const fb::Program &program) {
  String names(text(program.target()));
  for (uint32_t i = 0; i < count(program.companions()); ++i)
    names += concat("+", text(program.companions()->Get(i)->target()));
  return names;
}

static bool ranks(const Vector<ashlar_device_t *> &devices) {
  for (const ashlar_device_t *device : devices)
    if (device->ops.rank)
      return true;
  return false;
}

/// How well the program's code suits the devices that it would run on, of which
/// each accepts its part.
static uint64_t rankOf(const fb::Program &program,
                       const Vector<ashlar_device_t *> &devices) {
  uint64_t sum = 0;
  for (uint32_t number = 0; number < devices.size(); ++number) {
    const ashlar_device_t &device = *devices[number];
    String required;
    const auto *features =
        number == 0
            ? program.required_features()
            : program.companions()->Get(number - 1)->required_features();
    for (uint32_t i = 0; i < count(features); ++i)
      required += concat(i ? "," : "", text(features->Get(i)));
    for (uint32_t i = 0; device.ops.rank && i < count(program.executables());
         ++i) {
      uint32_t form;
      if (program.executables()->Get(i)->device() != number ||
          !findForm(program, i, i, device, form))
        continue;
      sum += device.ops.rank(device.state,
                             text(program.executables()->Get(form)->format()),
                             required);
      break; // those of further pieces are alike
    }
  }
  return sum;
}

/// Null: it was not.
static const String *whyRefused(const ProgramRequest &request,
                                uint32_t program) {
  for (const ProgramRequest::Refused &each : request.refused)
    if (each.program == program)
      return &each.why;
  return nullptr;
}

namespace {
/// A program that can run here.
struct Candidate {
  uint32_t number;
  String variants;
  Vector<ashlar_device_t *> devices;
  bool isDetour; // a driver between the program and this machine's processor
  uint64_t rank;
};
} // namespace

/// Of programs that use devices of the type of `asked`, if it is not null: for
/// each of their targets the first that can run, or that which suits its
/// devices best. Says why others are not among them.
static Vector<Candidate> candidatesOf(Runtime &runtime,
                                      const fb::Module &module,
                                      const ProgramRequest &request,
                                      ashlar_device_t *asked, bool &any,
                                      ProgramChoice &out) {
  String &log = out.log;
  Vector<Candidate> candidates;
  for (uint32_t i = 0; i < module.programs()->size(); ++i) {
    const fb::Program &program = *module.programs()->Get(i);
    if (asked && !uses(program, asked->ops.programs))
      continue;
    any = true;
    if (const String *why = whyRefused(request, i)) {
      log += concat(programName(program), ": not taken, ", *why, "\n");
      continue;
    }
    Candidate found{i, variantsOf(program), {}, false, 0};
    Candidate *earlier = nullptr;
    for (Candidate &other : candidates)
      if (other.variants == found.variants)
        earlier = &other;
    if (earlier && !ranks(earlier->devices))
      continue;
    String reason =
        takeDevices(runtime, program, asked, found.devices, out.isLost);
    if (!reason.empty()) {
      log += concat(programName(program), ": not taken, ", reason, "\n");
      continue;
    }
    for (const ashlar_device_t *device : found.devices)
      found.isDetour |= device->hasFeature(hostProcessorFeature);
    found.rank = rankOf(program, found.devices);
    if (earlier) {
      if (found.rank > earlier->rank)
        std::swap(*earlier, found);
      log += concat(programName(*module.programs()->Get(found.number)),
                    ": not taken, ",
                    programName(*module.programs()->Get(earlier->number)),
                    " suits ", deviceNames(earlier->devices), " better\n");
      continue;
    }
    candidates.push_back(std::move(found));
  }
  return candidates;
}

/// Takes of the programs that can run here, whose devices are of the type of
/// `asked`, if it is not null, the fastest by what is predicted, or the first
/// where that is not known of all. Says so, or why not. False: there is none.
static bool tryPrograms(Runtime &runtime, const fb::Module &module,
                        const ProgramRequest &request, ashlar_device_t *asked,
                        bool &any, ProgramChoice &out) {
  Vector<Candidate> candidates =
      candidatesOf(runtime, module, request, asked, any, out);
  if (candidates.empty())
    return false;
  auto predicted = [&](size_t i) {
    return module.programs()->Get(candidates[i].number)->predicted_ns();
  };
  bool known = true;
  for (size_t i = 0; i < candidates.size(); ++i)
    known &= predicted(i) != 0;
  size_t best = 0;
  // Two models of one processor tell less than that a driver takes its time.
  for (size_t i = 1; i < candidates.size(); ++i)
    if (candidates[i].isDetour != candidates[best].isDetour
            ? candidates[best].isDetour
            : known && predicted(i) < predicted(best))
      best = i;
  for (size_t i = 0; i < candidates.size(); ++i) {
    Candidate &each = candidates[i];
    out.log += programName(*module.programs()->Get(each.number));
    if (i == best)
      out.log += concat(": taken, on ", deviceNames(each.devices));
    else if (each.isDetour && !candidates[best].isDetour)
      out.log += concat(": not taken, ", deviceNames(each.devices),
                        " is this machine's processor, for which there is "
                        "another program");
    else
      out.log +=
          known ? ": not taken, slower" : ": not taken, an earlier one runs";
    if (known && candidates.size() > 1)
      out.log += concat(", predicted ", (predicted(i) + 999) / 1000, " us");
    out.log += "\n";
  }
  out.program = candidates[best].number;
  out.devices = std::move(candidates[best].devices);
  return true;
}

/// Looks for a program on devices of one name; true if one was found.
static bool tryDevice(Runtime &runtime, const fb::Module &module,
                      const ProgramRequest &request, const String &name,
                      ProgramChoice &out) {
  std::shared_ptr<ashlar_device_t> device;
  Status opened = runtime.device(name, device);
  if (!opened.ok()) {
    out.log += concat(name, ": ", opened.message(), "\n");
    out.isLost |= opened.code() == ASHLAR_DEVICE_LOST;
    return false;
  }
  bool any = false;
  if (tryPrograms(runtime, module, request, device.get(), any, out)) {
    out.asked = std::move(device);
    return true;
  }
  if (!any)
    out.log += concat(device->name, ": no program is for it\n");
  return false;
}

Status chooseProgram(Runtime &runtime, const fb::Module &module,
                     const ProgramRequest &request, ProgramChoice &out) {
  out.isLost = request.isLost;
  for (const String &name : request.devices) {
    if (tryDevice(runtime, module, request, name, out))
      return {};
    if (request.strict)
      break;
    ++out.fallbacks;
  }
  bool any = false;
  if (request.isFree() &&
      tryPrograms(runtime, module, request, nullptr, any, out))
    return {};
  return failure(out.isLost ? ASHLAR_DEVICE_LOST : ASHLAR_UNSUPPORTED,
                 concat("no program of the module can run here:\n", out.log),
                 "programs");
}

} // namespace ashlar::runtime
