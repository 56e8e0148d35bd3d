// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Analysis/ContractDims.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"

using namespace mlir;
using namespace ashlar;

ContractDims ashlar::dimsOf(tile::ContractOp op) {
  ContractDims dims;
  llvm::append_range(dims.sizes, op.getParallel());
  llvm::append_range(dims.sizes, op.getReduced());
  for (unsigned d = 0; d != op.getParallel().size(); ++d) {
    bool inA = op.getAMap().isFunctionOfDim(d),
         inB = op.getBMap().isFunctionOfDim(d);
    (inA && inB ? dims.batch
     : inA      ? dims.m
     : inB      ? dims.n
                : dims.rest)
        .push_back(d);
  }
  for (unsigned d = op.getParallel().size(); d != dims.sizes.size(); ++d)
    dims.k.push_back(d);
  return dims;
}
