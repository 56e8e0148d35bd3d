// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StepWriter.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Tile/IR/ThreadStores.h"
#include "ashlar/Targets/CUDA/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

namespace ashlar {
#define GEN_PASS_DEF_THREADSTONVVMPASS
#include "ashlar/Targets/CUDA/Passes.h.inc"
} // namespace ashlar

/// Steps of four warps read shared memory by another way than their threads.
static bool isWarpgroups(tile::ThreadStepOp op) {
  return cast<tile::AccType>(op.getType()).getFragment().getThreads() == 128;
}

/// Whether a warp, or four, have an instruction for a step.
static bool hasInstruction(tile::ThreadStepOp op) {
  auto acc = cast<tile::AccType>(op.getType());
  tile::FragmentAttr fragment = acc.getFragment();
  constexpr int64_t registers[] = {0, 1, 8, 0};
  constexpr int64_t lanes[] = {0, 2, 0, 4, 1, 0, 2, 0, 4, 0, 16, 0, 32, 0};
  auto isOf = [&](size_t pairs) {
    return fragment.getLanes() == ArrayRef(lanes).take_front(2 * pairs);
  };
  if (fragment.getRegisters() != ArrayRef(registers) || (!isOf(5) && !isOf(7)))
    return false;
  std::optional<StepTypes> types = typesOf(op);
  if (!types)
    return false;
  Type element = op.getB().getType().getElementType();
  ArrayRef<int64_t> terms = op.getReduced();
  size_t dims = acc.getShape().size() + terms.size();
  auto reads = [&](Value slot, AffineMap map) {
    return slot.getDefiningOp<tile::SlotOfOp>() && map.getNumDims() == dims &&
           map.getNumSymbols() == 0 &&
           (types->readsAcross ||
            map.getResults().back().isFunctionOfDim(dims - 1)) &&
           map.getNumResults() ==
               cast<tile::SlotType>(slot.getType()).getShape().size();
  };
  SmallVector<int64_t> part = acc.getPart();
  int64_t sums = ShapedType::getNumElements(part);
  // Of whole numbers, wgmma has 8, 16, 24 and from 32 on each 16th.
  if (types->isWhole && isWarpgroups(op) && part.back() > 32 &&
      part.back() % 16 != 0)
    return false;
  if (part.back() % fragment.getColumns() != 0 ||
      sums / part.back() % fragment.getRows() != 0)
    return false;
  auto takesA = [&] {
    if (op.getA())
      return op.getHeld().empty() && reads(op.getA(), op.getAMap());
    int64_t rows = ShapedType::getNumElements(
        ArrayRef<int64_t>(acc.getPart()).drop_back());
    return terms.size() == 1 && elementBytes(element) == 2 &&
           int64_t(op.getHeld().size()) * fragment.getThreads() ==
               rows * terms.back() &&
           llvm::all_of(op.getHeld().getTypes(),
                        [&](Type type) { return type == element; });
  };
  return !terms.empty() && terms.back() % types->terms == 0 && takesA() &&
         reads(op.getB(), op.getBMap()) &&
         int64_t(op.getValues().size()) * fragment.getThreads() == sums &&
         llvm::all_of(op.getValues().getTypes(),
                      [&](Type type) { return type == acc.getElementType(); });
}

static void translate(gpu::ThreadIdOp op) {
  PtxWriter w(op);
  Value id = NVVM::ThreadIdXOp::create(w.b, w.b.getI32Type());
  op->getResult(0).replaceAllUsesWith(
      arith::IndexCastOp::create(w.b, w.b.getIndexType(), id));
  op.erase();
}

static void translate(gpu::GridDimOp op) {
  PtxWriter w(op);
  Value count = NVVM::GridDimXOp::create(w.b, w.b.getI32Type());
  op->getResult(0).replaceAllUsesWith(
      arith::IndexCastOp::create(w.b, w.b.getIndexType(), count));
  op.erase();
}

