// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "HashModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SHA256.h"

using namespace ashlar;

/// Reads in pieces: mapping a file again would count its weights twice.
static llvm::Error addFile(llvm::SHA256 &hash, const std::string &path) {
  auto file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return file.takeError();
  llvm::SmallVector<char, 0> piece(1 << 20);
  while (true) {
    auto size = llvm::sys::fs::readNativeFile(*file, piece);
    if (size && *size != 0) {
      hash.update(llvm::StringRef(piece.data(), *size));
      continue;
    }
    (void)llvm::sys::fs::closeFile(*file);
    return size.takeError();
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
