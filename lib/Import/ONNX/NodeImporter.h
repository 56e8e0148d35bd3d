// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the import of one ONNX node sees and can say. Each operator is written
// once, as a function `LogicalResult importX(NodeImporter &node)` in the file
// of its family, and registered there with the opset versions it holds for:
//
//   static LogicalResult importFloor(NodeImporter &node) {
//     Value x = node.operand(0);
//     node.setResult(0, elementwise(node.b, getElementTypeOrSelf(x), {x},
//         [](OpBuilder &b, Location loc, ValueRange s) -> Value {
//           return math::FloorOp::create(b, loc, s[0]);
//         }), node.operandType(0));
//     return success();
//   }
//   void registerRoundingOperators(OperatorRegistry &registry) {
//     registry.add("Floor", 6, importFloor);
//   }
//
// MLIR's integers carry no sign, ONNX's do: a tensor of uint8 is tensor<..xi8>
// here, and operandType(i) says which it is. bool is i1. Shapes are static.
#ifndef ASHLAR_LIB_IMPORT_ONNX_NODEIMPORTER_H
#define ASHLAR_LIB_IMPORT_ONNX_NODEIMPORTER_H

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onnx {
class NodeProto;
class AttributeProto;
class GraphProto;
} // namespace onnx

namespace ashlar {
struct ElementRange;
} // namespace ashlar

namespace ashlar::onnx_import {

class GraphImporter;

/// ONNX's element types, numbered as in TensorProto.DataType.
enum class ElementType : int {
  Undefined = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  String = 8,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21,
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24,
  U2 = 25,
  I2 = 26,
  /// A sequence or an optional: in the table of signatures, not in files.
  NoTensor = 63
};

/// f32, f64, f16, bf16, i8 to i64 or i1; i8 for the types of SmallTypes.h; null
/// for what we do not represent.
mlir::Type convertElementType(mlir::MLIRContext *context, ElementType type);
bool isUnsigned(ElementType type); ///< U2 to U64; bool is not a number
bool isFloat(ElementType type);    ///< f16 to f64: those computed with
bool isInteger(ElementType type);  ///< I2 to U64, not bool
/// The model's spelling: "uint8", "float16".
llvm::StringRef elementTypeName(ElementType type);

/// A tensor of the graph as it has been imported; or a sequence of tensors, or
/// an optional without one, which exist only until then.
struct ImportedValue {
  enum Kind { Tensor, Sequence, Something, Nothing };
  mlir::Value value;
  ElementType type = ElementType::Undefined;
  /// Where a size depends on data, the value's own shape holds the most it can
  /// be, what is beyond it may hold anything, and the dimension has a tensor of
  /// one int64 here, the others null. Empty when no size does.
  llvm::SmallVector<mlir::Value, 0> sizes = {};
  /// Of integers that are not negative: they are between these.
  std::optional<std::pair<int64_t, int64_t>> range = {};
  Kind kind = Tensor;
  /// Of a Sequence; the one in Something.
  std::shared_ptr<std::vector<ImportedValue>> elements = {};
};

/// One node while it is imported.
class NodeImporter {
public:
  NodeImporter(GraphImporter &graph, const onnx::NodeProto &proto,
               int64_t opset, mlir::ImplicitLocOpBuilder &b);

  /// Builds at the end of the function, at the node's location.
  mlir::ImplicitLocOpBuilder &b;

  llvm::StringRef opType() const;
  llvm::StringRef name() const;
  /// The version of the operator set that the model asks for.
  int64_t opset() const { return opsetVersion; }

  // Operands. An optional operand may be absent; operand(i) is null then.
  unsigned numOperands() const;
  bool hasOperand(unsigned i) const;
  mlir::Value operand(unsigned i) const;
  ElementType operandType(unsigned i) const;
  mlir::RankedTensorType tensorType(unsigned i) const;
  llvm::ArrayRef<int64_t> shape(unsigned i) const;
  int64_t rank(unsigned i) const;

  // Results. setResult checks nothing about the value's shape; the types of
  // value and `type` must agree.
  unsigned numResults() const;
  /// Whether result i exists and has a name.
  bool hasResult(unsigned i) const;
  void setResult(unsigned i, mlir::Value value, ElementType type);
  void setResult(unsigned i, const ImportedValue &result);
  // Sequences and optionals; only their own operators are given any.
  ImportedValue importedOperand(unsigned i) const;
  void setImported(unsigned i, const ImportedValue &value);
  void setSequence(unsigned i, llvm::ArrayRef<ImportedValue> elements);
  /// An optional of one value, or of none.
  void setOptional(unsigned i, llvm::ArrayRef<ImportedValue> value);
  /// The sizes of operand i that depend on data; only what is registered to
  /// accept such operands sees any.
  llvm::ArrayRef<mlir::Value> sizes(unsigned i) const;
  /// What the importer reads as operand i from now on.
  void replaceOperand(unsigned i, const ImportedValue &value);

