// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compile needs from its first stage to its last, and in which order
// they run. What each stage does stands in Stages.cpp and EmitStage.cpp.
#include "Compilation.h"
#include "CheckWrittenFiles.h"
#include "FindTargets.h"
#include "HashModel.h"
#include "PrintDiagnostic.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Driver/StageTrace.h"
#include "ashlar/InitAll.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/FormatVariadic.h"

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
                         const CompileHooks &hooks, llvm::raw_ostream &out,
                         llvm::raw_ostream &log)
    : options(options), hooks(hooks), precision(options, hooks, log), out(out),
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

/// A program may be refused for what its caller asked.
LogicalResult Compilation::runPrograms(
    llvm::function_ref<void(OpPassManager &, Target &)> build,
    const std::function<LogicalResult(ModuleOp)> &hook) {
  return forEachProgram(*module, [&](ModuleOp program, Target &target) {
    if (failed(runPipeline(program,
                           [&](OpPassManager &pm) { build(pm, target); }))) {
      const auto &tuning = tunings[numberOf(target)];
      return refusesSizes || (tuning && tuning->isRefused()) ? refuse()
                                                             : failure();
    }
    return hook ? hook(program) : success();
  });
}

LogicalResult Compilation::forEachProgram(
    ModuleOp module,
    llvm::function_ref<LogicalResult(ModuleOp, Target &)> body) {
  for (auto [i, program] : llvm::enumerate(module.getOps<ModuleOp>())) {
    if (tries.isDone(i))
      continue;
    remarks.beginProgram(targetNames[i]);
    StageTrace::Span span(options.stages, targetNames[i]);
    if (failed(body(program, *targets[i])))
      return failure();
  }
  return success();
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
    Refusal why;
    if (table)
      why = table->whyNotFor(ASHLAR_VERSION, target->machine());
    tuning = std::make_shared<StrategyTuning>(table, why,
                                              !options.listStrategies.empty());
    if (!why)
      continue;
    if (options.strict) {
      log << "error: --tuning: '" << options.tuning << "': " << *why
          << "; measure again with ashlar-bench --tune\n";
      return refuse();
    }
    if (!options.quiet)
      log << "warning: --tuning: '" << options.tuning << "': " << *why
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

/// Whether nothing that is written would take the place of what is read.
bool Compilation::checkFiles() {
  return checkWrittenFiles(options, options.input, "the model itself", log) &&
         checkWrittenFiles(options, options.machine, "the machine model",
                           log) &&
         checkWrittenFiles(options, options.precisionPlan, "the precision plan",
                           log) &&
         checkWrittenFiles(options, options.tuning, "the tuning table", log) &&
         checkWrittenFiles(options, options.signKey, "the signing key", log) &&
         checkSigningKey(options, log);
}

/// Everything that can be wrong before the model is read.
bool Compilation::begin() {
  if (!checkFiles())
    return succeeded(refuse());
  result.status = findTargets(options, targets, targetNames, log);
  if (result.status == CompileStatus::Done)
    result.status = precision.prepare(targets, targetNames);
  if (result.status != CompileStatus::Done || failed(prepareTuning()) ||
      failed(accept(list.open(options.listStrategies))) ||
      failed(accept(remarksFile.open(options.remarks))))
    return false;
  // People want to read what is wrong, not the IR around it.
  context->printOpOnDiagnostic(options.verbose);
  diagnostics = std::make_unique<ScopedDiagnosticHandler>(
      context.get(), [&](Diagnostic &diagnostic) { hear(diagnostic); });
  if (!remarksFile.isWanted() ||
      succeeded(remarks.listen(*context, options.input)))
    return true;
  result.status = CompileStatus::OurFault;
  return false;
}

void Compilation::hear(Diagnostic &diagnostic) {
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  errors += isError;
  refusesSizes |=
      StringRef(diagnostic.str()).starts_with(exec::openSizesRefusal);
  // What passes say of IR is for those who look at that. What a stage warned of
  // before, it need not warn of again.
  if (isError ||
      (!isRepeated && (diagnostic.getSeverity() != DiagnosticSeverity::Remark ||
                       options.verbose)))
    progress.interrupt([&] { printDiagnostic(diagnostic, log); });
}

bool Compilation::prepare() {
  if (!begin())
    return false;
  bool isImported = stage(Stage::Import, [&] { return import(); });
  // Before that, the file may be one that the model is made of.
  hasRemarks = isImported || result.status == CompileStatus::Done;
  if (!isImported)
    return false;
  remarks.readNodes(*module);
  return stage(Stage::Simplify, [&] { return simplify(); }) &&
         stage(Stage::Place, [&] { return place(); }) &&
         stage(Stage::Precision, [&] { return choosePrecision(); });
}

bool Compilation::mayTryAgain() const {
  return options.outputKind == OutputKind::Module && !options.stopEarly &&
         options.listStrategies.empty() && options.sizes.empty() &&
         !hooks.keep && !hooks.choices && !hooks.afterFuse && !hooks.afterTile;
}

bool Compilation::build() {
  return stage(Stage::Fuse, [&] { return fuse(); }) &&
         options.listStrategies.empty() &&
         stage(Stage::Tile, [&] { return tile(); }) &&
         stage(Stage::Schedule, [&] { return schedule(); }) && mayFit() &&
         stage(Stage::Emit, [&] { return emit(*module); });
}

void Compilation::choose() {
  binaries.clear();
  tries = StrategyTries();
  if (mayTryAgain())
    tries.begin(*module, targets);
  while (build() && tries.hasMore())
    tries.restore(*module);
}

/// Compiling kernels takes longer than all else, and their code is little.
bool Compilation::mayFit() {
  if (isEmitted || fitsBudget(measureWithoutCode(*module)))
    return isEmitted = true;
  for (auto [own, first] : llvm::zip(needs, firstNeeds)) {
    own.code = first.code;
    for (auto [companion, other] : llvm::zip(own.companions, first.companions))
      companion.code = other.code;
  }
  return succeeded(refuse());
}

Attempt Compilation::attempt(const Saving &to, bool emits) {
  isRepeated = bool(prepared);
  if (!isRepeated) {
    prepared = std::move(module);
    toldBefore = remarks.size();
  }
  result.status = CompileStatus::Done;
  saving = to;
  isOverBudget = false;
  isEmitted = emits || !isRepeated;
  module = OwningOpRef<ModuleOp>(prepared->clone());
  choose();
  if (!isRepeated)
    firstNeeds = needs;
  Attempt done{to, isOverBudget, isEmitted, std::move(needs), {}};
  if (isOverBudget)
    done.remarks = remarks.takeFrom(toldBefore);
  return done;
}

CompileResult Compilation::end(Attempt closest) {
  remarks.add(std::move(closest.remarks));
  if (list.isWanted() && result.status == CompileStatus::Done)
    (void)writeList(list);
  if (result.status == CompileStatus::Done)
    (void)accept(precision.finish(targetNames.front(), out));
  if (hasRemarks)
    writeRemarks();
  return result;
}

CompileResult Compilation::run() {
  StageTrace::Span span(options.stages, "compile");
  if (prepare())
    choose();
  return end();
}
