// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ashlar-check does: tests in ONNX's layout (model.onnx beside folders
// test_data_set_N with input_K.pb and output_K.pb) are compiled, run and
// compared, each in a process of its own.
#ifndef ASHLAR_CHECK_CHECK_H
#define ASHLAR_CHECK_CHECK_H

#include "ashlar/Check/CheckOptions.h"
#include <functional>
#include <string>
#include <vector>

namespace ashlar::check {

enum class Verdict { Passed, Failed, Unsupported };

struct TestResult {
  Verdict verdict = Verdict::Failed;
  std::string op;  ///< the first part that is not supported
  std::string why; ///< one line; empty when passed
  /// Names of inputs whose values were compiled into the module, as --value
  /// does: some node needed to know them.
  std::string fixedInputs = {};
  double seconds = 0;
};

/// One folder with a model.onnx.
struct Test {
  std::string path;
  std::string set;  ///< name of the folder around it
  std::string name; ///< name of the folder itself
};

/// The tests that a folder is or holds, sorted by name; empty if there are
/// none.
std::vector<Test> findTests(const std::string &folder);

/// Checks one test in this process.
TestResult checkTest(const Test &test, const CheckOptions &options);

/// Checks all of them, several at a time, each in a child process, so that a
/// crash or an endless loop is that one test's failure. `report` hears of each
/// in the order of the tests.
std::vector<TestResult>
checkTests(const std::vector<Test> &tests, const CheckOptions &options,
           const std::function<void(const Test &, const TestResult &)> &report);

/// "passed", "failed: WHY" or "unsupported: OP, WHY".
std::string spell(const TestResult &result);

} // namespace ashlar::check

#endif // ASHLAR_CHECK_CHECK_H
