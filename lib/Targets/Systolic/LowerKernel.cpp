// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowerKernel.h"
#include "Lowering.h"
#include "Machines.h"
#include "ReadContract.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/Remarks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "systolic/Function.h"

using namespace mlir;
using namespace ashlar;

FailureOr<systolic::Machine> systolic::presetNamed(StringRef name,
                                                   func::FuncOp function) {
  if (llvm::is_contained(presets(), name))
    return streamMachine(machineFor(name));
  return function.emitError("machine: there is no preset '")
         << name << "'; expected one of " << llvm::join(presets(), ", ");
}

FailureOr<systolic::Kernel>
systolic::lowerKernel(func::FuncOp function, const Machine &machine,
                      std::vector<Alternative> *alternatives) {
  SmallVector<tile::ContractOp> contracts;
  function.walk([&](tile::ContractOp op) { contracts.push_back(op); });
  if (contracts.size() != 1) {
    function.emitError("expected a kernel of one contraction, found ")
        << contracts.size() << " among other ops";
    return failure();
  }
  Problem problem;
  std::string why = readContract(contracts[0], machine, problem);
  Kernel kernel;
  if (why.empty())
    why = lowerContract(problem, machine, function.getSymName().str(),
                        exec::numKernelBindings(function), kernel, {},
                        alternatives);
  if (why.empty())
    return kernel;
  contracts[0].emitError("the machine ")
      << machine.name << " does not compute this contraction: " << why;
  return failure();
}

void systolic::remarkDataflow(func::FuncOp function,
                              const std::vector<Alternative> &alternatives) {
  if (alternatives.empty() || !wantsRemarks(function))
    return;
  const Alternative &best = alternatives[0];
  auto line = remark::passed(function.getLoc(),
                             about(function, "Dataflow", "strategy"));
  line << "is " << remark::metric("Dataflow", nameOf(best.dataflow)) << ": "
       << remark::metric("Cycles", int64_t(best.cycles)) << " cycles";
  if (alternatives.size() < 2)
    return;
  const Alternative &next = alternatives[1];
  line << "; runner-up " << remark::metric("RunnerUp", nameOf(next.dataflow))
       << " with " << (next.isBound ? "at least " : "")
       << remark::metric("RunnerUpCycles", int64_t(next.cycles));
}

std::string systolic::whyNot(tile::ContractOp op, const Machine &machine) {
  Problem problem;
  std::string why = readContract(op, machine, problem);
  return why.empty() ? whyNoChoice(problem, machine) : why;
}

std::string systolic::checkStream(func::FuncOp function, const Kernel &kernel,
                                  const Machine &machine) {
  std::vector<std::vector<char>> memories;
  std::vector<Binding> bindings;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !type.hasStaticShape())
      return "expected arguments that are memrefs of known sizes";
    memories.emplace_back(size_t(type.getNumElements()) *
                          ((type.getElementTypeBitWidth() + 7) / 8));
  }
  for (std::vector<char> &memory : memories)
    bindings.push_back({memory.data(), memory.size(), true});
  systolic::Function half(machine);
  half.start(bindings);
  Decoder decoder(machine, kernel);
  Action action;
  while (decoder.next(action))
    if (!half.execute(action))
      return half.error();
  return decoder.error();
}
