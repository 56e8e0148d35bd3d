// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace ashlar {
#define GEN_PASS_DEF_FLATTENSTRIDEDGATHERSPASS
#include "ashlar/Targets/CPU/Passes.h.inc"
} // namespace ashlar

namespace {
/// A gather's indices count elements of memory from where its offsets point,
/// but it lowers only from a memref whose last dimension is contiguous: one
/// with a stride there is read as a line of memory.
struct FlattenStridedGathers
    : ashlar::impl::FlattenStridedGathersPassBase<FlattenStridedGathers> {
  void runOnOperation() override {
    getOperation().walk([](vector::GatherOp gather) {
      auto type = dyn_cast<MemRefType>(gather.getBase().getType());
      if (type && !type.isLastDimUnitStride())
        flatten(gather, type);
    });
  }

  static void flatten(vector::GatherOp gather, MemRefType type) {
    ImplicitLocOpBuilder b(gather.getLoc(), gather);
    auto metadata =
        memref::ExtractStridedMetadataOp::create(b, gather.getBase());
    Value place = metadata.getOffset();
    for (auto [index, stride] :
         llvm::zip(gather.getOffsets(), metadata.getStrides())) {
      Value step = arith::MulIOp::create(b, index, stride);
      place = arith::AddIOp::create(b, place, step);
    }
    auto lineType =
        MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace());
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value length = arith::AddIOp::create(b, place, one);
    Value line = memref::ReinterpretCastOp::create(
        b, lineType, metadata.getBaseBuffer(), b.getIndexAttr(0),
        ArrayRef<OpFoldResult>{length},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
    gather.getBaseMutable().assign(line);
    gather.getOffsetsMutable().assign(place);
  }
};
} // namespace
