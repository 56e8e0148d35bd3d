// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands for several ops becomes those: linalg's softmax and its
// relayouts, and arithmetic on indices, which conversions of TOSA write in a
// dialect of its own.
#include "EntryImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar::mlir_import;

template <typename To, typename From>
static Value binary(OpBuilder &b, From op) {
  return To::create(b, op.getLoc(), op.getLhs(), op.getRhs());
}

/// The value of an op of the dialect `index` in `arith`, or null.
static Value asArith(OpBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](index::ConstantOp x) {
        return arith::ConstantIndexOp::create(b, x.getLoc(),
                                              x.getValue().getSExtValue());
      })
      .Case([&](index::AddOp x) { return binary<arith::AddIOp>(b, x); })
      .Case([&](index::SubOp x) { return binary<arith::SubIOp>(b, x); })
      .Case([&](index::MulOp x) { return binary<arith::MulIOp>(b, x); })
      .Case([&](index::DivSOp x) { return binary<arith::DivSIOp>(b, x); })
      .Case([&](index::DivUOp x) { return binary<arith::DivUIOp>(b, x); })
      .Case([&](index::RemSOp x) { return binary<arith::RemSIOp>(b, x); })
      .Case([&](index::RemUOp x) { return binary<arith::RemUIOp>(b, x); })
      .Case([&](index::CastSOp x) {
        return arith::IndexCastOp::create(b, x.getLoc(), x.getType(),
                                          x.getInput());
      })
      .Case([&](index::CastUOp x) {
        return arith::IndexCastUIOp::create(b, x.getLoc(), x.getType(),
                                            x.getInput());
      })
      .Default([](Operation *) { return Value(); });
}

/// Replaces `op` where it is one of these; fails when it cannot be.
static LogicalResult decompose(IRRewriter &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
    FailureOr<SmallVector<Value>> values = softmax.decomposeOperation(rewriter);
    if (failed(values))
      return failure();
    rewriter.replaceOp(op, *values);
  } else if (auto pack = dyn_cast<linalg::PackOp>(op)) {
    return linalg::lowerPack(rewriter, pack,
                             /*lowerPadLikeWithInsertSlice=*/false);
  } else if (auto unpack = dyn_cast<linalg::UnPackOp>(op)) {
    return linalg::lowerUnPack(rewriter, unpack,
                               /*lowerUnpadLikeWithExtractSlice=*/false);
  } else if (isa<index::IndexDialect>(op->getDialect())) {
    Value value = asArith(rewriter, op);
    if (!value)
      return failure();
    rewriter.replaceOp(op, value);
  }
  return success();
}

LogicalResult ashlar::mlir_import::decomposeOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<linalg::SoftmaxOp, linalg::PackOp, linalg::UnPackOp>(op) ||
        isa<index::IndexDialect>(op->getDialect()))
      ops.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (Operation *op : ops) {
    std::string name = op->getName().getStringRef().str();
    Location loc = op->getLoc();
    if (failed(decompose(rewriter, op)))
      return emitError(loc) << "'" << name
                            << "' cannot be taken apart; write what it does "
                               "with linalg.generic";
  }
  return success();
}
