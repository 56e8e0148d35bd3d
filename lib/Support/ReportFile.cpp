// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Support/ReportFile.h"
#include "NewFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace ashlar;

ReportFile::ReportFile(llvm::StringRef flag) : flag(flag) {}
ReportFile::~ReportFile() = default;

llvm::Error ReportFile::error(const llvm::Twine &why) const {
  return llvm::createStringError(flag + ": cannot write '" + path +
                                 "': " + why);
}

llvm::Error ReportFile::open(llvm::StringRef where) {
  if (isWanted() || where.empty())
    return llvm::Error::success();
  path = where.str();
  if (isStandardOutput())
    return llvm::Error::success();
  file = std::make_unique<runtime::NewFile>();
  std::string problem = file->create(path, /*streams=*/true);
  return problem.empty() ? llvm::Error::success() : error(problem);
}

llvm::Error
ReportFile::write(llvm::function_ref<llvm::Error(llvm::raw_ostream &)> text,
                  llvm::raw_ostream &standardOutput) {
  if (isStandardOutput())
    return text(standardOutput);
  llvm::raw_fd_ostream stream(file->descriptor(), /*shouldClose=*/false);
  llvm::Error failed = text(stream);
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  if (failed)
    return failed;
  if (code)
    return error(code.message());
  std::string problem = file->keep();
  return problem.empty() ? llvm::Error::success() : error(problem);
}
