// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One test from its folder to its verdict: compile, load, run, compare.
#include "ashlar/Check/Check.h"
#include "ashlar/Check/Tensor.h"
#include "ashlar/Driver/Compile.h"
#include "ashlar/Support/MemoryFile.h"
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

Error check(ashlar_status_t status, llvm::StringRef what) {
  if (status.code == ASHLAR_OK)
    return Error::success();
  return failed(what + ": " + status.message);
}

using Session =
    std::unique_ptr<ashlar_session_t, decltype(&ashlar_session_release)>;
using Module =
    std::unique_ptr<ashlar_module_t, decltype(&ashlar_module_release)>;
using Runtime =
    std::unique_ptr<ashlar_runtime_t, decltype(&ashlar_runtime_release)>;

/// A compiled model that can be run.
struct Loaded {
  Runtime runtime{nullptr, ashlar_runtime_release};
  Module module{nullptr, ashlar_module_release};
  Session session{nullptr, ashlar_session_release};
  ashlar_entry_t *entry = nullptr;
};

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
  Error checkInputShapes(const DataSet &data) const;
  Fixed fixedBy(const DataSet &data) const;
  bool fixNeeded(const std::vector<UnsupportedNode> &nodes,
                 const DataSet &data);
  Error compileModel(Fixed &fixed, const DataSet &data);
  Error load(Loaded &loaded);
  Expected<std::vector<Tensor>> arrangeInputs(const Loaded &loaded,
                                              const DataSet &data);
  Error runDataSet(const Loaded &loaded, const DataSet &data);

  const Test &test;
  const CheckOptions &options;
  std::optional<MemoryFile> moduleFile;
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
  auto file =
      llvm::MemoryBuffer::getFile(test.path + "/model.onnx", false, false);
  onnx::ModelProto model;
  // A broken model is the compiler's to refuse.
  if (!file || !model.ParseFromArray((*file)->getBufferStart(),
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
  // In memory, so that nothing stays of a test that is ended.
  auto file = MemoryFile::create("module.ash");
  if (!file)
    return failed(llvm::toString(file.takeError()));
  moduleFile.emplace(std::move(*file));
  CompileOptions compileOptions;
  compileOptions.input = test.path + "/model.onnx";
  compileOptions.outputDescriptor = moduleFile->descriptor();
  compileOptions.targets = options.targets;
  compileOptions.shapes = fixed.shapes;
  compileOptions.values = fixed.values;
  compileOptions.threads = 1;
  compileOptions.quiet = true;
  std::string log;
  llvm::raw_string_ostream logStream(log);
  CompileResult result = compile(compileOptions, llvm::nulls(), logStream);
  if (options.showLogs)
    llvm::errs() << log;
  // The first error says most; warnings before it do not count.
  llvm::StringRef first = log;
  if (size_t at = first.find("error: "); at != llvm::StringRef::npos)
    first = first.drop_front(at + 7);
  first = first.take_until([](char c) { return c == '\n'; });
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

Error TestRun::load(Loaded &loaded) {
  ashlar_runtime_options_t runtimeOptions = ASHLAR_RUNTIME_OPTIONS_INIT;
  runtimeOptions.threads = 1;
  ashlar_runtime_t *runtime;
  if (Error error = check(ashlar_runtime_create(&runtimeOptions, &runtime),
                          "creating the runtime"))
    return error;
  loaded.runtime.reset(runtime);
  ashlar_load_options_t loadOptions = ASHLAR_LOAD_OPTIONS_INIT;
  loadOptions.allow_native_code = 1;
  ashlar_module_t *module;
  if (Error error =
          check(ashlar_module_load_file(runtime, moduleFile->path().c_str(),
                                        &loadOptions, &module),
                "loading the module"))
    return error;
  loaded.module.reset(module);
  if (Error error = check(ashlar_module_entry_at(module, 0, &loaded.entry),
                          "finding the entry"))
    return error;
  ashlar_session_options_t sessionOptions = ASHLAR_SESSION_OPTIONS_INIT;
  // What a kernel leaves unwritten must not look like zeros.
  sessionOptions.poison = 1;
  ashlar_session_t *session;
  if (Error error = check(
          ashlar_session_create(module, nullptr, &sessionOptions, &session),
          "creating a session"))
    return error;
  loaded.session.reset(session);
  return Error::success();
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
Expected<std::vector<Tensor>> TestRun::arrangeInputs(const Loaded &loaded,
                                                     const DataSet &data) {
  size_t count = ashlar_entry_input_count(loaded.entry);
  std::vector<Tensor> arranged;
  for (size_t i = 0; i != count; ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    if (Error error = check(ashlar_entry_input(loaded.entry, i, &info),
                            "asking for an input"))
      return error;
    auto named = llvm::find_if(data.inputs, [&](const Tensor &tensor) {
      return tensor.name == info.name;
    });
    if (named == data.inputs.end() && i < data.inputs.size())
      named = data.inputs.begin() + i;
    if (named == data.inputs.end())
      return failed(data.name + " has no input '" + info.name + "'");
    arranged.push_back(*named);
    readOldBFloat16(arranged.back(), info.type);
  }
  return arranged;
}

/// Memory as aligned as the runtime reads in place.
std::unique_ptr<char, decltype(&std::free)>
alignedCopy(const std::vector<char> &bytes) {
  size_t size = std::max<size_t>(64, (bytes.size() + 63) / 64 * 64);
  char *copy = static_cast<char *>(std::aligned_alloc(64, size));
  std::copy(bytes.begin(), bytes.end(), copy);
  return {copy, std::free};
}

Error TestRun::runDataSet(const Loaded &loaded, const DataSet &data) {
  auto arranged = arrangeInputs(loaded, data);
  if (!arranged)
    return arranged.takeError();
  std::vector<std::unique_ptr<char, decltype(&std::free)>> memory;
  std::vector<ashlar_tensor_t> inputs;
  for (const Tensor &tensor : *arranged) {
    memory.push_back(alignedCopy(tensor.bytes));
    ashlar_tensor_t input{};
    input.data = memory.back().get();
    input.capacity = tensor.bytes.size();
    input.type = tensor.type;
    input.rank = tensor.shape.size();
    std::copy(tensor.shape.begin(), tensor.shape.end(), input.shape);
    inputs.push_back(input);
  }
  size_t count = ashlar_entry_output_count(loaded.entry);
  if (count != data.outputs.size())
    return failed(data.name + " has " + std::to_string(data.outputs.size()) +
                  " outputs, the model has " + std::to_string(count));
  std::vector<ashlar_tensor_t> outputs(count);
  if (Error error = check(ashlar_session_run_entry(
                              loaded.session.get(), loaded.entry, inputs.data(),
                              inputs.size(), outputs.data(), count),
                          "running " + data.name))
    return error;
  for (size_t i = 0; i != count; ++i) {
    Tensor expected = data.outputs[i];
    Tolerance tolerance = options.tolerance;
    // It was cut off where one rounds today: one step more or less.
    if (readOldBFloat16(expected, outputs[i].type))
      tolerance.relative = std::max(tolerance.relative, 0x1p-7);
    std::string wrong = compare(outputs[i], expected, tolerance);
    if (wrong.empty())
      continue;
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    ashlar_entry_output(loaded.entry, i, &info);
    if (!randomOperator.empty())
      return unsupported(randomOperator,
                         "the expected values are those of another generator "
                         "of random numbers");
    return failed("output '" + llvm::Twine(info.name ? info.name : "") +
                  "' of " + data.name + " " + wrong);
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
  std::optional<Loaded> loaded;
  for (const DataSet &data : dataSets) {
    if (Error error = checkInputShapes(data))
      return error;
    Fixed wanted = fixedBy(data);
    if (!(wanted == fixed)) {
      loaded.reset();
      fixed = wanted;
      if (Error error = compileModel(fixed, data))
        return error;
    }
    if (!loaded) {
      loaded.emplace();
      if (Error error = load(*loaded))
        return error;
    }
    if (Error error = runDataSet(*loaded, data))
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
