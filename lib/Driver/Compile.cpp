// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Driver/Compile.h"
#include "CheckWrittenFiles.h"
#include "CompileForSizes.h"
#include "FindTargets.h"
#include "FoldLargeConstants.h"
#include "HashModel.h"
#include "ProgressLine.h"
#include "RemarkLog.h"
#include "ashlar/Emit/EmitModule.h"
#include "ashlar/Emit/MemoryNeeds.h"
#include "ashlar/Import/MLIR/Import.h"
#include "ashlar/InitAll.h"
#include "ashlar/Support/Remarks.h"
#include "ashlar/Targets/Target.h"
#include "ashlar/Transforms/Fuse/Tuning.h"
#include "ashlar/Transforms/Pipelines/Pipelines.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/ToolOutputFile.h"
#include <chrono>

using namespace mlir;
using namespace ashlar;

void ashlar::printUnsupported(const std::vector<UnsupportedNode> &nodes,
                              llvm::raw_ostream &log) {
  std::map<std::string, std::pair<unsigned, const UnsupportedNode *>> groups;
  for (const UnsupportedNode &node : nodes) {
    auto &[count, first] =
        groups[node.op + " (opset " + std::to_string(node.opset) +
               "): " + node.reason];
    first = count++ ? first : &node;
  }
  log << "error: " << nodes.size() << " part" << (nodes.size() == 1 ? "" : "s")
      << " of the model cannot be compiled yet:\n";
  for (auto &[what, group] : groups) {
    log << "  " << group.first << " x " << what << "; '" << group.second->node
        << "'";
    if (group.first > 1)
      log << " and " << group.first - 1 << " more";
    for (const std::string &input : group.second->inputs)
      log << "; to fix an input's value: --value=" << input << "=...";
    log << "\n";
  }
}

/// One line per diagnostic: severity, the node's name, the message.
static void printDiagnostic(Diagnostic &diagnostic, llvm::raw_ostream &log) {
  auto severity = [](DiagnosticSeverity severity) {
    switch (severity) {
    case DiagnosticSeverity::Error:
      return "error: ";
    case DiagnosticSeverity::Warning:
      return "warning: ";
    case DiagnosticSeverity::Note:
      return "note: ";
    case DiagnosticSeverity::Remark:
      return "remark: ";
    }
    llvm_unreachable("covered switch");
  };
  Location location = diagnostic.getLocation();
  if (auto file = dyn_cast<FileLineColLoc>(location))
    log << file.getFilename().getValue() << ":" << file.getLine() << ":"
        << file.getColumn() << ": ";
  log << severity(diagnostic.getSeverity());
  if (auto name = dyn_cast<NameLoc>(location))
    log << "'" << name.getName().getValue() << "': ";
  else if (!isa<UnknownLoc, FileLineColLoc>(location))
    log << nodeName(location) << ": ";
  log << diagnostic << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    printDiagnostic(note, log);
}

/// MLIR by its name or, as bytecode, by its first bytes; all else is ONNX.
static bool isMLIR(StringRef path) {
  if (path.ends_with(".mlir") || path.ends_with(".mlirbc"))
    return true;
  auto head = llvm::MemoryBuffer::getFileSlice(path, 4, 0);
  return head && (*head)->getBuffer() == "ML\xefR";
}

static OwningOpRef<ModuleOp> importModel(const CompileOptions &options,
                                         MLIRContext &context,
                                         CompileResult &result,
                                         std::vector<std::string> &dataFiles) {
  if (isMLIR(options.input)) {
    if (!options.values.empty()) {
      emitError(NameLoc::get(StringAttr::get(&context, options.input)))
          << "--value is for inputs of ONNX models; write the constant into "
             "the .mlir file";
      return nullptr;
    }
    MLIRImportOptions importOptions;
    for (auto &[name, shape] : options.shapes)
      importOptions.shapes[name].assign(shape.begin(), shape.end());
    return importMLIR(options.input, importOptions, &context);
  }
  ONNXImportOptions importOptions;
  importOptions.values = options.values;
  for (auto &[name, shape] : options.shapes)
    importOptions.shapes[name].assign(shape.begin(), shape.end());
  SmallVector<UnsupportedNode> unsupported;
  OwningOpRef<ModuleOp> module = importONNX(options.input, importOptions,
                                            &context, unsupported, &dataFiles);
  result.unsupported.assign(unsupported.begin(), unsupported.end());
  return module;
}

