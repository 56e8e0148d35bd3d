// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Broken files end in an error, never in a crash; the suite under sanitizers
// makes sure of it.
#include "ONNXFile.h"
#include "ashlar/Import/ONNX/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>
#include <random>

using namespace ashlar;
using namespace ashlar::test;
using namespace mlir;

namespace {
class ONNXImportTest : public testing::Test {
protected:
  /// Imports the bytes as a file. A refusal must have said why.
  bool import(const std::string &bytes) {
    std::string path = folder.write("model.onnx", bytes);
    unsigned errors = 0;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
      EXPECT_NE(diagnostic.str(), "");
    });
    SmallVector<UnsupportedNode> unsupported;
    OwningOpRef<ModuleOp> module =
        importONNX(path, ONNXImportOptions(), &context, unsupported);
    if (!module)
      EXPECT_TRUE(errors != 0 || !unsupported.empty());
    return module && succeeded(verify(*module));
  }

  /// The example without the parts that nobody imports.
  std::string example() {
    onnx::ModelProto model = exampleModel();
    model.mutable_graph()->mutable_node()->RemoveLast();
    return model.SerializeAsString();
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  TemporaryFolder folder;
};

TEST_F(ONNXImportTest, TakesTheExample) { EXPECT_TRUE(import(example())); }

TEST_F(ONNXImportTest, RefusesTruncationAtEveryByte) {
  // All weights equal and few, so that the file is small.
  std::string bytes = example();
  for (size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 7)
    import(bytes.substr(0, size));
}

TEST_F(ONNXImportTest, RefusesOrSurvivesRandomFlips) {
  std::mt19937 random(7);
  std::string bytes = example();
  // The bytes that are not weights are what matters.
  size_t weights = bytes.find(std::string("\0\0\0\0\0\0\x80\x3f", 8));
  ASSERT_NE(weights, std::string::npos);
  for (int i = 0; i != 3000; ++i) {
    std::string flipped = bytes;
    for (unsigned flips = 1 + random() % 3; flips != 0; --flips) {
      size_t at = random() % (bytes.size() - 1600);
      flipped[at < weights ? at : at + 1600] ^= char(1 << random() % 8);
    }
    import(flipped);
  }
}

/// A chain as long as a model may be does not exhaust the stack.
TEST_F(ONNXImportTest, TakesLongChains) {
  onnx::ModelProto model = exampleModel();
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.clear_node();
  std::string last = "x";
  for (int i = 0; i != 20000; ++i) {
    onnx::NodeProto &node = *graph.add_node();
    node.set_op_type("Add");
    node.add_input(last);
    node.add_input("s");
    node.add_output(last = i == 19999 ? "y" : "t" + std::to_string(i));
  }
  EXPECT_TRUE(import(model.SerializeAsString()));
}
} // namespace
