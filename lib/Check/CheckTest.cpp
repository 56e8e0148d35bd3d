// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One test from its folder to its verdict: compile, load, run, compare.
#include "ashlar/Check/Check.h"
#include "ashlar/Check/ModelRun.h"
#include "ashlar/Support/InputFile.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;

namespace {
/// What the data decide of the model before it is compiled: sizes that the
/// model leaves open, and the values that its nodes must know.
struct Fixed {
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, std::vector<std::string>> values;
  bool operator==(const Fixed &other) const {
    return shapes == other.shapes && values == other.values;
  }
};

/// More elements than axes, sizes or bounds have are data.
constexpr size_t maximumFixedElements = 64;

struct DataSet {
  std::string name;
  std::vector<Tensor> inputs, outputs;
};

/// What the model says of its inputs, without their defaults.
struct ModelInput {
  std::string name;
  bool isTensor = false;
  bool isStatic = false;
  bool hasRank = false;
  std::vector<int64_t> shape; ///< -1: open
};

/// Why a test did not pass.
class Stopped : public llvm::ErrorInfo<Stopped> {
public:
  static char ID;
  explicit Stopped(TestResult result) : result(std::move(result)) {}
  void log(llvm::raw_ostream &out) const override { out << result.why; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  TestResult result;
};
char Stopped::ID;

Error failed(const llvm::Twine &why) {
  return llvm::make_error<Stopped>(TestResult{Verdict::Failed, "", why.str()});
}

Error unsupported(const llvm::Twine &op, const llvm::Twine &why) {
  return llvm::make_error<Stopped>(
      TestResult{Verdict::Unsupported, op.str(), why.str()});
}

class TestRun {
public:
  TestRun(const Test &test, const CheckOptions &options)
      : test(test), options(options) {}

  Error run();
  const std::set<std::string> &fixedInputs() const { return fixedNames; }

private:
  void readModelInputs();
  Expected<std::vector<Tensor>> readTensors(llvm::StringRef folder,
                                            llvm::StringRef prefix);
  Error readDataSets();
  void repeatSingles(DataSet &data) const;
  Error checkInputShapes(const DataSet &data) const;
  Fixed fixedBy(const DataSet &data) const;
  bool fixNeeded(const std::vector<UnsupportedNode> &nodes,
                 const DataSet &data);
  Error compileModel(Fixed &fixed, const DataSet &data);
  Expected<std::vector<Tensor>> arrangeInputs(const DataSet &data);
  Error runDataSet(const DataSet &data);

