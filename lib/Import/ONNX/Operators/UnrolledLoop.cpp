// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "LoopImporter.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

/// Row `at` of a tensor.
static ImportedValue partOf(ImplicitLocOpBuilder &b, const ImportedValue &rows,
                            int64_t at) {
  auto type = cast<RankedTensorType>(rows.value.getType());
  SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()),
      strides(type.getRank(), 1);
  offsets[0] = at;
  sizes[0] = 1;
  ImportedValue part = rows;
  part.value = reshape(b, slice(b, rows.value, offsets, sizes, strides),
                       type.getShape().drop_front());
  if (!part.sizes.empty())
    part.sizes.erase(part.sizes.begin());
  return part;
}

/// A tensor of these rows. Where a size depends on data, it is that of the last
/// one, as it is of all.
static ImportedValue stack(ImplicitLocOpBuilder &b,
                           ArrayRef<ImportedValue> rows) {
  CommonShape shape = ownShape(rows.back());
  for (const ImportedValue &row : rows)
    shape = join(shape, ownShape(row));
  SmallVector<int64_t> one = {1};
  llvm::append_range(one, shape.bounds);
  SmallVector<Value> parts, sizes;
  for (const ImportedValue &row : rows) {
    SmallVector<Value> values;
    appendAs(b, row, shape, values);
    parts.push_back(reshape(b, values[0], one));
    sizes.assign(values.begin() + 1, values.end());
  }
  ImportedValue result = {concat(b, parts, 0), rows.back().type};
  if (!shape.sized.empty())
    result.sizes.resize(one.size());
  for (auto [axis, size] : llvm::zip(shape.sized, sizes))
    result.sizes[axis + 1] = size;
  return result;
}

LogicalResult LoopImporter::unroll(int64_t steps) {
  SmallVector<ImportedValue> carried = initial;
  SmallVector<SmallVector<ImportedValue>> rows;
  for (int64_t i = 0; i != steps; ++i) {
    Block *block = node.resultBlock();
    b.setInsertionPointToEnd(block);
    SmallVector<ImportedValue> arguments;
    if (!isScan())
      arguments = {{constantTensor(b, {i}, {}), ElementType::I64},
                   {constantBool(b, true), ElementType::Bool}};
    llvm::append_range(arguments, carried);
    for (const ImportedValue &value : scanned)
      arguments.push_back(partOf(b, value, i));
    if (failed(importBody(*block, arguments)))
      return failure();
    b.setInsertionPointToEnd(block);
    for (auto [value, result] : llvm::zip(carried, results)) {
      if (result.type != value.type)
        return node.invalid("the body makes " + elementTypeName(result.type) +
                            " of a value that is " +
                            elementTypeName(value.type) + " at first");
      value = result;
    }
    rows.resize(results.size() - initial.size());
    for (auto [all, result] : llvm::zip(rows, rowsMade())) {
      if (result.kind != ImportedValue::Tensor)
        return node.invalid("the body makes rows that are no tensors");
      all.push_back(result);
      auto type = [](const ImportedValue &row) {
        return cast<RankedTensorType>(row.value.getType());
      };
      if (result.sizes.empty() && all.front().sizes.empty()
              ? type(result) != type(all.front())
              : type(result).getRank() != type(all.front()).getRank())
        return node.invalid("the rows that the body makes have different "
                            "shapes");
    }
    if (isScan())
      continue;
    std::optional<bool> goesOn = knownBool(node, condition);
    decides = !goesOn;
    if (decides)
      return node.unsupported(
          areTensors(initial)
              ? "the body decides when to end, and its shapes change from one "
                "step to the next"
              : "it carries a sequence or an optional, and how often it runs "
                "depends on the model's inputs");
    if (!*goesOn)
      break;
    if (!limit && i + 1 == steps)
      return node.unsupported("it carries a sequence or an optional, and does "
                              "not end within " +
                              Twine(steps) + " steps");
  }
  if (steps == 0) {
    if (!isScan() && unsigned(body.output_size()) != initial.size() + 1)
      return node.unsupported("it runs no step, and what its rows would be is "
                              "not known");
    results.assign(carried.begin(), carried.end());
  }
  for (auto [value, result] : llvm::zip(carried, results))
    result = value;
  for (auto [i, all] : llvm::enumerate(rows))
    results[initial.size() + i] = stack(b, all);
  return success();
}

LogicalResult LoopImporter::unrollToEnd() { return unroll(stepsToWriteOut()); }
