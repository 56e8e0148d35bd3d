// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld works on files. So that nothing stays however the process ends, it reads
// files in memory, and what it writes comes through a pipe: it would put an
// ordinary file beside its place first, and there is nothing beside a file in
// memory.
#include "RunLinker.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"
#include <fcntl.h>
#include <mutex>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace ashlar;
using llvm::Expected;

static llvm::Error ioError(const llvm::Twine &why) {
  return llvm::createStringError(std::make_error_code(std::errc::io_error),
                                 why);
}

Expected<MemoryFile>
ashlar::makeArchive(llvm::ArrayRef<llvm::StringRef> objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (llvm::StringRef object : objects)
    members.emplace_back(llvm::MemoryBufferRef(object, "kernel"));
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return archive.takeError();
  return MemoryFile::create("kernels.a", (*archive)->getBuffer());
}

/// Everything that is written to a pipe, until its last writer closes it.
static void readAll(int descriptor, std::string &out) {
  char piece[65536];
  while (true) {
    ssize_t count = read(descriptor, piece, sizeof(piece));
    if (count > 0)
      out.append(piece, size_t(count));
    else if (count == 0 || errno != EINTR)
      return;
  }
}

Expected<std::string> ashlar::runLinker(std::vector<std::string> arguments) {
  // lld keeps global state.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0)
    return ioError("cannot make a pipe: " +
                   std::error_code(errno, std::generic_category()).message());
  arguments.insert(arguments.end(),
                   {"-o", "/proc/self/fd/" + std::to_string(pipe[1])});
  std::vector<const char *> pointers = {"ld.lld", "-shared", "--threads=1"};
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string errors, output, image;
  llvm::raw_string_ostream errorStream(errors), outputStream(output);
  lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  std::thread reader([&] { readAll(pipe[0], image); });
  lld::Result result =
      lld::lldMain(pointers, outputStream, errorStream, drivers);
  close(pipe[1]);
  reader.join();
  close(pipe[0]);
  // lld opens our files once more, and a process may have too many.
  if (llvm::StringRef(errors).contains("cannot open"))
    return ioError("the linker cannot work: " + errors);
  if (result.retCode != 0)
    return llvm::createStringError("the linker refused its input: " + errors);
  return image;
}
