// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CallSizes.h"

#include "IndexVerifier.h"
#include "TensorShape.h"

#include <cstring>

namespace ashlar::runtime {

String placeOf(const char *what, size_t index,
               const fb::TensorDescription &tensor) {
  return concat(what, "[", index, "] ", tensor.name()->string_view());
}

Status checkCount(const ashlar_entry_t &entry, ConstTensorSpan inputs) {
  size_t wanted = count(entry.entry->inputs());
  if (inputs.count != wanted)
    return invalidArgument(concat("entry ", entry.entry->name()->string_view(),
                                  " takes ", wanted, " inputs, found ",
                                  inputs.count),
                           "inputs");
  if (!inputs.tensors && inputs.count)
    return invalidArgument("inputs is NULL", "inputs");
  return {};
}

Status checkShape(const ashlar_entry_t &entry, const ashlar_tensor_t &tensor,
                  uint32_t index, uint64_t &bytes) {
  const fb::TensorDescription &wanted = *entry.entry->inputs()->Get(index);
  auto at = [&] { return placeOf("inputs", index, wanted); };
  if (tensor.type != uint32_t(wanted.type()))
    return invalidArgument(
        concat("expected elements of type ",
               ashlar_element_type_name(uint32_t(wanted.type())), ", found ",
               ashlar_element_type_name(tensor.type)),
        at());
  uint32_t rank = uint32_t(count(wanted.shape()));
  if (tensor.rank != rank)
    return invalidArgument(concat("expected the shape ",
                                  entry.inputShapes[index], " of rank ", rank,
                                  ", found rank ", tensor.rank),
                           at());
  if (!shapeBytes(tensor.type, tensor.shape, rank, bytes))
    return invalidArgument(concat("the shape ", shapeText(tensor.shape, rank),
                                  " is negative or has too many bytes"),
                           at());
  for (uint32_t i = 0; i < rank; ++i) {
    const fb::SizeExpression &size = *wanted.shape()->Get(i);
    int64_t expected = 0;
    if (isConstantSize(size) && evaluateSize(size, nullptr, expected) &&
        expected != tensor.shape[i])
      return invalidArgument(concat("expected the shape ",
                                    entry.inputShapes[index], ", found ",
                                    shapeText(tensor.shape, rank)),
                             at());
  }
  return {};
}

Status readSymbols(const ashlar_entry_t &entry, ConstTensorSpan inputs,
                   Vector<int64_t> &found) {
  const auto *symbols = entry.module->index().symbols();
  // -1: not seen yet.
  found.assign(count(symbols), -1);
  for (uint32_t i = 0; i < inputs.count && !found.empty(); ++i) {
    const fb::TensorDescription &wanted = *entry.entry->inputs()->Get(i);
    for (uint32_t j = 0; j < count(wanted.shape()); ++j) {
      uint32_t number;
      if (!isPlainSymbol(*wanted.shape()->Get(j), number))
        continue;
      const fb::Symbol &symbol = *symbols->Get(number);
      int64_t value = inputs.tensors[i].shape[j];
      if (value < symbol.minimum() || value > symbol.maximum())
        return invalidArgument(concat(symbol.name()->string_view(), " is ",
                                      value, "; the module was compiled for ",
                                      symbol.minimum(), " to ",
                                      symbol.maximum()),
                               placeOf("inputs", i, wanted));
      if (value % symbol.step() != 0)
        return invalidArgument(concat(symbol.name()->string_view(), " is ",
                                      value,
                                      "; the module was compiled for "
                                      "multiples of ",
                                      symbol.step()),
                               placeOf("inputs", i, wanted));
      if (found[number] != -1 && found[number] != value)
        return invalidArgument(concat(symbol.name()->string_view(), " is ",
                                      value, " here and ", found[number],
                                      " in an earlier dimension"),
                               placeOf("inputs", i, wanted));
      found[number] = value;
    }
  }
  return {};
}

Status checkDerivedShapes(const ashlar_entry_t &entry, ConstTensorSpan inputs,
                          const int64_t *symbols) {
  for (uint32_t i = 0; i < inputs.count; ++i) {
    const fb::TensorDescription &wanted = *entry.entry->inputs()->Get(i);
    if (isStatic(wanted))
      continue;
    int64_t shape[ASHLAR_MAX_RANK];
    uint64_t bytes;
    const ashlar_tensor_t &tensor = inputs.tensors[i];
    if (!evaluateShape(wanted, symbols, shape, bytes) ||
        std::memcmp(shape, tensor.shape, sizeof(int64_t) * tensor.rank) != 0)
      return invalidArgument(concat("expected the shape ", entry.inputShapes[i],
                                    ", found ",
                                    shapeText(tensor.shape, tensor.rank)),
                             placeOf("inputs", i, wanted));
  }
  return {};
}

} // namespace ashlar::runtime
