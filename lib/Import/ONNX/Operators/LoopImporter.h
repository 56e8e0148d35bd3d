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

#include "../SizedTensors.h"

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
  /// The arguments for a value like this one, in this shape.
  ImportedValue add(const CommonShape &shape, const ImportedValue &like);
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
  int64_t stepsToWriteOut() const;
  /// Whether so many steps are few enough to be written out.
  bool canUnroll(int64_t steps) const;

  // Each sets the results.
  /// `steps` times, and the rows of each step.
  mlir::LogicalResult counted(int64_t steps);
  /// As long as the body says so, and no more often than the limit says.
  mlir::LogicalResult conditional();
  /// Each step by itself, its number and what it carries known as they are.
  mlir::LogicalResult unroll(int64_t steps);
  /// The same until the body says so, as far as steps can be written out.
  mlir::LogicalResult unrollToEnd();
  /// Counted or conditional, with room for what changes its size.
  mlir::LogicalResult sized();

  /// Values are carried in the shapes that they begin with.
  void carryAsTheyBegin();
  /// How often the body runs at most, where something says so.
  std::optional<int64_t> mostSteps();
  /// What a step in a block of its own begins with: for Loop the counter and
  /// the condition, then what is carried, then row `at` of each value that is
  /// scanned.
  llvm::SmallVector<ImportedValue> stepArguments(StepBlock &step,
                                                 mlir::Value counter,
                                                 mlir::Value condition,
                                                 mlir::Value at);
  mlir::LogicalResult importBody(mlir::Block &block,
                                 llvm::ArrayRef<ImportedValue> arguments);
  /// Whether the body's condition, with `before` as what it gets, never ends
  /// the loop.
  bool goesOnForever(mlir::Value before);
  mlir::Value counterAfter(mlir::Value counter);
  /// What the body makes beyond what it carries on: a row in each step.
  llvm::MutableArrayRef<ImportedValue> rowsMade() {
    return llvm::MutableArrayRef(results).drop_front(initial.size());
  }
  NodeImporter &node;
  mlir::ImplicitLocOpBuilder &b;
  const onnx::GraphProto &body;
  llvm::SmallVector<ImportedValue> initial;
  llvm::SmallVector<CommonShape> shapes;    ///< in which these are carried
  llvm::SmallVector<ImportedValue> scanned; ///< their axis 0 is walked
  std::optional<int64_t> limit;             ///< of steps, when it is known
  mlir::Value limitTensor;                  ///< when it is not; null: none
  std::optional<bool> firstCondition;       ///< null: not known
  bool endsAtLimit = false;                 ///< the body says so itself
  bool decides = false; ///< the body does, by what the model is given
  /// Of the body, without the condition; of the loop in the end.
  llvm::SmallVector<ImportedValue> results;
  mlir::Value condition; ///< what the body says

private:
  /// Finds shapes that what is carried fits into before and after each step.
  mlir::LogicalResult settleShapes();
  mlir::LogicalResult settle(unsigned i, bool &isSettled);
  /// What the body makes can be what the next step begins with.
  mlir::LogicalResult checkCarried();
  mlir::LogicalResult refuseSize();
  std::string nameOf(unsigned carried); ///< for an error
  /// The call ends with an error where a value outgrows its room.
  void requireRoom();
  /// What the next step begins with.
  void yieldCarried(llvm::SmallVectorImpl<mlir::Value> &yielded);

  /// Room for `steps` rows of each kind; fails, having said so, where memory
  /// cannot address it.
  mlir::LogicalResult makeRoomForRows(int64_t steps);
  /// Puts the rows of a step into their room: at `at`, an index or a tensor of
  /// one i64.
  void collectRows(StepBlock &step, mlir::Value at,
                   llvm::SmallVectorImpl<mlir::Value> &yielded);
  /// What the loop's values are before its first step, without the counter.
  void appendStarts(llvm::SmallVectorImpl<mlir::Value> &starts);
  /// What it leaves; `made` is in their order.
  void takeResults(llvm::ArrayRef<mlir::Value> made);
  ImportedValue row(const ImportedValue &rows, mlir::Value at);
  mlir::Value putRow(mlir::Value row, mlir::Value rows, mlir::Value at);

  llvm::SmallVector<CommonShape> rooms; ///< for rows
  bool hasSettled = false; ///< the shapes are those that settleShapes found
  /// By how much each axis of what is carried grows in a step, at most, and
  /// how small it gets.
  llvm::SmallVector<llvm::SmallVector<int64_t>> growth, least;
};

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_OPERATORS_LOOPIMPORTER_H
