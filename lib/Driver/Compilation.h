// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_COMPILATION_H
#define ASHLAR_LIB_DRIVER_COMPILATION_H

#include "EmittedPrograms.h"
#include "PrecisionRequest.h"
#include "ProgressLine.h"
#include "RemarkLog.h"
#include "StrategyTries.h"
#include "TargetOptions.h"
#include "ashlar/Cost/Tuning.h"
#include "ashlar/Driver/Compile.h"
#include "ashlar/Emit/MemoryNeeds.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/ThreadPool.h"
#include <chrono>

namespace ashlar {

/// What a compile does without, to need less memory.
struct Saving {
  bool exactConvolution = false;
  /// Of each program: cheap values are computed again where its arena would
  /// need more; empty: never.
  std::vector<int64_t> arenaBytes;
  /// Of each program: what a worker may take of scratch, 0 for as much as is
  /// fast; empty: likewise.
  std::vector<int64_t> scratchBytes;

  int64_t arenaOf(size_t program) const {
    return program < arenaBytes.size() ? arenaBytes[program] : 0;
  }
  int64_t scratchOf(size_t program) const {
    return program < scratchBytes.size() ? scratchBytes[program] : 0;
  }
};

/// What became of the stages that may be run again to need less memory.
struct Attempt {
  Saving saving;
  bool isOverBudget = false;
  /// Whether its kernels were compiled; else it was over the budget without
  /// their code, and `needs` has that of the first attempt.
  bool isEmitted = true;
  std::vector<MemoryNeeds> needs; ///< of each program, if there is a budget
  RemarkLog::Part remarks;        ///< of these stages, if over the budget
};

/// One compile on its way through the stages.
class Compilation {
public:
  Compilation(const CompileOptions &options, const CompileHooks &hooks,
              llvm::raw_ostream &out, llvm::raw_ostream &log);

  /// All stages.
  CompileResult run();

  /// The stages whose results are the same whatever is saved: `import` to
  /// `precision`. False: the compile ends here.
  bool prepare();
  /// The stages after these, as often as there is something else to try. After
  /// the first attempt, `emit` is left out where the rest is too much already,
  /// unless `emits` asks for it.
  Attempt attempt(const Saving &saving, bool emits = false);
  /// Writes what is wanted beside the module. The remarks of `closest` are
  /// those of an attempt that is told of, as none was within the budget.
  CompileResult end(Attempt closest = {});

  std::vector<std::string> targetNames;

private:
  using Clock = std::chrono::steady_clock;

  /// Runs one stage; false when compilation ends here.
  bool stage(Stage stage, llvm::function_ref<mlir::LogicalResult()> body);
  mlir::LogicalResult
  runPipeline(mlir::ModuleOp module,
              llvm::function_ref<void(mlir::OpPassManager &)> build);
  mlir::LogicalResult forEachProgram(
      mlir::ModuleOp module,
      llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp, Target &)> body);
  mlir::LogicalResult runPrograms(
      llvm::function_ref<void(mlir::OpPassManager &, Target &)> build,
      const std::function<mlir::LogicalResult(mlir::ModuleOp)> &hook = nullptr);
  bool checkFiles();
  bool begin();
  void hear(mlir::Diagnostic &diagnostic);
  void choose();
  bool build();
  /// Whether programs may be compiled more than once: nobody looks into it, or
  /// has to see the same kernels for other sizes.
  bool mayTryAgain() const;
  mlir::LogicalResult import();
  mlir::LogicalResult simplify();
  mlir::LogicalResult foldConstants();
  mlir::LogicalResult place();
  mlir::LogicalResult choosePrecision();
  mlir::LogicalResult fuse();
  mlir::LogicalResult tile();
  mlir::LogicalResult schedule();
  TileOptions tilingFor(const Target &target) const;
  void writeRemarks();
  bool fitsBudget(std::vector<MemoryNeeds> needed);
  bool mayFit();
  mlir::LogicalResult makeTempsFolder(llvm::StringRef target,
                                      std::string &folder);
  mlir::LogicalResult emitPrograms(mlir::ModuleOp module);
  mlir::LogicalResult emitProgramObject(mlir::ModuleOp module);
  mlir::LogicalResult emit(mlir::ModuleOp module);
  void handOver(Provenance provenance);
  mlir::LogicalResult prepareTuning();
  mlir::LogicalResult writeList(ReportFile &file);
  size_t numberOf(const Target &target) const {
    return llvm::find_if(targets,
                         [&](auto &other) { return other.get() == &target; }) -
           targets.begin();
  }
  /// Says what is wrong, if anything is.
  mlir::LogicalResult accept(llvm::Error error);
  /// What stops here is the model's or the machine's fault.
  mlir::LogicalResult refuse() {
    result.status = CompileStatus::Refused;
    return mlir::failure();
  }

  const CompileOptions &options;
  const CompileHooks &hooks;
  Saving saving;
  PrecisionRequest precision;
  ReportFile remarksFile{"--remarks"}, list{"--list-strategies"};
  llvm::raw_ostream &out, &log;
  llvm::raw_ostream &steps; ///< what is verbose, also where the log is held
  ProgressLine progress;
  CompileResult result;
  std::vector<std::unique_ptr<Target>> targets;
  /// Of each target; null where there is neither a table nor a list.
  std::vector<std::shared_ptr<StrategyTuning>> tunings;
  std::vector<std::string> dataFiles; // beside the model, with its weights
  ModelMetadata metadata;
  llvm::DefaultThreadPool pool;
  RemarkLog remarks;       // hears of the context until its end
  bool hasRemarks = false; // that may be written
  size_t toldBefore = 0;   // remarks of what is not attempted again
  unsigned errors = 0;
  bool refusesSizes = false, isOverBudget = false, isRepeated = false;
  bool isEmitted = true;
  std::vector<MemoryNeeds> needs, firstNeeds; // of an attempt; of the first
  std::unique_ptr<mlir::MLIRContext> context;
  // After the context that they live in.
  std::unique_ptr<mlir::ScopedDiagnosticHandler> diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> prepared, module;
  StrategyTries tries;
  std::vector<ProgramBinary> binaries;
};

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_COMPILATION_H
