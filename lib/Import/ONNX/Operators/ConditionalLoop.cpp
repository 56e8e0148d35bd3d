// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "LoopImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

Value LoopImporter::putRowAt(Value row, Value rows, Value step) {
  auto type = cast<RankedTensorType>(rows.getType());
  int64_t rank = type.getRank();
  MLIRContext *context = b.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(rank, context);
  AffineMap ofRow =
      AffineMap::get(rank, 0, all.getResults().drop_front(), context);
  return parallel(b, type.getShape(), type.getElementType(), {rows, row, step},
                  {all, ofRow, AffineMap::get(rank, 0, {}, context)},
                  [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                    Value number = arith::IndexCastOp::create(
                        b, loc, x[2].getType(),
                        linalg::IndexOp::create(b, loc, 0));
                    Value isHere = arith::CmpIOp::create(
                        b, loc, arith::CmpIPredicate::eq, number, x[2]);
                    return arith::SelectOp::create(b, loc, isHere, x[1], x[0]);
                  });
}

LogicalResult LoopImporter::conditional() {
  if (!areTensors(initial)) {
    if (limitTensor)
      return node.needsConstant(0, "how often it runs, while it carries a "
                                   "sequence or an optional,");
    return node.unsupported("it carries a sequence or an optional, and how "
                            "often it runs depends on the model's inputs");
  }
  if (unsigned(body.output_size()) != initial.size() + 1 && !limit) {
    if (limitTensor)
      return node.needsConstant(0, "how often the body runs, which collects "
                                   "rows in each step,");
    return node.unsupported("how often the body runs depends on the model's "
                            "inputs, and it collects rows in each step; the "
                            "size of what it collects is not known");
  }
  StepBlock inner(node);
  SmallVector<Value> arguments = decidingArguments(inner);
  if (failed(importBody(inner.block, arguments)) || failed(checkCarried()))
    return failure();
  // Goes on where the condition holds and the next step is below the limit.
  auto goesOn = [&](Value condition, Value counter) -> Value {
    condition = reshape(b, condition, {});
    if (!limit && !limitTensor)
      return condition;
    Value bound =
        limit ? constantTensor(b, {*limit}, {}) : reshape(b, limitTensor, {});
    return elementwise(b, b.getI1Type(), {condition, counter, bound},
                       [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                         Value below = arith::CmpIOp::create(
                             b, loc, arith::CmpIPredicate::slt, x[1], x[2]);
                         return arith::AndIOp::create(b, loc, x[0], below);
                       });
  };
  inner.continueAtEnd();
  Value next = counterAfter(arguments[0]);
  SmallVector<Value> yielded = {next, goesOn(condition, next)};
  for (unsigned i = 0; i != initial.size(); ++i)
    yielded.push_back(results[i].value);
  // Room for the rows of as many steps as there can be.
  SmallVector<RankedTensorType> collected;
  for (const ImportedValue &made : rowsMade()) {
    auto type = typeOfRows(made, *limit);
    if (failed(type))
      return failure();
    collected.push_back(*type);
    yielded.push_back(putRowAt(made.value, inner.add(*type), arguments[0]));
  }
  scf::YieldOp::create(b, yielded);

  b.setInsertionPointToEnd(node.resultBlock());
  Value zero = constantTensor(b, {0}, {});
  Value start = node.hasOperand(1) ? node.operand(1) : constantBool(b, true);
  SmallVector<Value> starts = {zero, goesOn(start, zero)};
  for (const ImportedValue &value : initial)
    starts.push_back(value.value);
  for (RankedTensorType type : collected)
    starts.push_back(noRows(type));
  auto types = llvm::to_vector_of<Type>(ValueRange(starts).getTypes());
  auto loop = scf::WhileOp::create(b, types, starts);
  SmallVector<Location> locations(types.size(), b.getLoc());
  Block *decide = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value go = tensor::ExtractOp::create(b, decide->getArgument(1), ValueRange());
  scf::ConditionOp::create(b, go, decide->getArguments());
  loop.getAfter().takeBody(inner.region);
  for (unsigned i = 0; i != results.size(); ++i)
    results[i].value = loop.getResult(i + 2);
  // There is a row for each step that was made.
  for (auto [result, type] : llvm::zip(rowsMade(), collected)) {
    result.sizes.assign(type.getRank(), Value());
    result.sizes[0] = loop.getResult(0);
  }
  return success();
}
