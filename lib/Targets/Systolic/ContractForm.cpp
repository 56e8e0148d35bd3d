// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ContractForm.h"

using namespace ashlar::systolic;

std::string ashlar::systolic::formOf(const Problem &problem) {
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
  for (int64_t size : problem.sizes)
    add(size);
  for (const auto *dims :
       {&problem.batch, &problem.m, &problem.n, &problem.k}) {
    form += '/';
    for (unsigned dim : *dims)
      add(dim);
  }
  addAccess(problem.a);
  addAccess(problem.b);
  addAccess(problem.result);
  for (const Access &operand : problem.operands)
    addAccess(operand);
  for (const Coordinate &coordinate : problem.aCoordinates) {
    add(coordinate.stride);
    for (int64_t factor : coordinate.factors)
      add(factor);
  }
  for (const auto *values : {&problem.epilogue.values, &problem.rows.values}) {
    form += '/';
    for (const EpilogueValue &value : *values)
      for (int64_t field :
           {int64_t(value.kind), int64_t(value.reach), int64_t(value.isInteger),
            int64_t(value.isNarrow), int64_t(value.operand),
            int64_t(value.funct), int64_t(value.actsOnIntegers),
            int64_t(value.left), int64_t(value.right)})
        add(field);
  }
  if (problem.unrounded)
    addAccess(*problem.unrounded);
  add(problem.sumBits);
  add(problem.epilogue.bias);
  add(problem.epilogue.relu);
  add(problem.epilogue.result);
  add(problem.rows.result);
  add(int64_t(problem.margins.size()));
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

Problem ashlar::systolic::withPlacesOf(Problem form, const Problem &problem) {
  setPlace(form.a, form.isExchanged ? problem.b : problem.a);
  setPlace(form.b, form.isExchanged ? problem.a : problem.b);
  setPlace(form.result, problem.result);
  for (size_t i = 0; i < form.operands.size(); ++i)
    setPlace(form.operands[i], problem.operands[i]);
  if (form.unrounded)
    setPlace(*form.unrounded, *problem.unrounded);
  form.margins = problem.margins;
  form.pad = problem.pad;
  form.epilogue.scale = problem.epilogue.scale;
  setNumbers(form.epilogue.values, problem.epilogue.values);
  setNumbers(form.rows.values, problem.rows.values);
  return form;
}
