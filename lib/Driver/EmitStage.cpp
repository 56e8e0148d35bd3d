// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last stage of a compile: binaries, what they take of memory, the file.
#include "CodeFlags.h"
#include "Companions.h"
#include "Compilation.h"
#include "IdleDevices.h"
#include "TargetOptions.h"
#include "ashlar/Driver/StageTrace.h"
#include "ashlar/Emit/EmitModule.h"
#include "ashlar/Emit/EmitObject.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ashlar;

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

LogicalResult Compilation::emitPrograms(ModuleOp module) {
  binaries.resize(targets.size());
  for (auto [i, program] : llvm::enumerate(module.getOps<ModuleOp>())) {
    if (tries.isDone(i))
      continue;
    StageTrace::Span span(options.stages, targetNames[i]);
    EmitOptions emitOptions;
    bool refused = false;
    emitOptions.refused = &refused;
    emitOptions.assembler = options.assembler;
    emitOptions.lineTables = options.lineTables;
    emitOptions.strict = options.strict;
    emitOptions.triesAgain = [&, i = i](ModuleOp kernel) {
      return tries.refuse(i, kernel);
    };
    emitOptions.mayTryAgain = tries.canRefuse(i);
    emitOptions.plain = hooks.steps <= unsigned(PipelineStep::OptimizeCode);
    if (failed(makeTempsFolder(targetNames[i], emitOptions.saveTemps)))
      return refuse();
    FailureOr<ProgramBinary> binary =
        emitDevices(*targets[i], program, emitOptions);
    if (failed(binary))
      return refused ? refuse() : failure();
    binaries[i] = std::move(*binary);
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

bool Compilation::fitsBudget(std::vector<MemoryNeeds> needed) {
  needs = std::move(needed);
  isOverBudget = llvm::any_of(needs, [&](const MemoryNeeds &of) {
    return of.peak() > options.memoryBudget;
  });
  return !isOverBudget;
}

LogicalResult Compilation::emit(ModuleOp module) {
  if (options.outputKind != OutputKind::Module && !options.stopEarly)
    return emitProgramObject(module);
  if (failed(emitPrograms(module)))
    return failure();
  if (options.stopEarly || tries.hasMore())
    return success();
  // Where this is one of several pieces, who joins them knows.
  if (!hooks.keep)
    dropIdleDevices(options, CompiledPiece{module, binaries});
  if (!fitDevices(module, binaries, log))
    return refuse();
  if (options.memoryBudget != 0 && !fitsBudget(measureMemory(module, binaries)))
    return refuse();
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
    handOver(std::move(provenance));
    return success();
  }
  ModulePieces pieces{{{module, binaries}}};
  return writePrograms(options, pieces, dataFiles, std::move(provenance), log)
             ? success()
             : refuse();
}

/// What is written later, with others, outlives this compile.
void Compilation::handOver(Provenance provenance) {
  // Its threads and who hears its remarks and diagnostics do not.
  diagnostics.reset();
  prepared = {};
  context->disableMultithreading();
  context->setRemarkEngine(nullptr);
  hooks.keep({std::move(context), std::move(module), std::move(binaries),
              std::move(provenance), dataFiles});
}
