// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop that computes in its first block whether it goes on, as TOSA's
// while_loop does, computes that at the end of the step before instead, and
// once in front of the loop: between kernels a loop only reads a flag.
#include "EntryImporter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ashlar::mlir_import;

/// Whether the first block only reads a flag that is carried.
static bool readsFlag(scf::WhileOp loop) {
  Block &decide = *loop.getBeforeBody();
  auto read =
      loop.getConditionOp().getCondition().getDefiningOp<tensor::ExtractOp>();
  return read && isa<BlockArgument>(read.getTensor()) &&
         llvm::hasSingleElement(decide.without_terminator());
}

/// What the first block makes of `arguments`, computed here: the flag as a
/// tensor, then what it hands on.
static SmallVector<Value> decideHere(OpBuilder &b, scf::WhileOp loop,
                                     ValueRange arguments) {
  Block &decide = *loop.getBeforeBody();
  IRMapping map;
  map.map(decide.getArguments(), arguments);
  for (Operation &op : decide.without_terminator())
    b.clone(op, map);
  scf::ConditionOp condition = loop.getConditionOp();
  auto read = condition.getCondition().getDefiningOp<tensor::ExtractOp>();
  Value flag =
      read && cast<RankedTensorType>(read.getTensor().getType()).getRank() == 0
          ? map.lookupOrDefault(read.getTensor())
          : tensor::FromElementsOp::create(
                b, loop.getLoc(), RankedTensorType::get({}, b.getI1Type()),
                map.lookupOrDefault(condition.getCondition()))
                .getResult();
  SmallVector<Value> made = {flag};
  for (Value value : condition.getArgs())
    made.push_back(map.lookupOrDefault(value));
  return made;
}

static void rotate(scf::WhileOp loop) {
  OpBuilder b(loop);
  SmallVector<Value> starts = decideHere(b, loop, loop.getInits());
  auto types = llvm::to_vector_of<Type>(ValueRange(starts).getTypes());
  auto rotated = scf::WhileOp::create(b, loop.getLoc(), types, starts);
  rotated->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  SmallVector<Location> locations(types.size(), loop.getLoc());

  Block *decide = b.createBlock(&rotated.getBefore(), {}, types, locations);
  Value go = tensor::ExtractOp::create(b, loop.getLoc(), decide->getArgument(0),
                                       ValueRange());
  scf::ConditionOp::create(b, loop.getLoc(), go, decide->getArguments());

  rotated.getAfter().takeBody(loop.getAfter());
  Block &body = rotated.getAfter().front();
  body.insertArgument(0u, types[0], loop.getLoc());
  auto yield = cast<scf::YieldOp>(body.getTerminator());
  b.setInsertionPoint(yield);
  yield->setOperands(decideHere(b, loop, yield.getOperands()));
  loop->replaceAllUsesWith(rotated.getResults().drop_front());
  loop->erase();
}

void ashlar::mlir_import::rotateLoops(ModuleOp module) {
  SmallVector<scf::WhileOp> loops;
  module.walk([&](scf::WhileOp loop) {
    if (!readsFlag(loop))
      loops.push_back(loop);
  });
  // Those inside come first.
  for (scf::WhileOp loop : loops)
    rotate(loop);
}
