// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld works on files, so objects go through a temporary folder. A stub library
// stands in for libm: the image must name it, and the machine that compiles
// need not have the other machine's.
#include "LinkImage.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <mutex>
#include <set>

LLD_HAS_DRIVER(elf)

using namespace ashlar::cpu;
using llvm::Expected;

namespace {
/// A folder that is gone at the end of the scope.
class TemporaryFolder {
public:
  ~TemporaryFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  llvm::Error create() {
    if (std::error_code code =
            llvm::sys::fs::createUniqueDirectory("ashlar", path))
      return llvm::createStringError(std::make_error_code(std::errc::io_error),
                                     "cannot make a temporary folder: " +
                                         code.message());
    return llvm::Error::success();
  }
  std::string file(const llvm::Twine &name) const {
    llvm::SmallString<128> full(path);
    llvm::sys::path::append(full, name);
    return std::string(full);
  }
  llvm::Error write(const std::string &file, llvm::StringRef bytes) const {
    std::error_code code;
    llvm::raw_fd_ostream out(file, code);
    if (!code) {
      out << bytes;
      out.close();
      code = out.error();
      out.clear_error();
    }
    if (code)
      return llvm::createStringError(std::make_error_code(std::errc::io_error),
                                     "cannot write " + file + ": " +
                                         code.message());
    return llvm::Error::success();
  }

private:
  llvm::SmallString<128> path;
};

/// libc is part of every process.
bool isLibc(llvm::StringRef symbol) {
  return llvm::is_contained({"memcpy", "memset", "memmove", "memcmp"}, symbol);
}

/// The functions of C's <math.h> that upstream's lowerings call, for double
/// and with an f for float.
bool isLibm(llvm::StringRef symbol) {
  static const std::set<llvm::StringRef> functions = {
      "acos",  "acosh", "asin", "asinh", "atan", "atan2", "atanh",     "cbrt",
      "ceil",  "cos",   "cosh", "erf",   "erfc", "exp",   "exp2",      "expm1",
      "fabs",  "floor", "fma",  "fmax",  "fmin", "fmod",  "ldexp",     "log",
      "log10", "log1p", "log2", "pow",   "rint", "round", "roundeven", "sin",
      "sinh",  "sqrt",  "tan",  "tanh",  "trunc"};
  return functions.count(symbol) ||
         (symbol.ends_with("f") && functions.count(symbol.drop_back()));
}

llvm::Error runLinker(std::vector<std::string> arguments) {
  // lld keeps global state.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string errors, output;
  llvm::raw_string_ostream errorStream(errors), outputStream(output);
  lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  lld::Result result =
      lld::lldMain(pointers, outputStream, errorStream, drivers);
  if (result.retCode != 0)
    return llvm::createStringError("the linker refused its input: " + errors);
  return llvm::Error::success();
}
} // namespace

Expected<std::string>
ashlar::cpu::linkImage(llvm::ArrayRef<KernelObject> objects,
                       const MachineModel &machine) {
  TemporaryFolder folder;
  if (llvm::Error error = folder.create())
    return error;
  std::string image = folder.file("image.so");
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "--build-id=none",
                                        "--hash-style=gnu",
                                        "-z",
                                        "separate-code",
                                        "-z",
                                        "noexecstack",
                                        "-z",
                                        "max-page-size=4096",
                                        "--threads=1",
                                        "-o",
                                        image};
  std::set<std::string> needed;
  for (auto [i, object] : llvm::enumerate(objects)) {
    arguments.push_back(folder.file("k" + llvm::Twine(i) + ".o"));
    if (llvm::Error error = folder.write(
            arguments.back(),
            llvm::StringRef(object.object.data(), object.object.size())))
      return error;
    for (const std::string &symbol : object.undefinedSymbols) {
      if (isLibc(symbol))
        continue;
      if (!isLibm(symbol))
        return llvm::createStringError(
            "a kernel calls '" + symbol +
            "', which no machine that runs it is sure to have");
      needed.insert(symbol);
    }
  }
  if (!needed.empty()) {
    auto stub = compileStub(machine, {needed.begin(), needed.end()});
    if (!stub)
      return stub.takeError();
    std::string object = folder.file("libm.o"),
                library = folder.file("libm.so");
    if (llvm::Error error = folder.write(
            object, llvm::StringRef(stub->object.data(), stub->object.size())))
      return error;
    if (llvm::Error error = runLinker({"ld.lld", "-shared", "-soname",
                                       "libm.so.6", "-o", library, object}))
      return error;
    arguments.push_back(library);
  }
  if (llvm::Error error = runLinker(arguments))
    return error;
  auto buffer = llvm::MemoryBuffer::getFile(image, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError("the linker wrote nothing");
  return (*buffer)->getBuffer().str();
}
