// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ASHLAR_LIB_DRIVER_COMPILATION_H
#define ASHLAR_LIB_DRIVER_COMPILATION_H

#include "EmittedPrograms.h"
#include "PrecisionRequest.h"
#include "ProgressLine.h"
#include "RemarkLog.h"
#include "ashlar/Cost/Tuning.h"
#include "ashlar/Driver/Compile.h"
#include "ashlar/Emit/MemoryNeeds.h"
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

/// One compile on its way through the stages.
class Compilation {
public:
  Compilation(const CompileOptions &options, const CompileHooks &hooks,
              ReportFile &remarksFile, llvm::raw_ostream &out,
              llvm::raw_ostream &log, Saving saving = {});

  CompileResult run();

  /// Of each program, if there is a budget and it came to that.
  std::vector<MemoryNeeds> needs;
  std::vector<std::string> targetNames;
  bool isOverBudget = false;
  void writeRemarks();

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
  mlir::LogicalResult makeTempsFolder(llvm::StringRef target,
                                      std::string &folder);
  mlir::LogicalResult emitPrograms(mlir::ModuleOp module,
                                   std::vector<ProgramBinary> &binaries);
  mlir::LogicalResult emitProgramObject(mlir::ModuleOp module);
  mlir::LogicalResult emit(mlir::ModuleOp module);
  void handOver(std::vector<ProgramBinary> binaries, Provenance provenance);
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
  const Saving saving;
  PrecisionRequest precision;
  ReportFile &remarksFile;
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
  RemarkLog remarks; // hears of the context until its end
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp>
      module; // after the context that it lives in
};

} // namespace ashlar

#endif // ASHLAR_LIB_DRIVER_COMPILATION_H
