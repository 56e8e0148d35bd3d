// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PrecisionRequest.h"
#include "ashlar/Support/InputFile.h"

using namespace ashlar;

CompileStatus
PrecisionRequest::checkTargets(llvm::ArrayRef<std::unique_ptr<Target>> targets,
                               llvm::ArrayRef<std::string> names) {
  auto misuse = [&](const std::string &why) {
    log << "error: " << why << "\n";
    return CompileStatus::WrongUsage;
  };
  bool isLow =
      options.precision != NumberType::F32 || !options.precisionPlan.empty();
  for (auto [target, name] : llvm::zip(targets, names))
    if (isLow && target->capabilities().wideAccumulators)
      return misuse("--precision: the target " + name +
                    " checks others and computes in the model's own types "
                    "only; expected f32, found " +
                    (options.precisionPlan.empty() ? spell(options.precision)
                                                   : "a plan"));
  if (targets.size() > 1 && !options.writePrecisionPlan.empty())
    return misuse("--write-precision-plan: a plan is of one target; expected "
                  "one in --target, found " +
                  std::to_string(targets.size()));
  return CompileStatus::Done;
}

CompileStatus
PrecisionRequest::prepare(llvm::ArrayRef<std::unique_ptr<Target>> targets,
                          llvm::ArrayRef<std::string> names) {
  if (CompileStatus status = checkTargets(targets, names);
      status != CompileStatus::Done)
    return status;
  if (llvm::Error error = file.open(options.writePrecisionPlan)) {
    log << "error: " << llvm::toString(std::move(error)) << "\n";
    return CompileStatus::Refused;
  }
  if (options.precisionPlan.empty())
    return CompileStatus::Done;
  auto read = readInputFile(options.precisionPlan, /*isText=*/true);
  plan.emplace();
  std::string wrong =
      read ? parsePrecisionPlan((*read)->getBuffer().str(), *plan)
           : "cannot be read: " + llvm::toString(read.takeError());
  if (wrong.empty())
    return CompileStatus::Done;
  log << "error: --precision-plan=" << options.precisionPlan << ": " << wrong
      << "\n";
  return CompileStatus::Refused;
}

PrecisionOptions PrecisionRequest::optionsFor(const Target &target) {
  PrecisionOptions precision = precisionOptionsOf(target);
  precision.low = options.precision;
  precision.plan = hooks.precisionPlan ? hooks.precisionPlan
                   : plan              ? &*plan
                                       : nullptr;
  precision.simulate = hooks.simulatePrecision;
  precision.observe = hooks.observeRanges;
  precision.decisions = &decisions;
  return precision;
}

bool PrecisionRequest::checkNodes() {
  if (decisions.unknown.empty())
    return true;
  for (const std::string &line :
       llvm::ArrayRef(decisions.unknown).take_front(3))
    log << "error: --precision-plan=" << options.precisionPlan << ": " << line
        << "\n";
  log << "note: " << decisions.unknown.size()
      << (decisions.unknown.size() == 1 ? " line names a node"
                                        : " lines name nodes")
      << " that this model does not have; is the plan of another model?\n";
  return false;
}

llvm::Error PrecisionRequest::finish(llvm::StringRef target,
                                     llvm::raw_ostream &out) {
  if (hooks.decisions)
    *hooks.decisions = decisions;
  if (!file.isWanted())
    return llvm::Error::success();
  std::vector<std::string> heading = {
      "The precision of each node, for --precision-plan; f32, bf16 or f16.",
      "Target: " + target.str()};
  llvm::append_range(heading, hooks.precisionReport);
  return file.write(
      [&](llvm::raw_ostream &to) {
        to << printPrecisionPlan(decisions.nodes, heading);
        return llvm::Error::success();
      },
      out);
}
