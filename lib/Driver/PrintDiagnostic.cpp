// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PrintDiagnostic.h"
#include "ashlar/Driver/Compile.h"
#include "ashlar/Support/Remarks.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace mlir;
using namespace ashlar;

/// Names of a model may hold anything: a line stays one line, and a terminal
/// is told nothing.
static std::string oneLine(StringRef text) {
  std::string line;
  llvm::raw_string_ostream out(line);
  for (unsigned char c : text)
    if (c == '\n')
      out << "\\n";
    else if (c == '\r')
      out << "\\r";
    else if (c == '\t')
      out << "\\t";
    else if (c < 0x20 || c == 0x7f)
      out << llvm::format("\\x%02x", c);
    else
      out << char(c);
  return line;
}

void ashlar::printUnsupported(const std::vector<UnsupportedNode> &nodes,
                              llvm::raw_ostream &log) {
  std::map<std::string, std::pair<unsigned, const UnsupportedNode *>> groups;
  for (const UnsupportedNode &node : nodes) {
    auto &[count, first] =
        groups[node.op + " (opset " + std::to_string(node.opset) +
               "): " + node.reason];
    first = count++ ? first : &node;
  }
  log << "error: " << nodes.size() << " part" << (nodes.size() == 1 ? "" : "s")
      << " of the model cannot be compiled yet:\n";
  for (auto &[what, group] : groups) {
    log << "  " << group.first << " x " << oneLine(what) << "; '"
        << oneLine(group.second->node) << "'";
    if (group.first > 1)
      log << " and " << group.first - 1 << " more";
    for (const std::string &input : group.second->inputs)
      log << "; to fix an input's value: --value=" << oneLine(input) << "=...";
    log << "\n";
  }
}

void ashlar::printDiagnostic(Diagnostic &diagnostic, llvm::raw_ostream &log) {
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
    log << oneLine(file.getFilename().getValue()) << ":" << file.getLine()
        << ":" << file.getColumn() << ": ";
  log << severity(diagnostic.getSeverity());
  if (auto name = dyn_cast<NameLoc>(location))
    log << "'" << oneLine(name.getName().getValue()) << "': ";
  else if (!isa<UnknownLoc, FileLineColLoc>(location))
    log << oneLine(nodeName(location)) << ": ";
  // IR, which people asked for, has lines of its own.
  std::string message = diagnostic.str();
  bool isIR = StringRef(message).starts_with("see current operation");
  log << (isIR ? message : oneLine(message)) << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    printDiagnostic(note, log);
}
