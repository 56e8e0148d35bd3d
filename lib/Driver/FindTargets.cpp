// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FindTargets.h"
#include "ashlar/Driver/DescribeTargets.h"
#include "ashlar/Machine/MachineFile.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace ashlar;

static void list(const std::vector<std::string> &words,
                 llvm::raw_ostream &log) {
  for (const std::string &word : words)
    log << " " << word;
  log << "\n";
}

std::string ashlar::describeTargets() {
  constexpr size_t width = 78, indent = 11;
  std::string text;
  for (const TargetInfo &info : allTargets()) {
    std::string line = (text.empty() ? "Targets: " : "\n         ") + info.name;
    char separator = ':';
    for (const std::string &preset : info.presets) {
      if (line.size() + preset.size() > width) {
        text += line + "\n";
        line = std::string(indent, ' ');
      }
      line += separator + preset;
      separator = '|';
    }
    text += line;
  }
  return text + "\n";
}

std::string ashlar::describeAssemblers() {
  std::string text;
  for (const TargetInfo &info : allTargets())
    if (!info.assembler.empty())
      text += (text.empty() ? "" : ", ") + info.name + ": " + info.assembler;
  return text;
}

std::string ashlar::describeLineTables() {
  std::string text;
  for (const TargetInfo &info : allTargets())
    if (info.hasLineTables)
      text += (text.empty() ? "" : ", ") + info.name;
  return text;
}

/// The target and the preset of a request; null, having said what there is,
/// where there is none.
static const TargetInfo *find(const TargetRequest &request, std::string &preset,
                              llvm::raw_ostream &log) {
  auto info = llvm::find_if(allTargets(), [&](const TargetInfo &info) {
    return info.name == request.target;
  });
  if (info == allTargets().end()) {
    std::vector<std::string> names;
    for (const TargetInfo &known : allTargets())
      names.push_back(known.name);
    log << "error: --target: '" << request.target
        << "' is not a target; this compiler has";
    list(names, log);
    return nullptr;
  }
  if (request.hasEmptyPreset) {
    log << "error: --target: expected a preset behind '" << info->name
        << ":', found none; it has";
    list(info->presets, log);
    return nullptr;
  }
  preset = request.preset.empty() ? info->presets.front() : request.preset;
  if (llvm::is_contained(info->presets, preset))
    return &*info;
  log << "error: --target: '" << preset << "' is not a preset of " << info->name
      << "; it has";
  list(info->presets, log);
  return nullptr;
}

/// The devices of one program: a host first. Where none is asked for, the first
/// that there is, which stands in.
static std::vector<TargetRequest> devicesOf(const TargetRequest &request,
                                            bool *standsIn = nullptr) {
  std::vector<TargetRequest> devices = {request};
  devices.insert(devices.end(), request.companions.begin(),
                 request.companions.end());
  for (TargetRequest &device : devices)
    device.companions.clear();
  auto findHost = [&](bool standsBeside) {
    return llvm::find_if(devices, [&](const TargetRequest &device) {
      return llvm::any_of(allTargets(), [&](const TargetInfo &info) {
        return info.name == device.target && info.isHost &&
               info.standsBeside == standsBeside;
      });
    });
  };
  auto host = findHost(/*standsBeside=*/false);
  if (host == devices.end())
    host = findHost(/*standsBeside=*/true);
  if (standsIn)
    *standsIn = host == devices.end();
  if (host != devices.end())
    std::rotate(devices.begin(), host, host + 1);
  else
    for (const TargetInfo &info : allTargets())
      if (info.isHost) {
        devices.insert(devices.begin(), TargetRequest{info.name, ""});
        break;
      }
  return devices;
}

bool ashlar::checkTargets(const std::vector<TargetRequest> &targets,
                          llvm::raw_ostream &log) {
  std::string preset;
  return llvm::all_of(targets, [&](const TargetRequest &request) {
    bool isFirst = true;
    for (const TargetRequest &device : devicesOf(request)) {
      const TargetInfo *info = find(device, preset, log);
      if (!info)
        return false;
      if (!isFirst && info->isHost && !info->standsBeside) {
        log << "error: --target: " << info->name
            << " cannot stand beside another host in a program; name one of "
               "them, or two programs, with a comma in place of the plus\n";
        return false;
      }
      isFirst = false;
    }
    return true;
  });
}

void ashlar::listTargets(llvm::raw_ostream &out) {
  for (const TargetInfo &info : allTargets())
    for (const std::string &preset : info.presets)
      out << info.name << ":" << preset << "\n";
}

/// Hosts of which no preset is named are such as make object files; but
/// one that is named at all may be what the machine file is of.
static std::vector<TargetRequest>
requestsForObjects(const CompileOptions &options) {
  std::vector<TargetRequest> requests;
  for (const TargetRequest &target : options.targets) {
    std::vector<TargetRequest> devices = devicesOf(target);
    TargetRequest &host = devices.front();
    bool isNamed = devices.size() == 1 + target.companions.size();
    for (const TargetInfo &info : allTargets())
      if (info.name == host.target && host.preset.empty() &&
          !(isNamed && !options.machine.empty()))
        host.preset = info.objectPreset;
    requests.push_back(host);
    requests.back().companions.assign(devices.begin() + 1, devices.end());
  }
  return requests;
}

