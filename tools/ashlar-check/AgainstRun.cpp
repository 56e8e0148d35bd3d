// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AgainstRun.h"
#include "ashlar/Check/Against.h"
#include "ashlar/Check/Levels.h"
#include "ashlar/Support/ReportFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace ashlar;
using namespace ashlar::check;
namespace json = llvm::json;

/// JSON has no infinities.
static json::Value orNull(double number) {
  return std::isfinite(number) ? json::Value(number) : json::Value(nullptr);
}

static json::Object describe(const WrongValue &value) {
  const Difference &difference = value.difference;
  return json::Object{
      {"name", value.name},
      {"nodes", json::Array(value.nodes)},
      {"type", value.type},
      {"wrong_elements", difference.unequal},
      {"worst_index", spellIndex(difference.place, value.shape)},
      {"found", difference.found},
      {"expected", difference.expected},
      {"largest_error", orNull(difference.largest)},
      {"relative_error", orNull(difference.relative)},
      {"ulps", orNull(difference.ulps)}};
}

static json::Object describe(const AgainstReport &report) {
  static constexpr const char *faults[] = {"none", "kernel", "passes",
                                           "program"};
  json::Object object{{"fault", faults[int(report.fault)]},
                      {"values", report.values},
                      {"kernels", report.kernels},
                      {"wrong", report.wrong},
                      {"worst_error", orNull(report.worst)},
                      {"worst_nodes", report.worstNodes}};
  if (report.first)
    object["first"] = describe(*report.first);
  json::Array alone;
  for (const auto &[node, right] : report.alone)
    alone.push_back(json::Object{{"node", node}, {"right", right}});
  object["alone"] = std::move(alone);
  if (!report.culprit.empty())
    object["culprit"] = report.culprit;
  if (!report.reproducer.empty())
    object["reproducer"] = report.reproducer;
  return object;
}

static json::Object describe(const BisectReport &report) {
  json::Array trials;
  for (const BisectReport::Trial &trial : report.trials)
    trials.push_back(json::Object{
        {"name", trial.name}, {"right", trial.right}, {"why", trial.why}});
  json::Object object{{"trials", std::move(trials)}};
  if (report.kernels)
    object["kernels"] = describe(*report.kernels);
  return object;
}

static json::Object describe(const LevelsReport &report) {
  auto list = [](const std::vector<LevelsReport::Kernel> &kernels) {
    json::Array all;
    for (const LevelsReport::Kernel &kernel : kernels)
      all.push_back(json::Object{{"name", kernel.name}, {"why", kernel.why}});
    return all;
  };
  return json::Object{{"right", report.right},
                      {"wrong", list(report.wrong)},
                      {"left_out", list(report.leftOut)},
                      {"worst_error", orNull(report.worst)}};
}

int ashlar::check::complain(llvm::Error error) {
  llvm::errs() << "ashlar-check: " << llvm::toString(std::move(error)) << "\n";
  return 1;
}

/// Says what was found, and writes it where --json wants it.
template <typename Report>
static int finish(ReportFile &file, const Report &report, bool isRight) {
  llvm::outs() << spell(report);
  auto text = [&](llvm::raw_ostream &out) -> llvm::Error {
    out << llvm::formatv("{0:2}\n", json::Value(describe(report)));
    return llvm::Error::success();
  };
  if (file.isWanted())
    if (llvm::Error error = file.write(text, llvm::outs()))
      return complain(std::move(error));
  return isRight ? 0 : 1;
}

int ashlar::check::runAgainst(const Request &request,
                              const CompileHooks &planted) {
  ReportFile file("--json");
  if (llvm::Error error = file.open(request.jsonFile))
    return complain(std::move(error));
  if (request.isOfLevels) {
    auto report =
        compareLevels(request.against.compile, request.against.tolerance);
    if (!report)
      return complain(report.takeError());
    return finish(file, *report, report->wrong.empty());
  }
  if (request.against.bisect != Bisect::None) {
    auto report = bisect(request.against, planted);
    if (!report)
      return complain(report.takeError());
    return finish(file, *report, report->trials.back().right);
  }
  auto report = compareWithReference(request.against, planted);
  if (!report)
    return complain(report.takeError());
  return finish(file, *report, report->fault == Fault::None);
}
