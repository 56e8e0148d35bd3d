// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DrainWriter.h"
#include "VectorBody.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

using namespace mlir;
using namespace ashlar;

DrainWriter::Operands DrainWriter::operands() {
  SmallVector<Line, 2> inputs;
  for (auto [i, operand] : llvm::enumerate(op.getEpilogue()))
    inputs.emplace_back(b, operand, op.getMap(i));
  return {inputs, Line(b, op.getTarget(), op.getMap(op.getMaps().size() - 1))};
}

void DrainWriter::run(llvm::function_ref<Value(int64_t i)> sums) {
  auto [inputs, target] = operands();
  size_t last = layout.shape.size() - 1;
  std::map<std::tuple<size_t, const void *, int64_t, int64_t>, Value> loaded;
  for (int64_t i = 0; i != layout.count(); ++i) {
    SmallVector<int64_t> place = layout.begin(i);
    int64_t used = layout.used(i);
    SmallVector<Value> arguments = {sums(i)};
    int64_t lanes = layout.lanes(i);
    for (size_t number = 0; number != inputs.size(); ++number) {
      Line &line = inputs[number];
      Value base = line.openDistance(place);
      int64_t distance = line.distance(place);
      Value &value = loaded[{number, base.getAsOpaquePointer(), distance,
                             lanes << 32 | used}];
      if (!value)
        value = loadAlong(line, indexAt(base, distance), last, lanes, used);
      arguments.push_back(value);
    }
    Value result =
        emitVectorBody(b, &op.getBody().front(), arguments, lanes)[0];
    storeAlong(target,
               indexAt(target.openDistance(place), target.distance(place)),
               last, result, used);
  }
}

SmallVector<Value> DrainWriter::loadRow(const Line &line, Value base) {
  SmallVector<int64_t> place(layout.shape.size(), 0);
  SmallVector<Value> values;
  int64_t step = line.steps.back();
  for (int64_t i = 0; i != layout.vectors; ++i) {
    bool isKnown = i != 0 && step == 0 && layout.lanes(i) == layout.lanes(0);
    place.back() = i * layout.wide;
    values.push_back(isKnown ? values[0]
                             : load(line, indexAt(base, line.distance(place)),
                                    step, layout.lanes(i), layout.used(i)));
  }
  return values;
}

void DrainWriter::runRows(Value sums) {
  Operands lines = operands();
  MLIRContext *context = op.getContext();
  Line memory(b, sums, AffineMap::getMultiDimIdentityMap(1, context));
  memory.steps.assign(layout.shape.size(), 1);
  for (size_t d = layout.shape.size() - 1; d-- > 0;)
    memory.steps[d] = memory.steps[d + 1] * layout.shape[d + 1];
  lines.inputs.insert(lines.inputs.begin(), memory);
  // What is the same for all rows, such as a bias, is loaded once.
  SmallVector<SmallVector<Value>> fixed;
  for (const Line &line : lines.inputs)
    fixed.push_back(llvm::all_of(ArrayRef(line.steps).drop_back(),
                                 [](int64_t step) { return step == 0; })
                        ? loadRow(line, Value())
                        : SmallVector<Value>());
  emitRows(lines, 0, SmallVector<Value>(lines.inputs.size() + 1), fixed);
}

void DrainWriter::emitRows(const Operands &lines, size_t d,
                           ArrayRef<Value> bases,
                           ArrayRef<SmallVector<Value>> fixed) {
  if (d + 1 != layout.shape.size()) {
    auto loop =
        scf::ForOp::create(b, index(0), index(layout.shape[d]), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> inside;
    for (auto [i, base] : llvm::enumerate(bases)) {
      const Line &line =
          i == lines.inputs.size() ? lines.target : lines.inputs[i];
      inside.push_back(moved(base, loop.getInductionVar(), line.steps[d]));
    }
    return emitRows(lines, d + 1, inside, fixed);
  }
  SmallVector<SmallVector<Value>> rows;
  for (auto [i, line] : llvm::enumerate(lines.inputs))
    rows.push_back(fixed[i].empty() ? loadRow(line, bases[i]) : fixed[i]);
  SmallVector<int64_t> place(layout.shape.size(), 0);
  for (int64_t i = 0; i != layout.vectors; ++i) {
    SmallVector<Value> arguments;
    for (const SmallVector<Value> &row : rows)
      arguments.push_back(row[i]);
    Value result =
        emitVectorBody(b, &op.getBody().front(), arguments, layout.lanes(i))[0];
    place.back() = i * layout.wide;
    store(lines.target, indexAt(bases.back(), lines.target.distance(place)),
          lines.target.steps.back(), result, layout.used(i));
  }
}
