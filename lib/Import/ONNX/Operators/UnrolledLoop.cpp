// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "LoopImporter.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

LogicalResult LoopImporter::unroll(int64_t steps) {
  SmallVector<ImportedValue> carried = initial;
  SmallVector<SmallVector<Value>> rows;
  for (int64_t i = 0; i != steps; ++i) {
    Block *block = node.resultBlock();
    b.setInsertionPointToEnd(block);
    SmallVector<ImportedValue> arguments;
    if (!isScan())
      arguments = {{constantTensor(b, {i}, {}), ElementType::I64},
                   {constantBool(b, true), ElementType::Bool}};
    llvm::append_range(arguments, carried);
    for (const ImportedValue &value : scanned) {
      auto type = cast<RankedTensorType>(value.value.getType());
      SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()),
          strides(type.getRank(), 1);
      offsets[0] = i;
      sizes[0] = 1;
      arguments.push_back(
          {reshape(b, slice(b, value.value, offsets, sizes, strides),
                   type.getShape().drop_front()),
           value.type});
    }
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
      if (!result.sizes.empty())
        return node.unsupportedSize("the size of a row that the body makes "
                                    "depends on data");
      SmallVector<int64_t> shape = {1};
      llvm::append_range(
          shape, cast<RankedTensorType>(result.value.getType()).getShape());
      all.push_back(reshape(b, result.value, shape));
      if (all.back().getType() != all.front().getType())
        return node.invalid("the rows that the body makes have different "
                            "shapes");
    }
    if (isScan())
      continue;
    std::optional<bool> goesOn = knownBool(node, condition);
    if (!goesOn)
      return node.unsupported("the body decides when to end, and its shapes "
                              "change from one step to the next");
    if (!*goesOn)
      break;
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
    results[initial.size() + i].value = concat(b, all, 0);
  return success();
}
