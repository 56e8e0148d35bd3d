// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PredictTime.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Cost/StreamTime.h"
#include "ashlar/Dialects/Exec/Utils/UnreadBytes.h"
#include "ashlar/Machine/CopyTime.h"
#include <limits>

using namespace mlir;
using namespace ashlar;

static int64_t largest(exec::SizeAttr size) {
  return size.isConstant() ? size.getConstant() : size.getLargest();
}

int64_t ashlar::kernelBytes(exec::KernelOp kernel) {
  int64_t bytes = 0;
  for (unsigned i = 0; i != kernel.getNumBindings(); ++i)
    bytes += byteSize(kernel.getBindingType(i));
  return bytes - exec::unreadBytes(kernel);
}

/// Workers that a kernel keeps busy.
static int64_t workersOf(exec::KernelOp kernel, const MachineModel &machine) {
  exec::SizeAttr groups = kernel.getGroups();
  return std::clamp<int64_t>(groups ? largest(groups) : 1, 1,
                             std::max<int64_t>(1, machine.workers.count));
}

/// Whether what is predicted is all workers' time, not that of one for all.
static bool isOfAllWorkers(const MachineModel &machine) {
  return !machine.scopes.empty();
}

KernelPrediction ashlar::predictKernel(exec::KernelOp kernel,
                                       const ProgramBinary &binary) {
  if (auto found = binary.predictions.find(kernel.getSymName());
      found != binary.predictions.end())
    return found->second;
  if (std::optional<uint64_t> cycles = kernel.getCycles())
    return {*cycles, *kernel.getBound()};
  const MachineModel &machine = binary.machine;
  int64_t bytes = kernelBytes(kernel);
  double compute = 0, memory = 0;
  StringRef name = "memory";
  int64_t workers = isOfAllWorkers(machine) ? workersOf(kernel, machine) : 1;
  double lanes = binary.isPlain ? 1 : machine.lanesFor(sizeof(float));
  exec::SizeAttr flops = kernel.getFlopsAttr();
  if (flops && flops.isConstant())
    compute = double(flops.getConstant()) / lanes / double(workers);
  if (!machine.memories.empty()) {
    const Memory &level = machine.nearestFor(bytes);
    double rate = machine.sharedReadBytesPerCycle(level, workers);
    memory = double(bytes) / std::max(1e-9, rate * double(workers));
    // Few workgroups do not ask for all that memory could bring.
    if (kernel.getBlock() && machine.countOf("lane") > 1) {
      exec::SizeAttr groups = kernel.getGroups();
      auto shared = binary.sharedBytes.find(kernel.getSymName());
      memory = streamCycles(
          machine, double(bytes), groups ? largest(groups) : 1,
          shared == binary.sharedBytes.end() ? 0 : int64_t(shared->second));
    }
    name = &level == &machine.memories.front()  ? "nearest memory"
           : &level == &machine.memories.back() ? "main memory"
                                                : "farther memory";
  }
  if (compute > memory)
    return {uint64_t(compute), "compute"};
  return {uint64_t(memory), name};
}

namespace {
class TimePredictor {
public:
  TimePredictor(ModuleOp program, const ProgramBinary &binary)
      : symbols(program), binary(binary) {}

  double timeOf(Block &block) {
    double sum = 0;
    for (Operation &op : block)
      sum += timeOf(op);
    return sum;
  }

private:
  double timeOf(Operation &op) {
    if (auto launch = dyn_cast<exec::LaunchOp>(op))
      return timeOf(symbols.lookup<exec::KernelOp>(launch.getKernel()));
    if (auto copy = dyn_cast<exec::CopyOp>(op)) {
      const MachineModel &host = binary.machine;
      // Of a machine that nobody describes, such as where constants are folded.
      if (host.memories.empty())
        return 0;
      int64_t bytes = largest(copy.getSource().getLength());
      unsigned source = deviceOf(copy.getSource());
      if (unsigned device = source ? source : deviceOf(copy.getTarget()))
        return nanosecondsToCopy(bytes, host,
                                 binary.companions[device - 1].machine,
                                 /*toHost=*/source != 0);
      return double(bytes) /
             std::max(1e-9, host.readBytesPerCycle(host.memories.back())) /
             perNanosecond(host);
    }
    if (auto branches = dyn_cast<exec::IfOp>(op))
      return std::max(timeOf(branches.getThenBlock().front()),
                      timeOf(branches.getElseBlock().front()));
    if (auto loop = dyn_cast<exec::LoopOp>(op))
      return timeOf(loop.getBody().front()) *
             double(loop.getIterations().value_or(1));
    return 0;
  }

  double timeOf(exec::KernelOp kernel) {
    uint64_t device = kernel.getDevice();
    const ProgramBinary &own =
        device == 0 ? binary : binary.companions[device - 1];
    int64_t workers =
        isOfAllWorkers(own.machine) ? 1 : workersOf(kernel, own.machine);
    return double(predictKernel(kernel, own).cycles) / double(workers) /
               perNanosecond(own.machine) +
           own.machine.costs.launchNs;
  }

  /// In whose memory a range is.
  static unsigned deviceOf(exec::BindingAttr range) {
    return range.getStorage() == exec::Storage::Arena ? range.getIndex() : 0;
  }

  /// Cycles.
  static double perNanosecond(const MachineModel &machine) {
    return machine.clock.hz > 0 ? machine.clock.hz * 1e-9 : 1;
  }

  SymbolTable symbols;
  const ProgramBinary &binary;
};
} // namespace

uint64_t ashlar::predictNanoseconds(ModuleOp program,
                                    const ProgramBinary &binary) {
  TimePredictor predictor(program, binary);
  double sum = 0;
  for (auto entry : program.getOps<exec::ProgramOp>())
    sum += predictor.timeOf(entry.getBody().front());
  // Known, even of a program that does nothing.
  return uint64_t(std::clamp(sum, 1.0, 1e18));
}
