// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HashModel.h"
#include "RegularFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SHA256.h"

using namespace ashlar;

/// Reads in pieces: mapping a file again would count its weights twice.
static llvm::Error addFile(llvm::SHA256 &hash, const std::string &path) {
  runtime::RegularFile file;
  std::string problem = file.open(path);
  if (!problem.empty())
    return llvm::createStringError(problem);
  llvm::SmallVector<char, 0> piece(1 << 20);
  while (true) {
    auto size = llvm::sys::fs::readNativeFile(file.descriptor(), piece);
    if (!size || *size == 0)
      return size.takeError();
    hash.update(llvm::StringRef(piece.data(), *size));
  }
}

llvm::Expected<std::string>
ashlar::hashFiles(llvm::ArrayRef<std::string> paths) {
  llvm::SHA256 hash;
  for (const std::string &path : paths)
    if (llvm::Error error = addFile(hash, path))
      return llvm::createStringError("'" + path + "' cannot be read again: " +
                                     llvm::toString(std::move(error)));
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}
