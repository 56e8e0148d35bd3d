// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes what combines the values of a row out of an epilogue.
#include "ReadContract.h"

#include <algorithm>

using namespace ashlar::systolic;

namespace {
using Values = std::vector<EpilogueValue>;
} // namespace

/// Which values `result` is made of; `leaf` is not looked into.
static std::vector<bool> partsOf(const Values &values, int result, int leaf) {
  std::vector<bool> parts(values.size(), false);
  parts[size_t(result)] = true;
  for (int v = result; v >= 0; --v)
    if (parts[size_t(v)] && v != leaf &&
        values[size_t(v)].kind == EpilogueValue::Result)
      for (int operand : {values[size_t(v)].left, values[size_t(v)].right})
        if (operand >= 0)
          parts[size_t(operand)] = true;
  return parts;
}

/// Those of `values` that are parts, with `first` before all others.
static Values taken(const Values &values, const std::vector<bool> &parts,
                    int first) {
  std::vector<int> order = {first}, place(values.size(), -1);
  for (int v = 0; v < int(values.size()); ++v)
    if (parts[size_t(v)] && v != first)
      order.push_back(v);
  for (size_t i = 0; i < order.size(); ++i)
    place[size_t(order[i])] = int(i);
  Values result;
  for (int v : order) {
    EpilogueValue value = values[size_t(v)];
    for (int *operand : {&value.left, &value.right})
      if (*operand >= 0)
        *operand = place[size_t(*operand)];
    result.push_back(value);
  }
  return result;
}

/// Whether rows can be computed from what `block` left, and what reaches over
/// them.
static bool canFollow(const Values &values, const std::vector<bool> &parts,
                      int block) {
  for (int v = 0; v < int(values.size()); ++v) {
    const EpilogueValue &value = values[size_t(v)];
    if (!parts[size_t(v)] || v == block)
      continue;
    if (value.kind == EpilogueValue::Sum || value.isNarrow ||
        (value.kind == EpilogueValue::Operand && hasRows(value.reach)))
      return false;
  }
  return true;
}

ashlar::Refusal ashlar::systolic::readRows(Contraction &contraction) {
  if (contraction.unrounded &&
      (contraction.unrounded->element != Element::F32 ||
       contraction.result.element != Element::BF16))
    return "it stores what is not rounded from f32 to bf16 twice";
  Epilogue &epilogue = contraction.epilogue;
  const Values values = epilogue.values;
  // By value: whether it needs whole rows.
  std::vector<bool> isBehind(values.size(), false);
  bool any = false;
  for (size_t v = 0; v < values.size(); ++v) {
    isBehind[v] = isReduction(values[v]);
    for (int operand : {values[v].left, values[v].right})
      if (operand >= 0 && isBehind[size_t(operand)])
        isBehind[v] = true;
    any |= isBehind[v];
  }
  if (!any)
    return std::nullopt;
  // As much as possible is done block by block.
  for (int block = int(values.size()); block-- > 0;) {
    const EpilogueValue &value = values[size_t(block)];
    if (isBehind[size_t(block)] || value.reach != Reach::Each ||
        value.isNarrow ||
        (value.kind != EpilogueValue::Sum &&
         value.kind != EpilogueValue::Result))
      continue;
    std::vector<bool> parts = partsOf(values, epilogue.result, block);
    if (!parts[size_t(block)] || !canFollow(values, parts, block))
      continue;
    contraction.rows.values = taken(values, parts, block);
    contraction.rows.values.front() = EpilogueValue();
    contraction.rows.result = int(contraction.rows.values.size()) - 1;
    std::vector<bool> before = partsOf(values, block, -1);
    before[0] = true;
    epilogue.values = taken(values, before, 0);
    epilogue.result = int(epilogue.values.size()) - 1;
    return std::nullopt;
  }
  return "behind its rows' sums or maxima, its epilogue reads more than one "
         "value of each element";
}
