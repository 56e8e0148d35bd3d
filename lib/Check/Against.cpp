// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Check/Against.h"
#include "NodeModels.h"
#include "RunBoth.h"
#include "ashlar/Import/ONNX/NodeName.h"
#include "ashlar/Transforms/Precision/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/ToolOutputFile.h"
#include <cmath>

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;

/// What kernels of a type do: some hundred roundings, or Winograd's transforms.
static double defaultTolerance(uint32_t type) {
  switch (type) {
  case ASHLAR_TYPE_F64:
    return 1e-9;
  case ASHLAR_TYPE_F16:
    return 2e-2;
  case ASHLAR_TYPE_BF16:
    return 8e-2;
  default:
    return 1e-4;
  }
}

bool ashlar::check::isFar(const Difference &difference, uint32_t type,
                          double tolerance) {
  if (difference.otherType || difference.apart)
    return true;
  if (tolerance < 0)
    tolerance = defaultTolerance(type);
  return difference.largest > tolerance * difference.scale;
}

namespace {
class Comparison {
public:
  Comparison(const AgainstOptions &options, const CompileHooks &planted)
      : options(options), planted(planted) {}

  Error run();
  AgainstReport report;

private:
  Error compareKernels(const Tensors &inputs);
  /// Whether outputs agree; notes the first that does not.
  bool outputsAgree(const Tensors &found, const Tensors &expected) {
    report.first = findWrongOutput(found, expected, options.tolerance);
    return !report.first;
  }
  void compareNodes(const Tensors &inputs);
  Error compareNodesOr(const Tensors &inputs);
  Error writeReproducer(const NodeModels &models,
                        const std::vector<const onnx::NodeProto *> &nodes);
  Expected<Tensors> runPart(const NodeModels::Part &part);

  const AgainstOptions &options;
  const CompileHooks &planted;
  /// Of the fused program: its outputs, then the results of its dispatches.
  Tensors meant;
  size_t outputs = 0;
  std::map<std::string, Tensor> nodeValues;
};
} // namespace

