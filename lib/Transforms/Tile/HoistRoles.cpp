// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives copies loops of their own, beside those of what reads them: one role
// runs ahead as far as the rings have slots.
#include "CopiesAhead.h"
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "ashlar/Transforms/Tile/TensorBox.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_HOISTROLESPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// One worker's program: the body of an scf.forall, or a function's.
class Hoister {
public:
  /// `teams`: who does the roles; null: nobody says.
  Hoister(Block &block, ArrayAttr teams) : block(block), teams(teams) {}

  void run() {
    bool hasRoles = false;
    block.walk([&](Operation *op) {
      hasRoles |= isa<tile::RoleOp>(op);
      auto copy = dyn_cast<tile::CopyOp>(op);
      if (copy && copy.getRing().getType().getSlots() >= 2 &&
          copy->getParentOfType<scf::ForallOp>() == workerOf(block))
        copies.insert(copy);
    });
    if (copies.empty() || hasRoles)
      return;
    for (tile::CopyOp copy : copies)
      if (std::string why = whyNot(copy); !why.empty()) {
        copy.emitRemark("does not run ahead: ") << why;
        return;
      }
    // Both roles see what is made in front of them.
    SmallVector<Operation *> own;
    for (Operation &op : block.without_terminator())
      if (!(isa<tile::AllocOp, tile::DecodeOp>(op) ||
            (isMemoryEffectFree(&op) && op.getNumRegions() == 0)) ||
          llvm::any_of(op.getOperands(), [&](Value operand) {
            return llvm::is_contained(own, operand.getDefiningOp());
          }))
        own.push_back(&op);
    // What a function returns is made in front of its end.
    if (llvm::any_of(block.getTerminator()->getOperands(), [&](Value operand) {
          return llvm::is_contained(own, operand.getDefiningOp());
        })) {
      tile::CopyOp(copies.front())
          .emitRemark("does not run ahead: the function returns what it "
                      "computes");
      return;
    }
    OpBuilder b(block.getTerminator());
    Location location = tile::CopyOp(copies.front()).getLoc();
    begin(b, location, "producer", teamOf(0), [&](OpBuilder &inner) {
      for (Operation *op : own)
        bring(inner, op);
    });
    begin(b, location, "consumer", teamOf(1), [&](OpBuilder &inner) {
      for (Operation *op : own)
        op->moveBefore(inner.getBlock(), inner.getInsertionPoint());
    });
    llvm::for_each(copies, take);
  }

private:
  /// The scf.forall whose body it is; null: a function's.
  static scf::ForallOp workerOf(Block &block) {
    return dyn_cast<scf::ForallOp>(block.getParentOp());
  }

  std::string whyNot(tile::CopyOp copy) {
    SmallVector<Value> bounds;
    for (Operation *around = copy->getParentOp(); around != block.getParentOp();
         around = around->getParentOp()) {
      if (!isa<scf::ForOp, scf::IfOp>(around))
        return ("it stands in '" + around->getName().getStringRef() + "'")
            .str();
      unsigned count = isa<scf::ForOp>(around) ? 3 : 1;
      llvm::append_range(bounds, around->getOperands().take_front(count));
    }
    return whyNotAhead(copy, block.getParentOp(), bounds, slice);
  }

  tile::TeamAttr teamOf(unsigned role) {
    return teams ? cast<tile::TeamAttr>(teams[role]) : tile::TeamAttr();
  }

  static void begin(OpBuilder &b, Location location, StringRef name,
                    tile::TeamAttr team,
                    llvm::function_ref<void(OpBuilder &)> body) {
    auto role = tile::RoleOp::create(b, location, TypeRange(), name,
                                     /*concurrent=*/true, team);
    OpBuilder inner = OpBuilder::atBlockBegin(&role.getBody().emplaceBlock());
    inner.setInsertionPoint(tile::HandOverOp::create(inner, location));
    body(inner);
  }

  bool holdsCopy(Operation *op) {
    return llvm::any_of(
        copies, [&](tile::CopyOp copy) { return op->isAncestor(copy); });
  }

