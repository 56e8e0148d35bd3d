// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives a kernel the form that the runtime calls: memory comes from outside,
// and the boxes of its one scf.forall are numbered groups.
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Exec/Utils/Aliases.h"
#include "ashlar/Transforms/Lanes/Passes.h"
#include "ashlar/Transforms/Tile/KernelSizes.h"
#include "ashlar/Transforms/Tile/MemoryUses.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_FORMGROUPSPASS
#include "ashlar/Transforms/Lanes/Passes.h.inc"
} // namespace ashlar

namespace {
/// Allocations up to this size live on the stack.
constexpr int64_t maximumStackBytes = 1024;

/// How many ops read or write the memory of `argument`, views aside.
int countUses(func::FuncOp function, BlockArgument argument) {
  auto base = [](Value memory) {
    while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
      memory = view.getViewSource();
    return memory;
  };
  int uses = 0;
  function.walk([&](Operation *op) {
    auto copy = dyn_cast<memref::CopyOp>(op);
    bool copiesOntoItself = copy && copy.getSource() == copy.getTarget();
    if (isa<ViewLikeOpInterface>(op) || copiesOntoItself)
      return;
    uses += llvm::count_if(op->getOperands(), [&](Value operand) {
      return isa<MemRefType>(operand.getType()) && base(operand) == argument;
    });
  });
  return uses;
}

class GroupFormer {
public:
  GroupFormer(exec::KernelOp kernel, func::FuncOp function)
      : kernel(kernel), function(function),
        b(function.getLoc(), function.getContext()),
        groups(getAffineConstantExpr(1, function.getContext())) {}

  LogicalResult run() {
    Block &entry = function.getBody().front();
    // A result whose memory holds partial values on the way cannot take over
    // an operand that the last op still reads.
    if (kernel.getAliases() &&
        countUses(function,
                  function.getArgument(kernel.getNumBindings() - 1)) != 1)
      removeReadAliases(kernel, function);
    scf::ForallOp boxes = findBoxes(entry);
    if (failed(measureScratch()))
      return failure();
    auto addArgument = [&](Type type) {
      (void)function.insertArgument(function.getNumArguments(), type,
                                    DictionaryAttr(), function.getLoc());
      return entry.getArguments().back();
    };
    scratch = addArgument(MemRefType::get({scratchBytes}, b.getI8Type()));
    Value begin = addArgument(b.getIndexType());
    Value end = addArgument(b.getIndexType());
    replaceAllocations(entry);
    if (boxes)
      numberBoxes(boxes, begin, end);
    else
      wrapInOneGroup(entry, begin, end);
    unsigned symbols = 0;
    groups.walk([&](AffineExpr expr) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        symbols = std::max(symbols, symbol.getPosition() + 1);
    });
    kernel.setGridAttr(
        b.getArrayAttr({exec::SizeAttr::get(groups, symbols, largestGroups)}));
    kernel.setScratchBytes(scratchBytes);
    return success();
  }

private:
  /// The loop over boxes, if there is one with constant bounds and nothing
  /// beside it touches memory.
  scf::ForallOp findBoxes(Block &entry) {
    scf::ForallOp found;
    bool alone = true;
    for (Operation &op : entry.without_terminator()) {
      if (auto forall = dyn_cast<scf::ForallOp>(op)) {
        alone &= !found;
        found = forall;
        continue;
      }
      alone &= isMemoryEffectFree(&op) || isa<memref::AllocOp>(op);
    }
    // What is allocated outside would be shared by the boxes.
    if (found && alone)
      for (auto alloc : entry.getOps<memref::AllocOp>())
        for (Operation *user : alloc->getUsers())
          alone &= found->isAncestor(user);
    auto isConstant = [](OpFoldResult size) {
      return getConstantIntValue(size).has_value();
    };
    auto isKnown = [](OpFoldResult size) { return formulaOf(size) != nullptr; };
    if (!found || !alone ||
        !llvm::all_of(found.getMixedLowerBound(), isConstant) ||
        !llvm::all_of(found.getMixedUpperBound(), isKnown) ||
        !llvm::all_of(found.getMixedStep(), isConstant))
      return {};
    return found;
  }

