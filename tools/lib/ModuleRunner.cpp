// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModuleRunner.h"

#include "Failure.h"
#include "SignatureKeys.h"
#include "StatePlace.h"
#include "TensorFile.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>

namespace ashlar::tools {

/// For --help.
static std::string describeDevices() {
  RuntimeHandles handles;
  check(ashlar_runtime_create(nullptr, &handles.runtime));
  return std::string("Devices: ") + ashlar_device_names(handles.runtime) + "\n";
}

void RunnerFlags::declare(CLI::App &app) {
  app.add_option("file", file, "The module (.ash)")->required();
  app.add_option("--input", inputs,
                 "NAME=FILE.npy, NAME=FILE.pb or NAME=random[:SEED]; "
                 "repeatable")
      ->take_all();
  app.add_option("--shape", shapes,
                 "NAME=1x3x48x320: the shape of a random input whose sizes "
                 "are open; default: the largest");
  app.add_option("--entry", entry, "Entry point; default: the first");
  app.add_option("--device", devices,
                 "DEVICE[,DEVICE...] in order of preference; default: any");
  app.footer(describeDevices);
  app.add_option("--placement", placement,
                 "strict: a device that cannot serve is an error; soft: the "
                 "next is taken")
      ->check(CLI::IsMember({"strict", "soft"}));
  app.add_option(
      "--memory-limit", memoryLimit,
      "Refuse to use more, such as 256MiB; ashlar-bench counts inputs, too");
  app.add_option("--driver-cache", driverCache,
                 "A folder for what drivers compile: later loads are quicker. "
                 "Who may write to it runs code here");
  app.add_option("--device-wait", deviceWait,
                 "Seconds to wait for a GPU that does not answer before it is "
                 "lost; default: 600")
      ->check(CLI::Range(1, int(mostDeviceWait)));
  app.add_option("--signature-key", signatureKeys,
                 "Load what this key of Ed25519 (PEM, 'openssl pkey -pubout') "
                 "has signed, and nothing else; repeatable")
      ->type_name("FILE")
      ->take_all();
  app.add_option("--trace", trace, "Write a file that ui.perfetto.dev opens");
}

void RunnerFlags::declareThreads(CLI::App &app) {
  app.add_option("--threads", threads,
                 "Threads of the session; default: one per CPU")
      ->check(CLI::Range(1, int(mostThreads)));
}

std::map<std::string, std::string>
readAssignments(const std::vector<std::string> &texts,
                const std::string &flag) {
  std::map<std::string, std::string> result;
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    if (equals == text.npos || equals == 0 || equals + 1 == text.size())
      throw Failure(WrongUsage,
                    flag + "=" + text + ": expected " + flag + "=NAME=VALUE");
    std::string name = text.substr(0, equals);
    if (!result.emplace(name, text.substr(equals + 1)).second)
      throw Failure(WrongUsage, flag + " gives '" + name + "' twice");
  }
  return result;
}

static std::vector<std::string> splitList(const std::string &text) {
  std::vector<std::string> items;
  std::stringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');)
    items.push_back(item);
  return items;
}

/// The seed of "random" and "random:SEED"; nothing for files.
static std::optional<uint64_t> readSeed(const std::string &source) {
  if (source == "random")
    return 0;
  if (source.compare(0, 7, "random:") != 0)
    return std::nullopt;
  uint64_t seed = 0;
  const char *end = source.data() + source.size();
  auto [stop, problem] = std::from_chars(source.data() + 7, end, seed);
  if (problem != std::errc() || stop != end)
    throw Failure(WrongUsage, "'" + source +
                                  "': expected random:SEED with a whole number "
                                  "from 0 to 2^64-1");
  return seed;
}

/// A cache that is of no use says so nowhere else.
static void sayWarning(void *, uint32_t, const char *place,
                       const char *message) {
  std::fprintf(stderr, "%s: %s\n", place, message);
}

