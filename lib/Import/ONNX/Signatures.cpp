// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Signatures.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ashlar::onnx_import;
using llvm::formatv;
using llvm::SmallVector;
using llvm::StringRef;

/// Sorted by operator, then by version.
static constexpr Signature signatures[] = {
#include "Signatures.def"
};

const Signature *ashlar::onnx_import::lookupSignature(StringRef op,
                                                      int64_t opset) {
  const Signature *next = std::upper_bound(
      std::begin(signatures), std::end(signatures), std::make_pair(op, opset),
      [](const std::pair<StringRef, int64_t> &key, const Signature &entry) {
        return key < std::make_pair(StringRef(entry.op), entry.since);
      });
  if (next == std::begin(signatures) || std::prev(next)->op != op)
    return nullptr;
  return std::prev(next);
}

/// The mask of a type variable.
static uint64_t maskOf(const Signature &signature, StringRef variable) {
  SmallVector<StringRef> types;
  StringRef(signature.types).split(types, ' ');
  for (StringRef type : types) {
    auto [name, digits] = type.split('=');
    uint64_t mask = 0;
    if (name == variable && !digits.getAsInteger(16, mask))
      return mask;
  }
  return 0;
}

uint64_t ashlar::onnx_import::inputTypes(const Signature &signature) {
  uint64_t all = 0;
  SmallVector<StringRef> types;
  StringRef(signature.types).split(types, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef type : types)
    all |= maskOf(signature, type.split('=').first);
  return all;
}

static std::string spellTypes(uint64_t mask) {
  SmallVector<std::string> names;
  for (int bit = 1; bit != 64; ++bit)
    if (mask >> bit & 1)
      names.push_back(elementTypeName(static_cast<ElementType>(bit)).str());
  if (names.size() < 2)
    return llvm::join(names, "");
  std::string last = names.pop_back_val();
  return llvm::join(names, ", ") + " or " + last;
}

static std::string checkCounts(const Signature &signature,
                               llvm::ArrayRef<StringRef> formals,
                               size_t operands, unsigned results) {
  bool repeats = !formals.empty() && (formals.back().ends_with("*") ||
                                      formals.back().ends_with("+"));
  auto counted = [](size_t least, size_t most, bool open, StringRef what) {
    std::string text = open            ? formatv("at least {0}", least).str()
                       : least == most ? formatv("{0}", least).str()
                                       : formatv("{0} to {1}", least, most);
    bool one = (open ? least : most) == 1;
    return text + " " + what.str() + (one ? "" : "s");
  };
  if (operands < signature.minimumInputs ||
      (!repeats && operands > formals.size()))
    return formatv(
        "has {0} inputs, expected {1}", operands,
        counted(signature.minimumInputs, formals.size(), repeats, "input"));
  bool openResults = signature.maximumOutputs >= (1u << 20);
  if (results < signature.minimumOutputs || results > signature.maximumOutputs)
    return formatv("has {0} outputs, expected {1}", results,
                   counted(signature.minimumOutputs, signature.maximumOutputs,
                           openResults, "output"));
  return "";
}

std::string
ashlar::onnx_import::checkSignature(const Signature &signature,
                                    llvm::ArrayRef<ElementType> operands,
                                    unsigned results) {
  SmallVector<StringRef> formals;
  StringRef(signature.inputs).split(formals, ' ', -1, /*KeepEmpty=*/false);
  if (std::string wrong =
          checkCounts(signature, formals, operands.size(), results);
      !wrong.empty())
    return wrong;
  // Which operand has bound a type variable.
  llvm::StringMap<size_t> bound;
  for (size_t i = 0; i != operands.size(); ++i) {
    StringRef formal = formals[std::min(i, formals.size() - 1)];
    bool isRepeated = formal.ends_with("*") || formal.ends_with("+");
    if (operands[i] == ElementType::Undefined) {
      if (!formal.ends_with("?") &&
          (!isRepeated || i < signature.minimumInputs))
        return formatv("needs input {0}, which is left out", i);
      continue;
    }
    StringRef variable = formal.rtrim("?*+");
    uint64_t mask = maskOf(signature, variable);
    if (!(mask >> static_cast<int>(operands[i]) & 1))
      return formatv("input {0} has type {1}, expected {2}", i,
                     elementTypeName(operands[i]), spellTypes(mask));
    if (formal.ends_with("+"))
      continue;
    auto [first, isNew] = bound.try_emplace(variable, i);
    if (!isNew && operands[first->second] != operands[i])
      return formatv("inputs {0} and {1} have types {2} and {3}; expected one "
                     "type",
                     first->second, i, elementTypeName(operands[first->second]),
                     elementTypeName(operands[i]));
  }
  return "";
}