  const Test &test;
  const CheckOptions &options;
  ModelRun model;
  std::vector<ModelInput> modelInputs;
  std::vector<DataSet> dataSets;
  std::string randomOperator; ///< of the model, if it has one
  /// Inputs whose values are compiled into the module.
  std::set<std::string> fixedNames;
  bool isUnsupported = false; ///< the model itself
};

/// The first node of a graph that draws random numbers, or null. Dropout does
/// when it trains.
const onnx::NodeProto *findRandom(const onnx::GraphProto &graph) {
  for (const onnx::NodeProto &node : graph.node()) {
    llvm::StringRef op = node.op_type();
    if (op.starts_with("Random") || op == "Bernoulli" || op == "Multinomial" ||
        (op == "Dropout" && node.input_size() > 2))
      return &node;
  }
  return nullptr;
}

void TestRun::readModelInputs() {
  auto file = readInputFile(test.path + "/model.onnx", /*isText=*/false);
  onnx::ModelProto model;
  // A broken model is the compiler's to refuse.
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  if (!model.ParseFromArray((*file)->getBufferStart(),
                            (*file)->getBufferSize()))
    return;
  if (const onnx::NodeProto *random = findRandom(model.graph()))
    randomOperator = random->op_type();
  llvm::StringSet<> initialized;
  for (const onnx::TensorProto &initializer : model.graph().initializer())
    initialized.insert(initializer.name());
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    if (initialized.contains(input.name()))
      continue;
    const onnx::TypeProto::Tensor &type = input.type().tensor_type();
    ModelInput description;
    description.name = input.name();
    description.isTensor = input.type().has_tensor_type();
    description.hasRank = type.has_shape();
    for (const auto &dim : type.shape().dim())
      description.shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    description.isStatic =
        type.has_shape() && !llvm::is_contained(description.shape, -1);
    modelInputs.push_back(std::move(description));
  }
}

/// Some published data hold one element for an input that the model declares
/// larger, where its type alone counts: repeated, it is as declared.
void TestRun::repeatSingles(DataSet &data) const {
  for (auto [input, tensor] : llvm::zip(modelInputs, data.inputs)) {
    if (!input.isStatic || tensor.elementCount() != 1)
      continue;
    Tensor repeated = tensor;
    repeated.shape = input.shape;
    repeated.bytes.clear();
    for (int64_t i = repeated.elementCount(); i > 0; --i)
      llvm::append_range(repeated.bytes, tensor.bytes);
    tensor = std::move(repeated);
  }
}

/// Some published tests contradict their own model; that is nobody's failure
/// but theirs.
Error TestRun::checkInputShapes(const DataSet &data) const {
  for (auto [input, tensor] : llvm::zip(modelInputs, data.inputs)) {
    bool agrees = !input.hasRank || input.shape.size() == tensor.shape.size();
    if (agrees && input.hasRank)
      for (auto [declared, found] : llvm::zip(input.shape, tensor.shape))
        agrees &= declared == -1 || declared == found;
    if (!agrees)
      return unsupported(
          "test data",
          "input '" + input.name + "' is " +
              spellType(tensor.type, tensor.shape.data(), tensor.shape.size()) +
              ", which contradicts the model");
  }
  return Error::success();
}

/// PREFIX_0.pb, PREFIX_1.pb and so on, until one is missing.
Expected<std::vector<Tensor>> TestRun::readTensors(llvm::StringRef folder,
                                                   llvm::StringRef prefix) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    std::string path =
        (folder + "/" + prefix + "_" + std::to_string(i) + ".pb").str();
    if (!llvm::sys::fs::exists(path))
      return tensors;
    if (prefix == "input" && size_t(i) < modelInputs.size() &&
        !modelInputs[i].isTensor)
      return unsupported("input '" + modelInputs[i].name + "'",
                         "it is no tensor");
    Expected<Tensor> tensor = readTensor(path);
    if (!tensor) {
      Error error = tensor.takeError();
      if (error.isA<NotATensor>())
        return unsupported(prefix + " " + std::to_string(i),
                           llvm::toString(std::move(error)));
      return failed(llvm::toString(std::move(error)));
    }
    tensors.push_back(std::move(*tensor));
  }
}

Error TestRun::readDataSets() {
  for (int i = 0;; ++i) {
    DataSet data;
    data.name = "test_data_set_" + std::to_string(i);
    std::string folder = test.path + "/" + data.name;
    if (!llvm::sys::fs::is_directory(folder))
      break;
    Expected<std::vector<Tensor>> inputs = readTensors(folder, "input");
    if (!inputs)
      return inputs.takeError();
    Expected<std::vector<Tensor>> outputs = readTensors(folder, "output");
    if (!outputs)
      return outputs.takeError();
    data.inputs = std::move(*inputs);
    data.outputs = std::move(*outputs);
    dataSets.push_back(std::move(data));
  }
  return Error::success();
}

/// Sizes that the model leaves open are those of the data; so are values that
/// it needs.
Fixed TestRun::fixedBy(const DataSet &data) const {
  Fixed fixed;
  for (auto [i, input] : llvm::enumerate(modelInputs)) {
    if (i >= data.inputs.size())
      break;
    if (!input.isStatic)
      fixed.shapes[input.name] = data.inputs[i].shape;
    if (fixedNames.count(input.name))
      fixed.values[input.name] = numbers(data.inputs[i]);
  }
  return fixed;
}

