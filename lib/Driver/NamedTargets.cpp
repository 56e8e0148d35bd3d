// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NamedTargets.h"
#include "FindTargets.h"
#include "TargetOptions.h"
#include "ashlar/Machine/MachineOption.h"

using namespace ashlar;

/// The one program of `name`, as --target would have it; null, having said why,
/// where there is none.
static std::shared_ptr<Target> findTarget(llvm::StringRef name,
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

static llvm::Expected<std::vector<CompanionDevice>>
findCompanions(llvm::StringRef names) {
  std::string why;
  std::shared_ptr<Target> target = findTarget(names, why);
  if (!target)
    return llvm::createStringError(why);
  TileOptions options;
  addCompanions(*target, options);
  if (options.companions.empty())
    return llvm::createStringError(
        "expected a device that stands beside a host, found " + target->name());
  for (CompanionDevice &device : options.companions)
    device.whyNot = [target, whyNot = device.whyNot](mlir::Operation *op) {
      return whyNot(op);
    };
  return options.companions;
}

void ashlar::nameTargetsForPasses() {
  setPresetFinder(findPreset);
  setCompanionFinder(findCompanions);
}
