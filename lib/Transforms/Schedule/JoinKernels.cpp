// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which invocations of a device follow each other closely enough to be one
// kernel: its commands can then overlap, where every kernel by itself starts
// with an idle machine.
#include "JoinedKernel.h"
#include "ashlar/Dialects/Exec/Utils/ControlFlow.h"
#include "ashlar/Dialects/Exec/Utils/Views.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Transforms/Schedule/Passes.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_JOINKERNELSPASS
#include "ashlar/Transforms/Schedule/Passes.h.inc"
} // namespace ashlar

namespace {
/// A kernel becomes no longer than that.
constexpr size_t mostMembers = 128;
/// So many commands wait for a kernel that grows; each keeps values alive.
constexpr int64_t mostWaiting = 8;

/// Walks a block and joins as it goes.
class Joiner {
public:
  Joiner(KernelJoiner &kernels, ArrayRef<int64_t> devices)
      : kernels(kernels), devices(devices) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          Joiner(kernels, devices).run(inner);
      visit(&op);
    }
  }

private:
  void visit(Operation *op) {
    if (isFence(op))
      return close();
    auto invoke = dyn_cast<exec::InvokeOp>(op);
    bool waits = llvm::any_of(op->getOperands(), [&](Value operand) {
      return after.contains(operand.getDefiningOp());
    });
    bool reads = llvm::any_of(op->getOperands(), [&](Value operand) {
      return llvm::is_contained(members, dyn_cast_if_present<exec::InvokeOp>(
                                             viewed(operand).getDefiningOp()));
    });
    std::optional<unsigned> device = deviceOf(invoke);
    if (!device) {
      // Views of what members compute move along, and are no work.
      if (!waits && !reads)
        return;
      after.insert(op);
      waiting += isa<exec::InvokeOp, exec::TransferOp>(op);
      if (waiting > mostWaiting)
        close();
      return;
    }
    // A view in between does not stand in the way.
    bool isBehind = llvm::any_of(op->getOperands(), [&](Value operand) {
      return after.contains(viewed(operand).getDefiningOp());
    });
    if (!members.empty() &&
        (isBehind || *device != memberDevice || members.size() == mostMembers))
      close();
    members.push_back(invoke);
    memberDevice = *device;
  }

  /// Whose device joins what it computes.
  std::optional<unsigned> deviceOf(exec::InvokeOp invoke) {
    if (!invoke)
      return std::nullopt;
    unsigned device = kernels.kernelOf(invoke).getDevice();
    if (!llvm::is_contained(devices, int64_t(device)) ||
        !kernels.isJoinable(invoke))
      return std::nullopt;
    return device;
  }

  void close() {
    if (members.size() > 1) {
      // What reads results runs behind the last member, in its order.
      Operation *last = members.back();
      Operation *place = last;
      for (Operation *op : after)
        if (op->isBeforeInBlock(last)) {
          op->moveAfter(place);
          place = op;
        }
      kernels.join(members);
    }
    members.clear();
    after.clear();
    waiting = 0;
  }

  KernelJoiner &kernels;
  ArrayRef<int64_t> devices;
  SmallVector<exec::InvokeOp> members;
  unsigned memberDevice = 0;
  llvm::SetVector<Operation *> after; ///< what reads members' results
  int64_t waiting = 0;                ///< commands among them
};

struct JoinKernels : ashlar::impl::JoinKernelsPassBase<JoinKernels> {
  using JoinKernelsPassBase::JoinKernelsPassBase;
  void runOnOperation() override {
    ModuleOp program = getOperation();
    // Sizes that a caller chooses have no place in a stream.
    if (program->hasAttr(exec::symbolsAttrName))
      return;
    SmallVector<func::FuncOp> entries;
    for (auto function : program.getOps<func::FuncOp>())
      if (function.isPublic())
        entries.push_back(function);
    KernelJoiner kernels(program, chipBytes);
    for (func::FuncOp entry : entries)
      for (Block &block : entry.getBody())
        Joiner(kernels, devices).run(block);
    kernels.eraseUnused();
  }
};
} // namespace