static void printModule(ModuleOp module, llvm::raw_ostream &out) {
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(64).elideLargeResourceString(64);
  module->print(out, flags.enableDebugInfo(true, false).useLocalScope());
  out << "\n";
}

namespace {
/// What a compile does without, to need less memory.
struct Saving {
  bool exactConvolution = false;
  /// Of each program: cheap values are computed again where its arena would
  /// need more; empty: never.
  std::vector<int64_t> arenaBytes;
};

/// One compile on its way through the stages.
class Compilation {
public:
  Compilation(const CompileOptions &options, const CompileHooks &hooks,
              ReportFile &remarksFile, llvm::raw_ostream &out,
              llvm::raw_ostream &log, Saving saving = {})
      : options(options), hooks(hooks), saving(std::move(saving)),
        remarksFile(remarksFile), out(out), log(log),
        // Both would write to the same lines.
        progress(log, !options.quiet && !options.verbose),
        pool(llvm::hardware_concurrency(options.threads)),
        context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    if (options.threads != 1)
      context.setThreadPool(pool);
  }

  CompileResult run();

  /// Of each program, if there is a budget and it came to that.
  std::vector<MemoryNeeds> needs;
  std::vector<std::string> targetNames;
  bool isOverBudget = false;

private:
  using Clock = std::chrono::steady_clock;

  /// Runs one stage; false when compilation ends here.
  bool stage(Stage stage, llvm::function_ref<LogicalResult()> body);
  LogicalResult runPipeline(ModuleOp module,
                            llvm::function_ref<void(OpPassManager &)> build);
  LogicalResult
  forEachProgram(ModuleOp module,
                 llvm::function_ref<LogicalResult(ModuleOp, Target &)> body);
  LogicalResult makeTempsFolder(StringRef target, std::string &folder);
  LogicalResult emitPrograms(ModuleOp module,
                             std::vector<ProgramBinary> &binaries);
  LogicalResult emit(ModuleOp module);
  LogicalResult prepareTuning();
  LogicalResult writeList(ReportFile &file);
  size_t numberOf(const Target &target) const {
    return llvm::find_if(targets,
                         [&](auto &other) { return other.get() == &target; }) -
           targets.begin();
  }
  bool checkPrecision();
  bool readPrecisionPlan();
  PrecisionOptions precisionFor(const Target &target);
  LogicalResult checkPlannedNodes();
  bool writePrecisionPlan();
  void writeRemarks();
  /// Says what is wrong, if anything is.
  LogicalResult accept(llvm::Error error);
  /// What stops here is the model's or the machine's fault.
  LogicalResult refuse() {
    result.status = CompileStatus::Refused;
    return failure();
  }

  const CompileOptions &options;
  const CompileHooks &hooks;
  const Saving saving;
  ReportFile &remarksFile;
  llvm::raw_ostream &out, &log;
  ProgressLine progress;
  CompileResult result;
  std::vector<std::unique_ptr<Target>> targets;
  /// Of each target; null where there is neither a table nor a list.
  std::vector<std::shared_ptr<StrategyTuning>> tunings;
  std::optional<PrecisionPlan> plan;  // that the options name
  PrecisionDecisions decisions;       // of the program after `precision`
  std::vector<std::string> dataFiles; // beside the model, with its weights
  llvm::DefaultThreadPool pool;
  RemarkLog remarks; // hears of the context until its end
  MLIRContext context;
  OwningOpRef<ModuleOp> module; // after the context that it lives in
};
} // namespace

