// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CarryScalars.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;

Value ashlar::scalarTensor(ImplicitLocOpBuilder &b, TypedAttr value) {
  Value constant = arith::ConstantOp::create(b, value);
  Value empty =
      tensor::EmptyOp::create(b, ArrayRef<int64_t>(), value.getType());
  return linalg::FillOp::create(b, constant, empty).getResult(0);
}

bool CarryScalars::reaches(Block *block) {
  Operation *parent = block->getParentOp();
  return isa<func::FuncOp>(parent) ||
         (isControlFlow(parent) && reaches(parent->getBlock()));
}

CarryScalars::~CarryScalars() {
  for (Operation *op : gone)
    op->destroy();
}

Value CarryScalars::now(Value value) const {
  for (auto it = replaced.find(value); it != replaced.end();
       it = replaced.find(value))
    value = it->second;
  return value;
}

/// `by` has the results of `op` and one more, which is returned.
Value CarryScalars::replace(Operation *op, Operation *by) {
  by->setAttrs(op->getAttrs());
  for (auto [from, to] : llvm::zip(op->getResults(), by->getResults())) {
    from.replaceAllUsesWith(to);
    replaced[from] = to;
  }
  op->remove();
  op->dropAllReferences();
  gone.push_back(op);
  return by->getResults().back();
}

Value ashlar::joinScalars(Block *block, Value x, Value y,
                          CombineScalars combine) {
  ImplicitLocOpBuilder b(x.getLoc(), block->getTerminator());
  auto type = cast<RankedTensorType>(x.getType());
  Value empty =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps(3, AffineMap::get(0, 0, b.getContext()));
  return linalg::GenericOp::create(
             b, type, ValueRange{x, y}, empty, maps,
             ArrayRef<utils::IteratorType>(),
             [&](OpBuilder &inner, Location at, ValueRange values) {
               ImplicitLocOpBuilder body(at, inner);
               linalg::YieldOp::create(body,
                                       combine(body, values[0], values[1]));
             })
      .getResult(0);
}

static void append(Operation *terminator, Value value) {
  terminator->insertOperands(terminator->getNumOperands(), value);
}

Value CarryScalars::out(Value scalar, TypedAttr start, CombineScalars combine) {
  Block *block = scalar.getParentBlock();
  Operation *op = block->getParentOp();
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Type type = scalar.getType();
  SmallVector<Type> types(op->getResultTypes());
  types.push_back(type);
  if (auto branches = dyn_cast<scf::IfOp>(op)) {
    Value zero = scalarTensor(b, start);
    auto by = scf::IfOp::create(b, types, branches.getCondition(),
                                /*addThenBlock=*/false,
                                /*addElseBlock=*/false);
    for (auto [from, to] : llvm::zip(op->getRegions(), by->getRegions())) {
      to.takeBody(from);
      append(to.front().getTerminator(), &to.front() == block ? scalar : zero);
    }
    return replace(op, by);
  }
  SmallVector<Value> inits;
  auto addArgument = [&](Region &region) {
    return region.front().addArgument(type, scalar.getLoc());
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    inits = llvm::to_vector<4>(loop.getInitArgs());
    inits.push_back(scalarTensor(b, start));
    auto by = scf::ForOp::create(b, loop.getLowerBound(), loop.getUpperBound(),
                                 loop.getStep(), inits);
    by.getRegion().takeBody(loop.getRegion());
    append(block->getTerminator(),
           joinScalars(block, addArgument(by.getRegion()), scalar, combine));
    return replace(op, by);
  }
  auto loop = cast<scf::WhileOp>(op);
  inits = llvm::to_vector<4>(loop.getInits());
  inits.push_back(scalarTensor(b, start));
  auto by = scf::WhileOp::create(b, types, inits);
  for (auto [from, to] : llvm::zip(op->getRegions(), by->getRegions())) {
    to.takeBody(from);
    Value soFar = addArgument(to);
    append(to.front().getTerminator(),
           &to.front() == block ? joinScalars(block, soFar, scalar, combine)
                                : soFar);
  }
  return replace(op, by);
}
