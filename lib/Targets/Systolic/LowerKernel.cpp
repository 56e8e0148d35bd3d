// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LowerKernel.h"
#include "Lowering.h"
#include "Machines.h"
#include "ReadContract.h"
#include "Strategies.h"
#include "ashlar/Analysis/Ones.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/Remarks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "systolic/Function.h"
#include "llvm/Support/FormatVariadic.h"

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

namespace {
/// The contractions of a function, and what the machine makes of them.
struct Contractions {
  std::vector<tile::ContractOp> ops;
  std::vector<systolic::Contraction> read;

  /// Of their regions; `name` is that of the kernel.
  std::vector<std::string> names(StringRef name) const {
    if (ops.size() == 1)
      return {name.str()};
    std::vector<std::string> result;
    for (tile::ContractOp op : ops)
      result.push_back(llvm::join(nodeNames(op->getLoc()), ", "));
    return result;
  }
};
} // namespace

static LogicalResult refuse(tile::ContractOp op,
                            const systolic::Machine &machine,
                            const std::string &why) {
  return op.emitError("the machine ")
         << machine.name << " does not compute this contraction: " << why;
}

static FailureOr<Contractions> readAll(func::FuncOp function,
                                       const systolic::Machine &machine) {
  Contractions all;
  function.walk([&](tile::ContractOp op) { all.ops.push_back(op); });
  if (all.ops.empty())
    return function.emitError("expected a kernel of contractions, found none");
  for (tile::ContractOp op : all.ops)
    if (Refusal why =
            systolic::readContract(op, machine, all.read.emplace_back()))
      return refuse(op, machine, *why);
  return all;
}

FailureOr<systolic::Lowered>
systolic::chooseStrategies(func::FuncOp function, const Machine &machine) {
  auto all = readAll(function, machine);
  if (failed(all))
    return failure();
  Chosen chosen;
  std::string why = chooseParts(all->read, all->names(function.getSymName()),
                                machine, {}, innerBinding(function), chosen);
  if (!why.empty())
    return refuse(all->ops.front(), machine, why);
  for (auto [op, part] : llvm::zip_equal(all->ops, chosen.parts))
    if (!part.contraction->isSum) // that there is one way to compute
      op.setStrategyAttr(strategyOf(op, part, machine));
  return std::move(chosen.lowered);
}

/// As the strategies say.
static FailureOr<systolic::Kernel>
writeKernel(Contractions &all, StringRef name, unsigned bindings,
            std::optional<uint32_t> inner, const systolic::Machine &machine) {
  std::vector<systolic::Part> parts(all.ops.size());
  std::vector<systolic::Contraction> forms(all.ops.size());
  systolic::KeptValues kept;
  if (systolic::keptRowsOf(all.ops.front().getStrategyAttr()))
    kept = systolic::keepValues(all.read, machine, inner,
                                systolic::mostKeptRows(machine));
  for (auto [op, whole, form, part, region] :
       llvm::zip_equal(all.ops, all.read, forms, parts, all.names(name))) {
    part.contraction = &form;
    part.name = region;
    part.multiplyAdds = uint64_t(whole.multiplyAdds());
    if (whole.isSum)
      form = whole;
    else if (Refusal why = systolic::readStrategy(op.getStrategyAttr(), whole,
                                                  machine, form, part))
      return refuse(op, machine, *why);
    if (part.keptRows != kept.rows)
      return refuse(op, machine,
                    llvm::formatv("its strategy keeps {0} rows on chip, its "
                                  "kernel has values of {1}",
                                  part.keptRows, kept.rows));
  }
  systolic::Kernel kernel;
  std::string why =
      systolic::writeParts(parts, machine, name.str(), bindings, kernel);
  if (!why.empty())
    return refuse(all.ops.front(), machine, why);
  return kernel;
}

FailureOr<systolic::Kernel>
systolic::lowerKernel(func::FuncOp function, StringRef name, unsigned bindings,
                      const Machine &machine, Lowered *lowered) {
  auto hasStrategy = [](tile::ContractOp op) {
    return op.getStrategyAttr() != nullptr;
  };
  auto all = readAll(function, machine);
  if (failed(all))
    return failure();
  if (llvm::none_of(all->ops, hasStrategy)) {
    auto found = chooseStrategies(function, machine);
    if (failed(found))
      return failure();
    if (lowered)
      *lowered = std::move(*found);
  }
  for (auto [op, whole] : llvm::zip_equal(all->ops, all->read)) {
    if (whole.isSum && all->ops.size() > 1)
      return refuse(op, machine,
                    "a sum of two operands is a stream of its own");
    if (!whole.isSum && !hasStrategy(op))
      return op.emitError("expected a strategy, as other contractions of its "
                          "kernel have, found none");
  }
  return writeKernel(*all, name, bindings, innerBinding(function), machine);
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
