// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowsBehind.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

/// Whether it is a kernel of the host.
static bool isOnHost(Operation *op) {
  auto dispatch = dyn_cast<exec::DispatchOp>(op);
  return op->getNumResults() == 1 &&
         (dispatch ? dispatch.getDevice() == 0 : isa<linalg::GenericOp>(op));
}

static SmallVector<linalg::GenericOp> genericsOf(Operation *kernel) {
  if (auto generic = dyn_cast<linalg::GenericOp>(kernel))
    return {generic};
  if (auto dispatch = dyn_cast<exec::DispatchOp>(kernel))
    return llvm::to_vector(dispatch.getBody().getOps<linalg::GenericOp>());
  return {};
}

/// Whether a kernel reduces along some dims.
static bool reducesRows(Operation *kernel) {
  return llvm::any_of(genericsOf(kernel), [](linalg::GenericOp op) {
    return op.getNumReductionLoops() != 0;
  });
}

/// What the host makes of the contraction's result, and of that again.
static SmallVector<Operation *> readersOf(Operation *from) {
  // A norm in single steps, and a little more.
  constexpr size_t most = 24;
  SmallVector<Operation *> chain;
  for (Operation *op = from->getNextNode(); op && chain.size() < most;
       op = op->getNextNode()) {
    bool reads = llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *maker = operand.getDefiningOp();
      return maker && (maker == from || llvm::is_contained(chain, maker));
    });
    if (reads && (isOnHost(op) ||
                  isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)))
      chain.push_back(op);
  }
  return chain;
}

/// Those of a chain that make `last`, if nobody else reads anything of them,
/// and rows are combined; else nothing.
static SmallVector<Operation *> partOf(Operation *from, Operation *last,
                                       ArrayRef<Operation *> chain) {
  llvm::SmallPtrSet<Operation *, 16> needed = {last};
  SmallVector<Operation *> part;
  int64_t bytes = 0;
  bool reduces = false;
  for (Operation *op : llvm::reverse(chain)) {
    if (!needed.contains(op))
      continue;
    part.insert(part.begin(), op);
    reduces |= reducesRows(op);
    for (Value operand : op->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (llvm::is_contained(chain, maker))
        needed.insert(maker);
      else if (maker != from &&
               !isa_and_nonnull<linalg::FillOp, tensor::EmptyOp>(maker) &&
               !matchPattern(operand, m_Constant()))
        bytes += byteSize(operand.getType());
    }
  }
  needed.insert(from);
  for (Operation *op : needed)
    if (op != last && !llvm::all_of(op->getUsers(), [&](Operation *user) {
          return needed.contains(user);
        }))
      return {};
  // Nothing large goes to the device instead.
  if (!reduces || bytes > byteSize(from->getResult(0).getType()))
    return {};
  return part;
}

SmallVector<Operation *> ashlar::rowsBehind(Operation *from) {
  SmallVector<Operation *> chain = readersOf(from);
  for (Operation *last : llvm::reverse(chain))
    if (isOnHost(last))
      if (SmallVector<Operation *> part = partOf(from, last, chain);
          !part.empty())
        return part;
  return {};
}

/// Whether it rounds its only operand and does nothing else.
static bool isRounding(Operation *kernel) {
  auto dispatch = dyn_cast<exec::DispatchOp>(kernel);
  SmallVector<linalg::GenericOp> generics = genericsOf(kernel);
  if ((dispatch && dispatch.getNumOperands() != 1) || generics.size() != 1 ||
      generics.front().getNumDpsInputs() != 1)
    return false;
  linalg::GenericOp op = generics.front();
  Operation *rounding =
      op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  return isa_and_nonnull<arith::TruncFOp>(rounding) &&
         rounding->getOperand(0) == op.getBody()->getArgument(0) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); });
}

Operation *ashlar::roundingOf(Value value) {
  for (Operation *user : value.getUsers())
    if (isOnHost(user) && isRounding(user) &&
        user->getBlock() == value.getParentBlock())
      return user;
  return nullptr;
}