bool Compilation::stage(Stage stage, llvm::function_ref<LogicalResult()> body) {
  Clock::time_point begin = Clock::now();
  progress.show(stageName(stage));
  if (failed(body())) {
    if (result.status == CompileStatus::Done)
      result.status = CompileStatus::OurFault;
    return false;
  }
  if (options.verbose)
    log << llvm::formatv(
        "{0,-10} {1,8:f3} s\n", stageName(stage),
        std::chrono::duration<double>(Clock::now() - begin).count());
  if (!options.stopEarly || options.until != stage)
    return true;
  printModule(*module, out);
  out.flush();
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
  auto [name, preset] = target.split(':');
  llvm::sys::path::append(path, name + "-" + preset);
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
    EmitOptions emitOptions;
    bool refused = false;
    emitOptions.refused = &refused;
    emitOptions.plain = hooks.steps <= unsigned(Step::OptimizeCode);
    if (failed(makeTempsFolder(targetNames[i], emitOptions.saveTemps)))
      return refuse();
    FailureOr<ProgramBinary> binary = targets[i]->emit(program, emitOptions);
    if (failed(binary))
      return refused ? refuse() : failure();
    binary->machine = targets[i]->machine();
    binaries.push_back(std::move(*binary));
  }
  return success();
}

LogicalResult Compilation::emit(ModuleOp module) {
  std::vector<ProgramBinary> binaries;
  if (failed(emitPrograms(module, binaries)))
    return failure();
  if (options.stopEarly)
    return success();
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
  for (const std::string &name : targetNames)
    provenance.flags.push_back("--target=" + name);
  // The file's own path is of this machine alone; its model is in the module.
  if (!options.machine.empty())
    provenance.flags.push_back("--machine");
  auto tuned = llvm::find_if(
      tunings, [](auto &tuning) { return tuning && tuning->isUsed(); });
  if (tuned != tunings.end())
    provenance.flags.push_back("--tuning=sha256:" +
                               (*tuned)->getTable()->digest);
  if (options.exactConvolution)
    provenance.flags.push_back("--exact-convolution");
  if (options.precision != NumberType::F32)
    provenance.flags.push_back(
        std::string("--precision=") +
        (options.searchPrecision ? "auto" : spell(options.precision)));
  if (options.searchPrecision)
    provenance.flags.push_back(
        llvm::formatv("--tolerance={0}", options.tolerance));
  // As with machines, the file is of this machine alone.
  if (plan)
    provenance.flags.push_back("--precision-plan");
  provenance.precision = hooks.precisionReport;
  if (options.fuse != FuseLevel::All)
    provenance.flags.push_back(std::string("--fuse=") +
                               fuseLevelName(options.fuse));
  if (options.memoryBudget != 0)
    provenance.flags.push_back(
        "--memory-budget=" + std::to_string(options.memoryBudget) + "B");
  for (const SizeRange &size : options.sizes)
    provenance.flags.push_back("--dim=" + size.name + "=" +
                               std::to_string(size.minimum) + ".." +
                               std::to_string(size.maximum));
  for (auto &[name, shape] : options.symbolicShapes)
    provenance.flags.push_back("--shape=" + name + "=" +
                               llvm::join(shape, "x"));
  for (auto &[name, shape] : options.shapes) {
    if (options.symbolicShapes.count(name))
      continue; // the largest sizes of what stands above
    std::string text = "--shape=" + name + "=";
    for (auto [i, dim] : llvm::enumerate(shape))
      text += (i ? "x" : "") + std::to_string(dim);
    provenance.flags.push_back(text);
  }
  for (auto &[name, numbers] : options.values)
    provenance.flags.push_back("--value=" + name + "=" +
                               llvm::join(numbers, ","));
  std::vector<std::string> files = {options.input};
  files.insert(files.end(), dataFiles.begin(), dataFiles.end());
  auto hash = hashFiles(files);
  if (!hash)
    return accept(hash.takeError());
  provenance.modelSha256 = *hash;
  LogicalResult written =
      options.outputDescriptor >= 0
          ? emitModule(module, binaries, provenance, options.outputDescriptor)
          : emitModule(module, binaries, provenance, options.output);
  return succeeded(written) ? success() : refuse();
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

/// Whether the targets can do what is asked for.
bool Compilation::checkPrecision() {
  auto misuse = [&](const std::string &why) {
    log << "error: " << why << "\n";
    result.status = CompileStatus::WrongUsage;
    return false;
  };
  bool isLow =
      options.precision != NumberType::F32 || !options.precisionPlan.empty();
  for (auto [target, name] : llvm::zip(targets, targetNames))
    if (isLow && target->precisionOptions().wideAccumulators)
      return misuse("--precision: the target " + name +
                    " checks others and computes in the model's own types "
                    "only; expected f32, found " +
                    (options.precisionPlan.empty() ? spell(options.precision)
                                                   : "a plan"));
  if (targets.size() > 1 && !options.writePrecisionPlan.empty())
    return misuse("--write-precision-plan: a plan is of one target; expected "
                  "one in --target, found " +
                  std::to_string(targets.size()));
  return true;
}

bool Compilation::readPrecisionPlan() {
  if (options.precisionPlan.empty())
    return true;
  auto fail = [&](const std::string &why) {
    log << "error: --precision-plan=" << options.precisionPlan << ": " << why
        << "\n";
    result.status = CompileStatus::Refused;
    return false;
  };
  auto file = llvm::MemoryBuffer::getFile(options.precisionPlan,
                                          /*IsText=*/true);
  if (!file)
    return fail(file.getError().message());
  plan.emplace();
  std::string wrong = parsePrecisionPlan((*file)->getBuffer().str(), *plan);
  return wrong.empty() || fail(wrong);
}

PrecisionOptions Compilation::precisionFor(const Target &target) {
  PrecisionOptions precision = target.precisionOptions();
  precision.low = options.precision;
  precision.plan = hooks.precisionPlan ? hooks.precisionPlan
                   : plan              ? &*plan
                                       : nullptr;
  precision.simulate = hooks.simulatePrecision;
  precision.decisions = &decisions;
  return precision;
}

LogicalResult Compilation::checkPlannedNodes() {
  if (decisions.unknown.empty())
    return success();
  for (const std::string &line : ArrayRef(decisions.unknown).take_front(3))
    log << "error: --precision-plan=" << options.precisionPlan << ": " << line
        << "\n";
  log << "note: " << decisions.unknown.size()
      << (decisions.unknown.size() == 1 ? " line names a node"
                                        : " lines name nodes")
      << " that this model does not have; is the plan of another model?\n";
  return refuse();
}

bool Compilation::writePrecisionPlan() {
  if (hooks.decisions)
    *hooks.decisions = decisions;
  if (options.writePrecisionPlan.empty())
    return true;
  std::vector<std::string> heading = {
      "The precision of each node, for --precision-plan; f32, bf16 or f16.",
      "Target: " + targetNames.front()};
  llvm::append_range(heading, hooks.precisionReport);
  std::string text = printPrecisionPlan(decisions.nodes, heading);
  llvm::Error error = llvm::writeToOutput(options.writePrecisionPlan,
                                          [&](llvm::raw_ostream &file) {
                                            file << text;
                                            return llvm::Error::success();
                                          });
  if (!error)
    return true;
  return succeeded(accept(llvm::createStringError(
      "--write-precision-plan=" + options.writePrecisionPlan + ": " +
      llvm::toString(std::move(error)))));
}

/// Of a compile that failed, what was decided until then is no one's concern.
void Compilation::writeRemarks() {
  if (remarksFile.isWanted() && result.status == CompileStatus::Done)
    (void)accept(remarks.write(remarksFile, out));
}

CompileResult Compilation::run() {
  if (!checkWrittenFiles(options, options.input, "the model itself", log) ||
      !checkWrittenFiles(options, options.machine, "the machine model", log) ||
      !checkWrittenFiles(options, options.precisionPlan, "the precision plan",
                         log) ||
      !checkWrittenFiles(options, options.tuning, "the tuning table", log)) {
    result.status = CompileStatus::Refused;
    return result;
  }
  result.status = findTargets(options, targets, targetNames, log);
  ReportFile list("--list-strategies");
  if (result.status != CompileStatus::Done || !checkPrecision() ||
      !readPrecisionPlan() || failed(prepareTuning()) ||
      failed(accept(list.open(options.listStrategies))) ||
      failed(accept(remarksFile.open(options.remarks))))
    return result;
  // People want to read what is wrong, not the IR around it.
  context.printOpOnDiagnostic(options.verbose);
  unsigned errors = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
    progress.interrupt([&] { printDiagnostic(diagnostic, log); });
  });
  auto import = [&]() -> LogicalResult {
    module = importModel(options, context, result, dataFiles);
    if (!module)
      // A model can be wrong and beyond us at once: wrong counts more.
      result.status = errors == 0 && !result.unsupported.empty()
                          ? CompileStatus::Unsupported
                          : CompileStatus::Refused;
    if (module && !checkWrittenFiles(options, dataFiles,
                                     "a file with the model's weights", log))
      return refuse();
    return success(module && succeeded(verify(*module)) &&
                   succeeded(runPipeline(*module, buildImportPipeline)));
  };
  if (remarksFile.isWanted() &&
      failed(remarks.listen(context, options.input))) {
    result.status = CompileStatus::OurFault;
    return result;
  }
  if (!stage(Stage::Import, import)) {
    writeRemarks();
    return result;
  }
  remarks.readNodes(*module);
  if (hooks.afterImport)
    hooks.afterImport(*module);
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
              return tuning && tuning->isRefused() ? refuse() : failure();
            }
            return hook ? hook(program) : success();
          });
        });
      };
  auto simplify = [&]() -> LogicalResult {
    if (failed(runPipeline(*module, buildSimplifyPipeline)))
      return failure();
    bool refused = false;
    for (auto function : module->getOps<func::FuncOp>())
      if (failed(foldLargeConstants(function, refused)))
        return refused ? refuse() : failure();
    return success();
  };
  (void)(stage(Stage::Simplify, simplify) &&
         pipeline(
             Stage::Place,
             [&](OpPassManager &pm) { buildPlacePipeline(pm, targetNames); }) &&
         perProgram(
             Stage::Precision,
             [&](OpPassManager &pm, Target &target) {
               buildPrecisionPipeline(pm, precisionFor(target),
                                      target.machine());
             },
             [&](ModuleOp) { return checkPlannedNodes(); }) &&
         perProgram(
             Stage::Fuse,
             [&](OpPassManager &pm, Target &target) {
               TileOptions tiling = target.tileOptions();
               tiling.exactConvolution =
                   options.exactConvolution || saving.exactConvolution;
               tiling.openSizes = !options.sizes.empty();
               tiling.fuse = options.fuse;
               tiling.steps = hooks.steps;
               tiling.tuning = tunings[numberOf(target)];
               buildFusePipeline(pm, target.fuses(), tiling);
             },
             hooks.afterFuse) &&
         options.listStrategies.empty() &&
         perProgram(
             Stage::Tile,
             [&](OpPassManager &pm, Target &target) {
               TileOptions tiling = target.tileOptions();
               tiling.steps = hooks.steps;
               buildTilePipeline(pm, tiling);
             },
             hooks.afterTile) &&
         perProgram(Stage::Schedule,
                    [&](OpPassManager &pm, Target &target) {
                      size_t number = numberOf(target);
                      buildSchedulePipeline(pm,
                                            number < saving.arenaBytes.size()
                                                ? saving.arenaBytes[number]
                                                : 0);
                    }) &&
         stage(Stage::Emit, [&] { return emit(*module); }));
  if (list.isWanted() && result.status == CompileStatus::Done)
    (void)writeList(list);
  if (result.status == CompileStatus::Done && writePrecisionPlan())
    writeRemarks();
  return result;
}

