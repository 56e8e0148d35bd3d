// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorMaps.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"

using namespace mlir;
using namespace ashlar;

static exec::TensorMapAttr mapOf(const TensorBox &box) {
  auto type = cast<MemRefType>(box.tensor.getType());
  int64_t stride = elementBytes(type.getElementType());
  SmallVector<int64_t> sizes(llvm::reverse(box.ends)), strides,
      boxes(llvm::reverse(box.box)), steps(llvm::reverse(box.steps));
  if (llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    steps.clear();
  for (int64_t size : llvm::reverse(type.getShape())) {
    strides.push_back(stride);
    stride *= size;
  }
  return exec::TensorMapAttr::get(type.getContext(), box.tensor.getArgNumber(),
                                  type.getElementType(), sizes, strides, boxes,
                                  steps, box.swizzleBytes);
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
