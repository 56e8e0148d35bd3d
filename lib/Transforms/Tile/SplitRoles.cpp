// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place where a program that is written as if nothing overlapped is
// told apart by who does what. How far copies run ahead is the rings' matter.
#include "CopiesAhead.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_SPLITROLESPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// The ops of one loop's body, by role.
class Splitter {
public:
  explicit Splitter(scf::ForOp loop) : loop(loop) {}

  void run() {
    // The loops inside come first, and no role holds another.
    auto isRole = [](tile::RoleOp) { return WalkResult::interrupt(); };
    if (loop.getBody()->walk(isRole).wasInterrupted())
      return;
    if (!findBringers() || bringers.empty())
      return;
    // What later ops of the body read besides copies stays where both see it.
    for (Operation *op : llvm::make_early_inc_range(llvm::reverse(bringers)))
      if (!isa<tile::CopyOp>(op) && isReadElsewhere(op))
        bringers.remove(op);
    SmallVector<Operation *> computers;
    for (Operation &op : loop.getBody()->without_terminator())
      if (!bringers.contains(&op) && !feedsBringers(&op))
        computers.push_back(&op);
    OpBuilder b(loop.getBody()->getTerminator());
    enclose("producer", inOrder(), b);
    enclose("consumer", computers, b);
  }

private:
  /// Copies that may run ahead, and what their operands come from. False: one
  /// needs what the loop computes.
  bool findBringers() {
    for (auto copy : loop.getBody()->getOps<tile::CopyOp>()) {
      if (copy.getRing().getType().getSlots() < 2)
        continue;
      std::string why = whyNotAhead(copy, loop, {}, bringers);
      if (!why.empty()) {
        copy.emitRemark("does not run ahead: ") << why;
        return false;
      }
      bringers.insert(copy);
    }
    return true;
  }

  bool isReadElsewhere(Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return !bringers.contains(loop.getBody()->findAncestorOpInBlock(*user));
    });
  }

  bool feedsBringers(Operation *op) {
    return isPure(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
             return bringers.contains(
                        loop.getBody()->findAncestorOpInBlock(*user)) ||
                    feedsBringers(user);
           });
  }

  SmallVector<Operation *> inOrder() const {
    SmallVector<Operation *> ops(bringers.begin(), bringers.end());
    llvm::sort(
        ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    return ops;
  }

  void enclose(StringRef name, ArrayRef<Operation *> ops, OpBuilder &b) {
    llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
    SmallVector<Value> handed;
    for (Operation *op : ops)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !inside.contains(
                  loop.getBody()->findAncestorOpInBlock(*user));
            }))
          handed.push_back(result);
    auto role = tile::RoleOp::create(b, loop.getLoc(),
                                     TypeRange(ValueRange(handed)), name,
                                     /*concurrent=*/false, /*team=*/nullptr);
    Block &body = role.getBody().emplaceBlock();
    for (auto [value, result] : llvm::zip(handed, role.getHanded()))
      value.replaceUsesWithIf(result, [&](OpOperand &use) {
        return !inside.contains(
            loop.getBody()->findAncestorOpInBlock(*use.getOwner()));
      });
    for (Operation *op : ops)
      op->moveBefore(&body, body.end());
    OpBuilder end = OpBuilder::atBlockEnd(&body);
    tile::HandOverOp::create(end, loop.getLoc(), handed);
  }

  scf::ForOp loop;
  llvm::SetVector<Operation *> bringers;
};

struct SplitRoles : ashlar::impl::SplitRolesPassBase<SplitRoles> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) { Splitter(loop).run(); });
  }
};
} // namespace
