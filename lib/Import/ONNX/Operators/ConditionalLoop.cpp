// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "LoopImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

LogicalResult LoopImporter::conditional() {
  if (!areTensors(initial)) {
    if (limitTensor)
      return node.needsConstant(0, "how often it runs, while it carries a "
                                   "sequence or an optional,");
    return node.unsupported("it carries a sequence or an optional, and how "
                            "often it runs depends on the model's inputs");
  }
  std::optional<int64_t> most = mostSteps();
  if (unsigned(body.output_size()) != initial.size() + 1 && !most) {
    if (limitTensor)
      return node.needsConstant(0, "how often the body runs, which collects "
                                   "rows in each step,");
    return node.unsupported("how often the body runs depends on the model's "
                            "inputs, and it collects rows in each step; the "
                            "size of what it collects is not known");
  }
  StepBlock inner(node);
  Value counter = inner.add(RankedTensorType::get({}, b.getI64Type()));
  Value before = inner.add(RankedTensorType::get({}, b.getI1Type()));
  SmallVector<ImportedValue> arguments =
      stepArguments(inner, counter, before, counter);
  if (failed(importBody(inner.block, arguments)) || failed(checkCarried()) ||
      failed(makeRoomForRows(most.value_or(0))))
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
  requireRoom();
  Value next = counterAfter(counter);
  SmallVector<Value> yielded = {next,
                                goesOn(isScan() ? before : condition, next)};
  yieldCarried(yielded);
  collectRows(inner, counter, yielded);
  scf::YieldOp::create(b, yielded);

  b.setInsertionPointToEnd(node.resultBlock());
  Value zero = constantTensor(b, {0}, {});
  Value start =
      !isScan() && node.hasOperand(1) ? node.operand(1) : constantBool(b, true);
  SmallVector<Value> starts = {zero, goesOn(start, zero)};
  appendStarts(starts);
  auto types = llvm::to_vector_of<Type>(ValueRange(starts).getTypes());
  auto loop = scf::WhileOp::create(b, types, starts);
  SmallVector<Location> locations(types.size(), b.getLoc());
  Block *decide = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value go = tensor::ExtractOp::create(b, decide->getArgument(1), ValueRange());
  scf::ConditionOp::create(b, go, decide->getArguments());
  loop.getAfter().takeBody(inner.region);
  SmallVector<Value> made(loop.getResults().drop_front(2));
  takeResults(made);
  // There is a row for each step that was made.
  for (auto [result, room] : llvm::zip(rowsMade(), rooms)) {
    result.sizes.resize(room.bounds.size());
    result.sizes[0] = loop.getResult(0);
  }
  return success();
}
