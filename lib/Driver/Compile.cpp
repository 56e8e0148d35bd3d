// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Driver/Compile.h"
#include "ashlar/InitAll.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace ashlar;

void ashlar::printUnsupported(const std::vector<UnsupportedNode> &nodes,
                              llvm::raw_ostream &log) {
  std::map<std::string, std::pair<unsigned, const UnsupportedNode *>> groups;
  for (const UnsupportedNode &node : nodes) {
    auto &[count, first] =
        groups[node.op + " (opset " + std::to_string(node.opset) +
               "): " + node.reason];
    first = count++ ? first : &node;
  }
  log << "error: " << nodes.size() << " part"
      << (nodes.size() == 1 ? "" : "s")
      << " of the model cannot be compiled yet:\n";
  for (auto &[what, group] : groups) {
    log << "  " << group.first << " x " << what << "; '"
        << group.second->node << "'";
    if (group.first > 1)
      log << " and " << group.first - 1 << " more";
    log << "\n";
  }
}

/// One line per diagnostic: severity, the node's name, the message.
static void printDiagnostic(Diagnostic &diagnostic, llvm::raw_ostream &log) {
  auto severity = [](DiagnosticSeverity severity) {
    switch (severity) {
    case DiagnosticSeverity::Error:
      return "error: ";
    case DiagnosticSeverity::Warning:
      return "warning: ";
    case DiagnosticSeverity::Note:
      return "note: ";
    case DiagnosticSeverity::Remark:
      return "remark: ";
    }
    llvm_unreachable("covered switch");
  };
  Location location = diagnostic.getLocation();
  if (auto file = dyn_cast<FileLineColLoc>(location))
    log << file.getFilename().getValue() << ":" << file.getLine() << ":"
        << file.getColumn() << ": ";
  log << severity(diagnostic.getSeverity());
  if (auto name = dyn_cast<NameLoc>(location))
    log << "'" << name.getName().getValue() << "': ";
  else if (!isa<UnknownLoc, FileLineColLoc>(location))
    log << location << ": ";
  log << diagnostic << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    printDiagnostic(note, log);
}

static OwningOpRef<ModuleOp> importModel(const CompileOptions &options,
                                         MLIRContext &context,
                                         CompileResult &result) {
  ONNXImportOptions importOptions;
  for (auto &[name, shape] : options.shapes)
    importOptions.shapes[name].assign(shape.begin(), shape.end());
  SmallVector<UnsupportedNode> unsupported;
  OwningOpRef<ModuleOp> module =
      importONNX(options.input, importOptions, &context, unsupported);
  result.unsupported.assign(unsupported.begin(), unsupported.end());
  return module;
}

static void printModule(ModuleOp module, llvm::raw_ostream &out) {
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(64).elideLargeResourceString(64);
  module->print(out, flags.enableDebugInfo(true, true).useLocalScope());
  out << "\n";
}

CompileResult ashlar::compile(const CompileOptions &options,
                              llvm::raw_ostream &out, llvm::raw_ostream &log) {
  CompileResult result;
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.threads));
  if (options.threads != 1)
    context.setThreadPool(pool);
  unsigned errors = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    printDiagnostic(diagnostic, log);
  });
  OwningOpRef<ModuleOp> module = importModel(options, context, result);
  if (!module) {
    // A model can be wrong and beyond us at once: wrong counts more.
    result.status = errors == 0 && !result.unsupported.empty()
                        ? CompileStatus::Unsupported
                        : CompileStatus::Refused;
    return result;
  }
  if (failed(verify(*module))) {
    result.status = CompileStatus::OurFault;
    return result;
  }
  printModule(*module, out);
  return result;
}
