// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NamedTargets.h"
#include "FindTargets.h"
#include "TargetOptions.h"
#include "ashlar/Machine/MachineFile.h"
#include "ashlar/Machine/MachineOption.h"

using namespace ashlar;

std::shared_ptr<Target> ashlar::findTarget(llvm::StringRef name,
                                           std::string &why) {
  CompileOptions options;
  std::vector<std::unique_ptr<Target>> targets;
  std::vector<std::string> names;
  llvm::raw_string_ostream log(why);
  if (!parseTargets(name.str(), options.targets) ||
      options.targets.size() != 1) {
    log << "expected one program, TARGET:PRESET";
    return nullptr;
  }
  if (findTargets(options, targets, names, log) != CompileStatus::Done) {
    llvm::StringRef text(why);
    text.consume_front("error: --target: ");
    why = text.rtrim().str();
    return nullptr;
  }
  return std::move(targets.front());
}

static llvm::Expected<MachineModel> findPreset(llvm::StringRef name) {
  std::string why;
  std::shared_ptr<Target> target = findTarget(name, why);
  if (!target)
    return llvm::createStringError(why);
  // Where a host was added to it, the one that was named is its companion.
  return target->companions.empty() ? target->machine()
                                    : target->companions.front()->machine();
}

/// Of a file: a device of its target, or one that is known by its model alone.
static llvm::Expected<CompanionDevice> readCompanion(llvm::StringRef path) {
  llvm::Expected<MachineModel> machine = readMachineFile(path);
  if (!machine)
    return machine.takeError();
  for (const TargetInfo &info : allTargets()) {
    if (info.name != machine->target || (info.isHost && !info.standsBeside))
      continue;
    if (std::string wrong = info.check(*machine); !wrong.empty())
      return llvm::createStringError("'" + path.str() + "': " + wrong);
    return companionOf(info.create(std::move(*machine)));
  }
  return describedCompanion(std::move(*machine));
}

static llvm::Expected<CompanionDevice> findCompanion(llvm::StringRef name) {
  if (name.ends_with(".json"))
    return readCompanion(name);
  std::string why;
  std::shared_ptr<Target> target = findTarget(name, why);
  if (!target)
    return llvm::createStringError(why);
  if (target->companions.size() != 1)
    return llvm::createStringError(
        "expected a device that stands beside a host, found " + target->name());
  return companionOf(
      std::shared_ptr<const Target>(target, target->companions[0].get()));
}

static llvm::Expected<std::vector<CompanionDevice>>
findCompanions(llvm::StringRef names) {
  std::vector<CompanionDevice> found;
  for (llvm::StringRef name : llvm::split(names, '+')) {
    llvm::Expected<CompanionDevice> one = findCompanion(name);
    if (!one)
      return one.takeError();
    if (llvm::any_of(found, [&](const CompanionDevice &other) {
          return other.name == one->name;
        }))
      return llvm::createStringError(one->name +
                                     " is named twice; expected each device "
                                     "once");
    found.push_back(std::move(*one));
  }
  return found;
}

void ashlar::nameTargetsForPasses() {
  setPresetFinder(findPreset);
  setCompanionFinder(findCompanions);
}
