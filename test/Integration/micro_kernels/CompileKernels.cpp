// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// compile-kernels IN.mlir IMAGE.so PRESET PIPELINE
//
// Compiles functions on memrefs, as they are between the stages fuse and tile,
// to one image for a preset of the target cpu: PIPELINE first, in which VECTORS
// stands for the bytes of the preset's registers. Prints a line for each: its
// name, groups and bytes of scratch.
//
// compile-kernels PRESET prints the bytes and the number of its registers.
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/InitAll.h"
#include "ashlar/Targets/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ashlar;

static std::unique_ptr<Target> createTarget(StringRef preset) {
  for (const TargetInfo &info : allTargets())
    if (info.name == "cpu" && llvm::is_contained(info.presets, preset))
      return info.create(info.machineFor(preset));
  return nullptr;
}

static int fail(const Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 5 && argc != 2)
    return fail("expected IN.mlir IMAGE.so PRESET PIPELINE, or PRESET");
  StringRef preset = argv[argc == 5 ? 3 : 1];
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  MLIRContext context(registry);
  std::unique_ptr<Target> target = createTarget(preset);
  if (!target)
    return fail("the target cpu has no preset " + preset);
  if (argc == 2) {
    llvm::outs() << target->machine().vectors.bytes << " "
                 << target->machine().vectors.count << "\n";
    return 0;
  }
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(argv[1], ParserConfig(&context));
  if (!module)
    return 1;
  std::string pipeline = argv[4];
  std::string bytes = std::to_string(target->machine().vectors.bytes);
  for (size_t at; (at = pipeline.find("VECTORS")) != std::string::npos;)
    pipeline.replace(at, strlen("VECTORS"), bytes);
  PassManager passes(&context);
  if (failed(parsePassPipeline(pipeline, passes)) ||
      failed(passes.run(*module)))
    return 1;
  for (auto kernel : module->getOps<exec::KernelOp>()) {
    exec::SizeAttr groups = kernel.getGroups();
    std::optional<uint64_t> scratch = kernel.getScratchBytes();
    if (!groups || !scratch)
      return fail(kernel.getSymName() + " has no groups; the pipeline must "
                                        "contain ashlar-form-groups");
    llvm::outs() << kernel.getSymName() << " " << groups.getConstant() << " "
                 << *scratch << "\n";
  }
  FailureOr<ProgramBinary> binary = target->emit(*module, {});
  if (failed(binary))
    return 1;
  std::error_code code;
  llvm::raw_fd_ostream out(argv[2], code);
  if (code)
    return fail(code.message());
  out << binary->image;
  return 0;
}
