// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every number of a fused program that could depend on the sizes of its
// inputs, in a fixed order, and what the numbers hang on to.
#ifndef ASHLAR_LIB_DRIVER_PROGRAMSIZES_H
#define ASHLAR_LIB_DRIVER_PROGRAMSIZES_H

#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <string>
#include <vector>

namespace ashlar {

struct ProgramSizes {
  /// An op, or an argument of the entry, without its numbers.
  struct Part {
    std::string structure;
    std::string node;             ///< for messages
    size_t begin = 0;             ///< of its numbers
    std::vector<size_t> operands; ///< values in the order of their definitions

    /// Of no node, but of the graph around them, or for several.
    bool isOfGraph = false;
    /// A slice that begins where no operand of a kernel may.
    bool isUnaligned = false;
  };
  std::vector<Part> parts;
  std::vector<size_t> makers; ///< by value: its part
  std::vector<int64_t> numbers;
  enum Kind : char {
    Dim,      ///< of a value
    Integer,  ///< of an attribute
    Elements, ///< stands for a constant's elements; says nothing to people
  };
  std::vector<Kind> kinds; ///< by number

  /// The part that number `i` belongs to.
  const Part &partOf(size_t i) const;
};

/// Appends the numbers that an attribute is made of; false where it is not.
bool readNumbers(mlir::Attribute attribute,
                 llvm::SmallVectorImpl<int64_t> &numbers);

/// The node at which one program differs from another in more than its numbers,
/// or the graph; null: nowhere.
const std::string *findDifference(const ProgramSizes &program,
                                  const ProgramSizes &other);

/// Whether an op is of no node, but of the graph around them, or for several.
bool isOfGraph(mlir::Operation *op);

ProgramSizes readProgramSizes(mlir::ModuleOp program);

/// Hangs a formula on each number that has one; null: it is constant. They are
/// for `program` as it was read.
void writeProgramSizes(mlir::ModuleOp program,
                       llvm::ArrayRef<exec::SizeAttr> formulas);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_PROGRAMSIZES_H
