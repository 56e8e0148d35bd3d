// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LineTables.h"
#include "ashlar/Support/Remarks.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace ashlar;
using namespace ashlar::cuda;

/// A function that lines may be of.
static void addScope(mlir::LLVM::LLVMFuncOp function) {
  namespace LLVM = mlir::LLVM;
  mlir::MLIRContext *context = function.getContext();
  auto distinct = [&] {
    return mlir::DistinctAttr::create(mlir::UnitAttr::get(context));
  };
  auto file = LLVM::DIFileAttr::get(context, "nodes", "");
  auto unit = LLVM::DICompileUnitAttr::get(
      distinct(), llvm::dwarf::DW_LANG_C, file,
      mlir::StringAttr::get(context, "ashlar"), /*isOptimized=*/true,
      LLVM::DIEmissionKind::DebugDirectivesOnly);
  auto type =
      LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {});
  auto name = mlir::StringAttr::get(context, function.getName());
  auto scope = LLVM::DISubprogramAttr::get(
      context, distinct(), unit, file, name, name, file, /*line=*/1,
      /*scopeLine=*/1,
      LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized,
      type, /*retainedNodes=*/{}, /*annotations=*/{});
  function->setLoc(mlir::FusedLoc::get(context, {function.getLoc()}, scope));
}

NodeLines::NodeLines(mlir::ModuleOp kernel) {
  mlir::MLIRContext *context = kernel.getContext();
  llvm::StringMap<unsigned> lines;
  auto locationOf = [&](mlir::Operation *op) -> mlir::Location {
    std::vector<std::string> nodes = nodeNames(op->getLoc());
    if (nodes.empty())
      return mlir::UnknownLoc::get(context);
    auto [line, isNew] = lines.try_emplace(nodes.front(), names.size() + 1);
    if (isNew)
      names.push_back(nodes.front());
    return mlir::NameLoc::get(
        mlir::StringAttr::get(context, nodes.front()),
        mlir::FileLineColLoc::get(context, "nodes", line->second, 0));
  };
  for (auto function : kernel.getOps<mlir::LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    for (mlir::Region &region : function->getRegions())
      region.walk([&](mlir::Operation *op) { op->setLoc(locationOf(op)); });
    addScope(function);
  }
}

void NodeLines::addEntry(llvm::Function &entry) const {
  llvm::Module &module = *entry.getParent();
  auto units = module.debug_compile_units();
  if (units.begin() == units.end())
    return;
  llvm::DICompileUnit *unit = *units.begin();
  llvm::DIBuilder b(module, /*AllowUnresolved=*/false, unit);
  llvm::DIFile *file = unit->getFile();
  llvm::DISubprogram *scope =
      b.createFunction(file, entry.getName(), entry.getName(), file, 1,
                       b.createSubroutineType(b.getOrCreateTypeArray({})), 1,
                       llvm::DINode::FlagZero,
                       llvm::DISubprogram::SPFlagDefinition |
                           llvm::DISubprogram::SPFlagOptimized);
  b.finalize();
  entry.setSubprogram(scope);
  for (llvm::Instruction &each : llvm::instructions(entry))
    each.setDebugLoc(llvm::DILocation::get(module.getContext(), 0, 0, scope));
}

void NodeLines::nameFiles(llvm::Function &entry) const {
  llvm::LLVMContext &context = entry.getContext();
  llvm::DISubprogram *scope = entry.getSubprogram();
  if (!scope)
    return;
  std::vector<llvm::DILexicalBlockFile *> files(names.size());
  for (llvm::Instruction &each : llvm::instructions(entry)) {
    llvm::DILocation *at = each.getDebugLoc();
    unsigned line = at && at->getInlinedAt() ? at->getLine() : 0;
    if (line == 0 || line > names.size()) {
      each.setDebugLoc(llvm::DILocation::get(context, 0, 0, scope));
      continue;
    }
    llvm::DILexicalBlockFile *&file = files[line - 1];
    if (!file)
      file = llvm::DILexicalBlockFile::get(
          context, scope, llvm::DIFile::get(context, names[line - 1], ""), 0);
    // The assembler tells lines apart, not files: each node has another one,
    // and none that of the function.
    each.setDebugLoc(llvm::DILocation::get(context, line + 1, 0, file));
  }
}

std::string ashlar::cuda::renumberFiles(llvm::StringRef text, unsigned &count) {
  std::string result;
  unsigned most = 0;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (auto [i, line] : llvm::enumerate(lines)) {
    if (i != 0)
      result += '\n';
    // An empty table that goes with DWARF, of which there is none.
    if (line.starts_with("\t.section\t.debug_macinfo"))
      continue;
    llvm::StringRef rest = line;
    unsigned number = 0;
    const char *word = rest.consume_front("\t.loc\t")    ? "\t.loc\t"
                       : rest.consume_front("\t.file\t") ? "\t.file\t"
                                                         : nullptr;
    if (!word || rest.consumeInteger(10, number)) {
      result += line;
      continue;
    }
    most = std::max(most, number);
    result += word + std::to_string(count + number);
    result += rest;
  }
  count += most;
  return result;
}
