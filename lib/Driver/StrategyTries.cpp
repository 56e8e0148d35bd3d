// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StrategyTries.h"
#include "ashlar/Support/Remarks.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ashlar;

/// Of a program and those of its companions.
static bool asksAssembler(const Target &target) {
  auto own = llvm::find_if(allTargets(), [&](const TargetInfo &info) {
    return info.name == target.machine().target;
  });
  return (own != allTargets().end() && !own->assembler.empty()) ||
         llvm::any_of(target.companions, [](const auto &companion) {
           return asksAssembler(*companion);
         });
}

void StrategyTries::begin(ModuleOp module,
                          ArrayRef<std::unique_ptr<Target>> targets) {
  programs.resize(targets.size());
  for (auto [program, own, target] :
       llvm::zip(module.getOps<ModuleOp>(), programs, targets))
    if (asksAssembler(*target)) {
      own.before = program.clone();
      own.refused = std::make_shared<RefusedStrategies>();
    }
}

bool StrategyTries::canRefuse(size_t program) const {
  // Each costs a compile; what then is left is said.
  constexpr unsigned most = 2;
  return program < programs.size() && programs[program].before &&
         programs[program].tries != most;
}

bool StrategyTries::refuse(size_t program, ModuleOp kernel) {
  if (!canRefuse(program) ||
      !programs[program].refused->refuse(kernel.getLoc()))
    return false;
  programs[program].wantsMore = true;
  remark::missed(kernel.getLoc(), about(kernel, "Strategy", "strategy"))
      << "its registers do not suffice or its steps wait for each other, as "
         "the assembler says: the next best strategy is tried";
  return true;
}

bool StrategyTries::hasMore() const {
  return llvm::any_of(programs,
                      [](const Program &own) { return own.wantsMore; });
}

void StrategyTries::restore(ModuleOp module) {
  SmallVector<ModuleOp> all(module.getOps<ModuleOp>());
  for (auto [program, own] : llvm::zip_equal(all, programs)) {
    own.isDone = !std::exchange(own.wantsMore, false);
    if (own.isDone)
      continue;
    ++own.tries;
    OpBuilder(program).clone(**own.before);
    program.erase();
  }
}
