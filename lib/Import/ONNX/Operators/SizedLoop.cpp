// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that carry values whose sizes change from step to step: what they need
// room for. A size that a step makes larger grows by as much in each, and the
// number of steps bounds it.
#include "../ComputedSizes.h"
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "LoopImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// Bodies are imported so often to see what they make of the shapes before.
static constexpr unsigned maximumAttempts = 6;

std::string LoopImporter::nameOf(unsigned carried) {
  return "the value that input " +
         std::to_string(carried + (isScan() ? 0 : 2)) + " starts";
}

LogicalResult LoopImporter::refuseSize() {
  // Written out, a step knows its number and with it many a size.
  if (limitTensor && !isScan())
    return node.needsConstant(0, "how often it runs, while a size of what "
                                 "its body makes depends on data,");
  if (!firstCondition && !isScan())
    return node.needsConstant(1, "whether it begins, while a size of what "
                                 "its body makes depends on data,");
  return node.unsupportedSize("a size of what the body makes depends on "
                              "data, and its steps cannot be written out");
}

/// The types and ranks of what a step makes of what it began with.
static LogicalResult
checkKinds(NodeImporter &node, ArrayRef<ImportedValue> initial,
           ArrayRef<ImportedValue> results,
           llvm::function_ref<std::string(unsigned)> name) {
  if (!areTensors(results))
    return node.unsupported("the body makes a sequence or an optional, and "
                            "its steps cannot be written out");
  for (auto [i, value, result] : llvm::enumerate(initial, results)) {
    if (result.type != value.type)
      return node.invalid(name(i) + " is " + elementTypeName(value.type).str() +
                          " at first, but the body makes " +
                          elementTypeName(result.type).str());
    auto rank = [](const ImportedValue &of) {
      return cast<RankedTensorType>(of.value.getType()).getRank();
    };
    if (rank(result) != rank(value))
      return node.unsupported(name(i) + " changes its rank from " +
                              Twine(rank(value)) + " to " +
                              Twine(rank(result)) + " in a step");
  }
  return success();
}

LogicalResult LoopImporter::checkCarried() {
  if (failed(checkKinds(node, initial, results,
                        [&](unsigned i) { return nameOf(i); })))
    return failure();
  for (auto [i, shape] : llvm::enumerate(shapes)) {
    CommonShape made = ownShape(results[i]);
    if (join(shape, made) == shape || hasSettled)
      continue;
    return made.sized == shape.sized
               ? node.unsupported(nameOf(i) + " changes its shape from " +
                                  spellShape(shape.bounds) + " to " +
                                  spellShape(made.bounds) + " in a step")
               : refuseSize();
  }
  for (const ImportedValue &made : rowsMade())
    if (!made.sizes.empty() && !hasSettled)
      return refuseSize();
  return success();
}

static Number sizeIn(NodeImporter &node, const ImportedValue &value,
                     int64_t axis) {
  if (!value.sizes.empty() && value.sizes[axis])
    return numberOf(node, value.sizes[axis]);
  auto type = cast<RankedTensorType>(value.value.getType());
  return knownNumber(type.getDimSize(axis));
}

/// Compares what a step makes with the shape it began with, and gives that one
/// more room where it must.
LogicalResult LoopImporter::settle(unsigned i, bool &isSettled) {
  CommonShape made = ownShape(results[i]), joined = join(shapes[i], made);
  bool grew = false;
  for (auto [axis, low] : llvm::enumerate(least[i])) {
    int64_t now = std::max<int64_t>(sizeIn(node, results[i], axis).low, 0);
    isSettled &= now >= low;
    low = std::min(low, now);
  }
  for (auto [axis, room, by] : llvm::enumerate(shapes[i].bounds, growth[i])) {
    int64_t more = made.bounds[axis] - room;
    if (more <= 0)
      continue;
    // The first time it may be only that it began smaller.
    if (by == 0) {
      by = -1;
      continue;
    }
    if (by > 0 && more <= by) {
      joined.bounds[axis] = room;
      continue;
    }
    std::string growing = nameOf(i) + " grows along axis " +
                          std::to_string(axis) + " in each step";
    if (by > 0)
      return node.unsupportedSize(growing + ", and by more each time");
    std::optional<int64_t> most = mostSteps();
    if (!most && limitTensor)
      return node.needsConstant(0, "how often it runs, while " + growing + ",");
    if (!most)
      return node.unsupportedSize(growing + ", and nothing says how often it "
                                            "does at most");
    int64_t all;
    if (llvm::MulOverflow(*most, more, all) ||
        llvm::AddOverflow(all, made.bounds[axis], joined.bounds[axis]))
      return node.unsupportedSize(growing + ", which may be " + Twine(*most) +
                                  " times");
    by = more;
    grew = true;
  }
  if (joined == shapes[i])
    return success();
  isSettled = false;
  shapes[i] = joined;
  return grew ? expectSize(node, joined.bounds) : success();
}

LogicalResult LoopImporter::settleShapes() {
  growth.clear();
  least.clear();
  for (auto [value, shape] : llvm::zip(initial, shapes)) {
    growth.emplace_back(shape.bounds.size(), 0);
    SmallVector<int64_t> &low = least.emplace_back();
    for (int64_t axis = 0; axis != int64_t(shape.bounds.size()); ++axis)
      low.push_back(std::max<int64_t>(sizeIn(node, value, axis).low, 0));
  }
  for (unsigned attempt = 0; attempt != maximumAttempts; ++attempt) {
    StepBlock inner(node);
    Value number = inner.add(RankedTensorType::get({}, b.getI64Type()));
    Value before = inner.add(RankedTensorType::get({}, b.getI1Type()));
    SmallVector<ImportedValue> arguments =
        stepArguments(inner, number, before, number);
    if (failed(importBody(inner.block, arguments)) ||
        failed(checkKinds(node, initial, results,
                          [&](unsigned i) { return nameOf(i); })))
      return failure();
    hasSettled = true;
    for (unsigned i = 0; i != initial.size(); ++i)
      if (failed(settle(i, hasSettled)))
        return failure();
    if (hasSettled)
      return success();
  }
  return node.unsupportedSize("what it carries changes its shape in each step");
}

void LoopImporter::requireRoom() {
  for (auto [i, shape] : llvm::enumerate(shapes))
    for (int64_t axis : shape.sized) {
      if (!hasSettled || growth[i][axis] <= 0)
        continue;
      Value size = asTensor(node, sizeIn(node, results[i], axis));
      Value room = constantTensor(b, {shape.bounds[axis]}, {});
      Value fits =
          elementwise(b, b.getI1Type(), {size, room},
                      [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                        return arith::CmpIOp::create(
                            b, loc, arith::CmpIPredicate::sle, x[0], x[1]);
                      });
      cf::AssertOp::create(
          b, tensor::ExtractOp::create(b, fits, ValueRange()),
          ("'" + node.name() + "': " + nameOf(i) + " has grown to more than " +
           Twine(shape.bounds[axis]) + " along axis " + Twine(axis))
              .str());
    }
}

LogicalResult LoopImporter::sized() {
  if (!areTensors(initial))
    return limit || limitTensor || firstCondition != true ? conditional()
                                                          : unrollToEnd();
  carryAsTheyBegin();
  if (failed(settleShapes()))
    return failure();
  bool isWrong = false;
  if (limit && (isScan() || firstCondition == true) &&
      succeeded(node.tryTo([&] { return counted(*limit); }, isWrong)))
    return success();
  return isWrong ? failure() : conditional();
}
