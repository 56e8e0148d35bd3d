// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "LoopImporter.h"
#include "ashlar/Transforms/Fuse/ControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

namespace {
/// Where row `step` of `rows` lies.
struct RowSlice {
  RowSlice(OpBuilder &b, Value rows, Value step)
      : type(cast<RankedTensorType>(rows.getType())),
        offsets(type.getRank(), b.getIndexAttr(0)),
        strides(type.getRank(), b.getIndexAttr(1)) {
    for (int64_t dim : type.getShape())
      sizes.push_back(b.getIndexAttr(dim));
    offsets[0] = step;
    sizes[0] = b.getIndexAttr(1);
  }
  RankedTensorType type;
  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

Value LoopImporter::row(Value rows, Value step) {
  RowSlice at(b, rows, step);
  auto result = RankedTensorType::get(at.type.getShape().drop_front(),
                                      at.type.getElementType());
  return tensor::ExtractSliceOp::create(b, result, rows, at.offsets, at.sizes,
                                        at.strides);
}

Value LoopImporter::putRow(Value row, Value rows, Value step) {
  RowSlice at(b, rows, step);
  return tensor::InsertSliceOp::create(b, row, rows, at.offsets, at.sizes,
                                       at.strides);
}

LogicalResult LoopImporter::counted(int64_t steps) {
  if (!areTensors(initial))
    return node.unsupported("it carries a sequence or an optional, and its "
                            "steps cannot be written out");
  StepBlock inner(node);
  Value step = inner.add(b.getIndexType());
  Value counter, before;
  SmallVector<Value> arguments;
  if (!isScan()) {
    counter = inner.add(RankedTensorType::get({}, b.getI64Type()));
    before = constantBool(b, true);
    arguments = {counter, before};
  }
  inner.add(initial, arguments);
  for (const ImportedValue &rows : scanned)
    arguments.push_back(row(rows.value, step));
  if (failed(importBody(inner.block, arguments)) || failed(checkCarried()))
    return failure();
  if (!goesOnForever(before))
    return node.unsupported(
        "the body decides when to end, and collects rows in each step; the "
        "size of what it collects is not known");
  // What each step makes.
  inner.continueAtEnd();
  bool counts = counter && !counter.use_empty();
  SmallVector<Value> yielded;
  if (counts)
    yielded.push_back(counterAfter(counter));
  else if (counter)
    inner.block.eraseArgument(1);
  for (unsigned i = 0; i != initial.size(); ++i)
    yielded.push_back(results[i].value);
  SmallVector<RankedTensorType> collected;
  for (const ImportedValue &made : rowsMade()) {
    auto type = typeOfRows(made, steps);
    if (failed(type))
      return failure();
    collected.push_back(*type);
    yielded.push_back(putRow(made.value, inner.add(*type), step));
  }
  scf::YieldOp::create(b, yielded);

  b.setInsertionPointToEnd(node.resultBlock());
  SmallVector<Value> starts;
  if (counts)
    starts.push_back(constantTensor(b, {0}, {}));
  for (const ImportedValue &value : initial)
    starts.push_back(value.value);
  for (RankedTensorType type : collected)
    starts.push_back(noRows(type));
  Value first = arith::ConstantIndexOp::create(b, 0);
  Value last = arith::ConstantIndexOp::create(b, steps);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto loop = scf::ForOp::create(b, first, last, one, starts);
  loop->setAttr(commandsAttrName, b.getUnitAttr());
  loop.getRegion().takeBody(inner.region);
  for (auto [i, result] : llvm::enumerate(results))
    result.value = loop.getResult(i + counts);
  return success();
}