  /// The copies of `op`, with the loops around them and what both need.
  void bring(OpBuilder &b, Operation *op) {
    if (slice.contains(op) || (isa<tile::CopyOp>(op) && holdsCopy(op))) {
      b.clone(*op, mapping);
      return;
    }
    if (!holdsCopy(op))
      return;
    auto inside = [&](Block &from, OpBuilder inner) {
      for (Operation &each : from.without_terminator())
        bring(inner, &each);
    };
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto own = scf::ForOp::create(
          b, op->getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
          mapping.lookupOrDefault(loop.getUpperBound()),
          mapping.lookupOrDefault(loop.getStep()));
      mapping.map(loop.getInductionVar(), own.getInductionVar());
      inside(*loop.getBody(), OpBuilder(own.getBody()->getTerminator()));
      return;
    }
    auto branch = cast<scf::IfOp>(op);
    auto own = scf::IfOp::create(
        b, op->getLoc(), mapping.lookupOrDefault(branch.getCondition()),
        /*withElseRegion=*/!branch.getElseRegion().empty());
    inside(*branch.thenBlock(), own.getThenBodyBuilder());
    if (!branch.getElseRegion().empty())
      inside(*branch.elseBlock(), own.getElseBodyBuilder());
  }

  static void take(tile::CopyOp copy) {
    OpBuilder b(copy);
    for (Operation *user :
         llvm::make_early_inc_range(copy.getToken().getUsers())) {
      auto wait = cast<tile::WaitOp>(user);
      SmallVector<Value> others;
      for (Value token : wait.getTokens())
        if (token != copy.getToken())
          others.push_back(token);
      if (others.empty())
        wait.erase();
      else
        wait.getTokensMutable().assign(others);
    }
    copy.getSlot().replaceAllUsesWith(tile::TakeOp::create(
        b, copy.getLoc(), copy.getSlot().getType(), copy.getRing()));
    copy.erase();
  }

  Block &block;
  ArrayAttr teams;
  llvm::SetVector<tile::CopyOp> copies;
  llvm::SetVector<Operation *> slice; ///< what the places of copies come from
  IRMapping mapping;
};

struct HoistRoles : ashlar::impl::HoistRolesPassBase<HoistRoles> {
  using HoistRolesPassBase::HoistRolesPassBase;

  bool isByEngine(tile::CopyOp copy) {
    std::optional<StringRef> engine = copy.getEngine();
    return engine && llvm::is_contained(engines, engine->str());
  }

  /// Whether threads have all that the op takes and makes of accumulators where
  /// a fragment says, and exchange no more than lanes do.
  static bool isHeld(Operation *op) {
    auto isFragment = [](Type type) {
      auto acc = dyn_cast<tile::AccType>(type);
      return !acc || acc.getFragment();
    };
    return llvm::all_of(op->getOperandTypes(), isFragment) &&
           llvm::all_of(op->getResultTypes(), isFragment);
  }

  /// Why teams do not share out this kernel, or nothing.
  std::string whyNoTeams() {
    std::string why;
    getOperation().walk([&](Operation *op) {
      if (auto copy = dyn_cast<tile::CopyOp>(op)) {
        TensorBox box;
        why = !isByEngine(copy) || copy.getRing().getType().getSlots() < 2
                  ? "a copy is the threads' own work"
                  : whyNoBox(copy, box);
      } else if ((isa<tile::MapOp, tile::ReduceOp>(op) && !isHeld(op)) ||
                 isa<memref::AllocOp>(op)) {
        why = "its threads exchange values in the memory that rings have";
      }
      return why.empty() ? WalkResult::advance() : WalkResult::interrupt();
    });
    return why;
  }

  /// Engines that only roles wait for leave the copies to others.
  void leaveToOthers() {
    getOperation().walk([&](tile::CopyOp copy) {
      if (isByEngine(copy) && !copy->getParentOfType<tile::RoleOp>() &&
          !isTaken(copy)) {
        copy.setEngineAttr(StringAttr::get(&getContext(), otherwise));
        copy.setMulticast(false);
      }
    });
  }
  static bool isTaken(tile::CopyOp copy) {
    return llvm::any_of(copy.getRing().getUsers(), llvm::IsaPred<tile::TakeOp>);
  }

  void runOnOperation() override {
    if (getOperation().isExternal() || !getOperation().getBody().hasOneBlock())
      return;
    auto teams = getOperation()->getAttrOfType<ArrayAttr>(teamsAttrName);
    getOperation()->removeAttr(teamsAttrName);
    if (!engines.empty()) {
      if (!teams)
        return leaveToOthers();
      if (std::string why = whyNoTeams(); !why.empty()) {
        getOperation().emitRemark("roles do not share out its threads: ")
            << why;
        return leaveToOthers();
      }
    }
    SmallVector<Block *> workers = {&getOperation().getBody().front()};
    getOperation().walk(
        [&](scf::ForallOp loop) { workers.push_back(loop.getBody()); });
    for (Block *worker : workers)
      Hoister(*worker, teams).run();
    leaveToOthers();
  }
};
} // namespace
