// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DrainWriter.h"
#include "VectorBody.h"
#include <map>

using namespace mlir;
using namespace ashlar;

void DrainWriter::run(llvm::function_ref<Value(int64_t i)> sums) {
  SmallVector<Line> operands;
  for (auto [i, operand] : llvm::enumerate(op.getEpilogue()))
    operands.emplace_back(b, operand, op.getMap(i));
  Line target(b, op.getTarget(), op.getMap(op.getMaps().size() - 1));
  size_t last = layout.shape.size() - 1;
  std::map<std::tuple<size_t, int64_t, int64_t>, Value> loaded;
  for (int64_t i = 0; i != layout.count(); ++i) {
    SmallVector<int64_t> place = layout.begin(i);
    int64_t used = layout.used(i);
    SmallVector<Value> arguments = {sums(i)};
    for (auto [number, line] : llvm::enumerate(operands)) {
      int64_t lanes = layout.lanes(i);
      Value &value = loaded[{number, line.distance(place), lanes << 32 | used}];
      if (!value)
        value = load(line, index(line.distance(place)), line.steps[last], lanes,
                     used);
      arguments.push_back(value);
    }
    Value result =
        emitVectorBody(b, &op.getBody().front(), arguments, layout.lanes(i))[0];
    store(target, index(target.distance(place)), target.steps[last], result,
          used);
  }
}
