// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One node of the model while it is imported: its operands with their shapes
// and sizes, its attributes, its results, and refusals that name it.
#include "NodeImporter.h"
#include "GraphImporter.h"
#include "SmallTypes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::onnx_import;

namespace {
enum class Kind { None, Bool, Signed, Unsigned, Float, Code };
struct TypeRow {
  StringLiteral name;
  /// None: not supported. Code: a float by its code, not computed with.
  Kind kind = Kind::None;
  unsigned bits = 0;
};
} // namespace

/// ONNX's element types by their numbers.
static constexpr TypeRow typeRows[] = {{"undefined"},
                                       {"float", Kind::Float, 32},
                                       {"uint8", Kind::Unsigned, 8},
                                       {"int8", Kind::Signed, 8},
                                       {"uint16", Kind::Unsigned, 16},
                                       {"int16", Kind::Signed, 16},
                                       {"int32", Kind::Signed, 32},
                                       {"int64", Kind::Signed, 64},
                                       {"string"},
                                       {"bool", Kind::Bool, 1},
                                       {"float16", Kind::Float, 16},
                                       {"double", Kind::Float, 64},
                                       {"uint32", Kind::Unsigned, 32},
                                       {"uint64", Kind::Unsigned, 64},
                                       {"complex64"},
                                       {"complex128"},
                                       {"bfloat16", Kind::Float, 16},
                                       {"float8e4m3fn", Kind::Code, 8},
                                       {"float8e4m3fnuz", Kind::Code, 8},
                                       {"float8e5m2", Kind::Code, 8},
                                       {"float8e5m2fnuz", Kind::Code, 8},
                                       {"uint4", Kind::Unsigned, 4},
                                       {"int4", Kind::Signed, 4},
                                       {"float4e2m1", Kind::Code, 4},
                                       {"float8e8m0", Kind::Code, 8},
                                       {"uint2", Kind::Unsigned, 2},
                                       {"int2", Kind::Signed, 2},
                                       {"float6e2m3"},
                                       {"float6e3m2"}};

static const TypeRow &rowOf(ElementType type) {
  static constexpr TypeRow unknown = {"unknown"};
  auto number = static_cast<size_t>(static_cast<int>(type));
  return number < std::size(typeRows) ? typeRows[number] : unknown;
}

Type ashlar::onnx_import::convertElementType(MLIRContext *context,
                                             ElementType type) {
  Builder b(context);
  const TypeRow &row = rowOf(type);
  if (row.kind == Kind::None)
    return {};
  if (row.kind == Kind::Bool)
    return b.getI1Type();
  if (row.kind != Kind::Float)
    return b.getIntegerType(std::max(row.bits, 8u));
  if (type == ElementType::BF16)
    return b.getBF16Type();
  return row.bits == 16   ? Type(b.getF16Type())
         : row.bits == 32 ? Type(b.getF32Type())
                          : Type(b.getF64Type());
}

bool ashlar::onnx_import::isUnsigned(ElementType type) {
  return rowOf(type).kind == Kind::Unsigned;
}

bool ashlar::onnx_import::isSmallFloat(ElementType type) {
  return rowOf(type).kind == Kind::Code;
}

bool ashlar::onnx_import::isSmallInteger(ElementType type) {
  return isInteger(type) && rowOf(type).bits < 8;
}

unsigned ashlar::onnx_import::packedBits(ElementType type) {
  return isSmallFloat(type) || isSmallInteger(type) ? rowOf(type).bits : 0;
}

bool ashlar::onnx_import::isFloat(ElementType type) {
  return rowOf(type).kind == Kind::Float;
}

bool ashlar::onnx_import::isInteger(ElementType type) {
  return isUnsigned(type) || rowOf(type).kind == Kind::Signed;
}

StringRef ashlar::onnx_import::elementTypeName(ElementType type) {
  if (type == ElementType::NoTensor)
    return "sequence or optional";
  return rowOf(type).name;
}

NodeImporter::NodeImporter(GraphImporter &graph, const onnx::NodeProto &proto,
                           int64_t opset, ImplicitLocOpBuilder &b)
    : b(b), graph(graph), proto(proto), opsetVersion(opset) {}

