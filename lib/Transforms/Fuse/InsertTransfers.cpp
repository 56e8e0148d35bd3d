// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is in the memory of the device that computes it, views of it too;
// inputs, and what control flow reads, are in the host's. Wherever somebody
// reads it elsewhere, it is copied there, once.
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Fuse/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_INSERTTRANSFERSPASS
#include "ashlar/Transforms/Fuse/Passes.h.inc"
} // namespace ashlar

namespace {
struct InsertTransfers
    : ashlar::impl::InsertTransfersPassBase<InsertTransfers> {
  void runOnOperation() override {
    // Readers in the order of the text, so that the first one's copy serves
    // the others.
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == getOperation() || isView(op) || isa<exec::TransferOp>(op))
        return WalkResult::advance();
      for (OpOperand &operand : op->getOpOperands())
        bring(operand);
      return isa<exec::DispatchOp>(op) ? WalkResult::skip()
                                       : WalkResult::advance();
    });
  }

private:
  /// Where a value is; nothing: every device has its own, being constant.
  static std::optional<int64_t> deviceOf(Value value) {
    Operation *op = viewed(value).getDefiningOp();
    if (op && (matchPattern(op, m_Constant()) || isa<tile::PackOp>(op)))
      return std::nullopt;
    auto dispatch = dyn_cast_if_present<exec::DispatchOp>(op);
    return dispatch ? dispatch.getDevice() : 0;
  }

  void bring(OpOperand &operand) {
    Value value = operand.get();
    auto dispatch = dyn_cast<exec::DispatchOp>(operand.getOwner());
    int64_t wanted = dispatch ? dispatch.getDevice() : 0;
    std::optional<int64_t> found = deviceOf(value);
    if (!isa<RankedTensorType>(value.getType()) || !found || *found == wanted)
      return;
    // Between two companions, through the host.
    if (*found != 0 && wanted != 0)
      value = copyOf(value, 0, operand.getOwner());
    operand.set(copyOf(value, wanted, operand.getOwner()));
  }

  Value copyOf(Value value, int64_t device, Operation *reader) {
    Value &copy = copies[{value, device}];
    if (copy)
      return copy;
    OpBuilder b(reader->getContext());
    b.setInsertionPointAfterValue(value);
    copy = exec::TransferOp::create(b, value.getLoc(), value.getType(), value,
                                    uint64_t(device));
    remark::passed(reader->getLoc(), about(reader, "Transfer", "place"))
        << "reads a tensor of "
        << remark::metric("Bytes", byteSize(value.getType()))
        << " bytes that is copied "
        << (device == 0 ? "to the host" : "to the device") << ", being from "
        << nodeName(value.getLoc());
    return copy;
  }

  llvm::DenseMap<std::pair<Value, int64_t>, Value> copies;
};
} // namespace
