// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Compilation.h"
#include "CheckWrittenFiles.h"
#include "CodeFlags.h"
#include "Companions.h"
#include "FindTargets.h"
#include "FoldLargeConstants.h"
#include "HashModel.h"
#include "ImportModel.h"
#include "PrintDiagnostic.h"
#include "States.h"
#include "TargetOptions.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Driver/StageTrace.h"
#include "ashlar/Emit/EmitModule.h"
#include "ashlar/Emit/EmitObject.h"
#include "ashlar/InitAll.h"
#include "ashlar/Transforms/Pipelines/Pipelines.h"
#include "ashlar/Transforms/Simplify/Passes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ashlar;

static void printModule(ModuleOp module, bool locations,
                        llvm::raw_ostream &out) {
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(64).elideLargeResourceString(64);
  module->print(out, flags.enableDebugInfo(locations, false).useLocalScope());
  out << "\n";
}

Compilation::Compilation(const CompileOptions &options,
                         const CompileHooks &hooks, ReportFile &remarksFile,
                         llvm::raw_ostream &out, llvm::raw_ostream &log,
                         Saving saving)
    : options(options), hooks(hooks), saving(std::move(saving)),
      precision(options, hooks, log), remarksFile(remarksFile), out(out),
      log(log), steps(hooks.progress ? *hooks.progress : log),
      // Both would write to the same lines.
      progress(steps, !options.quiet && !options.verbose, hooks.begin),
      pool(llvm::hardware_concurrency(options.threads)),
      context(std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED)) {
  DialectRegistry registry;
  registerAllDialects(registry);
  context->appendDialectRegistry(registry);
  if (options.threads != 1)
    context->setThreadPool(pool);
}

bool Compilation::stage(Stage stage, llvm::function_ref<LogicalResult()> body) {
  Clock::time_point begin = Clock::now();
  StageTrace::Span span(options.stages, stageName(stage));
  progress.show(stageName(stage));
  // It may take a while, or not end.
  if (options.verbose) {
    steps << stageName(stage) << " ...\n";
    steps.flush();
  }
  if (failed(body())) {
    if (result.status == CompileStatus::Done)
      result.status = CompileStatus::OurFault;
    return false;
  }
  if (options.verbose)
    steps << llvm::formatv(
        "{0,-10} {1,8:f3} s\n", stageName(stage),
        std::chrono::duration<double>(Clock::now() - begin).count());
  if (!options.stopEarly || options.until != stage)
    return true;
  if (hooks.printsIR) {
    printModule(*module, options.printLocations, out);
    out.flush();
  }
  return false;
}

LogicalResult
Compilation::runPipeline(ModuleOp module,
                         llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(module.getContext());
  build(pm);
  return pm.run(module);
}

LogicalResult Compilation::forEachProgram(
    ModuleOp module,
    llvm::function_ref<LogicalResult(ModuleOp, Target &)> body) {
  for (auto [i, program] : llvm::enumerate(module.getOps<ModuleOp>())) {
    remarks.beginProgram(targetNames[i]);
    StageTrace::Span span(options.stages, targetNames[i]);
    if (failed(body(program, *targets[i])))
      return failure();
  }
  return success();
}

/// Each program has a folder of its own, since kernels of two may have the same
/// name: "cpu-host".
LogicalResult Compilation::makeTempsFolder(StringRef target,
                                           std::string &folder) {
  if (options.saveTemps.empty())
    return success();
  SmallString<128> path(options.saveTemps);
  std::string name = target.str();
  llvm::replace(name, ':', '-');
  llvm::sys::path::append(path, name);
  folder = std::string(path);
  std::error_code code = llvm::sys::fs::create_directories(folder);
  if (!code)
    return success();
  log << "error: --save-temps: cannot make the folder '" << folder
      << "': " << code.message() << "\n";
  return failure();
}

