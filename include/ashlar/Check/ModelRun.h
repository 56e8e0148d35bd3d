// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model from its file to its results: compiled into memory, loaded, run on
// tensors. What tests, fuzzers and comparisons of two targets have in common.
#ifndef ASHLAR_CHECK_MODELRUN_H
#define ASHLAR_CHECK_MODELRUN_H

#include "ashlar/Check/Tensor.h"
#include "ashlar/Driver/Compile.h"
#include "ashlar/Support/MemoryFile.h"
#include <memory>
#include <optional>

namespace ashlar::check {

/// What a compile's log says first of errors, which says most; warnings before
/// it do not count.
std::string firstError(llvm::StringRef log);

class ModelRun {
public:
  /// What compiling came to. `error` is the first error of the log.
  struct Compiled {
    CompileResult result;
    std::string error;
    std::string log;
  };
  /// Compiles; `options` need no output.
  llvm::Expected<Compiled> compile(CompileOptions options,
                                   const CompileHooks &hooks = {});

  /// Loads what was compiled and makes a session of so many threads. Its
  /// memory is poisoned: what a kernel leaves unwritten must not look like
  /// zeros.
  llvm::Error load(unsigned threads = 1);

  size_t inputCount() const { return ashlar_entry_input_count(entry); }
  size_t outputCount() const { return ashlar_entry_output_count(entry); }
  llvm::Expected<ashlar_tensor_info_t> input(size_t index) const;
  llvm::Expected<ashlar_tensor_info_t> output(size_t index) const;
  /// Name, type and largest shape of an input; its bytes are the caller's.
  llvm::Expected<Tensor> emptyInput(size_t index) const;

  /// Where the runtime finds inputs: anywhere, or beside a page that ends the
  /// process when it is touched.
  enum class Guard { None, Before, Behind };

  /// One call; inputs in the entry's order. The results have the outputs'
  /// names.
  llvm::Expected<std::vector<Tensor>> run(const std::vector<Tensor> &inputs,
                                          Guard guard = Guard::None);

  /// The module's file in memory.
  const MemoryFile &file() const { return *moduleFile; }

private:
  template <typename T> using Handle = std::unique_ptr<T, void (*)(T *)>;
  std::optional<MemoryFile> moduleFile;
  Handle<ashlar_runtime_t> runtime{nullptr, ashlar_runtime_release};
  Handle<ashlar_module_t> module{nullptr, ashlar_module_release};
  Handle<ashlar_session_t> session{nullptr, ashlar_session_release};
  ashlar_entry_t *entry = nullptr;
};

} // namespace ashlar::check

#endif // ASHLAR_CHECK_MODELRUN_H