ModuleRunner::ModuleRunner(const RunnerFlags &given) : flags(given) {
  for (auto &[name, shape] : readAssignments(flags.shapes, "--shape"))
    shapes[name] = parseShape(shape);
  sources = readAssignments(flags.inputs, "--input");
  for (auto &[name, source] : sources)
    (void)readSeed(source);
  uint64_t limit = flags.memoryLimit.empty() ? ASHLAR_UNLIMITED
                                             : parseBytes(flags.memoryLimit);
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  ashlar_logger_t logger = {nullptr, ASHLAR_LOG_WARNING, 0, sayWarning};
  if (!flags.driverCache.empty()) {
    options.driver_cache = flags.driverCache.c_str();
    options.logger = &logger;
  }
  options.device_wait_ns = uint64_t(flags.deviceWait) * 1'000'000'000;
  std::string keys = readSignatureKeys(flags.signatureKeys, "--signature-key");
  options.signature_keys = keys.data();
  options.signature_key_count = keys.size() / ASHLAR_SIGNATURE_KEY_BYTES;
  check(ashlar_runtime_create(&options, &runtime));
  check(ashlar_budget_create(runtime, "--memory-limit", limit, &budget));
  load();
}

void ModuleRunner::load() {
  std::vector<std::string> names = splitList(flags.devices);
  for (const std::string &name : names)
    if (name.empty())
      throw Failure(WrongUsage, "--device=" + flags.devices +
                                    ": expected DEVICE[,DEVICE...], such as "
                                    "cpu:0");
  std::vector<const char *> devices;
  for (const std::string &name : names)
    devices.push_back(name.c_str());
  ashlar_load_options_t load = ASHLAR_LOAD_OPTIONS_INIT;
  load.budget = budget;
  // Who names a file on the command line trusts it like a program.
  load.allow_native_code = 1;
  load.devices = devices.data();
  load.device_count = devices.size();
  load.placement = flags.placement == "soft" ? ASHLAR_PLACEMENT_SOFT
                                             : ASHLAR_PLACEMENT_STRICT;
  checkFile(flags.file, ashlar_module_load_file(runtime, flags.file.c_str(),
                                                &load, &module));
  if (flags.entry.empty())
    check(ashlar_module_entry_at(module, 0, &entry));
  else
    check(ashlar_module_entry(module, flags.entry.c_str(), &entry));
  ashlar_session_options_t options = ASHLAR_SESSION_OPTIONS_INIT;
  options.threads = flags.threads;
  check(ashlar_session_create(module, budget, &options, &session));
  if (!flags.trace.empty())
    check(ashlar_trace_start(runtime, flags.trace.c_str()));
}

RuntimeHandles::~RuntimeHandles() {
  ashlar_bindings_release(bindings);
  ashlar_session_release(session);
  ashlar_module_release(module);
  ashlar_budget_release(budget);
  ashlar_runtime_release(runtime);
}

std::vector<int64_t>
ModuleRunner::inputShape(const ashlar_tensor_info_t &info) const {
  auto given = shapes.find(info.name);
  if (given != shapes.end())
    return given->second;
  return {info.maximum, info.maximum + info.rank};
}

/// The budget knows what the module and the session hold; inputs are ours.
void ModuleRunner::checkLimit(const std::string &what) const {
  if (!flags.countsInputs || flags.memoryLimit.empty())
    return;
  uint64_t limit = parseBytes(flags.memoryLimit);
  uint64_t held = budgetStatistics().current;
  if (held <= limit && inputBytes <= limit - held)
    return;
  throw Failure(Refused, "--memory-limit=" + flags.memoryLimit + ": " + what +
                             ": inputs take " + formatBytes(inputBytes) +
                             ", the module and its session " +
                             formatBytes(held) + " [OUT_OF_BUDGET]");
}

void ModuleRunner::countInput(const std::string &name, uint64_t bytes) {
  inputBytes =
      bytes > UINT64_MAX - inputBytes ? UINT64_MAX : inputBytes + bytes;
  checkLimit("input '" + name + "' does not fit");
}

Tensor ModuleRunner::makeInput(const ashlar_tensor_info_t &info,
                               const std::string &source) {
  std::optional<uint64_t> seed = readSeed(source);
  if (!seed) {
    Tensor read = readTensorFile(source);
    countInput(info.name, read.bytes());
    return read;
  }
  std::vector<int64_t> shape = inputShape(info);
  uint64_t bytes = ashlar_element_type_size(info.type);
  for (int64_t size : shape)
    if (size > 0 && bytes > UINT64_MAX / uint64_t(size))
      bytes = UINT64_MAX;
    else
      bytes *= uint64_t(size);
  countInput(info.name, bytes);
  return randomTensor(info.name, *seed, info.type, std::move(shape));
}

