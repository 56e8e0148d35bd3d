// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BoxStores.h"
#include "Roles.h"
#include "Threads.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Dialects/Exec/Utils/Aliases.h"
#include "ashlar/Support/NoteAt.h"
#include "ashlar/Transforms/Simt/Passes.h"
#include "ashlar/Transforms/Tile/Cluster.h"
#include "ashlar/Transforms/Tile/Threads.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_DISTRIBUTELANESPASS
#include "ashlar/Transforms/Simt/Passes.h.inc"
} // namespace ashlar

/// How many threads compute a kernel's accumulators together; 0: there are
/// none. A group has as many as a fragment says, otherwise `lanes`. Where no
/// groups are named, nobody but rings says how many there are: `otherwise`.
static int64_t countThreads(func::FuncOp kernel, int64_t lanes,
                            int64_t otherwise) {
  bool hasRings =
      kernel.walk([](tile::AllocOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  int64_t threads = 0;
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto acc = dyn_cast<tile::AccType>(type);
      if (!acc)
        continue;
      tile::FragmentAttr fragment = acc.getFragment();
      int64_t own =
          fragment || hasRings || !acc.getGroups().empty() ? 1 : otherwise;
      own *= fragment ? fragment.getThreads() : lanes;
      for (tile::LevelAttr level : acc.getGroups())
        for (auto [size, part] : llvm::zip(acc.getShape(), level.getParallel()))
          own *= part == 0 ? 1 : llvm::divideCeil(size, part);
      threads = std::max(threads, own);
    }
  });
  return threads;
}

/// The memory that a view is of.
static Value baseOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Gives a view, and those of it, the memory's address space.
static void moveViews(Value memory, Attribute space) {
  for (Operation *user : memory.getUsers())
    if (isa<ViewLikeOpInterface>(user))
      for (Value view : user->getResults())
        if (auto type = dyn_cast<MemRefType>(view.getType())) {
          view.setType(MemRefType::Builder(type).setMemorySpace(space));
          moveViews(view, space);
        }
}

/// What a part allocates is the workgroup's.
static void shareAllocations(func::FuncOp kernel) {
  Attribute space = IntegerAttr::get(IntegerType::get(kernel.getContext(), 64),
                                     simt::workgroupSpace);
  kernel.walk([&](memref::AllocOp op) {
    op.getResult().setType(
        MemRefType::Builder(op.getType()).setMemorySpace(space));
    moveViews(op, space);
  });
}

/// The memory that an op stores to; null: none.
static Value written(Operation *op) {
  auto drain = dyn_cast<tile::DrainOp>(op);
  return drain ? drain.getTarget() : Value();
}

