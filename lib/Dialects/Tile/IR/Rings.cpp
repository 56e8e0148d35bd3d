// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What holds for copies, their slots, and the roles around them.
#include "CheckMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace ashlar::tile;

/// The block of an iteration: that of the roles, where `op` is in one.
static Block *iterationOf(Operation *op) {
  Operation *parent = op->getParentOp();
  return isa_and_nonnull<RoleOp>(parent) ? parent->getBlock() : op->getBlock();
}

/// Whether x, in a role or not, is done before y, which may be deeper inside.
/// False where y is in another block.
static bool isDoneBefore(Operation *x, Operation *y) {
  if (Operation *beside = x->getBlock()->findAncestorOpInBlock(*y))
    return x->isBeforeInBlock(beside);
  Block *iteration = iterationOf(x);
  Operation *role = iteration->findAncestorOpInBlock(*x);
  Operation *beside = iteration->findAncestorOpInBlock(*y);
  return beside && role->isBeforeInBlock(beside);
}

/// All that stand for a value as roles hand it over, or for a slot as memory,
/// itself included.
static SmallVector<Value> handedOn(Value value) {
  SmallVector<Value> all = {value};
  for (size_t i = 0; i != all.size(); ++i)
    for (OpOperand &use : all[i].getUses()) {
      Operation *user = use.getOwner();
      auto role = dyn_cast_if_present<RoleOp>(user->getParentOp());
      if (isa<HandOverOp>(user)) {
        if (role && use.getOperandNumber() < role->getNumResults())
          all.push_back(role->getResult(use.getOperandNumber()));
      } else if (auto view = dyn_cast<ViewOp>(user))
        all.push_back(view.getMemory());
    }
  return all;
}

/// The one user of `value` that is a `User`, which is in the same iteration.
template <typename User> static User onlyUser(Value value, Block *iteration) {
  User found;
  for (Value handed : handedOn(value))
    for (Operation *user : handed.getUsers())
      if (auto candidate = dyn_cast<User>(user)) {
        if (found || iterationOf(user) != iteration)
          return {};
        found = candidate;
      }
  return found;
}

/// Whether roles, loops or other slots carry `value` to another iteration.
static bool travels(Value value) {
  return llvm::any_of(handedOn(value), [](Value handed) {
    return llvm::any_of(handed.getUsers(), [](Operation *user) {
      return !isa<HandOverOp>(user) &&
             (user->hasTrait<OpTrait::IsTerminator>() ||
              isa<LoopLikeOpInterface, RegionBranchOpInterface>(user));
    });
  });
}

/// Nothing uses `slot` behind its release, nor before `begin`.
static LogicalResult checkUses(Operation *op, Value slot, ReleaseOp release,
                               Operation *begin) {
  for (Value handed : handedOn(slot))
    for (Operation *user : handed.getUsers()) {
      if (user == release || isa<HandOverOp, ViewOp>(user) ||
          (isDoneBefore(begin, user) && !isDoneBefore(release, user)))
        continue;
      InFlightDiagnostic error = op->emitOpError(
          "expected its slot to be used between tile.wait and tile.release");
      error.attachNote(user->getLoc()) << "used here";
      return error;
    }
  return success();
}

LogicalResult CopyOp::verify() {
  RingType ring = getRing().getType();
  if (elementOf(getSource()) != ring.getElementType())
    return noteAt(emitOpError("expected elements of type ")
                      << ring.getElementType() << ", found "
                      << getSource().getType(),
                  getRing().getLoc(), "the ring is here");
  if (failed(checkMap(*this, "the source", getMap(), ring.getShape().size(),
                      getSource())) ||
      failed(checkOffsets(*this, getSource(), getOffsets())))
    return failure();
  // Another role takes it; or the loop is written out for several iterations
  // at once, which is for whoever does that to have right.
  if ((getSlot().use_empty() &&
       llvm::any_of(getRing().getUsers(), llvm::IsaPred<TakeOp>)) ||
      travels(getSlot()) || travels(getToken()))
    return success();
  Block *iteration = iterationOf(*this);
  auto wait = onlyUser<WaitOp>(getToken(), iteration);
  auto release = onlyUser<ReleaseOp>(getSlot(), iteration);
  if (!wait || !release)
    return emitOpError("expected one tile.wait for its token and one "
                       "tile.release of its slot in its block");
  return checkUses(*this, getSlot(), release, wait);
}

