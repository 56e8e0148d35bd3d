// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles that run side by side, as branches by the number of a thread: first
// those of the threads that compute, then those of one that copies.
#include "Roles.h"
#include "ashlar/Support/NoteAt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::simt;

/// On a branch: the first so many threads take it, and others do not.
static constexpr llvm::StringLiteral takersAttrName = "tile.takers";

static void fillBranch(Block &into, tile::RoleOp role) {
  Block &body = role.getBody().front();
  body.getTerminator()->erase();
  into.getOperations().splice(into.getTerminator()->getIterator(),
                              body.getOperations());
}

static void setRegisters(OpBuilder &b, tile::RoleOp role, bool more) {
  if (tile::TeamAttr team = role.getTeamAttr(); team && team.getRegisters())
    tile::ThreadRegistersOp::create(b, role.getLoc(), team.getRegisters(),
                                    more);
}

namespace {
/// Turns of the groups of a role as barriers, one for each group: who has its
/// turn has waited at its own, and arrives at the next one's at the end.
class TurnSharer {
public:
  TurnSharer(tile::RoleOp role, const Threads &threads)
      : role(role), threads(threads) {
    role.walk([&](Operation *op) {
      if (isa<tile::TakeTurnOp, tile::PassTurnOp>(op))
        turns.push_back(op);
      if (auto take = dyn_cast<tile::TakeTurnOp>(op))
        groups = take.getGroups();
    });
    own = threads.count / groups;
  }

  void run() {
    if (turns.empty())
      return;
    for (Operation *op : turns) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      Value group = arith::DivUIOp::create(b, threads.number, index(b, own));
      bool passes = isa<tile::PassTurnOp>(op);
      if (passes) {
        Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, group,
                                             index(b, groups - 1));
        group = arith::SelectOp::create(
            b, isLast, index(b, 0),
            arith::AddIOp::create(b, group, index(b, 1)));
      }
      meetAt(b, group, passes);
      op->erase();
    }
    // In front of both roles the last group lets the first one begin, which
    // waits for the last turn behind them: all meet as often at each barrier.
    ImplicitLocOpBuilder b(role.getLoc(), role->getPrevNode());
    atEnds(b, "begin", arith::CmpIPredicate::uge, own * (groups - 1));
    b.setInsertionPointAfter(role);
    atEnds(b, "end", arith::CmpIPredicate::ult, own);
  }

private:
  static Value index(ImplicitLocOpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  void meetAt(ImplicitLocOpBuilder &b, Value group, bool arrives) {
    tile::ThreadTurnOp::create(
        b, arith::IndexCastOp::create(b, b.getI32Type(), group), 2 * own,
        arrives);
  }

  /// Of all that computes, those whose number is so.
  void atEnds(ImplicitLocOpBuilder &b, StringRef when, arith::CmpIPredicate how,
              int64_t number) {
    auto is = [&](arith::CmpIPredicate how, int64_t number) -> Value {
      return arith::CmpIOp::create(b, how, threads.number, index(b, number));
    };
    Value takes = arith::AndIOp::create(
        b, is(how, number), is(arith::CmpIPredicate::ult, threads.count));
    auto branch = scf::IfOp::create(b, takes, /*withElseRegion=*/false);
    branch->setAttr(onceAttrName, b.getStringAttr(when));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    meetAt(b, index(b, 0), /*arrives=*/when == "begin");
  }

  tile::RoleOp role;
  const Threads &threads;
  SmallVector<Operation *> turns;
  int64_t groups = 1, own; ///< threads of a group
};
} // namespace

FailureOr<int64_t>
ashlar::simt::shareRoles(Operation *kernel, const Threads &threads,
                         const llvm::StringMap<int64_t> &scopes) {
  SmallVector<tile::RoleOp> roles;
  kernel->walk([&](tile::RoleOp role) { roles.push_back(role); });
  int64_t all = threads.count;
  for (tile::RoleOp producer : roles) {
    if (producer.getName() != "producer")
      continue;
    auto consumer = dyn_cast_or_null<tile::RoleOp>(producer->getNextNode());
    tile::TeamAttr team = producer.getTeamAttr();
    if (!producer.getConcurrent() || !consumer || !team ||
        !scopes.contains(team.getScope()))
      return noteAt(producer.emitOpError("expected concurrent roles, "
                                         "'producer' and 'consumer', whose "
                                         "teams are of the machine's scopes"),
                    producer->getNextNode()->getLoc(), "this follows it");
    all = std::max(all, threads.count +
                            team.getCount() * scopes.lookup(team.getScope()));
    TurnSharer(consumer, threads).run();
    ImplicitLocOpBuilder b(producer.getLoc(), producer);
    Value count = arith::ConstantIndexOp::create(b, threads.count);
    auto is = [&](arith::CmpIPredicate how) -> Value {
      return arith::CmpIOp::create(b, how, threads.number, count);
    };
    auto branch = scf::IfOp::create(b, is(arith::CmpIPredicate::ult),
                                    /*withElseRegion=*/true);
    branch->setAttr(takersAttrName, b.getI64IntegerAttr(threads.count));
    b.setInsertionPointToStart(branch.thenBlock());
    setRegisters(b, consumer, /*more=*/true);
    fillBranch(*branch.thenBlock(), consumer);
    b.setInsertionPointToStart(branch.elseBlock());
    setRegisters(b, producer, /*more=*/false);
    auto one = scf::IfOp::create(b, is(arith::CmpIPredicate::eq),
                                 /*withElseRegion=*/false);
    fillBranch(*one.thenBlock(), producer);
    consumer.erase();
    producer.erase();
  }
  // Others come to barriers of all while one has its turn.
  kernel->walk([](Operation *op) {
    if (isa<tile::TakeTurnOp, tile::PassTurnOp>(op))
      op->erase();
  });
  return all;
}

/// How many threads take the innermost branch of a role around it; 0: all come
/// here.
static int64_t takersAt(Operation *around) {
  for (; around; around = around->getParentOp())
    if (auto takers = around->getAttrOfType<IntegerAttr>(takersAttrName))
      return takers.getInt();
  return 0;
}

Operation *ashlar::simt::meet(OpBuilder &b, Location at) {
  if (int64_t takers = takersAt(b.getInsertionBlock()->getParentOp()))
    return tile::ThreadMeetOp::create(b, at, takers);
  return gpu::BarrierOp::create(b, at);
}

void ashlar::simt::meetInRoles(Operation *kernel) {
  SmallVector<gpu::BarrierOp> barriers;
  kernel->walk([&](gpu::BarrierOp op) {
    if (takersAt(op->getParentOp()))
      barriers.push_back(op);
  });
  for (gpu::BarrierOp barrier : barriers) {
    OpBuilder b(barrier);
    meet(b, barrier.getLoc());
    barrier.erase();
  }
}
