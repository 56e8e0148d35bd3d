// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ashlar-check writes beside its lines: JSON, and lists of what passes.
#ifndef ASHLAR_TOOLS_ASHLAR_CHECK_REPORT_H
#define ASHLAR_TOOLS_ASHLAR_CHECK_REPORT_H

#include "ashlar/Check/Check.h"
#include "ashlar/Support/ReportFile.h"
#include <set>

namespace ashlar::check {

struct Counts {
  size_t passed = 0, failed = 0, skipped = 0;
};
Counts count(const std::vector<TestResult> &results);

llvm::Error writeJson(ReportFile &file, const std::vector<Test> &tests,
                      const std::vector<TestResult> &results);

/// The name of a test in a list: "node/test_add".
std::string listedName(const Test &test);

/// One name a line; empty lines and those that begin with # do not count.
llvm::Expected<std::set<std::string>> readList(const std::string &file);

/// Lists what passes. What the list already names and was not tested stays.
llvm::Error writeList(ReportFile &file, const std::vector<Test> &tests,
                      const std::vector<TestResult> &results);

struct Changes {
  std::vector<std::string> regressions; ///< listed, tested, do not pass
  std::vector<std::string> newlyPassing;
};
Changes compareWithList(const std::set<std::string> &list,
                        const std::vector<Test> &tests,
                        const std::vector<TestResult> &results);

} // namespace ashlar::check

#endif // ASHLAR_TOOLS_ASHLAR_CHECK_REPORT_H
