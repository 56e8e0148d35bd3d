// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stage on IR that somebody wrote or printed: the same pipelines as in a
// compile, for the target that is asked for or that the IR names.
#include "Companions.h"
#include "FindTargets.h"
#include "FoldLargeConstants.h"
#include "PrecisionRequest.h"
#include "TargetOptions.h"
#include "ashlar/Analysis/ByteSize.h"
#include "ashlar/Analysis/ConstantBytes.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Driver/Passes.h"
#include "ashlar/Emit/EmitModule.h"
#include "ashlar/Import/MLIR/Import.h"
#include "ashlar/Support/ModelNodes.h"
#include "ashlar/Transforms/Pipelines/KernelPipelines.h"
#include "ashlar/Transforms/Verify/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace ashlar;

namespace ashlar {
#define GEN_PASS_DEF_RUNSTAGEPASS
#include "ashlar/Driver/Passes.h.inc"
} // namespace ashlar

/// The request of a compile that would come to this stage; what is wrong with
/// it.
static Refusal readOptions(const RunStagePassOptions &given,
                           CompileOptions &request) {
  if (!parseStage(given.stage, request.until))
    return "stage=" + given.stage +
           ": expected import, simplify, place, precision, fuse, tile, "
           "schedule or emit";
  request.stopEarly = request.until != Stage::Emit;
  request.machine = given.machine;
  if (!given.target.empty() && !parseTargets(given.target, request.targets))
    return "target=" + given.target + ": expected T[:PRESET][+...]";
  if (request.targets.size() > 1 && request.until != Stage::Place)
    return "target=" + given.target + ": expected one, found " +
           std::to_string(request.targets.size()) +
           "; only the stage place takes several";
  if (!parsePrecision(given.precision, request) || request.searchPrecision)
    return "precision=" + given.precision +
           ": expected f32, bf16 or f16; auto has to run what it compiles, "
           "which ashlar-compile does";
  if (!parseFuseLevel(given.fuse, request.fuse))
    return "fuse=" + given.fuse + ": expected none, basic or all";
  return std::nullopt;
}

/// Whether an importer made it, and its names were printed with it.
static bool isImported(ModuleOp module) {
  return module->hasAttr(modelNodesAttrName) && !module.getBody()->empty() &&
         isa<NameLoc>(module.getBody()->front().getLoc());
}

/// What was said to a person, without the mark of an error.
static std::string withoutMark(StringRef said) {
  said.consume_front("error: ");
  return said.rtrim().str();
}

Refusal ashlar::checkStageOptions(const RunStagePassOptions &options) {
  CompileOptions request;
  if (Refusal wrong = readOptions(options, request))
    return wrong;
  std::string said;
  llvm::raw_string_ostream log(said);
  if (!checkTargets(request.targets, log))
    return withoutMark(said);
  return std::nullopt;
}

namespace {
struct RunStage : ashlar::impl::RunStagePassBase<RunStage> {
  using RunStagePassBase::RunStagePassBase;

