// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Emit/MemoryNeeds.h"
#include "IndexBuilder.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Dialects/Exec/Utils/States.h"
#include "ashlar/Support/Remarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ashlar;

MemoryNeeds ashlar::memoryNeedsOf(exec::ProgramOp program,
                                  const ProgramBinary &binary,
                                  const WeightTable &weights) {
  MemoryNeeds needs;
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  // What each device reads; what two of them read is in both memories.
  std::vector<llvm::SmallDenseSet<unsigned>> read(1 +
                                                  program.getNumCompanions());
  auto note = [&](unsigned device, exec::BindingAttr binding) {
    if (binding.getStorage() == exec::Storage::Weights)
      read[device].insert(
          weights.numberOf(program.getWeights()[binding.getIndex()]));
  };
  program.walk([&](Operation *op) {
    if (auto launch = dyn_cast<exec::LaunchOp>(op)) {
      auto kernel = symbols.lookup<exec::KernelOp>(launch.getKernel());
      needs.scratch =
          std::max<uint64_t>(needs.scratch, *kernel.getScratchBytes());
      for (auto binding : launch.getBindings().getAsRange<exec::BindingAttr>())
        note(kernel.getDevice(), binding);
    } else if (auto copy = dyn_cast<exec::CopyOp>(op)) {
      note(0, copy.getSource());
    } else if (auto check = dyn_cast<exec::CheckOp>(op)) {
      note(0, check.getCondition());
    } else if (auto branches = dyn_cast<exec::IfOp>(op)) {
      note(0, branches.getCondition());
    } else if (auto loop = dyn_cast<exec::LoopOp>(op);
               loop && loop.getCondition()) {
      note(0, *loop.getCondition());
    }
  });
  auto bytesOf = [&](const llvm::SmallDenseSet<unsigned> &numbers) {
    uint64_t bytes = 0;
    for (unsigned number : numbers)
      bytes += weights.all()[number].size;
    return bytes;
  };
  needs.weights = bytesOf(read.front());
  for (unsigned i = 0; i != program.getNumCompanions(); ++i)
    needs.companions.push_back({bytesOf(read[i + 1]),
                                binary.companions[i].mostCodeBytes(),
                                uint64_t(program.getCompanionArenaBytes(i)),
                                uint64_t(program.getCompanionLowerBound(i))});
  auto alignedBytes = [](ArrayAttr tensors, bool ofStates = false) {
    uint64_t bytes = 0;
    for (auto described : tensors.getAsRange<DictionaryAttr>())
      if (bool(described.get(stateShapeAttrName)) == ofStates)
        bytes += llvm::alignTo(
            byteSize(described.getAs<TypeAttr>("tensor").getValue()), 64);
    return bytes;
  };
  // An output is the session's own or, where the caller's memory is not
  // aligned, staged: its bytes are needed once.
  needs.outputs = alignedBytes(program.getOutputs());
  needs.staging = alignedBytes(program.getInputs());
  needs.state = alignedBytes(program.getInputs(), /*ofStates=*/true);
  needs.arena = program.getArenaBytes();
  needs.arenaLowerBound = program.getArenaLowerBoundBytes();
  needs.code = binary.mostCodeBytes();
  return needs;
}

namespace {
/// A value of the arena: from the command that writes it to the last that reads
/// of it before its place is written again.
struct Value {
  std::string node;
  int64_t begin, end; ///< bytes
  int64_t first, last;
};

/// Commands inside conditions and loops count in the order of their text.
std::vector<Value> findValues(exec::ProgramOp program) {
  std::vector<Value> values;
  std::vector<size_t> current;
  int64_t now = 0;
  auto read = [&](exec::BindingAttr binding) {
    int64_t begin = binding.getOffset().getLargest();
    int64_t end = begin + binding.getLength().getLargest();
    for (size_t i : current)
      if (values[i].begin < end && begin < values[i].end)
        values[i].last = now;
  };
  auto write = [&](exec::BindingAttr binding, Operation *op) {
    int64_t begin = binding.getOffset().getLargest();
    int64_t end = begin + llvm::alignTo(binding.getLength().getLargest(), 64);
    llvm::erase_if(current, [&](size_t i) {
      return values[i].begin < end && begin < values[i].end;
    });
    current.push_back(values.size());
    values.push_back({nodeName(op->getLoc()), begin, end, now, now});
  };
  program.walk([&](Operation *op) {
    SmallVector<exec::BindingAttr> bindings;
    if (auto launch = dyn_cast<exec::LaunchOp>(op))
      llvm::append_range(bindings,
                         launch.getBindings().getAsRange<exec::BindingAttr>());
    else if (auto copy = dyn_cast<exec::CopyOp>(op))
      bindings = {copy.getSource(), copy.getTarget()};
    else
      return;
    ++now;
    for (bool written : {false, true})
      for (exec::BindingAttr binding : bindings)
        if (binding.getStorage() == exec::Storage::Arena &&
            binding.getIndex() == 0 && binding.getWritten() == written)
          written ? write(binding, op) : read(binding);
  });
  return values;
}

std::vector<MemoryNeeds::Holder> holdersAtPeak(exec::ProgramOp program) {
  std::vector<Value> values = findValues(program);
  std::vector<const Value *> most;
  int64_t mostBytes = -1;
  for (const Value &at : values) {
    std::vector<const Value *> alive;
    int64_t bytes = 0;
    // One that leaves its place to what is written has gone.
    auto isOver = [&](const Value &value) {
      return value.last == at.first && value.first < at.first &&
             value.begin < at.end && at.begin < value.end;
    };
    for (const Value &value : values)
      if (value.first <= at.first && at.first <= value.last && !isOver(value)) {
        alive.push_back(&value);
        bytes += value.end - value.begin;
      }
    if (bytes > mostBytes) {
      mostBytes = bytes;
      most = std::move(alive);
    }
  }
  llvm::stable_sort(most, [](const Value *x, const Value *y) {
    return x->end - x->begin > y->end - y->begin;
  });
  std::vector<MemoryNeeds::Holder> holders;
  for (const Value *value : most)
    holders.push_back({value->node, uint64_t(value->end - value->begin)});
  return holders;
}
} // namespace

std::vector<MemoryNeeds>
ashlar::measureMemory(ModuleOp module, ArrayRef<ProgramBinary> binaries) {
  WeightTable weights;
  collectWeights(module, weights);
  std::vector<MemoryNeeds> result;
  for (auto [part, binary] : llvm::zip(module.getOps<ModuleOp>(), binaries)) {
    MemoryNeeds needs;
    for (auto program : part.getOps<exec::ProgramOp>()) {
      needs = memoryNeedsOf(program, binary, weights);
      needs.holders = holdersAtPeak(program);
    }
    result.push_back(std::move(needs));
  }
  return result;
}

std::vector<MemoryNeeds> ashlar::measureWithoutCode(ModuleOp module) {
  std::vector<ProgramBinary> binaries;
  for (auto part : module.getOps<ModuleOp>()) {
    binaries.emplace_back();
    for (auto program : part.getOps<exec::ProgramOp>())
      binaries.back().companions.resize(program.getNumCompanions());
  }
  return measureMemory(module, binaries);
}
