// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowerKernel.h"
#include "Lowering.h"
#include "Machines.h"
#include "ReadContract.h"
#include "ashlar/Analysis/Ones.h"
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

std::optional<uint32_t> systolic::innerBinding(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), exec::innerAttrName))
      return argument.getArgNumber();
  return std::nullopt;
}

FailureOr<systolic::Kernel>
systolic::lowerKernel(func::FuncOp function, StringRef name, unsigned bindings,
                      const Machine &machine, Lowered *lowered) {
  std::vector<tile::ContractOp> contracts;
  function.walk([&](tile::ContractOp op) { contracts.push_back(op); });
  if (contracts.empty()) {
    function.emitError("expected a kernel of contractions, found none");
    return failure();
  }
  auto refuse = [&](tile::ContractOp op, const std::string &why) {
    op.emitError("the machine ")
        << machine.name << " does not compute this contraction: " << why;
    return failure();
  };
  std::vector<Contraction> contractions(contracts.size());
  std::vector<std::string> names;
  for (auto [op, contraction] : llvm::zip(contracts, contractions)) {
    if (Refusal why = readContract(op, machine, contraction))
      return refuse(op, *why);
    names.push_back(contracts.size() == 1
                        ? name.str()
                        : llvm::join(nodeNames(op.getLoc()), ", "));
  }
  Kernel kernel;
  std::string why =
      lowerContracts(contractions, names, machine, name.str(), bindings, kernel,
                     {}, innerBinding(function), lowered);
  if (why.empty())
    return kernel;
  return refuse(contracts.front(), why);
}

void systolic::remarkLowered(func::FuncOp function, const Lowered &lowered) {
  if (lowered.alternatives.empty() || !wantsRemarks(function))
    return;
  if (lowered.keptValues)
    remark::passed(function.getLoc(), about(function, "OnChip", "strategy"))
        << remark::metric("Values", lowered.keptValues)
        << " values stay on chip between contractions, in "
        << remark::metric("Rows", lowered.keptRows)
        << " rows of the scratchpad; "
        << remark::metric("SavedBytes", lowered.savedBytes)
        << " bytes less over the port";
  auto found = lowered.alternatives.begin();
  function.walk([&](tile::ContractOp op) {
    const Alternative &best = found->front();
    auto line = remark::passed(op.getLoc(), about(op, "Dataflow", "strategy"));
    if (op->hasAttr(onesAttrName)) {
      line << "is added on the way in: "
           << remark::metric("Cycles", int64_t(best.cycles)) << " cycles alone";
      ++found;
      return;
    }
    line << "is " << remark::metric("Dataflow", nameOf(best.dataflow)) << ": "
         << remark::metric("Cycles", int64_t(best.cycles)) << " cycles alone";
    if (found->size() > 1) {
      const Alternative &next = (*found)[1];
      line << "; runner-up "
           << remark::metric("RunnerUp", nameOf(next.dataflow)) << " with "
           << (next.isBound ? "at least " : "")
           << remark::metric("RunnerUpCycles", int64_t(next.cycles));
    }
    ++found;
  });
}

std::string systolic::whyNot(tile::ContractOp op, const Machine &machine) {
  Contraction contraction;
  Refusal why = readContract(op, machine, contraction, /*arePacked=*/true);
  return why ? *why : whyNoChoice(contraction, machine);
}

std::optional<uint64_t> systolic::predictCycles(tile::ContractOp op,
                                                const Machine &machine) {
  Contraction contraction;
  if (readContract(op, machine, contraction, /*arePacked=*/true))
    return std::nullopt;
  return chooseAlone(contraction, machine).cycles;
}

std::string systolic::checkStream(func::FuncOp function, const Kernel &kernel,
                                  const Machine &machine) {
  std::vector<std::vector<char>> memories;
  Vector<Binding> bindings;
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