LogicalResult Compilation::emitPrograms(ModuleOp module,
                                        std::vector<ProgramBinary> &binaries) {
  for (auto [i, program] : llvm::enumerate(module.getOps<ModuleOp>())) {
    StageTrace::Span span(options.stages, targetNames[i]);
    EmitOptions emitOptions;
    bool refused = false;
    emitOptions.refused = &refused;
    emitOptions.assembler = options.assembler;
    emitOptions.lineTables = options.lineTables;
    emitOptions.strict = options.strict;
    emitOptions.plain = hooks.steps <= unsigned(PipelineStep::OptimizeCode);
    if (failed(makeTempsFolder(targetNames[i], emitOptions.saveTemps)))
      return refuse();
    FailureOr<ProgramBinary> binary =
        emitDevices(*targets[i], program, emitOptions);
    if (failed(binary))
      return refused ? refuse() : failure();
    binaries.push_back(std::move(*binary));
  }
  return success();
}

LogicalResult Compilation::emitProgramObject(ModuleOp module) {
  EmitOptions emitOptions;
  bool refused = false;
  emitOptions.refused = &refused;
  if (failed(makeTempsFolder(targetNames.front(), emitOptions.saveTemps)))
    return refuse();
  bool isBare = options.outputKind == OutputKind::RiscvObject;
  if (succeeded(emitObject(*module.getOps<ModuleOp>().begin(), *targets.front(),
                           emitOptions, isBare, options.output,
                           options.symbolPrefix)))
    return success();
  return refused ? refuse() : failure();
}

LogicalResult Compilation::emit(ModuleOp module) {
  if (options.outputKind != OutputKind::Module && !options.stopEarly)
    return emitProgramObject(module);
  std::vector<ProgramBinary> binaries;
  if (failed(emitPrograms(module, binaries)))
    return failure();
  if (options.stopEarly)
    return success();
  if (!fitDevices(module, binaries, log))
    return refuse();
  if (options.memoryBudget != 0) {
    needs = measureMemory(module, binaries);
    isOverBudget = llvm::any_of(needs, [&](const MemoryNeeds &of) {
      return of.peak() > options.memoryBudget;
    });
    if (isOverBudget)
      return refuse();
  }
  Provenance provenance;
  provenance.version = ASHLAR_VERSION;
  auto tuned = llvm::find_if(
      tunings, [](auto &tuning) { return tuning && tuning->isUsed(); });
  provenance.flags =
      codeFlags(options, targetNames,
                tuned == tunings.end() ? "" : (*tuned)->getTable()->digest);
  provenance.precision = hooks.precisionReport;
  provenance.metadata = metadata;
  if (hooks.keep) {
    handOver(std::move(binaries), std::move(provenance));
    return success();
  }
  ModulePieces pieces{{{module, binaries}}};
  return writePrograms(options, pieces, dataFiles, std::move(provenance), log)
             ? success()
             : refuse();
}

/// What is written later, with others, outlives this compile.
void Compilation::handOver(std::vector<ProgramBinary> binaries,
                           Provenance provenance) {
  // Its threads and who hears its remarks do not.
  context->disableMultithreading();
  context->setRemarkEngine(nullptr);
  hooks.keep({std::move(context), std::move(module), std::move(binaries),
              std::move(provenance), dataFiles});
}

/// Reads the table and finds out which programs it is for.
LogicalResult Compilation::prepareTuning() {
  tunings.resize(targets.size());
  std::shared_ptr<const TuningTable> table;
  if (!options.tuning.empty()) {
    auto read = readTuningTable(options.tuning);
    if (!read) {
      log << "error: --tuning: " << llvm::toString(read.takeError()) << "\n";
      return refuse();
    }
    table = std::make_shared<TuningTable>(std::move(*read));
  } else if (options.listStrategies.empty()) {
    return success();
  }
  for (auto [tuning, target] : llvm::zip(tunings, targets)) {
    std::string why =
        table ? table->whyNotFor(ASHLAR_VERSION, target->machine()) : "";
    tuning = std::make_shared<StrategyTuning>(table, why,
                                              !options.listStrategies.empty());
    if (why.empty())
      continue;
    if (options.strict) {
      log << "error: --tuning: '" << options.tuning << "': " << why
          << "; measure again with ashlar-bench --tune\n";
      return refuse();
    }
    if (!options.quiet)
      log << "warning: --tuning: '" << options.tuning << "': " << why
          << "; it is not used\n";
  }
  return success();
}

