// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a model computes, after import, without its sizes: the numbers in it
// are held apart, so that it can be looked at with others. Two such graphs are
// compared by what leads to their results. What means nothing where a dim is
// one is left out: that it broadcasts, or how a reshape groups it.
#ifndef ASHLAR_LIB_DRIVER_MODELGRAPH_H
#define ASHLAR_LIB_DRIVER_MODELGRAPH_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace ashlar {

struct ModelGraph {
  /// Numbers of the graph, from `begin` on.
  struct Numbers {
    size_t begin = 0, count = 0;
  };
  struct Value {
    std::string type; ///< of an element, where it is a tensor
    bool isTensor = false;
    Numbers shape;
  };
  struct Attribute {
    std::string name, text; ///< text: nothing, where it is numbers
    Numbers numbers;
  };
  struct Op;
  struct Block {
    std::vector<unsigned> arguments; ///< values
    std::vector<Op> ops;             ///< those that a result hangs on
  };
  struct Op {
    std::string name, node;
    std::vector<unsigned> operands, results; ///< values
    std::vector<Attribute> attributes;
    std::vector<Block> blocks;
    /// Of a linalg.generic: how it indexes each operand.
    std::vector<mlir::AffineMap> maps;
    bool isOrdered = false; ///< it does more than make results
    bool isOfNode = false;  ///< `node` names one of the model's
  };

  /// `context` outlives the graph; the model's own need not.
  ModelGraph(mlir::ModuleOp model, mlir::MLIRContext *context);

  std::vector<Value> values;
  std::vector<int64_t> numbers;
  std::vector<Block> functions;
  std::vector<std::string> names; ///< of the functions
};

/// The numbers of a graph at other sizes in the places of the first one's,
/// which has the same operations; nothing where they are others. A constant of
/// one number has as many of it as the first one.
std::optional<std::vector<int64_t>> numbersLike(const ModelGraph &first,
                                                const ModelGraph &other);

/// The node that computes something of sizes alone, in another way than by
/// adding and multiplying: what it gives need not follow from them in one way.
/// Null: there is none. `isFixed` says of each number whether it is the same
/// for all sizes.
const std::string *findSizeDecision(const ModelGraph &graph,
                                    llvm::ArrayRef<bool> isFixed);

/// The node that makes `expected`, with these numbers in place of its own,
/// compute something else than `found`; null where both compute the same. A
/// number that is not there equals none.
const std::string *
findDifference(const ModelGraph &expected,
               llvm::ArrayRef<std::optional<int64_t>> numbers,
               const ModelGraph &found);

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_MODELGRAPH_H
