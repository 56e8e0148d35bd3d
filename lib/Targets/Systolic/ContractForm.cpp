// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ContractForm.h"

using ashlar::LinearIndex;
using namespace ashlar::systolic;

std::string ashlar::systolic::formOf(const Contraction &contraction) {
  std::string form;
  auto add = [&](int64_t number) {
    form += std::to_string(number);
    form += ' ';
  };
  auto addAccess = [&](const Access &access) {
    add(int64_t(access.element));
    for (int64_t stride : access.strides)
      add(stride);
    add(access.kept ? access.kept->rows : -1);
    add(access.kept ? access.kept->isStored : 0);
  };
  for (int64_t size : contraction.sizes)
    add(size);
  for (const auto *dims :
       {&contraction.batch, &contraction.m, &contraction.n, &contraction.k}) {
    form += '/';
    for (unsigned dim : *dims)
      add(dim);
  }
  addAccess(contraction.a);
  addAccess(contraction.b);
  addAccess(contraction.result);
  for (const Access &operand : contraction.operands)
    addAccess(operand);
  for (const LinearIndex &coordinate : contraction.aCoordinates) {
    add(coordinate.stride);
    for (int64_t factor : coordinate.factors)
      add(factor);
  }
  for (const auto *values :
       {&contraction.epilogue.values, &contraction.rows.values}) {
    form += '/';
    for (const EpilogueValue &value : *values)
      for (int64_t field :
           {int64_t(value.kind), int64_t(value.reach), int64_t(value.isInteger),
            int64_t(value.isNarrow), int64_t(value.operand),
            int64_t(value.funct), int64_t(value.actsOnIntegers),
            int64_t(value.left), int64_t(value.right)})
        add(field);
  }
  if (contraction.unrounded)
    addAccess(*contraction.unrounded);
  add(contraction.sumBits);
  add(contraction.epilogue.bias);
  add(contraction.epilogue.relu);
  add(contraction.epilogue.result);
  add(contraction.rows.result);
  add(int64_t(contraction.margins.size()));
  return form;
}

static void setPlace(Access &access, const Access &from) {
  access.binding = from.binding;
  access.offset = from.offset;
  access.kept = from.kept;
}

static void setNumbers(std::vector<EpilogueValue> &values,
                       const std::vector<EpilogueValue> &from) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i].number = from[i].number;
}

Contraction ashlar::systolic::withPlacesOf(Contraction form,
                                           const Contraction &contraction) {
  setPlace(form.a, form.isExchanged ? contraction.b : contraction.a);
  setPlace(form.b, form.isExchanged ? contraction.a : contraction.b);
  setPlace(form.result, contraction.result);
  for (size_t i = 0; i < form.operands.size(); ++i)
    setPlace(form.operands[i], contraction.operands[i]);
  if (form.unrounded)
    setPlace(*form.unrounded, *contraction.unrounded);
  form.margins = contraction.margins;
  form.pad = contraction.pad;
  form.epilogue.scale = contraction.epilogue.scale;
  setNumbers(form.epilogue.values, contraction.epilogue.values);
  setNumbers(form.rows.values, contraction.rows.values);
  return form;
}