/// Axes, sizes and the like that a model takes as inputs, but that must be
/// known where it is compiled, are fixed to the data's. Returns whether that
/// can help.
bool TestRun::fixNeeded(const std::vector<UnsupportedNode> &nodes,
                        const DataSet &data) {
  std::set<std::string> needed;
  for (const UnsupportedNode &node : nodes) {
    if (node.inputs.empty())
      return false;
    needed.insert(node.inputs.begin(), node.inputs.end());
  }
  for (const std::string &name : needed) {
    auto input = llvm::find_if(modelInputs, [&](const ModelInput &input) {
      return input.name == name;
    });
    size_t i = input - modelInputs.begin();
    if (i >= data.inputs.size() ||
        data.inputs[i].elementCount() > int64_t(maximumFixedElements))
      return false;
  }
  size_t before = fixedNames.size();
  fixedNames.insert(needed.begin(), needed.end());
  return fixedNames.size() != before;
}

Error TestRun::compileModel(Fixed &fixed, const DataSet &data) {
  CompileOptions compileOptions;
  compileOptions.input = test.path + "/model.onnx";
  compileOptions.targets = options.targets;
  compileOptions.precision = options.precision;
  compileOptions.shapes = fixed.shapes;
  compileOptions.values = fixed.values;
  compileOptions.threads = 1;
  auto compiled = model.compile(compileOptions);
  if (!compiled)
    return failed(llvm::toString(compiled.takeError()));
  if (options.showLogs)
    llvm::errs() << compiled->log;
  const CompileResult &result = compiled->result;
  const std::string &first = compiled->error;
  switch (result.status) {
  case CompileStatus::Done:
    return Error::success();
  case CompileStatus::Refused:
  case CompileStatus::WrongUsage: // the target, checked before
    return failed("refused: " + first);
  case CompileStatus::OurFault:
    return failed("compiler at fault: " + first);
  case CompileStatus::Unsupported:
    if (fixNeeded(result.unsupported, data)) {
      fixed = fixedBy(data);
      return compileModel(fixed, data);
    }
    isUnsupported = true;
    return unsupported(result.unsupported.front().op,
                       result.unsupported.front().reason);
  }
  llvm_unreachable("covered switch");
}

/// Data from before there were arrays of bfloat16 hold it as uint16. Returns
/// whether this was such a tensor.
bool readOldBFloat16(Tensor &tensor, uint32_t wanted) {
  if (wanted != ASHLAR_TYPE_BF16 || tensor.type != ASHLAR_TYPE_U16)
    return false;
  tensor.type = ASHLAR_TYPE_BF16;
  return true;
}

/// The entry's inputs among the data, by name where the data have names.
Expected<std::vector<Tensor>> TestRun::arrangeInputs(const DataSet &data) {
  std::vector<Tensor> arranged;
  for (size_t i = 0; i != model.inputCount(); ++i) {
    Expected<ashlar_tensor_info_t> info = model.input(i);
    if (!info)
      return failed(llvm::toString(info.takeError()));
    auto named = llvm::find_if(data.inputs, [&](const Tensor &tensor) {
      return tensor.name == info->name;
    });
    if (named == data.inputs.end() && i < data.inputs.size())
      named = data.inputs.begin() + i;
    if (named == data.inputs.end())
      return failed(data.name + " has no input '" + info->name + "'");
    arranged.push_back(*named);
    readOldBFloat16(arranged.back(), info->type);
  }
  return arranged;
}

