// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If. A condition that is known chooses its branch now: many exported models
// ask for a sampling rate or a rank. Otherwise both branches are imported, and
// must make tensors of the same types and ranks; where their sizes differ, they
// depend on data. A branch that makes no sense with the
// shapes that the model was given (it may be there for others) is an error of
// the call that takes it.
#include "../OperandRules.h"
#include "../TensorBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace ashlar::onnx_import;

/// The one boolean in a tensor.
static Value extractCondition(ImplicitLocOpBuilder &b, Value condition) {
  Value scalar = reshape(b, condition, {});
  return tensor::ExtractOp::create(b, scalar, ValueRange());
}

static LogicalResult checkBranch(NodeImporter &node, StringRef name,
                                 const onnx::GraphProto &branch) {
  if (branch.input_size() != 0)
    return node.invalid("attribute '" + name + "' has " +
                        Twine(branch.input_size()) +
                        " inputs; expected none, branches read what is around "
                        "them");
  if (unsigned(branch.output_size()) != node.numResults())
    return node.invalid(
        "attribute '" + name + "' has " + Twine(branch.output_size()) +
        " outputs, but the node has " + Twine(node.numResults()));
  return success();
}

/// Both branches' results agree but for their sizes, or what cannot be done.
static LogicalResult checkResults(NodeImporter &node,
                                  ArrayRef<ImportedValue> then,
                                  ArrayRef<ImportedValue> otherwise) {
  for (auto [i, x, y] : llvm::enumerate(then, otherwise)) {
    if (x.kind != ImportedValue::Tensor || y.kind != ImportedValue::Tensor)
      return node.unsupported("output " + Twine(i) +
                              " is a sequence or an optional, and the "
                              "condition depends on the model's inputs");
    if (x.type != y.type)
      return node.invalid("output " + Twine(i) + " is " +
                          elementTypeName(x.type) + " in one branch and " +
                          elementTypeName(y.type) + " in the other");
    auto rank = [](const ImportedValue &value) {
      return cast<RankedTensorType>(value.value.getType()).getRank();
    };
    if (rank(x) != rank(y))
      return node.unsupported("output " + Twine(i) + " has rank " +
                              Twine(rank(x)) + " in one branch and " +
                              Twine(rank(y)) +
                              " in the other, and the condition depends on "
                              "the model's inputs");
  }
  return success();
}

namespace {
/// A branch that has been imported by itself.
struct Branch {
  const onnx::GraphProto *graph = nullptr;
  Region region;
  SmallVector<ImportedValue> results;
  /// What is wrong with it, if anything is.
  std::string fault;
};
} // namespace

namespace {
/// What both branches' results fit into, and the axes whose size is that of
/// the branch that was taken.
struct Joined {
  SmallVector<int64_t> bounds, sized;
};
} // namespace

static Joined join(const ImportedValue &x, const ImportedValue &y) {
  Joined result;
  auto shape = cast<RankedTensorType>(x.value.getType()).getShape();
  auto other = cast<RankedTensorType>(y.value.getType()).getShape();
  for (auto [axis, one, two] : llvm::enumerate(shape, other)) {
    auto isSized = [axis = axis](const ImportedValue &value) {
      return !value.sizes.empty() && value.sizes[axis];
    };
    result.bounds.push_back(std::max(one, two));
    if (one != two || isSized(x) || isSized(y))
      result.sized.push_back(axis);
  }
  return result;
}

/// A branch's result and its sizes, as they are joined.
static void yieldAs(ImplicitLocOpBuilder &b, const ImportedValue &result,
                    const Joined &shape, SmallVectorImpl<Value> &yielded) {
  auto type = cast<RankedTensorType>(result.value.getType());
  SmallVector<int64_t> low(type.getRank(), 0), high;
  for (auto [bound, dim] : llvm::zip(shape.bounds, type.getShape()))
    high.push_back(bound - dim);
  Value zero = arith::ConstantOp::create(b, zeroOf(type.getElementType()));
  yielded.push_back(pad(b, result.value, low, high, zero));
  for (int64_t axis : shape.sized)
    yielded.push_back(!result.sizes.empty() && result.sizes[axis]
                          ? result.sizes[axis]
                          : constantTensor(b, {type.getDimSize(axis)}, {}));
}

/// Fails for what is not supported; an error is kept in the branch.
static LogicalResult importBranch(NodeImporter &node, Branch &branch) {
  auto keep = [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    if (branch.fault.empty()) {
      llvm::raw_string_ostream text(branch.fault);
      if (auto name = dyn_cast<NameLoc>(diagnostic.getLocation()))
        text << "'" << name.getName().getValue() << "': ";
      text << diagnostic;
    }
    return success();
  };
  ScopedDiagnosticHandler handler(node.b.getContext(), keep);
  auto imported =
      node.importGraph(*branch.graph, {}, &branch.region.emplaceBlock());
  if (succeeded(imported))
    branch.results = *imported;
  return success(succeeded(imported) || !branch.fault.empty());
}

