// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/ConstantBytes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

ArrayRef<char> ashlar::resourceBytes(DenseResourceElementsAttr resource) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  return blob ? blob->getData() : ArrayRef<char>();
}

ArrayRef<char> ashlar::constantBytes(Attribute constant) {
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(constant))
    return resourceBytes(resource);
  auto dense = dyn_cast_or_null<DenseElementsAttr>(constant);
  return dense ? dense.getRawData() : ArrayRef<char>();
}
