// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_INLINEROLESPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
struct InlineRoles : ashlar::impl::InlineRolesPassBase<InlineRoles> {
  void runOnOperation() override {
    getOperation().walk([](tile::RoleOp role) {
      tile::HandOverOp end = role.getHandOver();
      role.replaceAllUsesWith(end.getValues());
      end.erase();
      role->getBlock()->getOperations().splice(
          role->getIterator(), role.getBody().front().getOperations());
      role.erase();
    });
  }
};
} // namespace
