// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What has no form for several threads is one thread's work; where there are
// many such parts, each thread of a workgroup has one.
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Exec/Utils/Aliases.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_SPREADPARTSPASS
#include "ashlar/Transforms/Simt/Passes.h.inc"
} // namespace ashlar

/// How many parts a kernel has; 1: its parts are no thread's work, or their
/// number is not known, or they need memory that only one of them may use.
static int64_t countParts(exec::KernelOp kernel) {
  ArrayAttr grid = kernel.getGridAttr();
  if (!grid || grid.size() != 1 || kernel.getBlock() ||
      kernel.getScratchBytes().value_or(0) != 0)
    return 1;
  auto parts = cast<exec::SizeAttr>(grid[0]);
  return parts.isConstant() ? parts.getConstant() : 1;
}

/// The loop over parts, beside which nothing happens; null: there is none.
static scf::ForOp loopOverParts(func::FuncOp body) {
  auto loops = body.getBody().front().getOps<scf::ForOp>();
  if (!llvm::hasSingleElement(loops))
    return {};
  scf::ForOp loop = *loops.begin();
  Block &entry = body.getBody().front();
  unsigned arguments = entry.getNumArguments();
  return arguments >= 2 && loop.getNumResults() == 0 &&
                 loop.getLowerBound() == entry.getArgument(arguments - 2) &&
                 loop.getUpperBound() == entry.getArgument(arguments - 1)
             ? loop
             : scf::ForOp();
}

static void spread(func::FuncOp body, scf::ForOp loop, int64_t parts,
                   int64_t threads) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  Value group = loop.getInductionVar();
  Block *work = loop.getBody();
  b.setInsertionPointToStart(work);
  AffineExpr place = b.getAffineDimExpr(0) * threads + b.getAffineDimExpr(1);
  Value part = affine::AffineApplyOp::create(b, AffineMap::get(2, 0, place),
                                             ValueRange{group, thread});
  group.replaceAllUsesExcept(part, part.getDefiningOp());
  if (parts % threads == 0)
    return;
  Value isThere =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, part,
                            arith::ConstantIndexOp::create(b, parts));
  auto inside = scf::IfOp::create(b, isThere, /*withElseRegion=*/false);
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(Block::iterator(inside)),
                            Block::iterator(work->getTerminator()))))
    op.moveBefore(inside.thenBlock()->getTerminator());
}

namespace {
struct SpreadParts : ashlar::impl::SpreadPartsPassBase<SpreadParts> {
  using SpreadPartsPassBase::SpreadPartsPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto kernel : getOperation().getOps<exec::KernelOp>()) {
      int64_t parts = countParts(kernel);
      auto body = kernel.getBodyAttr()
                      ? symbols.lookup<func::FuncOp>(*kernel.getBody())
                      : func::FuncOp();
      if (parts < 2 || !body || body.isDeclaration())
        continue;
      scf::ForOp loop = loopOverParts(body);
      if (!loop)
        continue;
      int64_t count =
          std::min<int64_t>(threads, llvm::PowerOf2Ceil(uint64_t(parts)));
      spread(body, loop, parts, count);
      Builder b(&getContext());
      int64_t groups = llvm::divideCeil(parts, count);
      kernel.setGridAttr(
          b.getArrayAttr({exec::SizeAttr::get(&getContext(), groups)}));
      kernel.setBlock(ArrayRef<int64_t>{count});
      // Who reads an element need not be who writes what takes its place.
      removeReadAliases(kernel, body);
    }
  }
};
} // namespace
