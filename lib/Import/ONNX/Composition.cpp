// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Composition.h"

using namespace mlir;
using namespace ashlar::onnx_import;

Composition::Name Composition::operand(unsigned i) {
  return node.hasOperand(i) ? std::to_string(i) : "";
}

static void setAttribute(onnx::AttributeProto &proto,
                         const Composition::Attribute &attribute) {
  proto.set_name(attribute.name);
  if (auto *number = std::get_if<int64_t>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*number);
  } else if (auto *real = std::get_if<double>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(float(*real));
  } else if (auto *text = std::get_if<std::string>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(*text);
  } else if (auto *reals = std::get_if<Composition::Attribute::Floats>(
                 &attribute.value)) {
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (double value : *reals)
      proto.add_floats(float(value));
  } else {
    proto.set_type(onnx::AttributeProto::INTS);
    for (int64_t value :
         std::get<Composition::Attribute::Ints>(attribute.value))
      proto.add_ints(value);
  }
}

SmallVector<Composition::Name>
Composition::addNode(StringRef op, ArrayRef<Name> inputs,
                     const Attributes &attributes, unsigned results,
                     StringRef domain) {
  onnx::NodeProto *added = graph.add_node();
  added->set_op_type(op.str());
  added->set_domain(domain.str());
  auto name = llvm::cast<NameLoc>(node.b.getLoc()).getName();
  added->set_name((name.getValue() + "/" + op).str());
  for (const Name &input : inputs)
    added->add_input(input);
  for (const Attribute &attribute : attributes)
    setAttribute(*added->add_attribute(), attribute);
  SmallVector<Name> names;
  for (unsigned i = 0; i != results; ++i) {
    names.push_back("made" + std::to_string(this->names++));
    added->add_output(names.back());
  }
  return names;
}

Composition::Name Composition::add(StringRef op, ArrayRef<Name> inputs,
                                   const Attributes &attributes,
                                   StringRef domain) {
  return addNode(op, inputs, attributes, 1, domain).front();
}

Composition::Name Composition::addLike(StringRef op, ArrayRef<Name> inputs) {
  Name result = add(op, inputs);
  node.copyAttributes(*graph.mutable_node(graph.node_size() - 1));
  return result;
}

Composition::Name Composition::ints(ArrayRef<int64_t> values) {
  if (!values.empty())
    return add("Constant", {}, {{"value_ints", values}});
  return add("ConstantOfShape",
             {add("Constant", {}, {{"value_ints", ArrayRef<int64_t>{0}}})});
}

Composition::Name Composition::floats(ArrayRef<double> values) {
  return add("Constant", {}, {{"value_floats", values}});
}

Composition::Name Composition::number(double value) {
  return add("Constant", {}, {{"value_float", value}});
}

Composition::Name Composition::integer(int64_t value, ElementType type) {
  return cast(add("Constant", {}, {{"value_int", value}}), type);
}

LogicalResult Composition::import(ArrayRef<Name> results) {
  for (unsigned i = 0; i != node.numOperands(); ++i)
    if (node.hasOperand(i))
      graph.add_input()->set_name(std::to_string(i));
  for (const Name &result : results)
    graph.add_output()->set_name(result);
  return node.importAs(graph);
}