/// Whether one op may run after the other within one part.
static bool mayFollow(Operation *later, Operation *earlier) {
  Operation *loop = later->getParentOfType<LoopLikeOpInterface>();
  for (; loop && !isa<scf::ForallOp>(loop);
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    if (loop->isAncestor(earlier))
      return true;
  for (Block *block = later->getBlock(); block;
       block = block->getParentOp()->getBlock(), later = later->getParentOp())
    if (Operation *outer = block->findAncestorOpInBlock(*earlier))
      return outer->isBeforeInBlock(later);
  return false;
}

/// Threads meet behind a store that another op reads, and in front of one whose
/// memory another op may have read or stored to before: who does the one need
/// not be who stores the same element now.
static void addBarriers(func::FuncOp kernel) {
  llvm::DenseMap<Value, SmallVector<Operation *>> readers, writers;
  SmallVector<tile::DrainOp> drains;
  kernel.walk([&](Operation *op) {
    if (auto drain = dyn_cast<tile::DrainOp>(op)) {
      drains.push_back(drain);
      writers[baseOf(drain.getTarget())].push_back(drain);
    }
    if (isa<tile::MapOp, tile::LoadOp, tile::CopyOp, tile::StepOp,
            tile::DrainOp>(op))
      for (Value operand : op->getOperands())
        if (isa<MemRefType>(operand.getType()) && operand != written(op))
          readers[baseOf(operand)].push_back(op);
  });
  for (tile::DrainOp drain : drains) {
    Value memory = baseOf(drain.getTarget());
    auto found = readers.find(memory);
    bool isRead = found != readers.end();
    OpBuilder b(drain);
    // Other stores to what is read have a barrier behind them already.
    if (llvm::any_of(isRead ? found->second : writers[memory],
                     [&](Operation *other) {
                       return other != drain && mayFollow(drain, other);
                     }))
      gpu::BarrierOp::create(b, drain.getLoc());
    if (!isRead)
      continue;
    b.setInsertionPointAfter(drain);
    gpu::BarrierOp::create(b, drain.getLoc());
  }
}

/// Threads meet at the end of an iteration that has rings of its own: the next
/// one's are the same memory, which some may still read.
static void addBarriersBehindRings(func::FuncOp kernel) {
  kernel.walk([](scf::ForOp loop) {
    if (loop.getBody()->getOps<tile::AllocOp>().empty())
      return;
    OpBuilder b(loop.getBody()->getTerminator());
    gpu::BarrierOp::create(b, loop.getLoc());
  });
}

/// More places than a thread has side by side.
static constexpr int64_t anyPlaces = int64_t(1) << 32;

/// Of a memory that rows of accumulators lie side by side in: a power of two of
/// which all places are multiples where rows of the memory begin.
static int64_t evenPlaces(Value memory, AffineMap map) {
  auto type = dyn_cast<MemRefType>(baseOf(memory).getType());
  if (!type || type.getMemorySpace() || type.getRank() < 2 ||
      map.getNumResults() == 0 ||
      !map.getResults().back().isFunctionOfDim(map.getNumDims() - 1) ||
      llvm::all_of(type.getShape().drop_back(),
                   [](int64_t size) { return size == 1; }))
    return anyPlaces;
  int64_t row = type.getShape().back();
  return ShapedType::isDynamic(row) ? 1 : row & -row;
}

/// The same of the largest memory, of a kernel without products: what lies at
/// any place is read element by element, and neighbours are neighbouring
/// threads' then.
static int64_t evenRows(func::FuncOp kernel) {
  int64_t most = -1, even = anyPlaces;
  bool hasProducts = false;
  auto note = [&](Value memory, AffineMap map) {
    auto type = dyn_cast<MemRefType>(baseOf(memory).getType());
    if (!type || type.getMemorySpace())
      return;
    int64_t bytes = type.hasStaticShape() ? byteSize(type)
                                          : std::numeric_limits<int64_t>::max();
    if (bytes < most)
      return;
    int64_t own = evenPlaces(memory, map);
    even = bytes > most ? own : std::min(even, own);
    most = bytes;
  };
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto acc = dyn_cast<tile::AccType>(type))
        hasProducts |= acc.getFragment() || !acc.getGroups().empty();
    hasProducts |= isa<tile::AllocOp>(op);
    if (auto map = dyn_cast<tile::MapOp>(op))
      for (auto [j, input] : llvm::enumerate(map.getInputs()))
        note(input, map.getMap(j));
    if (auto drain = dyn_cast<tile::DrainOp>(op))
      note(drain.getTarget(), drain.getMap(drain.getMaps().size() - 1));
  });
  return hasProducts ? anyPlaces : even;
}

/// How many elements make a piece of so many bytes, of the narrowest type in
/// memory that all threads of the device see.
static int64_t elementsOfPiece(func::FuncOp kernel, int64_t bytes) {
  int64_t narrowest = bytes;
  kernel.walk([&](Operation *op) {
    if (isa<tile::MapOp, tile::LoadOp, tile::DrainOp>(op))
      for (Type type : op->getOperandTypes())
        if (auto memory = dyn_cast<MemRefType>(type))
          if (!memory.getMemorySpace())
            narrowest =
                std::min(narrowest, elementBytes(memory.getElementType()));
  });
  int64_t piece = std::max<int64_t>(bytes / std::max<int64_t>(narrowest, 1), 1);
  return std::min(piece, evenRows(kernel));
}

/// What all elements of a memory become; null: `op` is no fill.
static Value filledWith(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 0 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0 ||
      op.getBody()->getOperations().size() != 1 ||
      !op.getIndexingMapsArray()[0].isIdentity())
    return {};
  Value value = op.getBody()->getTerminator()->getOperand(0);
  return value.getParentBlock() == op.getBody() ? Value() : value;
}

/// What is filled with one value, as margins are, all threads fill side by
/// side, each some neighbours.
static void shareFills(func::FuncOp kernel, const simt::Threads &threads) {
  constexpr int64_t most = 8;
  SmallVector<linalg::GenericOp> fills;
  kernel.walk([&](linalg::GenericOp op) {
    if (filledWith(op))
      fills.push_back(op);
  });
  for (linalg::GenericOp fill : fills) {
    Value target = fill.getDpsInits()[0], value = filledWith(fill);
    auto type = cast<MemRefType>(target.getType());
    if (type.getRank() == 0)
      continue;
    ImplicitLocOpBuilder b(fill.getLoc(), fill);
    int64_t last = type.getShape().back();
    int64_t piece = !ShapedType::isDynamic(last) && last % most == 0 ? most : 1;
    auto index = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(b, number);
    };
    SmallVector<OpFoldResult> sizes =
        memref::getMixedSizes(b, b.getLoc(), target);
    if (piece != 1)
      sizes.back() = b.getIndexAttr(last / piece);
    Value all = index(1);
    for (OpFoldResult size : sizes)
      all = arith::MulIOp::create(
          b, all, getValueOrCreateConstantIndexOp(b, b.getLoc(), size));
    auto loop =
        scf::ForOp::create(b, threads.number, all, index(threads.count));
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> point(affine::AffineDelinearizeIndexOp::create(
                                 b, loop.getInductionVar(), sizes)
                                 .getResults());
    if (piece != 1)
      point.back() = arith::MulIOp::create(b, point.back(), index(piece));
    Value first = point.back();
    for (int64_t i = 0; i != piece; ++i) {
      if (i != 0)
        point.back() = arith::AddIOp::create(b, first, index(i));
      memref::StoreOp::create(b, value, target, point);
    }
    fill.erase();
  }
}

