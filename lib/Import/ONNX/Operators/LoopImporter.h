// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Loop and Scan share: a body that is imported once or once per step, and
// the three forms in which its steps can be done. A body that runs a known
// number of times becomes an scf.for between kernels, one that decides by
// itself an scf.while. A known number of steps that cannot be one loop, since
// the shapes change from one to the next or the step's number must be known, is
// written out.
#ifndef ASHLAR_LIB_IMPORT_ONNX_OPERATORS_LOOPIMPORTER_H
#define ASHLAR_LIB_IMPORT_ONNX_OPERATORS_LOOPIMPORTER_H

#include "../NodeImporter.h"

namespace ashlar::onnx_import {

mlir::Value constantBool(mlir::ImplicitLocOpBuilder &b, bool value);
std::optional<bool> knownBool(NodeImporter &node, mlir::Value value);
/// Whether all that is carried or made is a tensor.
bool areTensors(llvm::ArrayRef<ImportedValue> values);

/// The block of a loop's body before there is a loop: ops go to its end as long
/// as this lives. A block that no loop takes goes away with it, and what was
/// evaluated of its values is forgotten.
class StepBlock {
public:
  explicit StepBlock(NodeImporter &node)
      : block(region.emplaceBlock()), node(node), guard(node.b) {
    continueAtEnd();
  }
  ~StepBlock() {
    if (!region.empty())
      node.forgetConstants();
  }
  mlir::Value add(mlir::Type type) {
    return block.addArgument(type, node.b.getLoc());
  }
  /// An argument for each value that is carried.
  void add(llvm::ArrayRef<ImportedValue> carried,
           llvm::SmallVectorImpl<mlir::Value> &arguments) {
    for (const ImportedValue &value : carried)
      arguments.push_back(add(value.value.getType()));
  }
  void continueAtEnd() { node.b.setInsertionPointToEnd(&block); }

  mlir::Region region;
  mlir::Block &block;

private:
  NodeImporter &node;
  mlir::OpBuilder::InsertionGuard guard;
};

/// A Loop or Scan while its body is imported.
class LoopImporter {
public:
  LoopImporter(NodeImporter &node, const onnx::GraphProto &body)
      : node(node), b(node.b), body(body) {}

protected:
  /// Scans have neither a counter nor a condition.
  bool isScan() const { return node.opType() == "Scan"; }
  /// Whether so many steps are few enough to be written out.
  bool canUnroll(int64_t steps) const;

  // Each sets the results.
  /// `steps` times, and the rows of each step.
  mlir::LogicalResult counted(int64_t steps);
  /// As long as the body says so, and no more often than the limit says.
  mlir::LogicalResult conditional();
  /// Each step by itself, its number and what it carries known as they are.
  mlir::LogicalResult unroll(int64_t steps);

  /// Imports the body into a block whose arguments, or what is made of them,
  /// are `arguments`: for Loop the counter and the condition, then what is
  /// carried, then a row of each value that is scanned.
  mlir::LogicalResult importBody(mlir::Block &block,
                                 llvm::ArrayRef<mlir::Value> arguments);
  mlir::LogicalResult importBody(mlir::Block &block,
                                 llvm::ArrayRef<ImportedValue> arguments);
  /// What the body makes can be what the next step begins with.
  mlir::LogicalResult checkCarried();
  /// Whether the body's condition, with `before` as what it gets, never ends
  /// the loop.
  bool goesOnForever(mlir::Value before);
  mlir::Value counterAfter(mlir::Value counter);
  /// The counter, the condition and what is carried.
  llvm::SmallVector<mlir::Value> decidingArguments(StepBlock &step);
  /// What the body makes beyond what it carries on: a row in each step.
  llvm::MutableArrayRef<ImportedValue> rowsMade() {
    return llvm::MutableArrayRef(results).drop_front(initial.size());
  }
  /// The type of `steps` rows; fails, having said so, where memory cannot
  /// address them.
  mlir::FailureOr<mlir::RankedTensorType> typeOfRows(const ImportedValue &row,
                                                     int64_t steps);
  /// What rows of this type are before the first step.
  mlir::Value noRows(mlir::RankedTensorType type);

  NodeImporter &node;
  mlir::ImplicitLocOpBuilder &b;
  const onnx::GraphProto &body;
  llvm::SmallVector<ImportedValue> initial;
  llvm::SmallVector<ImportedValue> scanned; ///< their axis 0 is walked
  std::optional<int64_t> limit;             ///< of steps, when it is known
  mlir::Value limitTensor;                  ///< when it is not; null: none
  std::optional<bool> firstCondition;       ///< null: not known
  bool endsAtLimit = false;                 ///< the body says so itself
  /// Of the body, without the condition; of the loop in the end.
  llvm::SmallVector<ImportedValue> results;
  mlir::Value condition; ///< what the body says

private:
  // Row `step` of `rows`, an index or a tensor of one i64.
  mlir::Value row(mlir::Value rows, mlir::Value step);
  mlir::Value putRow(mlir::Value row, mlir::Value rows, mlir::Value step);
  mlir::Value putRowAt(mlir::Value row, mlir::Value rows, mlir::Value step);
};

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_LOOPIMPORTER_H