  LogicalResult measureScratch() {
    auto result = function.walk([&](memref::AllocOp alloc) {
      // The target's to place: memory of a workgroup.
      if (alloc.getType().getMemorySpace())
        return WalkResult::advance();
      std::optional<int64_t> bytes = largestBytes(alloc);
      if (!bytes) {
        alloc.emitError(
            "needs memory of a size that is not known at compile time");
        return WalkResult::interrupt();
      }
      bool onStack =
          alloc.getType().hasStaticShape() && *bytes <= maximumStackBytes;
      allocations.emplace_back(alloc, onStack ? -1 : scratchBytes);
      if (!onStack)
        scratchBytes += llvm::alignTo(*bytes, 64);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  void replaceAllocations(Block &entry) {
    for (auto [alloc, offset] : allocations) {
      b.setLoc(alloc.getLoc());
      Value memory;
      if (offset < 0) {
        b.setInsertionPointToStart(&entry);
        memory = memref::AllocaOp::create(b, alloc.getType(),
                                          b.getI64IntegerAttr(64));
      } else {
        b.setInsertionPoint(alloc);
        Value at = arith::ConstantIndexOp::create(b, offset);
        memory = memref::ViewOp::create(b, alloc.getType(), scratch, at,
                                        alloc.getDynamicSizes());
      }
      alloc.replaceAllUsesWith(memory);
      alloc.erase();
    }
  }

  void numberBoxes(scf::ForallOp boxes, Value begin, Value end) {
    b.setInsertionPoint(boxes);
    b.setLoc(boxes.getLoc());
    SmallVector<OpFoldResult> counts;
    for (auto [lower, upper, step] :
         llvm::zip(boxes.getMixedLowerBound(), boxes.getMixedUpperBound(),
                   boxes.getMixedStep())) {
      AffineExpr end = b.getAffineSymbolExpr(0);
      int64_t begin = *getConstantIntValue(lower),
              width = *getConstantIntValue(step);
      auto countTo = [&](AffineExpr bound) {
        return (bound - begin).ceilDiv(width);
      };
      counts.push_back(affine::makeComposedFoldedAffineApply(
          b, b.getLoc(), countTo(end), {findSize(upper)}));
      groups = groups * countTo(formulaOf(upper));
      largestGroups *= llvm::divideCeil(*largestSize(upper) - begin, width);
    }
    auto loop =
        scf::ForOp::create(b, begin, end, arith::ConstantIndexOp::create(b, 1));
    b.setInsertionPointToStart(loop.getBody());
    auto delinearized = affine::AffineDelinearizeIndexOp::create(
        b, loop.getInductionVar(), counts);
    IRMapping mapping;
    for (auto [iv, box, lower, step] :
         llvm::zip(boxes.getInductionVars(), delinearized.getResults(),
                   boxes.getMixedLowerBound(), boxes.getMixedStep())) {
      AffineExpr expr = b.getAffineDimExpr(0) * *getConstantIntValue(step) +
                        *getConstantIntValue(lower);
      mapping.map(iv, affine::AffineApplyOp::create(
                          b, AffineMap::get(1, 0, expr), ValueRange{box}));
    }
    for (Operation &op : boxes.getBody()->without_terminator())
      b.clone(op, mapping);
    boxes.erase();
  }

  void wrapInOneGroup(Block &entry, Value begin, Value end) {
    SmallVector<Operation *> ops;
    for (Operation &op : entry.without_terminator())
      if (!isa<memref::AllocaOp>(op))
        ops.push_back(&op);
    b.setInsertionPoint(entry.getTerminator());
    auto loop =
        scf::ForOp::create(b, begin, end, arith::ConstantIndexOp::create(b, 1));
    for (Operation *op : ops)
      if (op->getBlock() == &entry && op != begin.getDefiningOp())
        op->moveBefore(loop.getBody()->getTerminator());
    IRRewriter rewriter(b.getContext());
    SmallVector<scf::ForallOp> foralls;
    loop.walk([&](scf::ForallOp forall) { foralls.push_back(forall); });
    for (scf::ForallOp forall : foralls) {
      rewriter.setInsertionPoint(forall);
      (void)scf::forallToForLoop(rewriter, forall);
    }
  }

  exec::KernelOp kernel;
  func::FuncOp function;
  ImplicitLocOpBuilder b;
  Value scratch;
  int64_t scratchBytes = 0;
  AffineExpr groups; ///< over the module's symbols
  int64_t largestGroups = 1;
  SmallVector<std::pair<memref::AllocOp, int64_t>> allocations;
};

struct FormGroups : ashlar::impl::FormGroupsPassBase<FormGroups> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<std::pair<exec::KernelOp, func::FuncOp>> kernels;
    llvm::DenseSet<Operation *> bodies;
    for (auto kernel : getOperation().getOps<exec::KernelOp>()) {
      if (!kernel.getBodyAttr())
        continue;
      auto body = symbols.lookup<func::FuncOp>(*kernel.getBody());
      if (!body || body.isDeclaration() || kernel.getGrid() ||
          !bodies.insert(body).second) {
        InFlightDiagnostic error =
            kernel.emitOpError("expected a function of its own as its body, "
                               "without groups so far, found ")
            << kernel.getBodyAttr();
        if (body)
          error.attachNote(body.getLoc()) << "the function is here";
        return signalPassFailure();
      }
      kernels.push_back({kernel, body});
    }
    if (failed(failableParallelForEach(&getContext(), kernels, [](auto kernel) {
          return GroupFormer(kernel.first, kernel.second).run();
        })))
      signalPassFailure();
  }
};
} // namespace