LogicalResult Compilation::writeList(ReportFile &file) {
  auto print = [&](llvm::raw_ostream &to) {
    tunings.front()->printList(ASHLAR_VERSION, targets.front()->machine(), to);
    return llvm::Error::success();
  };
  return accept(file.write(print, out));
}

LogicalResult Compilation::accept(llvm::Error error) {
  if (!error)
    return success();
  log << "error: " << llvm::toString(std::move(error)) << "\n";
  return refuse();
}

/// Of a compile that failed as well: what was decided until then may be why.
void Compilation::writeRemarks() {
  if (remarksFile.isWanted())
    (void)accept(remarks.write(remarksFile, out));
}

CompileResult Compilation::run() {
  StageTrace::Span span(options.stages, "compile");
  if (!checkWrittenFiles(options, options.input, "the model itself", log) ||
      !checkWrittenFiles(options, options.machine, "the machine model", log) ||
      !checkWrittenFiles(options, options.precisionPlan, "the precision plan",
                         log) ||
      !checkWrittenFiles(options, options.tuning, "the tuning table", log) ||
      !checkWrittenFiles(options, options.signKey, "the signing key", log) ||
      !checkSigningKey(options, log)) {
    result.status = CompileStatus::Refused;
    return result;
  }
  result.status = findTargets(options, targets, targetNames, log);
  ReportFile list("--list-strategies");
  if (result.status == CompileStatus::Done)
    result.status = precision.prepare(targets, targetNames);
  if (result.status != CompileStatus::Done || failed(prepareTuning()) ||
      failed(accept(list.open(options.listStrategies))) ||
      failed(accept(remarksFile.open(options.remarks))))
    return result;
  // People want to read what is wrong, not the IR around it.
  context->printOpOnDiagnostic(options.verbose);
  unsigned errors = 0;
  bool refusesSizes = false;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    refusesSizes |=
        StringRef(diagnostic.str()).starts_with(exec::openSizesRefusal);
    // What passes say of IR is for those who look at that.
    if (diagnostic.getSeverity() != DiagnosticSeverity::Remark ||
        options.verbose)
      progress.interrupt([&] { printDiagnostic(diagnostic, log); });
  });
  auto import = [&]() -> LogicalResult {
    module =
        importModel(options, *context, result.unsupported, dataFiles, metadata);
    if (!module)
      // A model can be wrong and beyond us at once: wrong counts more.
      result.status = errors == 0 && !result.unsupported.empty()
                          ? CompileStatus::Unsupported
                          : CompileStatus::Refused;
    if (module && !checkWrittenFiles(options, dataFiles,
                                     "a file with the model's weights", log))
      return refuse();
    if (!module || failed(verify(*module)) ||
        failed(runPipeline(*module, buildImportPipeline)))
      return failure();
    if (hooks.afterImport)
      hooks.afterImport(*module);
    return success();
  };
  if (remarksFile.isWanted() &&
      failed(remarks.listen(*context, options.input))) {
    result.status = CompileStatus::OurFault;
    return result;
  }
  if (!stage(Stage::Import, import)) {
    // Before that, the file may be one that the model is made of.
    if (result.status == CompileStatus::Done)
      writeRemarks();
    return result;
  }
  remarks.readNodes(*module);
  auto pipeline = [&](Stage which,
                      llvm::function_ref<void(OpPassManager &)> build) {
    return stage(which, [&] { return runPipeline(*module, build); });
  };
  auto perProgram =
      [&](Stage which,
          llvm::function_ref<void(OpPassManager &, Target &)> build,
          const std::function<LogicalResult(ModuleOp)> &hook = nullptr) {
        return stage(which, [&] {
          return forEachProgram(*module, [&](ModuleOp program, Target &target) {
            if (failed(runPipeline(
                    program, [&](OpPassManager &pm) { build(pm, target); }))) {
              const auto &tuning = tunings[numberOf(target)];
              return refusesSizes || (tuning && tuning->isRefused())
                         ? refuse()
                         : failure();
            }
            return hook ? hook(program) : success();
          });
        });
      };
  auto simplify = [&]() -> LogicalResult {
    if (hooks.beforeSimplify)
      hooks.beforeSimplify(*module);
    // Without states, a remark says which there could be.
    bool looksForStates = !options.states.empty() || remarksFile.isWanted();
    if (!markStates(*module, options, log) ||
        (looksForStates && failed(runPipeline(*module, buildStatesPipeline))))
      return refuse();
    if (failed(runPipeline(*module, buildSimplifyPipeline)))
      return failure();
    bool refused = false;
    for (auto function : module->getOps<func::FuncOp>())
      if (failed(foldLargeConstants(function, options.threads, refused)))
        return refused ? refuse() : failure();
    module->walk(
        [](Operation *op) { op->removeDiscardableAttr(sizedAttrName); });
    if (options.randomWeights &&
        failed(runPipeline(*module, [&](OpPassManager &pm) {
          pm.addPass(createRandomizeWeightsPass({*options.randomWeights}));
        })))
      return failure();
    if (hooks.afterSimplify)
      hooks.afterSimplify(*module);
    return success();
  };
  (void)(stage(Stage::Simplify, simplify) &&
         pipeline(Stage::Place,
                  [&](OpPassManager &pm) {
                    buildPlacePipeline(pm, targetNames, standIns(targets));
                  }) &&
         perProgram(
             Stage::Precision,
             [&](OpPassManager &pm, Target &target) {
               PrecisionOptions own = precision.optionsFor(target);
               addCompanions(target, own);
               buildPrecisionPipeline(pm, own, target.machine());
             },
             [&](ModuleOp) {
               return precision.checkNodes() ? success() : refuse();
             }) &&
         perProgram(
             Stage::Fuse,
             [&](OpPassManager &pm, Target &target) {
               TileOptions tiling = tileOptionsOf(target);
               tiling.exactConvolution =
                   options.exactConvolution || saving.exactConvolution;
               tiling.openSizes = !options.sizes.empty();
               tiling.choices = hooks.choices;
               tiling.scratchBytes = saving.scratchOf(numberOf(target));
               tiling.fuse = options.fuse;
               tiling.steps = hooks.steps;
               tiling.tuning = tunings[numberOf(target)];
               addCompanions(target, tiling);
               buildFusePipeline(pm, target.capabilities().fuses, tiling);
             },
             hooks.afterFuse) &&
         options.listStrategies.empty() &&
         perProgram(
             Stage::Tile,
             [&](OpPassManager &pm, Target &target) {
               TileOptions tiling = tileOptionsOf(target);
               tiling.steps = hooks.steps;
               tiling.openSizes = !options.sizes.empty();
               tiling.scratchBytes = saving.scratchOf(numberOf(target));
               buildTilePipeline(pm, tiling, [&](OpPassManager &all) {
                 if (hooks.beforeKernels)
                   hooks.beforeKernels(all);
                 buildKernelPipelines(all, target, {hooks.steps});
               });
             },
             hooks.afterTile) &&
         perProgram(Stage::Schedule,
                    [&](OpPassManager &pm, Target &target) {
                      JoiningDevices joining;
                      if (options.fuse == FuseLevel::All)
                        joining = joiningDevices(target);
                      buildSchedulePipeline(pm,
                                            saving.arenaOf(numberOf(target)),
                                            joining.devices, joining.chipBytes);
                    }) &&
         stage(Stage::Emit, [&] { return emit(*module); }));
  if (list.isWanted() && result.status == CompileStatus::Done)
    (void)writeList(list);
  if (result.status == CompileStatus::Done)
    (void)accept(precision.finish(targetNames.front(), out));
  // Over the budget, a later try may fit, whose remarks are wanted.
  if (!isOverBudget)
    writeRemarks();
  return result;
}
