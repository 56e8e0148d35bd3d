// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ElementUpdates.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ashlar;

/// Follows what `loop` carries; false where anything else happens to it than
/// that elements of it are read and replaced and it is handed on.
static bool followCarried(scf::ForOp loop, ElementUpdates &updates) {
  if (loop.getNumResults() != 1)
    return false;
  SmallVector<Value> carried = {loop.getRegionIterArg(0)};
  while (!carried.empty()) {
    Value value = carried.pop_back_val();
    updates.carried.push_back(value);
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto inner = dyn_cast<scf::ForOp>(user)) {
        if (!followCarried(inner, updates))
          return false;
        carried.push_back(inner.getResult(0));
      } else if (auto insert = dyn_cast<tensor::InsertOp>(user)) {
        updates.accesses.push_back(insert);
        carried.push_back(insert.getResult());
      } else if (isa<tensor::ExtractOp>(user)) {
        updates.accesses.push_back(user);
      } else if (!isa<scf::YieldOp>(user) || user->getParentOp() != loop) {
        return false;
      }
    }
  }
  return true;
}

std::optional<ElementUpdates> ashlar::matchElementUpdates(Value after,
                                                          Value before) {
  int64_t rank = cast<RankedTensorType>(before.getType()).getRank();
  auto back = after.getDefiningOp<linalg::TransposeOp>();
  auto loop = (back ? back.getInput() : after).getDefiningOp<scf::ForOp>();
  ElementUpdates updates;
  if (!loop || !followCarried(loop, updates))
    return std::nullopt;
  Value initial = loop.getInitArgs()[0];
  auto moved = initial.getDefiningOp<linalg::TransposeOp>();
  if ((moved ? moved.getInput() : initial) != before ||
      bool(moved) != bool(back))
    return std::nullopt;
  updates.loop = loop;
  updates.order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (!moved)
    return updates;
  updates.order.assign(moved.getPermutation());
  for (auto [dim, from] : llvm::enumerate(back.getPermutation()))
    if (updates.order[from] != int64_t(dim))
      return std::nullopt;
  return updates;
}

Value ashlar::updateInPlace(const ElementUpdates &updates, Value place) {
  scf::ForOp loop = updates.loop;
  Operation *moved = loop.getInitArgs()[0].getDefiningOp();
  loop.getInitArgsMutable()[0].set(place);
  if (moved && isOpTriviallyDead(moved))
    moved->erase();
  for (Value value : updates.carried)
    value.setType(place.getType());
  loop.getResult(0).setType(place.getType());
  for (Operation *access : updates.accesses) {
    auto insert = dyn_cast<tensor::InsertOp>(access);
    MutableOperandRange indices =
        insert ? insert.getIndicesMutable()
               : cast<tensor::ExtractOp>(access).getIndicesMutable();
    SmallVector<Value> moved(updates.order.size());
    for (auto [to, index] : llvm::zip(updates.order, indices))
      moved[to] = index.get();
    indices.assign(moved);
  }
  return loop.getResult(0);
}