void ModuleRunner::prepareInputs(bool fillIn) {
  std::map<std::string, std::string> rest = sources;
  std::map<std::string, std::vector<int64_t>> restOfShapes = shapes;
  std::string missing, known;
  for (size_t i = 0; i < ashlar_entry_input_count(entry); ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    check(ashlar_entry_input(entry, i, &info));
    known += std::string(known.empty() ? "" : ", ") + info.name;
    restOfShapes.erase(info.name);
    auto source = rest.find(info.name);
    if (source == rest.end() && !fillIn) {
      missing += std::string("\n  --input=") + info.name + "=FILE.npy   (" +
                 ashlar_element_type_name(info.type) + " " + info.shape_text +
                 ")";
      continue;
    }
    inputs.push_back(
        makeInput(info, source == rest.end() ? "random" : source->second));
    if (source != rest.end())
      rest.erase(source);
  }
  for (auto &[name, shape] : restOfShapes)
    rest.emplace(name, "");
  if (!rest.empty())
    throw Failure(Refused, "there is no input named '" + rest.begin()->first +
                               "'; the inputs are " + known);
  if (!missing.empty())
    throw Failure(Refused,
                  "inputs are missing; give a file or =random:" + missing);
}

void ModuleRunner::prepareRandom() {
  prepareInputs(/*fillIn=*/true);
  prepareOutputs();
  bind();
}

void ModuleRunner::prepareOutputs() {
  for (size_t i = 0; i < ashlar_entry_output_count(entry); ++i) {
    ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
    check(ashlar_entry_output(entry, i, &info));
    outputStorage.emplace_back(
        info.type,
        std::vector<int64_t>(info.maximum, info.maximum + info.rank));
    outputs.push_back(outputStorage.back().view());
    stateInputs.push_back(info.state_input);
    if (info.state_input >= 0)
      countInput(info.name, outputStorage.back().bytes());
  }
}

/// A state's input is in the place of its output, which is as large as it gets.
void ModuleRunner::placeState(size_t output, ashlar_tensor_t &input) {
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  check(ashlar_entry_input(entry, stateInputs[output], &info));
  Tensor &place = outputStorage[output];
  fillPlace(info.name, inputs[stateInputs[output]], place);
  input.data = place.data();
  input.capacity = place.bytes();
}

void ModuleRunner::bind() {
  std::vector<ashlar_tensor_t> views;
  for (Tensor &input : inputs)
    views.push_back(input.view());
  for (size_t i = 0; i < stateInputs.size(); ++i)
    if (stateInputs[i] >= 0)
      placeState(i, views[stateInputs[i]]);
  check(ashlar_bindings_create(session, entry, views.data(), views.size(),
                               outputs.data(), outputs.size(), &bindings));
  checkLimit("these sizes do not fit");
}

void ModuleRunner::run() {
  check(ashlar_bindings_run(bindings));
  // Sizes that depend on data are known now.
  for (size_t i = 0; i < outputs.size(); ++i)
    check(ashlar_bindings_output_shape(bindings, i, outputs[i].shape));
}

void ModuleRunner::finish() {
  if (!flags.trace.empty())
    check(ashlar_trace_stop(runtime));
}

std::string ModuleRunner::outputName(size_t index) const {
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  check(ashlar_entry_output(entry, index, &info));
  return info.name;
}

size_t ModuleRunner::outputNamed(const std::string &name) const {
  std::string known;
  for (size_t i = 0; i < ashlar_entry_output_count(entry); ++i) {
    if (outputName(i) == name)
      return i;
    known += (known.empty() ? "" : ", ") + outputName(i);
  }
  throw Failure(Refused, "there is no output named '" + name +
                             "'; the outputs are " + known);
}

Tensor ModuleRunner::output(size_t index) const {
  const ashlar_tensor_t &view = outputs[index];
  std::vector<int64_t> shape(view.shape, view.shape + view.rank);
  if (stateInputs[index] >= 0)
    return readPlace(outputStorage[index], std::move(shape));
  Tensor tensor(view.type, std::move(shape));
  if (tensor.bytes())
    std::memcpy(tensor.data(), view.data, tensor.bytes());
  return tensor;
}

ashlar_module_info_t ModuleRunner::moduleInfo() const {
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  check(ashlar_module_query(module, &info));
  return info;
}

ashlar_session_statistics_t ModuleRunner::sessionStatistics() const {
  ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
  check(ashlar_session_query(session, &statistics));
  return statistics;
}

ashlar_budget_statistics_t ModuleRunner::budgetStatistics() const {
  ashlar_budget_statistics_t statistics = ASHLAR_BUDGET_STATISTICS_INIT;
  check(ashlar_budget_query(budget, &statistics));
  return statistics;
}

} // namespace ashlar::tools
