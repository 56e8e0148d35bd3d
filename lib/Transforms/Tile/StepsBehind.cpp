// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StepsBehind.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ashlar;

int64_t ashlar::stepsInFlight(scf::ForOp loop) {
  std::optional<int64_t> all;
  for (auto step : loop.getBody()->getOps<tile::StepOp>()) {
    tile::FragmentAttr fragment = step.getAcc().getType().getFragment();
    int64_t own = fragment ? fragment.getInFlight() : 0;
    all = std::min(all.value_or(own), own);
  }
  return all.value_or(0);
}

static bool isStepOn(Operation *user, Value sums) {
  auto step = dyn_cast<tile::StepOp>(user);
  return step && step.getAcc() == sums;
}

/// Memory that is not a slot may change while a step reads it.
static bool isWritten(Value operand, scf::ForOp loop) {
  if (isa<tile::SlotType>(operand.getType()))
    return false;
  for (Operation &op : *loop.getBody())
    if (!isa<tile::CopyOp, tile::TakeOp, tile::WaitOp, tile::ReleaseOp,
             tile::StepOp>(op) &&
        !isMemoryEffectFree(&op))
      return true;
  return false;
}

std::string ashlar::whyNotBehind(scf::ForOp loop) {
  for (auto step : loop.getBody()->getOps<tile::StepOp>()) {
    if (step.getToken())
      return "it has a token already";
    for (Operation *user : step.getResult().getUsers())
      if (!isa<scf::YieldOp>(user) && !isStepOn(user, step.getResult()))
        return "its sums are used in the same iteration";
    for (Value operand : {step.getA(), step.getB()})
      if (isWritten(operand, loop))
        return "what it reads changes in the same loop";
  }
  for (auto release : loop.getBody()->getOps<tile::ReleaseOp>())
    if (!release.getAfter().empty())
      return "its slots are given back by a token";
  return "";
}

SmallVector<Operation *> ashlar::beginSteps(scf::ForOp loop) {
  OpBuilder b(loop);
  SmallVector<Value> tokens;
  auto steps = llvm::to_vector(loop.getBody()->getOps<tile::StepOp>());
  for (tile::StepOp step : steps) {
    b.setInsertionPoint(step);
    SmallVector<Type> types = {step.getResult().getType(),
                               tile::TokenType::get(b.getContext())};
    auto begun = tile::StepOp::create(b, step.getLoc(), types,
                                      step->getOperands(), step->getAttrs());
    step.getResult().replaceAllUsesWith(begun.getResult());
    step.erase();
    tokens.push_back(begun.getToken());
  }
  b.setInsertionPoint(loop.getBody()->getTerminator());
  SmallVector<Operation *> later;
  later.push_back(tile::WaitOp::create(b, loop.getLoc(), tokens));
  auto releases = llvm::to_vector(loop.getBody()->getOps<tile::ReleaseOp>());
  for (tile::ReleaseOp release : releases) {
    release->moveBefore(loop.getBody()->getTerminator());
    later.push_back(release);
  }
  return later;
}
