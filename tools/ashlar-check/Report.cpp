// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Report.h"
#include "ashlar/Support/InputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace ashlar::check;

Counts ashlar::check::count(const std::vector<TestResult> &results) {
  Counts counts;
  for (const TestResult &result : results)
    ++(result.verdict == Verdict::Passed   ? counts.passed
       : result.verdict == Verdict::Failed ? counts.failed
                                           : counts.skipped);
  return counts;
}

std::string ashlar::check::listedName(const Test &test) {
  return test.set + "/" + test.name;
}

llvm::Error ashlar::check::writeJson(ReportFile &file,
                                     const std::vector<Test> &tests,
                                     const std::vector<TestResult> &results) {
  Counts counts = count(results);
  auto text = [&](llvm::raw_ostream &out) -> llvm::Error {
    llvm::json::OStream json(out, 2);
    json.object([&] {
      json.attribute("passed", counts.passed);
      json.attribute("failed", counts.failed);
      json.attribute("skipped", counts.skipped);
      json.attributeArray("tests", [&] {
        for (auto [test, result] : llvm::zip(tests, results))
          json.object([&, &test = test, &result = result] {
            json.attribute("name", test.name);
            json.attribute("set", test.set);
            json.attribute("path", test.path);
            json.attribute("verdict",
                           result.verdict == Verdict::Passed   ? "passed"
                           : result.verdict == Verdict::Failed ? "failed"
                                                               : "unsupported");
            if (!result.op.empty())
              json.attribute("operator", result.op);
            if (!result.why.empty())
              json.attribute("why", result.why);
            if (!result.fixedInputs.empty())
              json.attribute("fixed_inputs", result.fixedInputs);
            json.attribute("seconds", result.seconds);
          });
      });
    });
    out << "\n";
    return llvm::Error::success();
  };
  return file.write(text, llvm::outs());
}

llvm::Expected<std::set<std::string>>
ashlar::check::readList(const std::string &file) {
  auto buffer = readInputFile(file, /*isText=*/true);
  if (!buffer)
    return llvm::createStringError(
        file + " cannot be read: " + llvm::toString(buffer.takeError()));
  std::set<std::string> names;
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (line = line.trim(); !line.empty() && !line.starts_with("#"))
      names.insert(line.str());
  return names;
}

llvm::Error ashlar::check::writeList(ReportFile &file,
                                     const std::vector<Test> &tests,
                                     const std::vector<TestResult> &results) {
  std::set<std::string> names;
  if (auto before = readList(file.name().str()))
    names = std::move(*before);
  else
    llvm::consumeError(before.takeError());
  for (auto [test, result] : llvm::zip(tests, results))
    if (result.verdict == Verdict::Passed)
      names.insert(listedName(test));
    else
      names.erase(listedName(test));
  auto text = [&](llvm::raw_ostream &out) -> llvm::Error {
    out << "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n#\n"
           "# ONNX's operator tests that pass; one that stands here and does\n"
           "# not pass is a regression. Written by ashlar-check\n"
           "# --write-expected and scripts/check/operators.py --update.\n\n";
    for (const std::string &name : names)
      out << name << "\n";
    return llvm::Error::success();
  };
  return file.write(text, llvm::outs());
}

Changes ashlar::check::compareWithList(const std::set<std::string> &list,
                                       const std::vector<Test> &tests,
                                       const std::vector<TestResult> &results) {
  Changes changes;
  for (auto [test, result] : llvm::zip(tests, results)) {
    std::string name = listedName(test);
    bool passes = result.verdict == Verdict::Passed;
    if (passes && !list.count(name))
      changes.newlyPassing.push_back(name);
    if (!passes && list.count(name))
      changes.regressions.push_back(name + ": " + spell(result));
  }
  return changes;
}
