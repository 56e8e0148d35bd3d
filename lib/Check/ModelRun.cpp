// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Check/ModelRun.h"
#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

using namespace ashlar;
using namespace ashlar::check;
using llvm::Error;
using llvm::Expected;

static Error toError(ashlar_status_t status, llvm::StringRef what) {
  if (status.code == ASHLAR_OK)
    return Error::success();
  return llvm::createStringError(what + ": " + status.message);
}

std::string ashlar::check::firstError(llvm::StringRef log) {
  if (size_t at = log.find("error: "); at != llvm::StringRef::npos)
    log = log.drop_front(at + 7);
  return log.take_until([](char c) { return c == '\n'; }).str();
}

Expected<ModelRun::Compiled> ModelRun::compile(CompileOptions options,
                                               const CompileHooks &hooks) {
  // In memory, so that nothing stays of a run that is ended.
  auto file = MemoryFile::create("module.ash");
  if (!file)
    return file.takeError();
  moduleFile.emplace(std::move(*file));
  options.outputDescriptor = moduleFile->descriptor();
  options.quiet = true;
  Compiled compiled;
  llvm::raw_string_ostream log(compiled.log);
  compiled.result = ashlar::compile(options, llvm::nulls(), log, hooks);
  compiled.error = firstError(compiled.log);
  return compiled;
}

Error ModelRun::load(unsigned threads) {
  session.reset();
  module.reset();
  ashlar_runtime_options_t runtimeOptions = ASHLAR_RUNTIME_OPTIONS_INIT;
  runtimeOptions.threads = threads;
  ashlar_runtime_t *newRuntime;
  if (Error error = toError(ashlar_runtime_create(&runtimeOptions, &newRuntime),
                            "creating the runtime"))
    return error;
  runtime.reset(newRuntime);
  ashlar_load_options_t loadOptions = ASHLAR_LOAD_OPTIONS_INIT;
  loadOptions.allow_native_code = 1;
  ashlar_module_t *newModule;
  if (Error error = toError(ashlar_module_load_file(newRuntime,
                                                    moduleFile->path().c_str(),
                                                    &loadOptions, &newModule),
                            "loading the module"))
    return error;
  module.reset(newModule);
  if (Error error = toError(ashlar_module_entry_at(newModule, 0, &entry),
                            "finding the entry"))
    return error;
  ashlar_session_options_t sessionOptions = ASHLAR_SESSION_OPTIONS_INIT;
  sessionOptions.poison = 1;
  ashlar_session_t *newSession;
  if (Error error = toError(ashlar_session_create(newModule, nullptr,
                                                  &sessionOptions, &newSession),
                            "creating a session"))
    return error;
  session.reset(newSession);
  return Error::success();
}

Expected<ashlar_tensor_info_t> ModelRun::input(size_t index) const {
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  if (Error error = toError(ashlar_entry_input(entry, index, &info),
                            "asking for an input"))
    return error;
  return info;
}

Expected<ashlar_tensor_info_t> ModelRun::output(size_t index) const {
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  if (Error error = toError(ashlar_entry_output(entry, index, &info),
                            "asking for an output"))
    return error;
  return info;
}

Expected<Tensor> ModelRun::emptyInput(size_t index) const {
  Expected<ashlar_tensor_info_t> info = input(index);
  if (!info)
    return info.takeError();
  Tensor tensor;
  tensor.name = info->name;
  tensor.type = static_cast<ashlar_element_type_t>(info->type);
  tensor.shape.assign(info->maximum, info->maximum + info->rank);
  return tensor;
}

namespace {
/// A copy as aligned as the runtime reads in place.
class InputMemory {
public:
  InputMemory(const std::vector<char> &bytes, ModelRun::Guard guard) {
    size_t size = std::max<size_t>(64, (bytes.size() + 63) / 64 * 64);
    if (guard == ModelRun::Guard::None) {
      data = static_cast<char *>(std::aligned_alloc(64, size));
    } else {
      size_t page = sysconf(_SC_PAGESIZE);
      size_t inner = (size + page - 1) / page * page;
      mapped = inner + 2 * page;
      pages = static_cast<char *>(
          mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
      if (pages == MAP_FAILED ||
          mprotect(pages + page, inner, PROT_READ | PROT_WRITE) != 0)
        llvm::report_fatal_error("no memory for guarded inputs");
      data = pages + page;
      if (guard == ModelRun::Guard::Behind)
        data += inner - size;
    }
    std::copy(bytes.begin(), bytes.end(), data);
  }
  InputMemory(InputMemory &&other)
      : data(other.data), pages(std::exchange(other.pages, nullptr)),
        mapped(other.mapped) {
    other.data = nullptr;
  }
  ~InputMemory() {
    if (pages)
      munmap(pages, mapped);
    else
      std::free(data);
  }
  char *get() const { return data; }

private:
  char *data;
  char *pages = nullptr; ///< null: from the heap
  size_t mapped = 0;
};
} // namespace

Expected<std::vector<Tensor>> ModelRun::run(const std::vector<Tensor> &tensors,
                                            Guard guard) {
  std::vector<InputMemory> memory;
  std::vector<ashlar_tensor_t> inputs;
  for (const Tensor &tensor : tensors) {
    memory.emplace_back(tensor.bytes, guard);
    ashlar_tensor_t input{};
    input.data = memory.back().get();
    input.capacity = tensor.bytes.size();
    input.type = tensor.type;
    input.rank = tensor.shape.size();
    std::copy(tensor.shape.begin(), tensor.shape.end(), input.shape);
    inputs.push_back(input);
  }
  std::vector<ashlar_tensor_t> outputs(outputCount());
  if (Error error = toError(ashlar_session_run_entry(
                                session.get(), entry, inputs.data(),
                                inputs.size(), outputs.data(), outputs.size()),
                            "running the model"))
    return error;
  std::vector<Tensor> results;
  for (auto [i, output] : llvm::enumerate(outputs)) {
    Expected<ashlar_tensor_info_t> info = this->output(i);
    if (!info)
      return info.takeError();
    Tensor result;
    result.name = info->name ? info->name : "";
    result.type = static_cast<ashlar_element_type_t>(output.type);
    result.shape.assign(output.shape, output.shape + output.rank);
    const char *data = static_cast<const char *>(output.data);
    size_t size = result.elementCount() * ashlar_element_type_size(result.type);
    result.bytes.assign(data, data + size);
    results.push_back(std::move(result));
  }
  return results;
}
