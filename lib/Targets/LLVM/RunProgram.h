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

/// False where it did not run, or not to a good end; `said` is what it wrote,
/// or why it did not run. Its input is empty.
bool runProgram(llvm::StringRef program,
                llvm::ArrayRef<llvm::StringRef> arguments,
                const ScratchFolder &folder, std::string &said);

} // namespace ashlar

#endif // ASHLAR_LIB_TARGETS_LLVM_RUNPROGRAM_H
