// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the remarks of one compile until they can be written in an order that
// does not depend on threads.
#ifndef ASHLAR_LIB_DRIVER_REMARKLOG_H
#define ASHLAR_LIB_DRIVER_REMARKLOG_H

#include "ashlar/Support/ReportFile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ashlar {

class RemarkLog {
  struct Entry {
    std::string type, category, name, function, program, node, file;
    unsigned line = 0, column = 0;
    std::vector<std::pair<std::string, std::string>> arguments;
  };

public:
  /// Remarks of some stages, set aside.
  using Part = std::vector<Entry>;

  /// Listens to all remarks of `context`, which must end before this does.
  /// `model`: the file that remarks are about.
  mlir::LogicalResult listen(mlir::MLIRContext &context,
                             const std::string &model);
  /// The numbers of the model's nodes, which stand for lines in YAML.
  void readNodes(mlir::ModuleOp module);
  /// What follows is about this program.
  void beginProgram(llvm::StringRef target) { program = target.str(); }

  size_t size() const { return entries.size(); }
  /// Sets aside all but the first so many.
  Part takeFrom(size_t first);
  void add(Part part);

  /// YAML where the file's name ends in .yaml or .yml, else text; the standard
  /// output is `out`.
  llvm::Error write(ReportFile &file, llvm::raw_ostream &out);

private:
  class Streamer;
  void writeText(llvm::raw_ostream &out) const;
  llvm::Error writeYAML(llvm::raw_ostream &out) const;
  void sort();

  std::string model, program;
  std::map<std::string, unsigned, std::less<>> nodeNumbers;
  std::mutex mutex;
  std::vector<Entry> entries;
};

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_REMARKLOG_H
