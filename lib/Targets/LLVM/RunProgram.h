// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Another program that is asked for code: it is given files and leaves files.
#ifndef ASHLAR_LIB_TARGETS_LLVM_RUNPROGRAM_H
#define ASHLAR_LIB_TARGETS_LLVM_RUNPROGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include <string>

namespace ashlar {

/// A folder that goes, with what is in it.
class ScratchFolder {
public:
  explicit ScratchFolder(llvm::StringRef prefix);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder &) = delete;

  /// Why there is none.
  llvm::Error takeError() const;
  /// The path of a file in it.
  std::string file(llvm::StringRef name) const;
  llvm::Error write(llvm::StringRef name, llvm::StringRef bytes) const;
  /// Empty: there is no such file.
  std::string read(llvm::StringRef name) const;

private:
  std::error_code code;
  llvm::SmallString<128> path;
};

struct ProgramRun {
  bool isDone = false; ///< to a good end
  std::string said;    ///< what it wrote, or why it did not run
};

/// What a program is asked for, as an error says it where it takes too long.
struct ProgramTask {
  std::string what;     ///< "kernel k1_product"
  std::string wayOut;   ///< "compile without: --assembler=none"
  bool isShort = false; ///< a minute is more than enough
};

/// "kernel k1_product", "kernels k1_product, k2_sum and 5 more".
std::string describeKernels(llvm::ArrayRef<llvm::StringRef> kernels);

/// Its input is empty. An error where it has not ended after as many seconds as
/// ASHLAR_ASSEMBLER_SECONDS says, ten minutes by default: it and what it
/// started are killed.
llvm::Expected<ProgramRun> runProgram(llvm::StringRef program,
                                      llvm::ArrayRef<llvm::StringRef> arguments,
                                      const ScratchFolder &folder,
                                      const ProgramTask &task);

/// Whether that was so.
bool isTooLate(const llvm::Error &error);

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_LLVM_RUNPROGRAM_H
