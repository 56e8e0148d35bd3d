// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One-shot bufferization of a kernel. Tensor ops that upstream would bufferize
// through a copy are first taken apart into fills and copies of slices.
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Tile/IR/TileOps.h"
#include "ashlar/Transforms/Tile/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_BUFFERIZEKERNELSPASS
#include "ashlar/Transforms/Tile/Passes.h.inc"
} // namespace ashlar

namespace {
/// A buffer that a step of a loop allocates and hands on would be that of the
/// next step too, since each allocation of a kernel has one place: the loop
/// carries one buffer instead, into which each step puts what it hands on.
void carryOneBuffer(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  ImplicitLocOpBuilder b(loop.getLoc(), yield);
  SmallVector<std::pair<OpOperand *, Value>> moved;
  for (auto [operand, carried] :
       llvm::zip(yield->getOpOperands(), loop.getRegionIterArgs()))
    if (isa<MemRefType>(carried.getType()) && operand.get() != carried)
      moved.emplace_back(&operand, carried);
  // One may be where another one goes, unless it has just been made.
  SmallVector<Value> sources;
  for (auto [operand, carried] : moved) {
    Value source = operand->get();
    bool isNew = source.getDefiningOp<memref::AllocOp>() != nullptr;
    if (moved.size() > 1 && !isNew) {
      source = memref::AllocOp::create(
          b, memref::getMixedSizes(b, b.getLoc(), source),
          getElementTypeOrSelf(source.getType()));
      memref::CopyOp::create(b, operand->get(), source);
    }
    sources.push_back(source);
  }
  for (auto [source, move] : llvm::zip(sources, moved)) {
    memref::CopyOp::create(b, source, move.second);
    move.first->set(move.second);
  }
}

bool isEmpty(Value tensor) {
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>())
    tensor = slice.getSource();
  return tensor.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// Lets what is computed element by element take the place of an operand that
/// nobody reads later, inside of boxes: they need less memory of their own.
void reuseOperands(func::FuncOp kernel) {
  kernel.walk([](linalg::GenericOp op) {
    if (!op->getParentOfType<scf::ForallOp>() || op->getNumResults() != 1 ||
        op.getNumReductionLoops() != 0 || op.hasIndexSemantics() ||
        op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
        !isEmpty(op.getDpsInits()[0]))
      return;
    AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    for (OpOperand *operand : op.getDpsInputOperands()) {
      Operation *producer = operand->get().getDefiningOp();
      bool isOurs =
          isa_and_nonnull<linalg::GenericOp, tile::ContractOp>(producer) &&
          producer->getBlock() == op->getBlock();
      if (!isOurs || operand->get().getType() != op.getResultTypes()[0] ||
          op.getMatchingIndexingMap(operand) != written ||
          !written.isPermutation() ||
          !llvm::all_of(operand->get().getUsers(), [&](Operation *user) {
            return user == op || (user->getBlock() == op->getBlock() &&
                                  user->isBeforeInBlock(op));
          }))
        continue;
      op.getDpsInitsMutable()[0].assign(operand->get());
      return;
    }
  });
}

/// A result that operands are joined to becomes a copy of each into its place.
/// The analysis would compare every part of a chain with all others, and follow
/// the chain for each pair.
void copyParts(bufferization::MaterializeInDestinationOp store) {
  SmallVector<tensor::InsertSliceOp> parts;
  Value whole = store.getSource();
  while (auto insert = whole.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!insert->hasOneUse() ||
        !insert.getSource().getDefiningOp<bufferization::ToTensorOp>())
      return;
    parts.push_back(insert);
    whole = insert.getDest();
  }
  bool isEmpty = whole.getDefiningOp<tensor::EmptyOp>() != nullptr;
  // What a pad fills first is stored whole.
  if (parts.empty() || !(isEmpty || (whole.hasOneUse() &&
                                     whole.getDefiningOp<linalg::FillOp>())))
    return;
  auto target = dyn_cast<MemRefType>(store.getDest().getType());
  if (!target)
    return;
  ImplicitLocOpBuilder b(store.getLoc(), store);
  auto put = [&](Value value, Value place) {
    bufferization::MaterializeInDestinationOp::create(
        b, Type(), value, place, store.getRestrict(), store.getWritable());
  };
  if (!isEmpty)
    put(whole, store.getDest());
  for (tensor::InsertSliceOp part : llvm::reverse(parts)) {
    b.setLoc(part.getLoc());
    MemRefType type = memref::SubViewOp::inferRankReducedResultType(
        part.getSourceType().getShape(), target, part.getMixedOffsets(),
        part.getMixedSizes(), part.getMixedStrides());
    put(part.getSource(), memref::SubViewOp::create(
                              b, type, store.getDest(), part.getMixedOffsets(),
                              part.getMixedSizes(), part.getMixedStrides()));
  }
  store.erase();
  for (tensor::InsertSliceOp part : parts)
    part.erase();
}

struct BufferizeKernels
    : ashlar::impl::BufferizeKernelsPassBase<BufferizeKernels> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // Entries keep their tensors.
    if (function.isPublic() || function.isDeclaration())
      return;
    reuseOperands(function);
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<linalg::DecomposePadOpPattern>(context);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      return signalPassFailure();
    function.walk(copyParts);

    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    options.bufferizeFunctionBoundaries = false;
    options.defaultMemorySpaceFn = [](TensorType) -> std::optional<Attribute> {
      return Attribute();
    };
    // Copies stay structured, so that they are vectorised like other ops.
    options.memCpyFn = [](OpBuilder &b, Location loc, Value from, Value to) {
      memref::CopyOp::create(b, loc, from, to);
      return success();
    };
    IRRewriter rewriter(context);
    {
      bufferization::OneShotAnalysisState analysis(function, options);
      if (failed(bufferization::analyzeOp(function, analysis)) ||
          failed(bufferization::eliminateEmptyTensors(rewriter, function,
                                                      analysis)))
        return signalPassFailure();
    }
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotBufferize(function, options, state)))
      return signalPassFailure();
    function.walk(carryOneBuffer);
  }
};
} // namespace
