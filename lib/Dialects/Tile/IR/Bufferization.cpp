// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Dialects/Tile/IR/Decode.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace ashlar::tile;

namespace {
/// Of an op in destination style with bodies of scalars.
template <typename Op>
struct DestinationBufferization
    : DstBufferizableOpInterfaceExternalModel<DestinationBufferization<Op>,
                                              Op> {
  /// The destination is written, never read.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  /// Each number is written once, behind all that is read for it: what lies
  /// where the result will may have its place.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    auto contract = dyn_cast<ContractOp>(op);
    StrategyAttr strategy =
        contract ? contract.getStrategyAttr() : StrategyAttr();
    return strategy && !strategy.cutsTerms() && !strategy.splitsTerms() &&
           !contract.getPad() && op->getNumResults() == 1 &&
           llvm::all_of(operands, [&](OpOperand *operand) {
             unsigned number = operand->getOperandNumber();
             return number >= 2 &&
                    contract.getMap(number) == contract.getResultMap();
           });
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    rewriter.setInsertionPoint(op);
    OperationState created(op->getLoc(), op->getName(), buffers, TypeRange(),
                           op->getDiscardableAttrDictionary().getValue());
    created.propertiesAttr = op->getPropertiesAsAttribute();
    for (Region &region : op->getRegions()) {
      Region *body = created.addRegion();
      rewriter.inlineRegionBefore(region, *body, body->begin());
    }
    rewriter.create(created);
    replaceOpWithBufferizedValues(
        rewriter, op, ArrayRef(buffers).take_back(op->getNumResults()));
    return success();
  }
};

/// What is computed where it is read stands for memory, and takes none.
struct DecodeBufferization
    : BufferizableOpInterface::ExternalModel<DecodeBufferization, DecodeOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  /// A writer takes a copy.
  bool isWritable(Operation *, Value, const AnalysisState &) const {
    return false;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto decode = cast<DecodeOp>(op);
    SmallVector<Value> buffers;
    for (Value input : decode.getInputs()) {
      FailureOr<Value> buffer = getBuffer(rewriter, input, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    auto type = cast<RankedTensorType>(decode.getResult().getType());
    rewriter.setInsertionPoint(op);
    auto made = DecodeOp::create(
        rewriter, op->getLoc(),
        MemRefType::get(type.getShape(), type.getElementType()), buffers,
        decode.getMaps(), decode.getPadded());
    made.getBody().takeBody(decode.getBody());
    replaceOpWithBufferizedValues(rewriter, op, made.getResult());
    return success();
  }
};
} // namespace

void ashlar::tile::registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TileDialect *) {
    AttentionOp::attachInterface<DestinationBufferization<AttentionOp>>(
        *context);
    ContractOp::attachInterface<DestinationBufferization<ContractOp>>(*context);
    DecodeOp::attachInterface<DecodeBufferization>(*context);
    WinogradOp::attachInterface<DestinationBufferization<WinogradOp>>(*context);
  });
}
