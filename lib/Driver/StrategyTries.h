// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_STRATEGYTRIES_H
#define ASHLAR_LIB_DRIVER_STRATEGYTRIES_H

#include "ashlar/Cost/RefusedStrategies.h"
#include "ashlar/Targets/Target.h"
#include "mlir/IR/OwningOpRef.h"

namespace ashlar {

/// Programs that are compiled again, from before strategies were chosen, where
/// an assembler says that kernels with matrix units want more registers than
/// there are, or that their steps wait for each other. Programs are known by
/// their numbers.
class StrategyTries {
public:
  /// Keeps the programs of `module` whose targets ask an assembler.
  void begin(mlir::ModuleOp module,
             llvm::ArrayRef<std::unique_ptr<Target>> targets);
  /// Null: nobody is asked about this one.
  std::shared_ptr<RefusedStrategies> refusedOf(size_t program) const {
    return program < programs.size() ? programs[program].refused : nullptr;
  }
  /// Whether stages have nothing to do with it any more.
  bool isDone(size_t program) const {
    return program < programs.size() && programs[program].isDone;
  }
  /// Whether its program may be compiled again.
  bool canRefuse(size_t program) const;
  /// Of a kernel that is no good as it is; whether its program will be
  /// compiled again.
  bool refuse(size_t program, mlir::ModuleOp kernel);
  /// Whether one will be.
  bool hasMore() const;
  /// Puts those in place of what became of them; the others are done.
  void restore(mlir::ModuleOp module);

private:
  struct Program {
    mlir::OwningOpRef<mlir::ModuleOp> before; ///< null: nobody is asked
    std::shared_ptr<RefusedStrategies> refused;
    unsigned tries = 1;
    bool isDone = false, wantsMore = false;
  };
  std::vector<Program> programs;
};

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_STRATEGYTRIES_H
