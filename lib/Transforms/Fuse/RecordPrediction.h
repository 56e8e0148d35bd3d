// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_TRANSFORMS_FUSE_RECORDPREDICTION_H
#define ASHLAR_LIB_TRANSFORMS_FUSE_RECORDPREDICTION_H

#include "ashlar/Cost/Core.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/IR/Builders.h"

namespace ashlar {

/// On `op`, for its kernel's entry in the module.
inline void recordPrediction(mlir::Operation *op,
                             const Prediction &prediction) {
  mlir::Builder b(op->getContext());
  op->setAttr(exec::cyclesAttrName,
              b.getI64IntegerAttr(int64_t(prediction.cycles())));
  op->setAttr(exec::boundAttrName, b.getStringAttr(prediction.bound()));
}

} // namespace ashlar

#endif // ASHLAR_LIB_TRANSFORMS_FUSE_RECORDPREDICTION_H
