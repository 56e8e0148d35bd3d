// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld works on files. So that nothing stays however the process ends, it reads
// files in memory, and what it writes comes through a pipe: it would put an
// ordinary file beside its place first, and there is nothing beside a file in
// memory. A stub library stands in for libm: the image must name it, and the
// machine that compiles need not have the other machine's.
#include "LinkImage.h"
#include "ashlar/Support/MemoryFile.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"
#include <fcntl.h>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace ashlar;
using namespace ashlar::cpu;
using llvm::Expected;

namespace {
llvm::Error ioError(const llvm::Twine &why) {
  return llvm::createStringError(std::make_error_code(std::errc::io_error),
                                 why);
}

/// All objects as one archive, since processes may open few files only.
Expected<MemoryFile> makeArchive(llvm::ArrayRef<KernelObject> objects) {
  std::vector<llvm::NewArchiveMember> members;
  for (const KernelObject &object : objects)
    members.emplace_back(llvm::MemoryBufferRef(
        llvm::StringRef(object.object.data(), object.object.size()), "kernel"));
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return archive.takeError();
  return MemoryFile::create("kernels.a", (*archive)->getBuffer());
}

/// Everything that is written to a pipe, until its last writer closes it.
void readAll(int descriptor, std::string &out) {
  char piece[65536];
  while (true) {
    ssize_t count = read(descriptor, piece, sizeof(piece));
    if (count > 0)
      out.append(piece, size_t(count));
    else if (count == 0 || errno != EINTR)
      return;
  }
}

/// What lld writes for these arguments.
Expected<std::string> runLinker(std::vector<std::string> arguments) {
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
} // namespace

bool ashlar::cpu::isLibc(llvm::StringRef symbol) {
  return llvm::is_contained({"memcpy", "memset", "memmove", "memcmp"}, symbol);
}

bool ashlar::cpu::isLibm(llvm::StringRef symbol) {
  static const std::set<llvm::StringRef> functions = {
      "acos",   "acosh", "asin", "asinh", "atan", "atan2", "atanh",     "cbrt",
      "ceil",   "cos",   "cosh", "erf",   "erfc", "exp",   "exp2",      "expm1",
      "fabs",   "floor", "fma",  "fmax",  "fmin", "fmod",  "ldexp",     "log",
      "log10",  "log1p", "log2", "pow",   "rint", "round", "roundeven", "sin",
      "sincos", "sinh",  "sqrt", "tan",   "tanh", "trunc"};
  return functions.count(symbol) ||
         (symbol.ends_with("f") && functions.count(symbol.drop_back()));
}

Expected<std::string>
ashlar::cpu::linkImage(llvm::ArrayRef<KernelObject> objects,
                       const MachineModel &machine) {
  std::set<std::string> needed;
  for (const KernelObject &object : objects)
    for (const std::string &symbol : object.undefinedSymbols) {
      if (isLibc(symbol))
        continue;
      if (!isLibm(symbol))
        return llvm::createStringError(
            "a kernel calls '" + symbol +
            "', which no machine that runs it is sure to have");
      needed.insert(symbol);
    }
  auto kernels = makeArchive(objects);
  if (!kernels)
    return kernels.takeError();
  std::vector<std::string> arguments = {"--build-id=none",
                                        "--hash-style=gnu",
                                        "-z",
                                        "separate-code",
                                        "-z",
                                        "noexecstack",
                                        "-z",
                                        "max-page-size=4096",
                                        "--whole-archive",
                                        kernels->path(),
                                        "--no-whole-archive"};
  if (needed.empty())
    return runLinker(arguments);
  auto stub = compileStub(machine, {needed.begin(), needed.end()});
  if (!stub)
    return stub.takeError();
  auto object = MemoryFile::create(
      "libm.o", llvm::StringRef(stub->object.data(), stub->object.size()));
  if (!object)
    return object.takeError();
  auto linked = runLinker({"-soname", "libm.so.6", object->path()});
  if (!linked)
    return linked.takeError();
  auto library = MemoryFile::create("libm.so", *linked);
  if (!library)
    return library.takeError();
  arguments.push_back(library->path());
  return runLinker(arguments);
}