LogicalResult TakeOp::verify() {
  if (travels(getSlot()))
    return success();
  auto release = onlyUser<ReleaseOp>(getSlot(), iterationOf(*this));
  if (!release)
    return emitOpError("expected one tile.release of its slot in its block");
  return checkUses(*this, getSlot(), release, *this);
}

Value SlotOfOp::getViewSource() { return getMemory(); }

LogicalResult ThreadStepOp::verify() {
  auto acc = cast<AccType>(getType());
  if (!acc.getFragment() || getValues().getTypes() != getSums().getTypes() ||
      getBegin().size() != acc.getShape().size())
    return emitOpError("expected an accumulator with a fragment, as many sums "
                       "as values, and a place for each of its ")
           << acc.getShape().size() << " dims, found " << acc;
  return success();
}

LogicalResult ViewOp::verify() {
  MemRefType view = getSlot().getType().getView();
  if (!view)
    return noteAt(emitOpError("expected a slot without a swizzle, found ")
                      << getSlot().getType(),
                  getSlot().getLoc(), "the slot is here");
  if (getMemory().getType() != view)
    return noteAt(emitOpError("expected ")
                      << view << ", found " << getMemory().getType(),
                  getSlot().getLoc(), "the slot is here");
  return success();
}

LogicalResult WaitOp::verify() {
  if (getTokens().empty())
    return emitOpError("expected at least one token");
  return success();
}

HandOverOp RoleOp::getHandOver() {
  return cast<HandOverOp>(getBody().front().getTerminator());
}

LogicalResult RoleOp::verify() {
  for (Operation &other : *(*this)->getBlock())
    if (auto role = dyn_cast<RoleOp>(other);
        role && role != *this && role.getConcurrent() && getConcurrent() &&
        role.getName() == getName()) {
      InFlightDiagnostic error =
          emitOpError("expected concurrent roles to have names of their own, "
                      "found a second '")
          << getName() << "'";
      error.attachNote(role.getLoc()) << "the other one is here";
      return error;
    }
  if (auto outer = (*this)->getParentOfType<RoleOp>()) {
    InFlightDiagnostic error = emitOpError("expected no role inside a role");
    error.attachNote(outer.getLoc()) << "the outer role is here";
    return error;
  }
  if (!getConcurrent())
    return success();
  if (getNumResults() != 0)
    return noteAt(emitOpError("expected concurrent roles to be joined by rings "
                              "alone, found results of types ")
                      << getResultTypes(),
                  getHandOver().getLoc(), "handed over here");
  bool hasEnded = false;
  for (Operation *next = (*this)->getNextNode(); next;
       next = next->getNextNode()) {
    auto role = dyn_cast<RoleOp>(next);
    if (hasEnded && role && role.getConcurrent()) {
      InFlightDiagnostic error =
          emitOpError("expected concurrent roles behind each other, found "
                      "other ops between them");
      error.attachNote(role.getLoc()) << "the next role is here";
      return error;
    }
    hasEnded |= !role || !role.getConcurrent();
  }
  return success();
}

LogicalResult RoleOp::verifyRegions() {
  if (getHandOver().getValues().getTypes() == getHanded().getTypes())
    return success();
  InFlightDiagnostic error = emitOpError("expected to hand over ")
                             << getHanded().getTypes() << ", found "
                             << getHandOver().getValues().getTypes();
  error.attachNote(getHandOver().getLoc()) << "handed over here";
  return error;
}

void CopyOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getRingMutable());
}
