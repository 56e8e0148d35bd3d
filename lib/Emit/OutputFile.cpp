// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "OutputFile.h"
#include "SigningKey.h"
#include "llvm/Support/Signals.h"

using namespace ashlar;
using llvm::Expected;

Expected<OutputFile> OutputFile::create(llvm::StringRef path) {
  OutputFile output;
  output.path = path.str();
  output.file.emplace();
  std::string problem = output.file->create(output.path, /*streams=*/false);
  if (!problem.empty())
    return output.error(problem);
  if (!output.file->temporaryName().empty())
    llvm::sys::RemoveFileOnSignal(output.file->temporaryName());
  output.descriptor = output.file->descriptor();
  output.stream = std::make_unique<llvm::raw_fd_ostream>(output.descriptor,
                                                         /*shouldClose=*/false);
  return output;
}

OutputFile OutputFile::at(int descriptor) {
  OutputFile output;
  output.path = "a file in memory";
  output.descriptor = descriptor;
  output.stream = std::make_unique<llvm::raw_fd_ostream>(descriptor,
                                                         /*shouldClose=*/false);
  return output;
}

OutputFile::~OutputFile() {
  if (stream) {
    stream->flush();
    stream->clear_error();
  }
  if (file && !file->temporaryName().empty())
    llvm::sys::DontRemoveFileOnSignal(file->temporaryName());
}

llvm::Error OutputFile::error(const llvm::Twine &why) const {
  return llvm::createStringError("cannot write '" + path + "': " + why);
}

void OutputFile::padTo(uint64_t offset) {
  stream->write_zeros(offset - stream->tell());
}

void OutputFile::overwrite(llvm::ArrayRef<char> bytes, uint64_t offset) {
  stream->pwrite(bytes.data(), bytes.size(), offset);
}

llvm::Error OutputFile::sign(const runtime::SigningKey &key, uint64_t size) {
  stream->flush();
  std::string problem;
  if (!stream->has_error())
    problem = key.sign(descriptor, size);
  return problem.empty() ? llvm::Error::success()
                         : error("it cannot be signed: " + problem);
}

llvm::Error OutputFile::flush() {
  stream->flush();
  std::error_code code = stream->error();
  stream->clear_error();
  return code ? error(code.message()) : llvm::Error::success();
}

llvm::Error OutputFile::keep() {
  if (llvm::Error error = flush())
    return error;
  stream.reset();
  if (!file)
    return llvm::Error::success();
  std::string temporary = file->temporaryName(), problem = file->keep();
  if (!temporary.empty())
    llvm::sys::DontRemoveFileOnSignal(temporary);
  return problem.empty() ? llvm::Error::success() : error(problem);
}
