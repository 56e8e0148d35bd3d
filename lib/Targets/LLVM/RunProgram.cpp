// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RunProgram.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ashlar;

ScratchFolder::ScratchFolder(StringRef prefix) {
  code = sys::fs::createUniqueDirectory(prefix, path);
}

ScratchFolder::~ScratchFolder() {
  if (!code)
    sys::fs::remove_directories(path);
}

Error ScratchFolder::takeError() const {
  return code ? createStringError("a temporary folder: " + code.message())
              : Error::success();
}

std::string ScratchFolder::file(StringRef name) const {
  SmallString<128> whole(path);
  sys::path::append(whole, name);
  return std::string(whole);
}

Error ScratchFolder::write(StringRef name, StringRef bytes) const {
  std::error_code failed;
  raw_fd_ostream out(file(name), failed);
  if (!failed)
    out << bytes;
  out.close();
  if (!failed)
    failed = out.error();
  out.clear_error();
  return failed ? createStringError("'" + file(name) + "': " + failed.message())
                : Error::success();
}

std::string ScratchFolder::read(StringRef name) const {
  auto buffer = MemoryBuffer::getFile(file(name));
  return buffer ? (*buffer)->getBuffer().str() : "";
}

bool ashlar::runProgram(StringRef program, ArrayRef<StringRef> arguments,
                        const ScratchFolder &folder, std::string &said) {
  std::string log = folder.file("log"), error;
  SmallVector<StringRef> all = {program};
  append_range(all, arguments);
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                          StringRef(log)};
  int code =
      sys::ExecuteAndWait(program, all, std::nullopt, redirects, 0, 0, &error);
  said = folder.read("log");
  if (said.empty())
    said = error;
  return code == 0;
}
