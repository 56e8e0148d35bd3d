// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and element types of an entry's arguments and results.
#include "EntryImporter.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::mlir_import;

static constexpr StringLiteral nameAttribute = "ashlar.name",
                               typeAttribute = "ashlar.type";

/// The name that ashlar.type gives to a type, which is ONNX's.
static std::string typeName(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.getWidth() == 1)
      return "bool";
    return (integer.isUnsigned() ? "uint" : "int") +
           std::to_string(integer.getWidth());
  }
  return isa<Float16Type>(type)    ? "float16"
         : isa<BFloat16Type>(type) ? "bfloat16"
         : isa<Float32Type>(type)  ? "float"
                                   : "double";
}

namespace {
/// The arguments or the results.
struct Side {
  StringRef what, prefix;
  TypeRange types;
  std::function<Attribute(unsigned, StringRef)> get;
  std::function<void(unsigned, StringRef, Attribute)> set;
};
} // namespace

static LogicalResult nameSide(func::FuncOp entry, const Side &side) {
  Builder b(entry.getContext());
  llvm::StringMap<unsigned> taken;
  for (auto [i, type] : llvm::enumerate(side.types)) {
    auto name = dyn_cast_or_null<StringAttr>(side.get(i, nameAttribute));
    if (!name)
      name = b.getStringAttr(side.prefix + Twine(i));
    auto [other, isNew] = taken.try_emplace(name.getValue(), i);
    if (!isNew)
      return entry.emitError()
             << side.what << "s " << other->second << " and " << i << " of '"
             << entry.getName() << "' are both called '" << name.getValue()
             << "'";
    std::string natural = typeName(getElementTypeOrSelf(type));
    auto given = dyn_cast_or_null<StringAttr>(side.get(i, typeAttribute));
    // Signless integers may be meant without a sign.
    auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
    bool fits = !given || given.getValue() == natural ||
                (integer && integer.isSignless() && integer.getWidth() > 1 &&
                 given.getValue() == "u" + natural);
    if (!fits)
      return entry.emitError()
             << side.what << " " << i << " of '" << entry.getName()
             << "' has type " << type << ", but its ashlar.type is '"
             << given.getValue() << "'; expected '" << natural << "'";
    side.set(i, nameAttribute, name);
    side.set(i, typeAttribute, given ? given : b.getStringAttr(natural));
  }
  return success();
}

LogicalResult ashlar::mlir_import::nameSignature(func::FuncOp entry) {
  Side arguments{
      "argument", "arg", entry.getArgumentTypes(),
      [&](unsigned i, StringRef name) { return entry.getArgAttr(i, name); },
      [&](unsigned i, StringRef name, Attribute value) {
        entry.setArgAttr(i, name, value);
      }};
  Side results{
      "result", "out", entry.getResultTypes(),
      [&](unsigned i, StringRef name) { return entry.getResultAttr(i, name); },
      [&](unsigned i, StringRef name, Attribute value) {
        entry.setResultAttr(i, name, value);
      }};
  return success(succeeded(nameSide(entry, arguments)) &&
                 succeeded(nameSide(entry, results)));
}
