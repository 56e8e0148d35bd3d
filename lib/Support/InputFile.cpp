// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Support/InputFile.h"
#include "RegularFile.h"
#include "llvm/Support/FileSystem.h"

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
ashlar::readInputFile(llvm::StringRef path, bool isText) {
  runtime::RegularFile file;
  std::string problem = file.open(path.str());
  if (!problem.empty())
    return llvm::createStringError(problem);
  auto buffer = llvm::MemoryBuffer::getOpenFile(
      file.descriptor(), path, file.size(), /*RequiresNullTerminator=*/isText);
  if (!buffer)
    return llvm::createStringError(buffer.getError().message());
  return std::move(*buffer);
}
