// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text that a tool writes beside its work: opened before the work, so that a
// bad name costs no minutes, and there as a whole or not at all.
#ifndef ASHLAR_SUPPORT_REPORTFILE_H
#define ASHLAR_SUPPORT_REPORTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm {
class raw_ostream;
}

namespace ashlar {

namespace runtime {
class NewFile;
}

class ReportFile {
public:
  /// `flag` is what asks for it ("--json"); errors begin with it.
  explicit ReportFile(llvm::StringRef flag);
  ~ReportFile();

  /// "-" is the standard output, an empty path nowhere. Devices and pipes are
  /// written to directly. Once it is open, again does nothing.
  llvm::Error open(llvm::StringRef path);
  bool isWanted() const { return !path.empty(); }
  bool isStandardOutput() const { return path == "-"; }
  llvm::StringRef name() const { return path; }

  /// The whole text, once.
  llvm::Error write(llvm::function_ref<llvm::Error(llvm::raw_ostream &)> text,
                    llvm::raw_ostream &standardOutput);

private:
  llvm::Error error(const llvm::Twine &why) const;

  std::string flag, path;
  std::unique_ptr<runtime::NewFile> file;
};

} // namespace ashlar

#endif // ASHLAR_SUPPORT_REPORTFILE_H
