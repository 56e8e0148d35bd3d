// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// If. A condition that is known chooses its branch now: many exported models
// ask for a sampling rate or a rank. Otherwise both branches are imported, and
// must make tensors of the same types and ranks; where their sizes differ, they
// depend on data. A branch that makes no sense with the
// shapes that the model was given (it may be there for others) is an error of
// the call that takes it.
#include "../OperandRules.h"
#include "../SizedTensors.h"
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

/// Whether two values hold as many tensors in the same places.
static bool haveOneForm(const ImportedValue &x, const ImportedValue &y) {
  if (x.kind != y.kind || bool(x.elements) != bool(y.elements))
    return false;
  if (!x.elements)
    return true;
  return x.elements->size() == y.elements->size() &&
         llvm::all_of(llvm::zip(*x.elements, *y.elements), [](auto pair) {
           return haveOneForm(std::get<0>(pair), std::get<1>(pair));
         });
}

/// The tensors that a value holds.
static void appendTensors(const ImportedValue &value,
                          SmallVectorImpl<ImportedValue> &tensors) {
  if (value.kind == ImportedValue::Tensor)
    tensors.push_back(value);
  else if (value.elements)
    for (const ImportedValue &element : *value.elements)
      appendTensors(element, tensors);
}

/// A value of the form of `like` that holds other tensors, which are taken from
/// the front.
static ImportedValue withTensors(const ImportedValue &like,
                                 ArrayRef<ImportedValue> &tensors) {
  if (like.kind == ImportedValue::Tensor) {
    ImportedValue first = tensors.front();
    tensors = tensors.drop_front();
    return first;
  }
  ImportedValue value = like;
  if (like.elements) {
    value.elements = std::make_shared<std::vector<ImportedValue>>();
    for (const ImportedValue &element : *like.elements)
      value.elements->push_back(withTensors(element, tensors));
  }
  return value;
}

/// Both branches' results agree but for their sizes, or what cannot be done.
static LogicalResult checkResults(NodeImporter &node,
                                  ArrayRef<ImportedValue> then,
                                  ArrayRef<ImportedValue> otherwise) {
  for (auto [i, x, y] : llvm::enumerate(then, otherwise)) {
    if (!haveOneForm(x, y))
      return node.unsupported("output " + Twine(i) +
                              " is a sequence or an optional of another "
                              "length in one branch than in the other, and "
                              "the condition depends on the model's inputs");
    if (x.kind != ImportedValue::Tensor) {
      SmallVector<ImportedValue> all[2];
      appendTensors(x, all[0]);
      appendTensors(y, all[1]);
      if (failed(checkResults(node, all[0], all[1])))
        return failure();
      continue;
    }
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
  // A node without a name of its own has one for people.
  StringRef name = cast<NameLoc>(b.getLoc()).getName();
  std::string message =
      ("the branch of '" + name + "' that is taken where its condition is " +
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
  SmallVector<CommonShape> joined;
  SmallVector<ImportedValue> tensors[2];
  for (unsigned i : {0, 1})
    for (const ImportedValue &result : branches[i].results)
      appendTensors(result, tensors[i]);
  for (auto [x, y] : llvm::zip(tensors[0], tensors[1])) {
    joined.push_back(join(ownShape(x), ownShape(y)));
    if (failed(expectSize(node, joined.back().bounds))) {
      node.forgetConstants();
      return failure();
    }
    appendTypes(b, joined.back(), getElementTypeOrSelf(x.value), types);
  }
  auto op = scf::IfOp::create(b, types, extractCondition(b, node.operand(0)),
                              /*addThenBlock=*/false, /*addElseBlock=*/false);
  for (unsigned i : {0, 1}) {
    op->getRegion(i).takeBody(branches[i].region);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&op->getRegion(i).front());
    SmallVector<Value> yielded;
    for (auto [result, shape] : llvm::zip(tensors[i], joined))
      appendAs(b, result, shape, yielded);
    scf::YieldOp::create(b, yielded);
  }
  SmallVector<Value> values(op.getResults());
  ArrayRef<Value> rest = values;
  SmallVector<ImportedValue> made;
  for (auto [shape, like] : llvm::zip(joined, tensors[0]))
    made.push_back(takeAs(shape, like.type, rest));
  ArrayRef<ImportedValue> left = made;
  for (auto [i, like] : llvm::enumerate(branches[0].results))
    node.setImported(i, withTensors(like, left));
  return success();
}

void ashlar::onnx_import::registerConditionsOperators(
    OperatorRegistry &registry) {
  registry.add("If", 1, importIf);
}