/// Whether something beside the loop over parts touches memory; then one
/// workgroup does all of the kernel.
static bool isBesideParts(func::FuncOp kernel) {
  auto parts = kernel.getOps<scf::ForallOp>();
  if (parts.empty())
    return false;
  return !llvm::hasSingleElement(parts) ||
         llvm::any_of(kernel.getBody().front().without_terminator(),
                      [](Operation &op) {
                        return !isa<scf::ForallOp, memref::AllocOp>(op) &&
                               !isMemoryEffectFree(&op);
                      });
}

/// How many workgroups share copies; 1: none do.
static int64_t clusterOf(func::FuncOp kernel) {
  for (auto parts : kernel.getOps<scf::ForallOp>())
    if (auto cluster = parts->getAttrOfType<IntegerAttr>(clusterAttrName))
      return cluster.getInt();
  return 1;
}

/// Whether threads of a workgroup exchange something in its memory.
static bool sharesMemory(func::FuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        return isa<tile::AllocOp, memref::AllocOp>(op) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What is left of other ops every thread would do, in no order.
static LogicalResult checkWhole(func::FuncOp kernel) {
  auto other = kernel.getBody().walk([&](Operation *op) {
    if (isa<tile::TileDialect>(op->getDialect()) || isa<memref::AllocOp>(op) ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(op) ||
        isa<tile::TileDialect>(op->getParentOp()->getDialect()))
      return WalkResult::advance();
    noteAt(op->emitOpError("expected nothing but accumulators in a kernel "
                           "whose threads compute each part together"),
           kernel.getLoc(), "the kernel is here");
    return WalkResult::interrupt();
  });
  if (other.wasInterrupted())
    return failure();
  auto found = kernel.walk([](memref::AllocOp op) {
    if (op.getType().hasStaticShape())
      return WalkResult::advance();
    op.emitOpError("expected memory of a size that is known, for all threads "
                   "of a workgroup");
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}

namespace {
struct DistributeLanes
    : ashlar::impl::DistributeLanesPassBase<DistributeLanes> {
  using DistributeLanesPassBase::DistributeLanesPassBase;

  /// Of the option: how many threads each scope has.
  llvm::StringMap<int64_t> scopeThreads() {
    llvm::StringMap<int64_t> all;
    for (StringRef one : scopes) {
      auto [name, count] = one.split('=');
      count.getAsInteger(10, all[name]);
    }
    return all;
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto kernel : getOperation().getOps<exec::KernelOp>()) {
      auto body = kernel.getBodyAttr()
                      ? symbols.lookup<func::FuncOp>(*kernel.getBody())
                      : func::FuncOp();
      if (!body || !body->removeAttr(threadsAttrName))
        continue;
      int64_t count = countThreads(body, lanes, groups);
      if (count == 0)
        continue;
      OpBuilder b(body.getBody());
      Value number =
          gpu::ThreadIdOp::create(b, body.getLoc(), gpu::Dimension::x);
      simt::Threads threads{lanes, count, number, shuffles};
      if (failed(checkWhole(body)))
        return signalPassFailure();
      shareAllocations(body);
      threads.piece = elementsOfPiece(body, pieceBytes);
      threads.copyWords = copyWords;
      FailureOr<int64_t> all = simt::shareRoles(body, threads, scopeThreads());
      if (failed(all))
        return signalPassFailure();
      addBarriers(body);
      addBarriersBehindRings(body);
      shareFills(body, threads);
      // Parts that follow each other, where there are fewer workgroups than
      // parts, use the same memory.
      if (isBesideParts(body) || sharesMemory(body))
        for (auto part : body.getOps<scf::ForallOp>()) {
          b.setInsertionPoint(part.getBody()->getTerminator());
          gpu::BarrierOp::create(b, part.getLoc());
        }
      int64_t cluster = clusterOf(body);
      SmallVector<Attribute> maps;
      if (failed(simt::shareRings(body, threads, maps)))
        return signalPassFailure();
      simt::BoxStores boxes(threads, stores);
      if (!maps.empty())
        boxes.plan(body, memory, maps);
      if (failed(simt::distributeAccumulators(body, threads, boxes)))
        return signalPassFailure();
      simt::meetInRoles(body);
      if (!maps.empty())
        kernel.setTensorMapsAttr(b.getArrayAttr(maps));
      kernel.setBlock(ArrayRef<int64_t>{*all});
      if (cluster > 1)
        kernel.setCluster(ArrayRef<int64_t>{cluster});
      // Who reads an element need not be who writes what takes its place.
      removeReadAliases(kernel, body);
    }
  }
};
} // namespace