StringRef NodeImporter::opType() const { return proto.op_type(); }
StringRef NodeImporter::name() const { return proto.name(); }
unsigned NodeImporter::numOperands() const { return proto.input_size(); }
unsigned NodeImporter::numResults() const { return proto.output_size(); }

bool NodeImporter::hasOperand(unsigned i) const {
  return i < numOperands() && !proto.input(i).empty();
}

const ImportedValue &NodeImporter::given(unsigned i) const {
  auto other = replaced.find(i);
  return other == replaced.end() ? *graph.lookup(proto.input(i))
                                 : other->second;
}

void NodeImporter::replaceOperand(unsigned i, const ImportedValue &value) {
  replaced[i] = value;
}

Value NodeImporter::operand(unsigned i) const {
  return hasOperand(i) ? given(i).value : Value();
}

ElementType NodeImporter::operandType(unsigned i) const {
  return hasOperand(i) ? given(i).type : ElementType::Undefined;
}

RankedTensorType NodeImporter::tensorType(unsigned i) const {
  return cast<RankedTensorType>(operand(i).getType());
}

ArrayRef<int64_t> NodeImporter::shape(unsigned i) const {
  return tensorType(i).getShape();
}

int64_t NodeImporter::rank(unsigned i) const { return tensorType(i).getRank(); }

bool NodeImporter::hasResult(unsigned i) const {
  return i < numResults() && !proto.output(i).empty();
}

void NodeImporter::setResult(unsigned i, Value value, ElementType type) {
  assert(getElementTypeOrSelf(value.getType()) ==
             convertElementType(b.getContext(), type) &&
         "value and ONNX type disagree");
  if (!hasResult(i))
    return;
  // A tensor without elements has only one value, whatever would compute it.
  auto tensor = cast<RankedTensorType>(value.getType());
  if (tensor.getNumElements() == 0)
    value = arith::ConstantOp::create(
        b, DenseElementsAttr::get(tensor, ArrayRef<Attribute>()));
  graph.define(proto.output(i), {value, type});
}

void NodeImporter::setResult(unsigned i, const ImportedValue &result) {
  setResult(i, result.value, result.type);
  if (hasResult(i) && llvm::any_of(result.sizes, [](Value v) { return !!v; }))
    graph.setSizes(proto.output(i), result.sizes);
}

ImportedValue NodeImporter::importedOperand(unsigned i) const {
  return hasOperand(i) ? given(i) : ImportedValue();
}

void NodeImporter::setImported(unsigned i, const ImportedValue &value) {
  if (value.kind == ImportedValue::Tensor)
    return setResult(i, value);
  if (hasResult(i))
    graph.define(proto.output(i), value);
}

void NodeImporter::setSequence(unsigned i, ArrayRef<ImportedValue> elements) {
  ImportedValue value;
  value.type = ElementType::NoTensor;
  value.kind = ImportedValue::Sequence;
  value.elements = std::make_shared<std::vector<ImportedValue>>(
      elements.begin(), elements.end());
  setImported(i, value);
}

void NodeImporter::setOptional(unsigned i, ArrayRef<ImportedValue> value) {
  ImportedValue result;
  result.type = ElementType::NoTensor;
  result.kind =
      value.empty() ? ImportedValue::Nothing : ImportedValue::Something;
  result.elements =
      std::make_shared<std::vector<ImportedValue>>(value.begin(), value.end());
  setImported(i, result);
}

ArrayRef<Value> NodeImporter::sizes(unsigned i) const {
  return hasOperand(i) ? ArrayRef(given(i).sizes) : ArrayRef<Value>();
}

const onnx::AttributeProto *NodeImporter::attribute(StringRef name) const {
  for (const onnx::AttributeProto &attribute : proto.attribute())
    if (name == attribute.name())
      return &attribute;
  return nullptr;
}

const onnx::AttributeProto *NodeImporter::attribute(StringRef name,
                                                    int type) const {
  const onnx::AttributeProto *found = attribute(name);
  // Files older than IR version 2 give no type.
  if (!found || found->type() == onnx::AttributeProto::UNDEFINED ||
      found->type() == type)
    return found;
  auto spell = [](int type) {
    return StringRef(
               onnx::AttributeProto::AttributeType_Name(
                   static_cast<onnx::AttributeProto::AttributeType>(type)))
        .lower();
  };
  malformedAttribute = true;
  emitError(b.getLoc()) << opType() << ": attribute '" << name << "' has type "
                        << spell(found->type()) << ", expected " << spell(type);
  return nullptr;
}

