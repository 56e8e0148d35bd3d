// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CPUTarget.h"
#include "CompileKernel.h"
#include "LinkImage.h"
#include "LowerKernels.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Threading.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cpu;

TileOptions CPUTarget::tileOptions() const {
  TileOptions options;
  options.machine = machine();
  return options;
}

/// Whether llvm.fma is an instruction and not a call, and so on: on AArch64
/// every machine has what `feature` says of x86.
static bool hasInstructions(const MachineModel &machine, const char *feature) {
  return !llvm::Triple(machine.code.triple).isX86() ||
         llvm::is_contained(machine.code.features, feature);
}

/// Whether values are rounded to whole numbers, as quantized ones are. Then the
/// last bit of a product decides: it is rounded before anything is added to it,
/// as in the definition.
static bool roundsToIntegers(func::FuncOp kernel) {
  return kernel.walk([](math::RoundEvenOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static void initializeLLVM() {
  static bool done = [] {
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)done;
}

FailureOr<ProgramBinary> CPUTarget::emit(ModuleOp program,
                                         const EmitOptions &options) {
  initializeLLVM();
  MLIRContext *context = program.getContext();
  // Each kernel gets a module of its own, so that all of them are lowered and
  // compiled side by side.
  OwningOpRef<ModuleOp> all = ModuleOp::create(program.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(all->getBody());
  std::vector<std::pair<ModuleOp, std::string>> kernels;
  std::vector<bool> rounds;
  for (func::FuncOp kernel : exec::kernelsOf(program, options.device)) {
    auto module = ModuleOp::create(b, kernel.getLoc());
    OpBuilder inner = OpBuilder::atBlockEnd(module.getBody());
    auto clone = cast<func::FuncOp>(inner.clone(*kernel));
    clone.setPublic();
    for (NamedAttribute attribute :
         llvm::to_vector(clone->getDiscardableAttrs()))
      clone->removeDiscardableAttr(attribute.getName());
    kernels.emplace_back(module, kernel.getSymName().str());
    rounds.push_back(roundsToIntegers(kernel));
  }
  PassManager pm(context);
  LoweringOptions lowering;
  lowering.approximate = contractsFloats() && !options.plain;
  lowering.fma = hasInstructions(machine(), "fma");
  lowering.convertsF16 = hasInstructions(machine(), "f16c");
  lowering.features = machine().code.features;
  buildLoweringPipeline(pm.nest<ModuleOp>(), lowering);
  if (failed(pm.run(*all)))
    return failure();

  CompileKernelOptions compile;
  compile.optimize = optimizes() && !options.plain;
  compile.saveTemps = options.saveTemps;
  std::vector<KernelObject> objects(kernels.size() + 1);
  std::vector<std::string> errors(kernels.size());
  parallelFor(context, 0, kernels.size(), [&](size_t i) {
    CompileKernelOptions own = compile;
    own.contractFloats = contractsFloats() && !options.plain && !rounds[i];
    auto object =
        compileKernel(kernels[i].first, kernels[i].second, machine(), own);
    if (object)
      objects[i] = std::move(*object);
    else
      errors[i] = llvm::toString(object.takeError());
  });
  for (auto [i, error] : llvm::enumerate(errors))
    if (!error.empty())
      return emitError(kernels[i].first.getLoc()) << error;
  auto fail = [&](llvm::Error error) {
    llvm::handleAllErrors(std::move(error), [&](const llvm::StringError &e) {
      if (options.refused && e.convertToErrorCode() == std::errc::io_error)
        *options.refused = true;
      emitError(program.getLoc()) << e.getMessage();
    });
    return failure();
  };
  auto version = compileAbiVersion(machine());
  if (!version)
    return fail(version.takeError());
  objects.back() = std::move(*version);
  auto image = linkImage(objects, machine());
  if (!image)
    return fail(image.takeError());
  ProgramBinary binary;
  binary.format = machine().code.format;
  binary.deviceType = "cpu";
  binary.requiredFeatures = machine().code.features;
  binary.image = std::move(*image);
  for (auto [i, kernel] : llvm::enumerate(kernels))
    binary.codeBytes[kernel.second] = objects[i].codeBytes;
  return binary;
}