static LogicalResult translate(gpu::ShuffleOp op) {
  Value read = op.getValid().use_empty() ? writeShuffle(op) : Value();
  if (!read)
    return op.emitOpError("expected a number of up to 64 bits that lanes whose "
                          "numbers differ in some bits exchange");
  op.getShuffleResult().replaceAllUsesWith(read);
  op.erase();
  return success();
}

static void translate(gpu::BarrierOp op) {
  PtxWriter w(op);
  NVVM::Barrier0Op::create(w.b);
  op.erase();
}

static void translate(tile::ThreadCopyOp op) {
  PtxWriter w(op);
  SmallVector<Value> operands = {
      w.sharedAddress(op.getTarget(), op.getPlace()),
      w.globalAddress(op.getSource(), op.getIndices())};
  std::string text = "cp.async.cg.shared.global [$0], [$1], 16",
              constraints = "r,l";
  if (Value exists = op.getExists(), count = op.getCount(); exists || count) {
    Value bytes = w.word(16);
    if (count)
      bytes = arith::MulIOp::create(w.b, w.toWord(count),
                                    w.word(16 / op.getElements()));
    if (exists)
      bytes = arith::SelectOp::create(w.b, exists, bytes, w.word(0));
    operands.push_back(bytes);
    text += ", $2";
    constraints += ",r";
  }
  w.write(text + ";", constraints, operands, {}, /*isOrdered=*/true);
  op.erase();
}

static void translate(tile::ThreadCloseOp op) {
  PtxWriter(op).write("cp.async.commit_group;", "", {}, {}, true);
  op.erase();
}

static void translate(tile::ThreadWaitOp op, bool hasWarpgroups) {
  PtxWriter w(op);
  std::string pending = std::to_string(op.getPending()) + ";";
  if (op.getSteps()) {
    w.write("wgmma.wait_group.sync.aligned " + pending, "", {}, {}, true);
  } else {
    w.write("cp.async.wait_group " + pending, "", {}, {}, true);
    if (hasWarpgroups)
      w.write("fence.proxy.async.shared::cta;", "", {}, {}, true);
  }
  op.erase();
}

/// PTX ISA, "mbarrier": words that count arrivals, and bytes that have come.
static Value phaseAddress(PtxWriter &w, Value memory, Value place) {
  return w.sharedAddress(memory, place);
}

static void translate(tile::PhaseBeginOp op) {
  PtxWriter w(op);
  w.write("mbarrier.init.shared::cta.b64 [$0], " +
              std::to_string(op.getArrivals()) + ";",
          "r", {phaseAddress(w, op.getMemory(), op.getPlace())}, {}, true);
  op.erase();
}

static void translate(tile::PhasePublishOp op) {
  PtxWriter(op).write("fence.mbarrier_init.release.cluster;", "", {}, {}, true);
  op.erase();
}

static void translate(tile::PhaseEndOp op) {
  PtxWriter w(op);
  w.write("mbarrier.inval.shared::cta.b64 [$0];", "r",
          {phaseAddress(w, op.getMemory(), op.getPlace())}, {}, true);
  op.erase();
}

/// In the memory of another block of the cluster.
static void arriveAtPeer(tile::PhaseArriveOp op) {
  PtxWriter w(op);
  w.write(
      "{\n.reg .b32 r;\nmapa.shared::cluster.u32 r, $0, $1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r];\n}",
      "r,r",
      {phaseAddress(w, op.getMemory(), op.getPlace()), w.toWord(op.getPeer())},
      {}, true);
  op.erase();
}

static void translate(tile::PhaseArriveOp op) {
  if (op.getPeer())
    return arriveAtPeer(op);
  PtxWriter w(op);
  std::string text =
      op.getExpecting() == 0
          ? "mbarrier.arrive.shared::cta.b64 _, [$0];"
          : "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " +
                std::to_string(op.getExpecting()) + ";";
  w.write(text, "r", {phaseAddress(w, op.getMemory(), op.getPlace())}, {},
          true);
  op.erase();
}