void NodeImporter::copyAttributes(onnx::NodeProto &to) const {
  to.mutable_attribute()->MergeFrom(proto.attribute());
}

bool NodeImporter::hasAttribute(StringRef name) const {
  return attribute(name) != nullptr;
}

int64_t NodeImporter::intAttribute(StringRef name, int64_t otherwise) const {
  const onnx::AttributeProto *found =
      attribute(name, onnx::AttributeProto::INT);
  return found ? found->i() : otherwise;
}

double NodeImporter::floatAttribute(StringRef name, double otherwise) const {
  const onnx::AttributeProto *found =
      attribute(name, onnx::AttributeProto::FLOAT);
  return found ? found->f() : otherwise;
}

std::string NodeImporter::stringAttribute(StringRef name,
                                          StringRef otherwise) const {
  const onnx::AttributeProto *found =
      attribute(name, onnx::AttributeProto::STRING);
  return found ? found->s() : otherwise.str();
}

SmallVector<int64_t> NodeImporter::intsAttribute(StringRef name) const {
  const onnx::AttributeProto *found =
      attribute(name, onnx::AttributeProto::INTS);
  return found
             ? SmallVector<int64_t>(found->ints().begin(), found->ints().end())
             : SmallVector<int64_t>();
}

SmallVector<double> NodeImporter::floatsAttribute(StringRef name) const {
  const onnx::AttributeProto *found =
      attribute(name, onnx::AttributeProto::FLOATS);
  return found ? SmallVector<double>(found->floats().begin(),
                                     found->floats().end())
               : SmallVector<double>();
}

std::pair<Value, ElementType>
NodeImporter::tensorAttribute(StringRef name) const {
  const onnx::AttributeProto *found =
      attribute(name, onnx::AttributeProto::TENSOR);
  if (!found)
    return {};
  auto type = static_cast<ElementType>(found->t().data_type());
  if (!convertElementType(b.getContext(), type))
    return {};
  auto constant = graph.tensorData().convert(
      found->t(), proto.output_size() ? StringRef(proto.output(0)) : name);
  if (!constant) {
    malformedAttribute = true;
    std::string why = llvm::toString(constant.takeError());
    if (!why.empty())
      emitError(b.getLoc())
          << opType() << ": attribute '" << name << "' " << why;
    return {};
  }
  return {graph.materialize(b, found->t(), *constant), type};
}

const onnx::GraphProto *NodeImporter::graphAttribute(StringRef name) {
  const onnx::AttributeProto *found =
      attribute(name, onnx::AttributeProto::GRAPH);
  if (found && found->has_g())
    return &found->g();
  if (!malformedAttribute)
    (void)invalid("expected a graph in attribute '" + name + "', found none");
  return nullptr;
}

/// Nodes of graphs in attributes that are imported, each as often as it is: no
/// file makes the compiler work without end.
static constexpr int64_t maximumInnerNodes = 1 << 17;

FailureOr<SmallVector<ImportedValue>>
NodeImporter::importGraph(const onnx::GraphProto &inner,
                          ArrayRef<ImportedValue> arguments, Block *into) {
  // As deep as commands nest in a module.
  if (graph.nesting() == 16)
    return unsupported("graphs in graphs, deeper than 16");
  if (graph.addInnerNodes(inner.node_size()) > maximumInnerNodes)
    return unsupported("the graphs of this model's nodes make more than 2^17 "
                       "nodes as they are written out");
  return graph.importGraph(inner, arguments, into);
}

LogicalResult NodeImporter::importAs(const onnx::GraphProto &body) {
  SmallVector<ImportedValue> arguments;
  for (const onnx::ValueInfoProto &input : body.input())
    arguments.push_back(*graph.lookup(proto.input(std::stoi(input.name()))));
  auto results = graph.importApart(body, arguments);
  if (failed(results))
    return failure();
  for (auto [i, result] : llvm::enumerate(*results))
    setImported(i, result);
  return success();
}

