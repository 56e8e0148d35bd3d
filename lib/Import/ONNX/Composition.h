// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that mean a few nodes of ai.onnx: those nodes, written as a graph
// and imported in the place of one.
//
//   Composition c(node);
//   auto sum = c.add("Add", {c.operand(0), c.operand(1)});
//   return c.import({c.add("LeakyRelu", {sum}, {{"alpha", 0.1}})});
#ifndef ASHLAR_LIB_IMPORT_ONNX_COMPOSITION_H
#define ASHLAR_LIB_IMPORT_ONNX_COMPOSITION_H

#include "NodeImporter.h"
#include "onnx-ml.pb.h"
#include <variant>

namespace ashlar::onnx_import {

class Composition {
public:
  /// The name of a tensor; empty for one that is left out.
  using Name = std::string;
  struct Attribute {
    using Ints = std::vector<int64_t>;
    using Floats = std::vector<double>;
    std::string name;
    std::variant<int64_t, double, std::string, Ints, Floats> value;
    Attribute(llvm::StringRef name, int64_t value) : name(name), value(value) {}
    Attribute(llvm::StringRef name, int value)
        : name(name), value(int64_t(value)) {}
    Attribute(llvm::StringRef name, double value) : name(name), value(value) {}
    Attribute(llvm::StringRef name, const char *value)
        : name(name), value(std::string(value)) {}
    Attribute(llvm::StringRef name, llvm::ArrayRef<int64_t> value)
        : name(name), value(Ints(value.begin(), value.end())) {}
    Attribute(llvm::StringRef name, llvm::ArrayRef<double> value)
        : name(name), value(Floats(value.begin(), value.end())) {}
  };
  using Attributes = std::vector<Attribute>;

  explicit Composition(NodeImporter &node) : node(node) {}

  /// Operand i of the node, empty where it has none.
  Name operand(unsigned i);
  /// The first result of a new node.
  Name add(llvm::StringRef op, llvm::ArrayRef<Name> inputs,
           const Attributes &attributes = {}, llvm::StringRef domain = "");
  llvm::SmallVector<Name> addNode(llvm::StringRef op,
                                  llvm::ArrayRef<Name> inputs,
                                  const Attributes &attributes,
                                  unsigned results,
                                  llvm::StringRef domain = "");
  /// A node with the attributes of the one that is imported, besides those
  /// given, for operators that extend one of ai.onnx.
  Name addLike(llvm::StringRef op, llvm::ArrayRef<Name> inputs);
  Name ints(llvm::ArrayRef<int64_t> values);  ///< a vector
  Name floats(llvm::ArrayRef<double> values); ///< a vector, not empty
  Name number(double value);                  ///< a scalar of float
  Name integer(int64_t value, ElementType type);
  Name reshape(Name x, llvm::ArrayRef<int64_t> shape) {
    return add("Reshape", {x, ints(shape)}, {{"allowzero", 1}});
  }
  Name transpose(Name x, llvm::ArrayRef<int64_t> order) {
    return add("Transpose", {x}, {{"perm", order}});
  }
  Name cast(Name x, ElementType type) {
    return add("Cast", {x}, {{"to", int64_t(type)}});
  }
  /// Imports what was added; these are the node's results, in order.
  mlir::LogicalResult import(llvm::ArrayRef<Name> results);

private:
  NodeImporter &node;
  onnx::GraphProto graph;
  unsigned names = 0;
};

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_COMPOSITION_H