static void translate(tile::PhaseWaitOp op) {
  PtxWriter w(op);
  std::string order = op.getCluster() ? "acquire.cluster." : "";
  w.write("{\n.reg .pred p;\nWAIT${:uid}:\n"
          "mbarrier.try_wait.parity." +
              order +
              "shared::cta.b64 p, [$0], $1;\n"
              "@!p bra WAIT${:uid};\n}",
          "r,r",
          {phaseAddress(w, op.getMemory(), op.getPlace()), op.getParity()}, {},
          true);
  op.erase();
}

/// Barrier 0 is the block's.
static void translate(tile::ThreadMeetOp op) {
  PtxWriter w(op);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(w.b, value, 32);
  };
  NVVM::BarrierOp::create(w.b, TypeRange(), number(1), number(op.getThreads()),
                          NVVM::BarrierReductionAttr(),
                          /*reductionPredicate=*/Value());
  op.erase();
}

/// Of the 16 barriers, those behind that of `thread_meet`.
static void translate(tile::ThreadTurnOp op) {
  PtxWriter w(op);
  Value number = arith::AddIOp::create(w.b, op.getNumber(), w.word(2));
  w.write(std::string(op.getArrives() ? "bar.arrive" : "bar.sync") + " $0, " +
              std::to_string(op.getThreads()) + ";",
          "r", {number}, {}, true);
  op.erase();
}

static void translate(tile::ClusterMeetOp op) {
  PtxWriter(op).write("barrier.cluster.arrive.release;\n"
                      "barrier.cluster.wait.acquire;",
                      "", {}, {}, true);
  op.erase();
}

static void translate(tile::ClusterRankOp op) {
  PtxWriter w(op);
  Value rank = w.write("mov.u32 $0, %cluster_ctarank;", "=r", {},
                       {w.b.getI32Type()}, /*isOrdered=*/false)
                   .front();
  op.replaceAllUsesWith(
      arith::IndexCastOp::create(w.b, w.b.getIndexType(), rank).getResult());
  op.erase();
}

static void translate(tile::ThreadRegistersOp op) {
  PtxWriter(op).write(
      std::string("setmaxnreg.") + (op.getMore() ? "inc" : "dec") +
          ".sync.aligned.u32 " + std::to_string(op.getCount()) + ";",
      "", {}, {}, true);
  op.erase();
}

/// Where a box begins, from the innermost dim on: operands, as the text of an
/// instruction names them.
static std::string addPlaces(PtxWriter &w, ValueRange at,
                             SmallVectorImpl<Value> &operands,
                             std::string &constraints) {
  std::string places;
  for (Value one : llvm::reverse(at)) {
    places += (places.empty() ? "$" : ", $") + std::to_string(operands.size());
    operands.push_back(w.toWord(one));
    constraints += ",r";
  }
  return places;
}

static void translate(tile::ThreadBoxCopyOp op) {
  PtxWriter w(op);
  SmallVector<Value> operands = {w.sharedAddress(op.getTarget(), op.getPlace()),
                                 w.tensorMap(op.getMap())};
  std::string constraints = "r,l";
  std::string places = addPlaces(w, op.getAt(), operands, constraints);
  bool isShared = op.getTo() != 0;
  std::string text = "cp.async.bulk.tensor." +
                     std::to_string(op.getAt().size()) +
                     "d.shared::cluster.global.mbarrier::complete_tx::bytes" +
                     (isShared ? ".multicast::cluster" : "") + " [$0], [$1, {" +
                     places + "}], [$" + std::to_string(operands.size()) + "]";
  operands.push_back(phaseAddress(w, op.getPhases(), op.getDone()));
  constraints += ",r";
  if (isShared) {
    text += ", $" + std::to_string(operands.size());
    operands.push_back(arith::ConstantIntOp::create(w.b, op.getTo(), 16));
    constraints += ",h";
  }
  w.write(text + ";", constraints, operands, {}, /*isOrdered=*/true);
  op.erase();
}