  void getDependentDialects(DialectRegistry &registry) const override;
  void runOnOperation() override {
    request = CompileOptions();
    if (Refusal wrong = readOptions(
            {stage, target, machine, precision, fuse, output}, request)) {
      emitError(getOperation().getLoc()) << *wrong;
      return signalPassFailure();
    }
    if (failed(run(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult runOn(ModuleOp module,
                      llvm::function_ref<void(OpPassManager &)> build) {
    OpPassManager pm(ModuleOp::getOperationName());
    build(pm);
    return runPipeline(pm, module);
  }
  LogicalResult run(ModuleOp module);
  LogicalResult runOnProgram(ModuleOp program);
  LogicalResult emit(ModuleOp module);
  LogicalResult find(ModuleOp program,
                     std::vector<std::unique_ptr<Target>> &targets,
                     std::vector<std::string> &names);

  CompileOptions request;
};
} // namespace

/// Of a program that names no target.
static void buildGenericKernels(OpPassManager &program) {
  VectorRegisters vectors = MachineModel::generic().vectors;
  buildLanesPipeline(program, {vectors.bytes, vectors.count});
}

/// What the pipelines need that are built when the IR is known.
void RunStage::getDependentDialects(DialectRegistry &registry) const {
  OpPassManager all(ModuleOp::getOperationName());
  PrecisionOptions precision;
  precision.wideAccumulators = true;
  precision.low = NumberType::BF16;
  buildImportPipeline(all);
  buildSimplifyPipeline(all);
  buildPlacePipeline(all, {});
  buildPrecisionPipeline(all, precision, MachineModel::generic());
  buildFusePipeline(all, true, {});
  buildTilePipeline(all, {}, buildGenericKernels);
  LanesOptions together = {64, 16};
  together.threads = 16;
  buildLanesPipeline(all, together);
  buildSchedulePipeline(all, 0, {1});
  all.getDependentDialects(registry);
  registry
      .insert<cf::ControlFlowDialect, LLVM::LLVMDialect, tosa::TosaDialect>();
}

/// The targets of the options, or else the one that the program names; none
/// where neither does.
LogicalResult RunStage::find(ModuleOp program,
                             std::vector<std::unique_ptr<Target>> &targets,
                             std::vector<std::string> &names) {
  bool isAskedFor = !target.empty() || !machine.empty();
  auto own = program->getAttrOfType<exec::TargetAttr>(exec::targetAttrName);
  if (!isAskedFor && request.until != Stage::Place) {
    if (!own)
      return success();
    auto spell = [](exec::TargetAttr device) {
      return (device.getName() + ":" + device.getPreset()).str();
    };
    std::string text = spell(own);
    if (auto others =
            program->getAttrOfType<ArrayAttr>(exec::companionsAttrName))
      for (auto device : others.getAsRange<exec::TargetAttr>())
        text += "+" + spell(device);
    (void)parseTargets(text, request.targets);
  }
  std::string said;
  llvm::raw_string_ostream log(said);
  if (findTargets(request, targets, names, log) == CompileStatus::Done) {
    // What was asked for when the program was made.
    if (!isAskedFor && own)
      targets.front()->standsIn = program->hasAttr(exec::standsInAttrName);
    return success();
  }
  return emitError(program.getLoc()) << withoutMark(said);
}

LogicalResult RunStage::runOnProgram(ModuleOp program) {
  std::vector<std::unique_ptr<Target>> targets;
  std::vector<std::string> names;
  if (failed(find(program, targets, names)))
    return failure();
  const Target *target = targets.empty() ? nullptr : targets.front().get();
  TileOptions tiling;
  if (target)
    tiling = tileOptionsOf(*target);
  tiling.fuse = request.fuse;
  switch (request.until) {
  case Stage::Precision: {
    std::string said;
    llvm::raw_string_ostream log(said);
    CompileHooks hooks;
    PrecisionRequest precision(request, hooks, log);
    if (precision.prepare(targets, names) != CompileStatus::Done)
      return emitError(program.getLoc()) << withoutMark(said);
    PrecisionOptions options;
    options.low = request.precision;
    if (target) {
      options = precision.optionsFor(*target);
      addCompanions(*target, options);
    }
    return runOn(program, [&](OpPassManager &pm) {
      buildPrecisionPipeline(pm, options, tiling.machine);
    });
  }
  case Stage::Fuse:
    if (target)
      addCompanions(*target, tiling);
    return runOn(program, [&](OpPassManager &pm) {
      buildFusePipeline(pm, !target || target->capabilities().fuses, tiling);
    });
  case Stage::Tile:
    return runOn(program, [&](OpPassManager &pm) {
      buildTilePipeline(pm, tiling, [&](OpPassManager &all) {
        if (target)
          buildKernelPipelines(all, *target);
        else
          buildGenericKernels(all);
      });
    });
  default: {
    JoiningDevices joining;
    if (target && request.fuse == FuseLevel::All)
      joining = joiningDevices(*target);
    return runOn(program, [&](OpPassManager &pm) {
      buildSchedulePipeline(pm, 0, joining.devices, joining.chipBytes);
    });
  }
  }
}

/// Printed IR names large weights and leaves their bytes out.
static LogicalResult checkWeights(ModuleOp module) {
  DenseResourceElementsAttr wrong;
  AttrTypeWalker walker;
  walker.addWalk([&](DenseResourceElementsAttr weights) {
    if (!wrong &&
        int64_t(resourceBytes(weights).size()) != byteSize(weights.getType()))
      wrong = weights;
  });
  module.walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  if (!wrong)
    return success();
  return emitError(module.getLoc())
         << "the weights '" << wrong.getRawHandle().getKey() << "': expected "
         << byteSize(wrong.getType()) << " bytes, found "
         << resourceBytes(wrong).size()
         << "; what --until prints names large weights alone: compile the "
            "model with ashlar-compile, or write them as dense<...>";
}

LogicalResult RunStage::emit(ModuleOp module) {
  if (module.getOps<ModuleOp>().empty())
    return emitError(module.getLoc())
           << "cannot be emitted: expected a module of programs, which the "
              "stage place makes, found none";
  if (failed(checkWeights(module)))
    return failure();
  // What is written counts on what the stages before have left.
  LogicalResult isSound = runOn(module, [](OpPassManager &pm) {
    for (const char *stage : {"tile", "schedule"}) {
      VerifyStagePassOptions options;
      options.stage = stage;
      pm.addPass(createVerifyStagePass(options));
    }
  });
  if (failed(isSound))
    return failure();
  std::vector<ProgramBinary> binaries;
  for (auto program : module.getOps<ModuleOp>()) {
    std::vector<std::unique_ptr<Target>> targets;
    std::vector<std::string> names;
    if (failed(find(program, targets, names)))
      return failure();
    if (targets.empty())
      return emitError(program.getLoc())
             << "cannot be emitted: expected a program with '"
             << exec::targetAttrName << "', or the option target";
    FailureOr<ProgramBinary> binary =
        emitDevices(*targets.front(), program, EmitOptions());
    if (failed(binary))
      return failure();
    binaries.push_back(std::move(*binary));
  }
  std::string said;
  llvm::raw_string_ostream log(said);
  if (!fitDevices(module, binaries, log))
    return emitError(module.getLoc()) << withoutMark(said);
  if (output.empty())
    return success();
  Provenance provenance;
  provenance.version = ASHLAR_VERSION;
  return emitModule({{{module, binaries}}}, provenance, output);
}

LogicalResult RunStage::run(ModuleOp module) {
  switch (request.until) {
  case Stage::Import:
    if (!isImported(module) && failed(importModule(module, {})))
      return failure();
    return runOn(module, buildImportPipeline);
  case Stage::Simplify: {
    if (failed(checkWeights(module)) ||
        failed(runOn(module, buildSimplifyPipeline)))
      return failure();
    bool refused = false;
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(foldLargeConstants(function, /*threads=*/0, refused)))
        return failure();
    return success();
  }
  case Stage::Place: {
    std::vector<std::unique_ptr<Target>> targets;
    std::vector<std::string> names;
    if (failed(find(module, targets, names)))
      return failure();
    return runOn(module, [&](OpPassManager &pm) {
      buildPlacePipeline(pm, names, standIns(targets));
    });
  }
  case Stage::Emit:
    return emit(module);
  default: {
    auto programs = llvm::to_vector(module.getOps<ModuleOp>());
    if (programs.empty())
      programs.push_back(module);
    for (ModuleOp program : programs)
      if (failed(runOnProgram(program)))
        return failure();
    return success();
  }
  }
}
