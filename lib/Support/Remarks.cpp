// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Support/Remarks.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace mlir;

remark::RemarkOpts ashlar::about(Operation *op, StringRef name,
                                 StringRef category) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  StringRef entry = function ? function.getName() : StringRef();
  return remark::RemarkOpts::name(name).category(category).function(entry);
}

bool ashlar::wantsRemarks(Operation *op) {
  return op->getContext()->getRemarkEngine() != nullptr;
}

std::vector<std::string> ashlar::nodeNames(Location location) {
  llvm::SetVector<StringAttr> names;
  location->walk([&](Location inner) {
    if (auto name = dyn_cast<NameLoc>(inner))
      names.insert(name.getName());
    return WalkResult::advance();
  });
  std::vector<std::string> result;
  for (StringAttr name : names)
    result.push_back(name.str());
  return result;
}

std::string ashlar::nodeName(Location location) {
  std::string text;
  for (const std::string &name : nodeNames(location))
    text += (text.empty() ? "'" : " + '") + name + "'";
  if (!text.empty())
    return text;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = (llvm::sys::path::filename(file.getFilename().getValue()) + ":" +
            Twine(file.getLine()))
               .str();
    return WalkResult::interrupt();
  });
  return text.empty() ? "the model" : text;
}

std::string ashlar::readerNames(Operation *op) {
  llvm::SetVector<Operation *> readers(op->user_begin(), op->user_end());
  std::vector<Operation *> ordered(readers.begin(), readers.end());
  // Uses are kept from the last to the first.
  llvm::SetVector<std::string, std::vector<std::string>, std::set<std::string>>
      names;
  for (Operation *reader : llvm::reverse(ordered))
    names.insert(reader->hasTrait<OpTrait::IsTerminator>()
                     ? "the model's end"
                     : nodeName(reader->getLoc()));
  return llvm::join(names, ", ");
}
