// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Transforms/Fuse/Companions.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace ashlar;

static CompanionFinder companionFinder = nullptr;

void ashlar::setCompanionFinder(CompanionFinder find) {
  companionFinder = find;
}

LogicalResult
ashlar::readCompanionOption(MLIRContext *context, StringRef names,
                            std::vector<CompanionDevice> &companions) {
  if (names.empty())
    return success();
  auto fail = [&](const std::string &why) {
    return emitError(UnknownLoc::get(context))
           << "devices=" << names << ": " << why;
  };
  if (!companionFinder)
    return fail("this program knows no targets");
  auto found = companionFinder(names);
  if (!found)
    return fail(llvm::toString(found.takeError()));
  companions = std::move(*found);
  return success();
}
