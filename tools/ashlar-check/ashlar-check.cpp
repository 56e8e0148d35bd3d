// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AgainstRun.h"
#include "CommandLine.h"
#include "Report.h"
#include "ashlar/Driver/Compile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <set>
#include <unistd.h>

using namespace ashlar::check;
using ashlar::ReportFile;

/// A line that says how far we are, on terminals, after two seconds.
static void showProgress(size_t done, size_t all) {
  static const auto begin = std::chrono::steady_clock::now();
  if (!isatty(STDERR_FILENO) ||
      std::chrono::steady_clock::now() - begin < std::chrono::seconds(2))
    return;
  llvm::errs() << llvm::formatv("\r{0} of {1} tests ", done, all)
               << (done == all ? "\n" : "");
}

/// Says what differs from the list; whether anything got worse.
static bool showChanges(const std::string &file,
                        const std::set<std::string> &list,
                        const std::vector<Test> &tests,
                        const std::vector<TestResult> &results) {
  Changes changes = compareWithList(list, tests, results);
  for (const std::string &name : changes.regressions)
    llvm::errs() << "regression: " << name << "\n";
  for (const std::string &name : changes.newlyPassing)
    llvm::errs() << "passes now: " << name << "\n";
  if (!changes.newlyPassing.empty())
    llvm::errs() << "put them on the list with --write-expected=" << file
                 << "\n";
  return !changes.regressions.empty();
}

int main(int argc, char **argv) {
  Request request;
  if (std::optional<int> code = parseCommandLine(argc, argv, request))
    return *code;
  if (!ashlar::checkTargets(request.options.targets, llvm::errs()))
    return 2;
  if (request.isAgainst)
    return runAgainst(request);
  std::vector<Test> tests;
  for (const std::string &folder : request.folders) {
    std::vector<Test> found = findTests(folder);
    if (found.empty())
      return complain(llvm::createStringError(
          folder + " is no test: expected a folder with model.onnx, or a "
                   "folder of such folders"));
    tests.insert(tests.end(), found.begin(), found.end());
  }
  // Before minutes of tests, not behind them.
  ReportFile json("--json"), list("--write-expected");
  if (llvm::Error error = llvm::joinErrors(
          json.open(request.jsonFile), list.open(request.writeExpectedFile)))
    return complain(std::move(error));
  std::set<std::string> expected;
  if (!request.expectedFile.empty()) {
    auto names = readList(request.expectedFile);
    if (!names)
      return complain(names.takeError());
    expected = std::move(*names);
  }
  size_t done = 0;
  std::string firstFailure;
  std::vector<TestResult> results = checkTests(
      tests, request.options, [&](const Test &test, const TestResult &result) {
        llvm::outs() << test.name << ": " << spell(result) << "\n";
        llvm::outs().flush();
        if (result.verdict == Verdict::Failed && firstFailure.empty())
          firstFailure = test.path;
        showProgress(++done, tests.size());
      });
  if (json.isWanted())
    if (llvm::Error error = writeJson(json, tests, results))
      return complain(std::move(error));
  bool worse = !request.expectedFile.empty() &&
               showChanges(request.expectedFile, expected, tests, results);
  if (list.isWanted())
    if (llvm::Error error = writeList(list, tests, results))
      return complain(std::move(error));
  Counts counts = count(results);
  size_t fixed = llvm::count_if(results, [](const TestResult &result) {
    return result.verdict == Verdict::Passed && !result.fixedInputs.empty();
  });
  if (fixed)
    llvm::errs() << fixed << " of those that passed were compiled with axes, "
                 << "sizes or bounds fixed\nto the data's values, as "
                 << "ashlar-compile --value does\n";
  if (!firstFailure.empty())
    llvm::errs() << "to see one alone: ashlar-check --verbose " << firstFailure
                 << "\n";
  llvm::outs() << llvm::formatv("{0} passed, {1} failed, {2} skipped\n",
                                counts.passed, counts.failed, counts.skipped);
  return counts.failed || worse ? 1 : 0;
}
