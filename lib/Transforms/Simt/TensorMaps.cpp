// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorMaps.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"

using namespace mlir;
using namespace ashlar;

static exec::SizeAttr times(exec::SizeAttr x, exec::SizeAttr y) {
  unsigned symbols =
      std::max(x.getMap().getNumSymbols(), y.getMap().getNumSymbols());
  return exec::SizeAttr::get(x.getFormula() * y.getFormula(), symbols,
                             x.getLargest() * y.getLargest());
}

static exec::TensorMapAttr mapOf(const TensorBox &box) {
  Type type = cast<MemRefType>(box.tensor.getType()).getElementType();
  auto stride = exec::SizeAttr::get(type.getContext(), elementBytes(type));
  SmallVector<exec::SizeAttr> sizes(llvm::reverse(box.ends)), strides;
  SmallVector<int64_t> boxes(llvm::reverse(box.box)),
      steps(llvm::reverse(box.steps));
  if (llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    steps.clear();
  for (exec::SizeAttr size : llvm::reverse(box.sizes)) {
    strides.push_back(stride);
    stride = times(size, stride);
  }
  return exec::TensorMapAttr::get(type.getContext(), box.tensor.getArgNumber(),
                                  type, sizes, strides, boxes, steps,
                                  box.swizzleBytes);
}

int64_t ashlar::simt::tensorMapOf(const TensorBox &box,
                                  SmallVectorImpl<Attribute> &maps) {
  exec::TensorMapAttr map = mapOf(box);
  auto found = llvm::find(maps, map);
  int64_t number = found - maps.begin();
  if (found == maps.end())
    maps.push_back(map);
  return number;
}
