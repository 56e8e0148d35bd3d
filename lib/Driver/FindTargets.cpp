// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FindTargets.h"
#include "ashlar/Targets/MachineFile.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace ashlar;

static void list(const std::vector<std::string> &words,
                 llvm::raw_ostream &log) {
  for (const std::string &word : words)
    log << " " << word;
  log << "\n";
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
  preset = request.preset.empty() ? info->presets.front() : request.preset;
  if (llvm::is_contained(info->presets, preset))
    return &*info;
  log << "error: --target: '" << preset << "' is not a preset of " << info->name
      << "; it has";
  list(info->presets, log);
  return nullptr;
}

bool ashlar::checkTargets(const std::vector<TargetRequest> &targets,
                          llvm::raw_ostream &log) {
  std::string preset;
  return llvm::all_of(targets, [&](const TargetRequest &request) {
    return find(request, preset, log);
  });
}

/// The model of --machine, if one is asked for and some request has use for it;
/// false: it is at fault.
static bool readMachine(const CompileOptions &options,
                        std::optional<MachineModel> &machine,
                        llvm::raw_ostream &log) {
  if (options.machine.empty())
    return true;
  auto read = readMachineFile(options.machine);
  if (!read) {
    log << "error: --machine: " << llvm::toString(read.takeError()) << "\n";
    return false;
  }
  if (llvm::none_of(options.targets, [&](const TargetRequest &request) {
        return request.target == read->target && request.preset.empty();
      })) {
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
  std::optional<MachineModel> fromFile;
  if (!readMachine(options, fromFile, log))
    return CompileStatus::Refused;
  for (const TargetRequest &request : options.targets) {
    std::string preset;
    const TargetInfo *info = find(request, preset, log);
    bool isFromFile = fromFile && request.preset.empty() &&
                      fromFile->target == request.target;
    MachineModel machine = isFromFile ? *fromFile : info->machineFor(preset);
    if (isFromFile)
      if (std::string wrong = info->check(machine); !wrong.empty()) {
        log << "error: --machine: '" << options.machine << "': " << wrong
            << "\n";
        return CompileStatus::Refused;
      }
    std::string name = info->name + ":" + machine.name;
    if (llvm::is_contained(names, name)) {
      log << "error: --target: " << name << " is asked for twice\n";
      return CompileStatus::WrongUsage;
    }
    targets.push_back(info->create(std::move(machine)));
    names.push_back(name);
  }
  return CompileStatus::Done;
}