Expected<Tensors> ashlar::check::makeInputs(const AgainstOptions &options,
                                            const ModelRun &model) {
  Tensors tensors;
  for (size_t i = 0; i != model.inputCount(); ++i) {
    Expected<Tensor> tensor = model.emptyInput(i);
    if (!tensor)
      return tensor.takeError();
    std::string why =
        options.input(tensor->name, tensor->type, tensor->shape, tensor->bytes);
    if (!why.empty())
      return llvm::createStringError(why);
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Error ashlar::check::prepare(ModelRun &model, const CompileOptions &compile,
                             const CompileHooks &hooks) {
  auto compiled = model.compile(compile, hooks);
  if (!compiled)
    return compiled.takeError();
  if (compiled->result.status != CompileStatus::Done)
    return llvm::createStringError(
        compile.targets.front().target + ": " +
        (compiled->result.status == CompileStatus::Unsupported
             ? compiled->result.unsupported.front().op + ", " +
                   compiled->result.unsupported.front().reason
             : compiled->error));
  return model.load();
}

CompileOptions ashlar::check::asReference(CompileOptions options) {
  options.targets = {{"reference", ""}};
  options.fuse = FuseLevel::All;
  return options;
}

std::optional<WrongValue>
ashlar::check::findWrongOutput(const Tensors &found, const Tensors &expected,
                               double tolerance) {
  for (auto [is, should] : llvm::zip(found, expected)) {
    Difference difference = measure(is, should);
    // Each kernel may be off by the tolerance; many are more.
    double most =
        tolerance < 0 ? 10 * defaultTolerance(should.type) : tolerance;
    if (isFar(difference, should.type, most))
      return WrongValue{
          should.name,
          {},
          spellType(should.type, should.shape.data(), should.shape.size()),
          should.shape,
          difference};
  }
  return std::nullopt;
}

/// Plain loops that add up 25,600 elements one after another in f32 may be
/// further from the sum than any kernel.
static mlir::LogicalResult widenSums(mlir::ModuleOp program) {
  mlir::PassManager pm(program.getContext());
  pm.addNestedPass<mlir::func::FuncOp>(createWidenAccumulatorsPass());
  return pm.run(program);
}

Error Comparison::compareKernels(const Tensors &inputs) {
  std::vector<DispatchResult> exposed, isolated;
  ModelRun fused, apart;
  CompileHooks expose, isolate = planted;
  expose.steps = numFuseSteps;
  expose.afterFuse = [&](mlir::ModuleOp program) {
    exposed = exposeDispatches(program);
    return widenSums(program);
  };
  isolate.afterFuse = [&](mlir::ModuleOp program) {
    isolated = isolateDispatches(program);
    return mlir::success();
  };
  if (Error error = prepare(fused, options.compile, expose))
    return error;
  auto values = fused.run(inputs);
  if (!values)
    return values.takeError();
  meant = std::move(*values);
  outputs = meant.size() - exposed.size();
  if (Error error = prepare(apart, options.compile, isolate))
    return error;
  Tensors given = inputs;
  given.insert(given.end(), meant.begin() + outputs, meant.end());
  auto computed = apart.run(given);
  if (!computed)
    return computed.takeError();
  for (auto [i, result] : llvm::enumerate(isolated)) {
    const Tensor &should = meant[outputs + i];
    report.kernels = std::max<size_t>(report.kernels, result.dispatch + 1);
    ++report.values;
    Difference difference = measure((*computed)[i], should);
    if (isFar(difference, should.type, options.tolerance)) {
      ++report.wrong;
      if (!report.first)
        report.first = WrongValue{
            result.nodes.empty() ? "" : result.nodes.back(), result.nodes,
            spellType(should.type, should.shape.data(), should.shape.size()),
            should.shape, difference};
      continue;
    }
    double relative =
        difference.scale > 0 ? difference.largest / difference.scale : 0;
    if (relative > report.worst) {
      report.worst = relative;
      report.worstNodes = llvm::join(result.nodes, ", ");
    }
  }
  return Error::success();
}

Expected<Tensors> Comparison::runPart(const NodeModels::Part &part) {
  auto file = MemoryFile::create("part.onnx", part.model);
  if (!file)
    return file.takeError();
  CompileOptions compile = options.compile;
  compile.input = file->path();
  compile.shapes.clear();
  compile.values.clear();
  ModelRun run;
  CompileHooks hooks;
  hooks.afterTile = planted.afterTile;
  if (Error error = prepare(run, compile, hooks))
    return error;
  Tensors given;
  for (const std::string &name : part.inputs)
    given.push_back(nodeValues.at(name));
  return run.run(given);
}

Error Comparison::writeReproducer(
    const NodeModels &models,
    const std::vector<const onnx::NodeProto *> &nodes) {
  if (options.reproducer.empty())
    return Error::success();
  if (Error error = writeTest(options.reproducer,
                              models.extract(nodes, nodeValues), nodeValues))
    return error;
  const TargetRequest &target = options.compile.targets.front();
  std::string command = options.program + " " + options.reproducer +
                        " --target=" + target.target +
                        (target.preset.empty() ? "" : ":" + target.preset) +
                        "\n";
  report.reproducer = options.reproducer;
  return llvm::writeToOutput(options.reproducer + "/command",
                             [&](llvm::raw_ostream &out) {
                               out << command;
                               return Error::success();
                             });
}

/// Compiles the nodes of the first wrong kernel one by one.
Error Comparison::compareNodesOr(const Tensors &inputs) {
  auto models = NodeModels::read(options.compile.input);
  if (!models)
    return models.takeError();
  std::vector<const onnx::NodeProto *> nodes =
      models->find(report.first->nodes);
  if (nodes.empty())
    return llvm::createStringError("its nodes are in another graph");
  std::vector<std::string> around = models->valuesAround(nodes);
  auto file = MemoryFile::create("model.onnx", models->withOutputs(around));
  if (!file)
    return file.takeError();
  CompileOptions compile = asReference(options.compile);
  compile.input = file->path();
  ModelRun reference;
  if (Error error = prepare(reference, compile))
    return error;
  auto values = reference.run(inputs);
  if (!values)
    return values.takeError();
  for (const Tensors &tensors : {inputs, *values})
    for (const Tensor &tensor : tensors)
      nodeValues[tensor.name] = tensor;
  std::vector<const onnx::NodeProto *> culprit = nodes;
  for (const onnx::NodeProto *node : nodes) {
    NodeModels::Part part = models->extract({node}, nodeValues);
    auto found = runPart(part);
    if (!found)
      return found.takeError();
    bool right = true;
    for (auto [name, tensor] : llvm::zip(part.outputs, *found)) {
      const Tensor &should = nodeValues.at(name);
      Difference difference = measure(tensor, should);
      if (!isFar(difference, should.type, options.tolerance))
        continue;
      right = false;
      if (!report.culprit.empty())
        break;
      report.culprit = onnx_import::displayName(*node);
      culprit = {node};
      report.first->name = report.culprit;
      report.first->difference = difference;
      report.first->shape = should.shape;
      report.first->type =
          spellType(should.type, should.shape.data(), should.shape.size());
    }
    report.alone.emplace_back(onnx_import::displayName(*node), right);
  }
  return writeReproducer(*models, culprit);
}

void Comparison::compareNodes(const Tensors &inputs) {
  if (Error error = compareNodesOr(inputs))
    report.note = llvm::toString(std::move(error));
}

Error Comparison::run() {
  ModelRun reference, shipped;
  if (Error error = prepare(reference, asReference(options.compile)))
    return error;
  auto inputs = makeInputs(options, reference);
  if (!inputs)
    return inputs.takeError();
  auto expected = reference.run(*inputs);
  if (!expected)
    return expected.takeError();
  CompileHooks hooks;
  hooks.afterTile = planted.afterTile;
  if (Error error = prepare(shipped, options.compile, hooks))
    return error;
  auto found = shipped.run(*inputs);
  if (!found)
    return found.takeError();
  if (Error error = compareKernels(*inputs))
    return error;
  if (report.wrong) {
    report.fault = Fault::Kernel;
    compareNodes(*inputs);
    return Error::success();
  }
  Tensors fused(meant.begin(), meant.begin() + outputs);
  if (!outputsAgree(fused, *expected))
    report.fault = Fault::Passes;
  else if (!outputsAgree(*found, *expected))
    report.fault = Fault::Program;
  return Error::success();
}

Expected<AgainstReport>
ashlar::check::compareWithReference(const AgainstOptions &options,
                                    const CompileHooks &planted) {
  Comparison comparison(options, planted);
  if (Error error = comparison.run())
    return error;
  return std::move(comparison.report);
}

std::string ashlar::check::spellWorst(const WrongValue &value) {
  const Difference &difference = value.difference;
  if (difference.otherType)
    return "has another type or shape than " + value.type;
  std::string text = formatv(
      "{0}: {1} elements differ, most at {2}: is {3}, expected {4}", value.type,
      difference.unequal, spellIndex(difference.place, value.shape),
      difference.found, difference.expected);
  if (std::isfinite(difference.largest))
    text += formatv(" ({0:e2} of it, {1:e2} of the largest, {2:f0} ulp)",
                    difference.relative,
                    difference.scale > 0 ? difference.largest / difference.scale
                                         : difference.largest,
                    difference.ulps);
  return text;
}

std::string ashlar::check::spell(const AgainstReport &report) {
  std::string text =
      formatv("{0} values of {1} kernels, each from the reference's operands: "
              "{2} wrong",
              report.values, report.kernels, report.wrong);
  if (report.worst > 0)
    text += formatv("; of the others, the worst is {0:e2} of its largest, at "
                    "'{1}'",
                    report.worst, report.worstNodes);
  text += "\n";
  switch (report.fault) {
  case Fault::None:
    return text + "passed: the outputs agree with the reference's\n";
  case Fault::Passes:
    return text + "failed: output '" + report.first->name +
           "' is wrong in plain loops, too, so a pass before the kernels' "
           "changed what the program means; --bisect=pass says which\n  " +
           spellWorst(*report.first) + "\n";
  case Fault::Program:
    return text + "failed: output '" + report.first->name +
           "' is wrong, but each kernel is right by itself: their order or "
           "their places in memory are not\n  " +
           spellWorst(*report.first) + "\n";
  case Fault::Kernel:
    break;
  }
  text +=
      "failed: " +
      (report.culprit.empty()
           ? "the kernel of '" + llvm::join(report.first->nodes, "', '") + "'"
           : "node '" + report.culprit + "'") +
      " goes wrong first\n  " + spellWorst(*report.first) + "\n";
  for (const auto &[node, right] : report.alone)
    text += "  '" + node + "' compiled alone: " + (right ? "right" : "wrong") +
            "\n";
  if (!report.alone.empty() && report.culprit.empty())
    text += "  so it is their fusion that is wrong\n";
  if (!report.note.empty())
    text += "  its nodes could not be compiled alone: " + report.note + "\n";
  if (!report.reproducer.empty())
    text += "  to repeat it: sh " + report.reproducer + "/command\n";
  return text;
}