static std::string spellBytes(uint64_t bytes) {
  return bytes < 1024 ? std::to_string(bytes) + " B"
         : bytes < 1024 * 1024
             ? llvm::formatv("{0:f2} KiB", double(bytes) / 1024).str()
             : llvm::formatv("{0:f2} MiB", double(bytes) / (1024 * 1024)).str();
}

/// How large an arena each program may have. Where none is small enough, the
/// smallest that there is tells what would fit.
static std::vector<int64_t> arenasWithin(ArrayRef<MemoryNeeds> needs,
                                         uint64_t budget) {
  std::vector<int64_t> arenas;
  for (const MemoryNeeds &of : needs) {
    uint64_t others = of.peak() - of.arena;
    arenas.push_back(others < budget ? int64_t(budget - others) : 1);
  }
  return arenas;
}

static uint64_t mostNeeded(ArrayRef<MemoryNeeds> needs) {
  uint64_t most = 0;
  for (const MemoryNeeds &of : needs)
    most = std::max(most, of.peak());
  return most;
}

static void explainBudget(uint64_t budget, const Compilation &closest,
                          llvm::raw_ostream &log) {
  for (auto [of, target] : llvm::zip(closest.needs, closest.targetNames)) {
    if (of.peak() <= budget)
      continue;
    log << "error: --memory-budget: expected a program for " << target
        << " within " << spellBytes(budget) << ", found that it needs "
        << spellBytes(of.peak()) << " at least: weights "
        << spellBytes(of.weights) << ", code " << spellBytes(of.code)
        << ", arena " << spellBytes(of.arena) << ", outputs "
        << spellBytes(of.outputs) << ", staging " << spellBytes(of.staging)
        << ", scratch of a thread " << spellBytes(of.scratch) << "\n";
    for (const MemoryNeeds::Holder &holder : ArrayRef(of.holders).take_front(3))
      log << "note: " << holder.node << " holds " << spellBytes(holder.bytes)
          << " at the peak of the arena\n";
  }
  log << "note: --memory-budget=" << mostNeeded(closest.needs)
      << "B would fit, or smaller inputs (--shape)\n";
}

