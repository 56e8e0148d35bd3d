// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Check/Dispatches.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/ModelNodes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::check;

static func::FuncOp entryOf(ModuleOp program) {
  return *program.getOps<func::FuncOp>().begin();
}

static SmallVector<exec::DispatchOp> dispatchesOf(func::FuncOp entry) {
  return llvm::to_vector(entry.getBody().front().getOps<exec::DispatchOp>());
}

/// The names of nodes in a dispatch, in the model's order.
static std::vector<std::string> nodesOf(exec::DispatchOp dispatch,
                                        ArrayAttr modelNodes) {
  llvm::DenseSet<StringAttr> named;
  dispatch->walk([&](Operation *op) {
    op->getLoc()->walk([&](Location location) {
      if (auto name = dyn_cast<NameLoc>(location))
        named.insert(name.getName());
      return WalkResult::advance();
    });
  });
  std::vector<std::string> nodes;
  if (modelNodes)
    for (Attribute name : modelNodes)
      if (named.contains(cast<StringAttr>(name)))
        nodes.push_back(cast<StringAttr>(name).str());
  return nodes;
}

static std::vector<DispatchResult> describe(ModuleOp program) {
  std::vector<DispatchResult> results;
  auto modelNodes = program->getAttrOfType<ArrayAttr>(modelNodesAttrName);
  for (auto [i, dispatch] : llvm::enumerate(dispatchesOf(entryOf(program)))) {
    std::vector<std::string> nodes = nodesOf(dispatch, modelNodes);
    for (Type type : dispatch.getResultTypes()) {
      DispatchResult result{unsigned(i), nodes, ""};
      llvm::raw_string_ostream(result.type) << type;
      results.push_back(std::move(result));
    }
  }
  return results;
}

static void setResults(func::FuncOp entry, ArrayRef<Value> values,
                       ArrayRef<DictionaryAttr> attributes) {
  auto ret = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  ret.getOperandsMutable().assign(values);
  entry.setType(FunctionType::get(entry.getContext(),
                                  entry.getBody().getArgumentTypes(),
                                  ValueRange(values).getTypes()));
  SmallVector<Attribute> all(attributes.begin(), attributes.end());
  entry.setAllResultAttrs(all);
}

static DictionaryAttr named(MLIRContext *context, const Twine &name) {
  Builder b(context);
  return b.getDictionaryAttr(
      b.getNamedAttr("ashlar.name", b.getStringAttr(name)));
}

std::vector<DispatchResult> ashlar::check::exposeDispatches(ModuleOp program) {
  func::FuncOp entry = entryOf(program);
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attributes;
  Operation *ret = entry.getBody().front().getTerminator();
  unsigned outputs = ret->getNumOperands();
  // Sizes that depend on data are results, too, and come last.
  while (outputs != 0 && entry.getResultAttr(outputs - 1, exec::sizeOfAttrName))
    --outputs;
  auto keep = [&](unsigned begin, unsigned end) {
    for (unsigned i = begin; i != end; ++i) {
      values.push_back(ret->getOperand(i));
      attributes.push_back(entry.getResultAttrDict(i));
    }
  };
  keep(0, outputs);
  for (exec::DispatchOp dispatch : dispatchesOf(entry))
    for (Value result : dispatch.getResults()) {
      attributes.push_back(named(program.getContext(),
                                 "dispatch result " + Twine(values.size())));
      values.push_back(result);
    }
  keep(outputs, ret->getNumOperands());
  setResults(entry, values, attributes);
  return describe(program);
}

std::vector<DispatchResult> ashlar::check::isolateDispatches(ModuleOp program) {
  func::FuncOp entry = entryOf(program);
  Block &body = entry.getBody().front();
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attributes;
  for (exec::DispatchOp dispatch : dispatchesOf(entry))
    for (Value result : dispatch.getResults()) {
      std::string name = "value " + std::to_string(values.size());
      Value given = body.addArgument(result.getType(), result.getLoc());
      result.replaceAllUsesWith(given);
      values.push_back(result);
      attributes.push_back(named(program.getContext(), "computed " + name));
    }
  SmallVector<Attribute> arguments;
  for (unsigned i = 0; i != body.getNumArguments(); ++i)
    arguments.push_back(
        i < entry.getNumArguments()
            ? Attribute(entry.getArgAttrDict(i))
            : named(program.getContext(),
                    "given value " + Twine(i - entry.getNumArguments())));
  setResults(entry, values, attributes);
  for (auto [i, attribute] : llvm::enumerate(arguments))
    if (auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute))
      arguments[i] = dictionary;
    else
      arguments[i] = DictionaryAttr::get(program.getContext());
  entry.setAllArgAttrs(arguments);
  // What led to the entry's own results and is not a dispatch, nobody reads.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return describe(program);
}