/// Whether all of a program's devices can be in what is asked for.
static bool suitsOutput(OutputKind kind, const Target &target,
                        llvm::raw_ostream &log) {
  auto suits = [&](const Target &device) {
    bool isModule = kind == OutputKind::Module;
    bool isBare = kind == OutputKind::RiscvObject;
    std::string why =
        isModule ? device.whyNoModule() : device.whyNoObject(isBare);
    if (!why.empty())
      log << "error: "
          << (isModule ? "--target"
              : isBare ? "--emit=riscv-object"
                       : "--emit=static")
          << ": " << device.name() << ": " << why << "\n";
    return why.empty();
  };
  return suits(target) &&
         llvm::all_of(target.companions,
                      [&](const auto &companion) { return suits(*companion); });
}

/// The model of --machine, if one is asked for and some request has use for it;
/// false: it is at fault.
static bool readMachine(const CompileOptions &options,
                        const std::vector<TargetRequest> &requests,
                        std::optional<MachineModel> &machine,
                        llvm::raw_ostream &log) {
  if (options.machine.empty())
    return true;
  auto read = readMachineFile(options.machine);
  if (!read) {
    log << "error: --machine: " << llvm::toString(read.takeError()) << "\n";
    return false;
  }
  bool isAskedFor = false;
  for (const TargetRequest &request : requests)
    for (const TargetRequest &device : devicesOf(request))
      isAskedFor |= device.target == read->target && device.preset.empty();
  if (!isAskedFor) {
    log << "error: --machine: '" << options.machine
        << "': target: expected one that --target names without a preset, "
           "found '"
        << read->target << "'\n";
    return false;
  }
  machine = std::move(*read);
  return true;
}

CompileStatus ashlar::findTargets(const CompileOptions &options,
                                  std::vector<std::unique_ptr<Target>> &targets,
                                  std::vector<std::string> &names,
                                  llvm::raw_ostream &log) {
  if (!checkTargets(options.targets, log))
    return CompileStatus::WrongUsage;
  std::vector<TargetRequest> requests = options.targets;
  if (options.outputKind == OutputKind::RiscvObject)
    requests = requestsForObjects(options);
  std::optional<MachineModel> fromFile;
  if (!readMachine(options, requests, fromFile, log))
    return CompileStatus::Refused;
  bool hasTF32 = false, hasLines = false;
  bool asksAssembler = options.assembler.empty() || options.assembler == "none";
  for (auto [asked, request] : llvm::zip_equal(options.targets, requests)) {
    std::unique_ptr<Target> target;
    std::string name;
    for (const TargetRequest &device : devicesOf(request)) {
      std::string preset;
      const TargetInfo *info = find(device, preset, log);
      bool isFromFile = fromFile && device.preset.empty() &&
                        fromFile->target == device.target;
      MachineModel machine = isFromFile ? *fromFile : info->machineFor(preset);
      if (isFromFile)
        if (std::string wrong = info->check(machine); !wrong.empty()) {
          log << "error: --machine: '" << options.machine << "': " << wrong
              << "\n";
          return CompileStatus::Refused;
        }
      machine.roundsToTF32 = options.roundsToTF32;
      hasTF32 |= llvm::any_of(machine.units, [](const MultiplyUnit &unit) {
        return unit.takes({"tf32", "tf32", "f32"});
      });
      hasLines |= info->hasLineTables;
      asksAssembler |=
          !info->assembler.empty() &&
          (!info->isAssembler || info->isAssembler(options.assembler));
      name += (target ? "+" : "") + info->name + ":" + machine.name;
      std::unique_ptr<Target> made = info->create(std::move(machine));
      if (target && llvm::any_of(target->companions, [&](const auto &other) {
            return other->name() == made->name();
          })) {
        log << "error: --target: " << made->name()
            << " is named twice in one program; expected each device once\n";
        return CompileStatus::WrongUsage;
      }
      (target ? target->companions.emplace_back() : target) = std::move(made);
    }
    (void)devicesOf(asked, &target->standsIn);
    if (llvm::is_contained(names, name)) {
      log << "error: --target: " << name << " is asked for twice\n";
      return CompileStatus::WrongUsage;
    }
    if (!options.stopEarly && !suitsOutput(options.outputKind, *target, log))
      return CompileStatus::Refused;
    targets.push_back(std::move(target));
    names.push_back(name);
  }
  if (!asksAssembler) {
    log << "error: --assembler: '" << options.assembler
        << "': expected a target that asks it for machine code ("
        << describeAssemblers() << "), found none in "
        << llvm::join(names, ", ") << "\n";
    return CompileStatus::WrongUsage;
  }
  if (options.lineTables && !hasLines) {
    log << "error: --line-tables: expected a target whose code has them ("
        << describeLineTables() << "), found none in "
        << llvm::join(names, ", ") << "\n";
    return CompileStatus::WrongUsage;
  }
  if (options.roundsToTF32 && !hasTF32) {
    log << "error: --precision=tf32: expected a target with a unit that "
           "multiplies tf32, found none in "
        << llvm::join(names, ", ") << "\n";
    return CompileStatus::WrongUsage;
  }
  return CompileStatus::Done;
}