/// What is tried, in turn: the program as it is; cheap values computed again;
/// convolutions without transforms, whose weights are larger than the model's;
/// both.
static CompileResult compileWithin(const CompileOptions &options,
                                   const CompileHooks &hooks,
                                   ReportFile &remarks, llvm::raw_ostream &out,
                                   llvm::raw_ostream &log) {
  std::vector<std::unique_ptr<Compilation>> attempts;
  CompileResult result;
  // True when there is nothing more to try.
  auto attempt = [&](Saving saving) {
    attempts.push_back(std::make_unique<Compilation>(
        options, hooks, remarks, out, attempts.empty() ? log : llvm::nulls(),
        std::move(saving)));
    result = attempts.back()->run();
    return !attempts.back()->isOverBudget;
  };
  for (bool exact : {false, true}) {
    if (exact && options.exactConvolution)
      continue;
    if (attempt({exact, {}}))
      return result;
    if (attempt({exact,
                 arenasWithin(attempts.back()->needs, options.memoryBudget)}))
      return result;
  }
  auto closest = llvm::min_element(attempts, [](auto &x, auto &y) {
    return mostNeeded(x->needs) < mostNeeded(y->needs);
  });
  explainBudget(options.memoryBudget, **closest, log);
  return result;
}

CompileResult ashlar::compile(const CompileOptions &options,
                              llvm::raw_ostream &out, llvm::raw_ostream &log,
                              const CompileHooks &hooks) {
  if (!options.sizes.empty() && !hooks.sizesAreFormulas)
    return compileForSizes(options, hooks, out, log);
  ReportFile remarks("--remarks");
  if (options.memoryBudget != 0 && !options.stopEarly &&
      options.listStrategies.empty())
    return compileWithin(options, hooks, remarks, out, log);
  return Compilation(options, hooks, remarks, out, log).run();
}