static LogicalResult importInPlace(NodeImporter &node,
                                   const onnx::GraphProto &branch) {
  auto results = node.importGraph(branch, {}, node.resultBlock());
  if (failed(results))
    return failure();
  for (auto [i, result] : llvm::enumerate(*results))
    node.setImported(i, result);
  return success();
}

/// One branch cannot be computed, with the shapes that the model is given at
/// least: a call that takes it ends with an error.
static LogicalResult importWithout(NodeImporter &node, const Branch &faulty,
                                   const Branch &other, bool expected) {
  ImplicitLocOpBuilder &b = node.b;
  std::string message =
      ("the branch of '" + node.name() +
       "' that is taken where its condition is " +
       (expected ? "false" : "true") +
       " cannot be computed with these shapes: " + faulty.fault)
          .str();
  emitWarning(b.getLoc()) << message
                          << "; a call that takes it will end with this as an "
                             "error";
  Value condition = node.operand(0);
  if (!expected)
    condition =
        elementwise(b, b.getI1Type(), condition,
                    [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                      Value one = scalarIntConstant(b, loc, b.getI1Type(), 1);
                      return arith::XOrIOp::create(b, loc, x[0], one);
                    });
  cf::AssertOp::create(b, extractCondition(b, condition), message);
  return importInPlace(node, *other.graph);
}

static LogicalResult importIf(NodeImporter &node) {
  ImplicitLocOpBuilder &b = node.b;
  Branch branches[2];
  StringRef names[2] = {"then_branch", "else_branch"};
  for (unsigned i : {0, 1}) {
    branches[i].graph = node.graphAttribute(names[i]);
    if (!branches[i].graph ||
        failed(checkBranch(node, names[i], *branches[i].graph)))
      return failure();
  }
  if (failed(expectOneElement(node, 0)))
    return failure();
  if (DenseElementsAttr known = node.constantOperand(0)) {
    bool isTrue = !(*known.getValues<APInt>().begin()).isZero();
    return importInPlace(node, *branches[isTrue ? 0 : 1].graph);
  }
  // What is not supported is said of both.
  bool done = true;
  for (Branch &branch : branches)
    done &= succeeded(importBranch(node, branch));
  bool isFaulty = !branches[0].fault.empty() || !branches[1].fault.empty();
  if (!done || isFaulty ||
      failed(checkResults(node, branches[0].results, branches[1].results))) {
    // The values in the regions go away.
    node.forgetConstants();
    if (!done || !isFaulty)
      return failure();
    if (!branches[0].fault.empty() && !branches[1].fault.empty())
      return node.invalid("neither branch can be computed; the first: " +
                          branches[0].fault);
    unsigned good = branches[0].fault.empty() ? 0 : 1;
    return importWithout(node, branches[1 - good], branches[good], good == 0);
  }
  SmallVector<Type> types;
  SmallVector<Joined> joined;
  for (auto [x, y] : llvm::zip(branches[0].results, branches[1].results)) {
    joined.push_back(join(x, y));
    if (failed(expectSize(node, joined.back().bounds))) {
      node.forgetConstants();
      return failure();
    }
    types.push_back(RankedTensorType::get(joined.back().bounds,
                                          getElementTypeOrSelf(x.value)));
    types.append(joined.back().sized.size(),
                 RankedTensorType::get({}, b.getI64Type()));
  }
  auto op = scf::IfOp::create(b, types, extractCondition(b, node.operand(0)),
                              /*addThenBlock=*/false, /*addElseBlock=*/false);
  for (unsigned i : {0, 1}) {
    op->getRegion(i).takeBody(branches[i].region);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&op->getRegion(i).front());
    SmallVector<Value> yielded;
    for (auto [result, shape] : llvm::zip(branches[i].results, joined))
      yieldAs(b, result, shape, yielded);
    scf::YieldOp::create(b, yielded);
  }
  auto next = op.getResults().begin();
  for (auto [i, shape] : llvm::enumerate(joined)) {
    ImportedValue result = {*next++, branches[0].results[i].type};
    if (!shape.sized.empty())
      result.sizes.resize(shape.bounds.size());
    for (int64_t axis : shape.sized)
      result.sizes[axis] = *next++;
    node.setResult(i, result);
  }
  return success();
}

void ashlar::onnx_import::registerConditionsOperators(
    OperatorRegistry &registry) {
  registry.add("If", 1, importIf);
}
