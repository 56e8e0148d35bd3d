// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Placement of models whose sizes each call chooses: what was chosen with the
// first sizes is chosen again, and devices with kernels for one size are left
// out.
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Machine/MachineFile.h"
#include "ashlar/Transforms/Fuse/FirstChoices.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace ashlar;

namespace {
class PlaceOperations : public testing::Test {
protected:
  PlaceOperations() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, tensor::TensorDialect,
                        tile::TileDialect>();
    llvm::Expected<MachineModel> machine = readMachineFile(FAST_MACHINE);
    if (machine) {
      // As long as some rows take on the host.
      machine->links.front().startNs = 20000;
      fast = describedCompanion(*machine);
    } else
      ADD_FAILURE() << llvm::toString(machine.takeError());
  }

  /// The device of a product of so many rows; -1: something failed.
  int64_t place(int64_t rows, std::shared_ptr<FirstChoices> choices) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(llvm::formatv(R"(
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n) -> (m, n)>
func.func @main(%x: tensor<{0}x64xf32>) -> tensor<{0}x64xf32> {{
  %w = arith.constant dense<0.5> : tensor<64x64xf32>
  %e = tensor.empty() : tensor<{0}x64xf32>
  %y = tile.contract a(%x : tensor<{0}x64xf32>) b(%w : tensor<64x64xf32>) outs(%e : tensor<{0}x64xf32>)
      attributes {{maps = [#a, #b, #c], parallel = array<i64: {0}, 64>, reduced = array<i64: 64>} {{
  ^bb0(%sum: f32):
    tile.yield %sum : f32
  } -> tensor<{0}x64xf32>
  return %y : tensor<{0}x64xf32>
})",
                                                  rows)
                                        .str(),
                                    &context);
    if (!module)
      return -1;
    PassManager passes(&context, func::FuncOp::getOperationName());
    passes.addPass(createPlaceOperationsPass(
        MachineModel::generic(), {fast}, /*hostStandsIn=*/false,
        /*openSizes=*/true, /*absorbsRows=*/true, std::move(choices)));
    auto function = *module->getOps<func::FuncOp>().begin();
    if (failed(passes.run(function)))
      return -1;
    int64_t device = -1;
    function.walk([&](tile::ContractOp op) {
      device = int64_t(op.getDevice().value_or(0));
    });
    return device;
  }

  MLIRContext context;
  CompanionDevice fast;
};

TEST_F(PlaceOperations, KeepsWhatTheFirstSizesChose) {
  // By itself each size has its own device.
  EXPECT_EQ(place(512, nullptr), 1);
  EXPECT_EQ(place(1, nullptr), 0);
  auto choices = std::make_shared<FirstChoices>();
  EXPECT_EQ(place(512, choices), 1);
  EXPECT_EQ(place(1, choices), 1);
  choices = std::make_shared<FirstChoices>();
  EXPECT_EQ(place(1, choices), 0);
  EXPECT_EQ(place(512, choices), 0);
}

TEST_F(PlaceOperations, LeavesOutDevicesOfFixedSizes) {
  fast.fixedSizes = true;
  EXPECT_EQ(place(512, nullptr), 0);
  // Nor does it come back with what was chosen before that was known.
  auto choices = std::make_shared<FirstChoices>();
  fast.fixedSizes = false;
  EXPECT_EQ(place(512, choices), 1);
  fast.fixedSizes = true;
  EXPECT_EQ(place(512, choices), 0);
}
} // namespace