/// PTX ISA, "stmatrix": rows of 16 bytes, of four matrices at most.
static void translate(tile::ThreadMatrixStoreOp op) {
  PtxWriter w(op);
  Value place = LLVM::IntToPtrOp::create(
      w.b,
      LLVM::LLVMPointerType::get(w.b.getContext(),
                                 unsigned(NVVM::NVVMMemorySpace::Shared)),
      w.sharedAddress(op.getTarget(), op.getPlace()));
  NVVM::StMatrixOp::create(
      w.b, place, op.getWords(), NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(w.b.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  op.erase();
}

/// What an engine reads afterwards, lanes have stored by instructions.
static void translate(tile::ThreadLanesMeetOp op) {
  PtxWriter w(op);
  if (op.getPublished())
    w.write("fence.proxy.async.shared::cta;", "", {}, {}, true);
  NVVM::SyncWarpOp::create(w.b, arith::ConstantIntOp::create(w.b, -1, 32));
  op.erase();
}

static void translate(tile::ThreadBoxStoreOp op) {
  PtxWriter w(op);
  SmallVector<Value> operands = {w.sharedAddress(op.getSource(), op.getPlace()),
                                 w.tensorMap(op.getMap())};
  std::string constraints = "r,l";
  std::string places = addPlaces(w, op.getAt(), operands, constraints);
  w.write("cp.async.bulk.tensor." + std::to_string(op.getAt().size()) +
              "d.global.shared::cta.bulk_group [$1, {" + places +
              "}], [$0];\ncp.async.bulk.commit_group;",
          constraints, operands, {}, /*isOrdered=*/true);
  op.erase();
}

static void translate(tile::ThreadBoxWaitOp op) {
  PtxWriter(op).write("cp.async.bulk.wait_group.read " +
                          std::to_string(op.getPending()) + ";",
                      "", {}, {}, true);
  op.erase();
}

namespace {
struct ThreadsToNVVM : ashlar::impl::ThreadsToNVVMPassBase<ThreadsToNVVM> {
  void runOnOperation() override {
    carryPairs(getOperation());
    bool hasWarpgroups = false;
    getOperation().walk(
        [&](tile::ThreadStepOp step) { hasWarpgroups |= isWarpgroups(step); });
    if (hasWarpgroups)
      roundPairs(getOperation());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (auto step = dyn_cast<tile::ThreadStepOp>(op);
          step && !hasInstruction(step)) {
        step.emitOpError(
            "expected f8E4M3FN, f8E5M2, f16, bf16 or f32 into f32 or i8 into "
            "i32, whole steps of 32 bytes of terms, side by side but of 16 "
            "bits, and the fragment of mma.m16n8k16 or wgmma, found ")
            << step.getType();
        return signalPassFailure();
      }
    for (Operation *op : ops)
      llvm::TypeSwitch<Operation *>(op)
          .Case<gpu::ThreadIdOp, gpu::GridDimOp, gpu::BarrierOp,
                tile::ThreadCopyOp, tile::ThreadCloseOp, tile::PhaseBeginOp,
                tile::PhasePublishOp, tile::PhaseEndOp, tile::PhaseArriveOp,
                tile::PhaseWaitOp, tile::ThreadMeetOp, tile::ThreadTurnOp,
                tile::ClusterMeetOp, tile::ClusterRankOp,
                tile::ThreadRegistersOp, tile::ThreadBoxCopyOp,
                tile::ThreadMatrixStoreOp, tile::ThreadLanesMeetOp,
                tile::ThreadBoxStoreOp, tile::ThreadBoxWaitOp>(
              [](auto own) { translate(own); })
          .Case([&](gpu::ShuffleOp own) {
            if (failed(translate(own)))
              signalPassFailure();
          })
          .Case([&](tile::ThreadWaitOp own) { translate(own, hasWarpgroups); })
          .Case([](tile::ThreadSettleOp own) { writeSettle(own); })
          .Case([](tile::ThreadStepOp own) {
            if (isWarpgroups(own))
              writeWarpgroupStep(own);
            else
              writeWarpStep(own);
          });
    getOperation().walk([](tile::SlotOfOp op) { op.erase(); });
    writeFunctions(getOperation());
  }
};
} // namespace
