// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Emit/EmitObject.h"
#include "BareProgram.h"
#include "OutputFile.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ashlar;

std::string ashlar::objectHeaderPath(StringRef object) {
  SmallString<256> path(object);
  llvm::sys::path::replace_extension(path, "h");
  return std::string(path);
}

static llvm::Error writeFiles(StringRef object, StringRef header,
                              StringRef path) {
  auto first = OutputFile::create(path);
  if (!first)
    return first.takeError();
  auto second = OutputFile::create(objectHeaderPath(path));
  if (!second)
    return second.takeError();
  first->write({object.data(), object.size()});
  second->write({header.data(), header.size()});
  // Neither appears before both are complete.
  if (llvm::Error error = first->flush())
    return error;
  if (llvm::Error error = second->keep())
    return error;
  return first->keep();
}

LogicalResult ashlar::emitObject(ModuleOp program, Target &target,
                                 EmitOptions options, bool isBare,
                                 StringRef path, StringRef prefix) {
  auto refuse = [&] {
    if (options.refused)
      *options.refused = true;
    return failure();
  };
  auto entry = findBareEntry(program);
  if (failed(entry))
    return refuse();
  llvm::LLVMContext context;
  llvm::Module object("model", context);
  options.device = 0;
  if (failed(target.addToObject(program, options, object)))
    return failure();
  for (auto &companion : target.companions) {
    ++options.device;
    if (failed(companion->addToObject(program, options, object)))
      return failure();
  }
  uint64_t scratchBytes = addBareMain(*entry, object, (prefix + "_main").str());
  FailureOr<std::string> code = target.writeObject(program, options, object);
  if (failed(code))
    return failure();
  std::string header =
      printBareHeader(*entry, scratchBytes, target.machine(), isBare, prefix);
  llvm::Error error = writeFiles(*code, header, path);
  if (!error)
    return success();
  emitError(UnknownLoc::get(program.getContext()))
      << llvm::toString(std::move(error));
  return refuse();
}