LogicalResult NodeImporter::tryTo(llvm::function_ref<LogicalResult()> attempt,
                                  bool &isWrong) {
  size_t before = graph.countUnsupported();
  isWrong = false;
  if (succeeded(attempt()))
    return success();
  isWrong = graph.countUnsupported() == before || malformedAttribute;
  graph.forgetUnsupported(before);
  return failure();
}

void NodeImporter::forgetConstants() { graph.forgetConstants(); }

Block *NodeImporter::resultBlock() const { return graph.currentBlock(); }

DenseElementsAttr NodeImporter::constantValue(Value value) const {
  return graph.evaluate(value);
}

ArrayRef<ElementRange> NodeImporter::elementRanges(Value value) const {
  return graph.elementRanges(value);
}

DenseElementsAttr NodeImporter::constantOperand(unsigned i) const {
  return hasOperand(i) ? graph.evaluate(operand(i)) : DenseElementsAttr();
}

FailureOr<SmallVector<int64_t>> NodeImporter::constantInts(unsigned i,
                                                           StringRef role) {
  DenseElementsAttr constant = constantOperand(i);
  if (!constant)
    return needsConstant(i, role);
  // A splat may have any number of elements without being in the file.
  if (constant.getNumElements() > 1 << 20)
    return unsupported(Twine(role) + " (input " + Twine(i) +
                       ") are more than "
                       "2^20 values");
  if (!isInteger(operandType(i)) && operandType(i) != ElementType::Bool)
    return invalid(Twine(role) + " (input " + Twine(i) +
                   ") must be integers, but is " +
                   elementTypeName(operandType(i)));
  SmallVector<int64_t> values;
  for (const APInt &value : constant.getValues<APInt>())
    values.push_back(isUnsigned(operandType(i)) ||
                             operandType(i) == ElementType::Bool
                         ? int64_t(value.getZExtValue())
                         : value.getSExtValue());
  return values;
}

FailureOr<SmallVector<double>> NodeImporter::constantFloats(unsigned i,
                                                            StringRef role) {
  DenseElementsAttr constant = constantOperand(i);
  if (!constant)
    return needsConstant(i, role);
  if (!isFloat(operandType(i)))
    return invalid(Twine(role) + " (input " + Twine(i) +
                   ") must be floating point, but is " +
                   elementTypeName(operandType(i)));
  SmallVector<double> values;
  for (APFloat value : constant.getValues<APFloat>()) {
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    values.push_back(value.convertToDouble());
  }
  return values;
}

FailureOr<int64_t> NodeImporter::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return invalid("axis " + Twine(axis) + " is outside [" + Twine(-rank) +
                   ", " + Twine(rank - 1) + "] for a tensor of rank " +
                   Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

FailureOr<SmallVector<int64_t>> NodeImporter::axes(unsigned i, int64_t rank) {
  SmallVector<int64_t> axes;
  if (hasOperand(i)) {
    FailureOr<SmallVector<int64_t>> constant = constantInts(i, "axes");
    if (failed(constant))
      return failure();
    axes = *constant;
  } else {
    axes = intsAttribute("axes");
  }
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t &axis : axes) {
    FailureOr<int64_t> normalized = normalizeAxis(axis, rank);
    if (failed(normalized))
      return failure();
    axis = *normalized;
    if (!seen.insert(axis).second)
      return invalid("axis " + Twine(axis) + " is named twice");
  }
  return axes;
}

LogicalResult NodeImporter::unsupported(const Twine &reason) {
  graph.reportUnsupported(proto, opsetVersion, reason);
  return failure();
}

LogicalResult NodeImporter::needsConstant(unsigned i, StringRef role) {
  graph.reportNeeded(proto, opsetVersion, {operand(i)},
                     Twine(role) + " (input " + Twine(i) +
                         ") depends on the model's inputs; it must be known "
                         "at compile time");
  return failure();
}

void NodeImporter::readAtRunTime(unsigned i) {
  graph.noteSizeArgument(operand(i));
}

LogicalResult NodeImporter::unsupportedSize(const Twine &reason, Value value) {
  graph.reportNeeded(proto, opsetVersion,
                     value ? ArrayRef(value) : graph.sizeArguments(), reason);
  return failure();
}

LogicalResult NodeImporter::invalid(const Twine &message) {
  return emitError(b.getLoc()) << opType() << ": " << message;
}