Error TestRun::runDataSet(const DataSet &data) {
  auto arranged = arrangeInputs(data);
  if (!arranged)
    return arranged.takeError();
  size_t count = model.outputCount();
  if (count != data.outputs.size())
    return failed(data.name + " has " + std::to_string(data.outputs.size()) +
                  " outputs, the model has " + std::to_string(count));
  auto outputs = model.run(*arranged);
  if (!outputs)
    return failed(data.name + ": " + llvm::toString(outputs.takeError()));
  for (size_t i = 0; i != count; ++i) {
    const Tensor &found = (*outputs)[i];
    Tensor expected = data.outputs[i];
    Tolerance tolerance = options.tolerance;
    // It was cut off where one rounds today: one step more or less.
    if (readOldBFloat16(expected, found.type))
      tolerance.relative = std::max(tolerance.relative, 0x1p-7);
    std::string wrong = compare(found, expected, tolerance);
    if (wrong.empty())
      continue;
    if (!randomOperator.empty())
      return unsupported(randomOperator,
                         "the expected values are those of another generator "
                         "of random numbers");
    return failed("output '" + found.name + "' of " + data.name + " " + wrong);
  }
  return Error::success();
}

Error TestRun::run() {
  readModelInputs();
  Error dataError = readDataSets();
  DataSet none, &first = dataSets.empty() ? none : dataSets.front();
  Fixed fixed = fixedBy(first);
  Error compileError = compileModel(fixed, first);
  if (dataError) {
    // Data that are no tensors belong to models that are not supported; the
    // model's own reason says more.
    if (isUnsupported) {
      llvm::consumeError(std::move(dataError));
      return compileError;
    }
    llvm::consumeError(std::move(compileError));
    return dataError;
  }
  if (compileError)
    return compileError;
  if (dataSets.empty())
    return failed("there is no test_data_set_0");
  bool isLoaded = false;
  for (DataSet &data : dataSets) {
    repeatSingles(data);
    if (Error error = checkInputShapes(data))
      return error;
    Fixed wanted = fixedBy(data);
    if (!(wanted == fixed)) {
      isLoaded = false;
      fixed = wanted;
      if (Error error = compileModel(fixed, data))
        return error;
    }
    if (!isLoaded)
      if (Error error = model.load())
        return failed(llvm::toString(std::move(error)));
    isLoaded = true;
    if (Error error = runDataSet(data))
      return error;
  }
  return Error::success();
}
} // namespace

std::vector<Test> ashlar::check::findTests(const std::string &folder) {
  namespace path = llvm::sys::path;
  auto isTest = [](const std::string &at) {
    return llvm::sys::fs::exists(at + "/model.onnx");
  };
  auto describe = [](const std::string &at) {
    llvm::SmallString<256> absolute(at);
    llvm::sys::fs::make_absolute(absolute);
    path::remove_dots(absolute, /*remove_dot_dot=*/true);
    return Test{at, path::filename(path::parent_path(absolute)).str(),
                path::filename(absolute).str()};
  };
  if (isTest(folder))
    return {describe(folder)};
  std::vector<Test> tests;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator i(folder, error), end;
       !error && i != end; i.increment(error))
    if (isTest(i->path()))
      tests.push_back(describe(i->path()));
  std::sort(tests.begin(), tests.end(),
            [](const Test &a, const Test &b) { return a.name < b.name; });
  return tests;
}

TestResult ashlar::check::checkTest(const Test &test,
                                    const CheckOptions &options) {
  TestResult result;
  result.verdict = Verdict::Passed;
  TestRun run(test, options);
  llvm::handleAllErrors(
      run.run(), [&](const Stopped &stopped) { result = stopped.result; });
  result.fixedInputs = llvm::join(run.fixedInputs(), ",");
  std::replace(result.why.begin(), result.why.end(), '\n', ' ');
  return result;
}

std::string ashlar::check::spell(const TestResult &result) {
  switch (result.verdict) {
  case Verdict::Passed:
    return "passed";
  case Verdict::Failed:
    return "failed: " + result.why;
  case Verdict::Unsupported:
    return "unsupported: " + result.op + ", " + result.why;
  }
  llvm_unreachable("covered switch");
}