  // Attributes, with the default that the operator's definition gives. One of
  // another type than asked for is an error that the caller of the importer
  // finds in hasMalformedAttribute(); importers need not look.
  bool hasAttribute(llvm::StringRef name) const;
  int64_t intAttribute(llvm::StringRef name, int64_t otherwise) const;
  double floatAttribute(llvm::StringRef name, double otherwise) const;
  std::string stringAttribute(llvm::StringRef name,
                              llvm::StringRef otherwise) const;
  /// Empty when absent.
  llvm::SmallVector<int64_t> intsAttribute(llvm::StringRef name) const;
  llvm::SmallVector<double> floatsAttribute(llvm::StringRef name) const;
  /// A tensor attribute as a constant and its type; null when absent or of a
  /// type that convertElementType refuses.
  std::pair<mlir::Value, ElementType>
  tensorAttribute(llvm::StringRef name) const;
  const onnx::AttributeProto *attribute(llvm::StringRef name) const;
  /// Gives all attributes to another node.
  void copyAttributes(onnx::NodeProto &to) const;
  /// The graph in an attribute, which must be there; null, having said so,
  /// when it is not.
  const onnx::GraphProto *graphAttribute(llvm::StringRef name);
  /// Imports a graph of an attribute: ops at the end of `into`, one argument
  /// for each of its inputs. Gives its outputs.
  llvm::FailureOr<llvm::SmallVector<ImportedValue>>
  importGraph(const onnx::GraphProto &inner,
              llvm::ArrayRef<ImportedValue> arguments, mlir::Block *into);
  /// Imports the graph `body` in the place of the node. Its inputs are named
  /// after operands, "0" for the first; its outputs are the node's results. It
  /// sees nothing else, and its nodes are of ai.onnx's newest operator set.
  mlir::LogicalResult importAs(const onnx::GraphProto &body);
  /// Ops that were imported into a block go away: what is known of their values
  /// must not be mistaken for others.
  void forgetConstants();
  /// Where the node's own ops go, at the end.
  mlir::Block *resultBlock() const;
  /// Runs `attempt`. When it fails only for what is not supported, forgets
  /// those reports and returns failure; `isWrong` is set when it was an error.
  mlir::LogicalResult tryTo(llvm::function_ref<mlir::LogicalResult()> attempt,
                            bool &isWrong);
  bool hasMalformedAttribute() const { return malformedAttribute; }

  // Operands known at compile time: constants and what folds to one.
  mlir::DenseElementsAttr constantOperand(unsigned i) const;      ///< or null
  mlir::DenseElementsAttr constantValue(mlir::Value value) const; ///< or null
  /// Between which bounds the elements of a tensor lie; valid until the next
  /// call.
  llvm::ArrayRef<ElementRange> elementRanges(mlir::Value value) const;
  /// The integers of operand i in row-major order. Fails, having said so, when
  /// they are not known at compile time. `role`: what they are, for the error.
  llvm::FailureOr<llvm::SmallVector<int64_t>>
  constantInts(unsigned i, llvm::StringRef role);
  llvm::FailureOr<llvm::SmallVector<double>>
  constantFloats(unsigned i, llvm::StringRef role);
  /// Refuses a node whose operand i would have to be known: `role` says what
  /// it is.
  mlir::LogicalResult needsConstant(unsigned i, llvm::StringRef role);
  /// Operand i decides about a size and is read at run time. Known, it would
  /// make the size known, which is said where that is in the way.
  void readAtRunTime(unsigned i);
  /// Refuses a node for a size that depends on data, or on `value`.
  mlir::LogicalResult unsupportedSize(const llvm::Twine &reason,
                                      mlir::Value value = {});
  /// Axes given by attribute `axes` or by operand i; normalised to [0, rank).
  /// An absent list gives an empty one.
  llvm::FailureOr<llvm::SmallVector<int64_t>> axes(unsigned i, int64_t rank);
  /// `axis` in [-rank, rank) as [0, rank); fails, having said so, otherwise.
  llvm::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank);

  // Refusals. All return failure().
  /// The node is legal ONNX that we do not do (yet).
  mlir::LogicalResult unsupported(const llvm::Twine &reason);
  /// The model is wrong: say what was expected and what was found.
  mlir::LogicalResult invalid(const llvm::Twine &message);

private:
  /// The attribute if it is there and of this AttributeProto.AttributeType.
  const onnx::AttributeProto *attribute(llvm::StringRef name, int type) const;
  /// The operand as it is used; it must be there.
  const ImportedValue &given(unsigned i) const;

  GraphImporter &graph;
  const onnx::NodeProto &proto;
  int64_t opsetVersion;
  std::map<unsigned, ImportedValue> replaced;
  mutable bool malformedAttribute = false;
};

/// Which function imports an operator at a version of its operator set.
class OperatorRegistry {
public:
  using Importer = std::function<mlir::LogicalResult(NodeImporter &)>;

  /// `importer` serves opsets from `since` to the next version registered.
  void add(llvm::StringRef op, int64_t since, Importer importer,
           llvm::StringRef domain = "");
  /// Null when the operator is unknown at this version.
  const Importer *lookup(llvm::StringRef domain, llvm::StringRef op,
                         int64_t version) const;
  bool knows(llvm::StringRef domain, llvm::StringRef op) const;
  /// Calls `function` for every operator in order, with the versions from
  /// which its importers hold.
  void
  forEach(llvm::function_ref<void(llvm::StringRef domain, llvm::StringRef op,
                                  llvm::ArrayRef<int64_t> versions)>
              function) const;

private:
  std::map<std::pair<std::string, std::string>, std::map<int64_t, Importer>>
      importers;
};

// One registration function per file of operators.
#define ASHLAR_ONNX_FAMILY(name)                                               \
  void register##name##Operators(OperatorRegistry &registry);
#include "Families.def"

/// All families; Families.def is the one list.
const OperatorRegistry &operatorRegistry();

} // namespace ashlar::onnx_import

#endif // ASHLAR_LIB_IMPORT_ONNX_NODEIMPORTER_H
