// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stub library stands in for libm: the image must name it, and the machine
// that compiles need not have the other machine's.
#include "LinkImage.h"
#include "../LLVM/RunLinker.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace ashlar;
using namespace ashlar::cpu;
using llvm::Expected;

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
  std::vector<llvm::StringRef> images;
  for (const KernelObject &object : objects)
    images.emplace_back(object.object.data(), object.object.size());
  auto kernels = makeArchive(images);
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
