// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MachineCode.h"
#include "../LLVM/KeptInMemory.h"
#include "../LLVM/LLVMModule.h"
#include "Occupancy.h"
#include "ashlar/Support/Remarks.h"

using namespace mlir;
using namespace ashlar;
using namespace ashlar::cuda;

static bool isHot(const CompiledKernel &kernel) {
  return StringRef(kernel.text).contains("mma.sync") ||
         StringRef(kernel.text).contains("wgmma.mma_async");
}

LogicalResult MachineCodeWriter::refuse(llvm::Error error) {
  if (options.refused)
    *options.refused = true;
  return emitError(program.getLoc()) << llvm::toString(std::move(error));
}

llvm::Expected<Assembled>
MachineCodeWriter::assemble(const Assembler &assembler,
                            ArrayRef<CompiledKernel> compiled,
                            std::string &text) {
  auto joined = joinModules(compiled, machine);
  if (!joined)
    return joined.takeError();
  text = std::move(*joined);
  return assembler.assemble(text, machine.code.processor, write.hasLines);
}

/// Hot kernels that spill, once more with values computed where they are used,
/// if that helps; the others stay.
llvm::Error MachineCodeWriter::takeFewerRegisters(
    const Assembler &assembler, Kernels kernels,
    llvm::MutableArrayRef<CompiledKernel> compiled, std::string &text,
    Assembled &assembled) {
  WriteOptions sinking = write;
  sinking.sinks = true;
  sinking.saveTemps.clear();
  SmallVector<std::pair<size_t, CompiledKernel>> before;
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    if (!isHot(compiled[i]) ||
        assembled.kernels[kernel.symbol].resources.spillBytes == 0)
      continue;
    auto code = compileKernel(kernel, machine, sinking);
    if (!code)
      return code.takeError();
    before.emplace_back(i, std::move(compiled[i]));
    compiled[i] = std::move(*code);
  }
  if (before.empty())
    return llvm::Error::success();
  auto trial = assemble(assembler, compiled, text);
  if (!trial)
    return trial.takeError();
  bool isWorse = false;
  for (auto &[i, code] : before) {
    StringRef symbol = kernels[i].symbol;
    if (trial->kernels[symbol].resources.spillBytes <
        assembled.kernels[symbol].resources.spillBytes)
      continue;
    compiled[i] = std::move(code);
    isWorse = true;
  }
  if (isWorse)
    trial = assemble(assembler, compiled, text);
  if (!trial)
    return trial.takeError();
  assembled = std::move(*trial);
  return llvm::Error::success();
}

LogicalResult MachineCodeWriter::check(
    const cpu::LoweredKernels::Kernel &kernel, const CompiledKernel &compiled,
    const Assembler &assembler, const AssembledKernel &assembled) {
  ModuleOp module = kernel.module;
  const KernelResources &takes = assembled.resources;
  std::string by = "kernel " + kernel.symbol + " by " + assembler.version;
  if (!assembled.serialized.empty()) {
    if (options.refused)
      *options.refused = true;
    return emitError(module.getLoc())
           << by << ": expected steps of its matrix unit that overlap, found "
           << assembled.serialized
           << "; another strategy (--tuning) may do, or leave the code to the "
              "driver: --assembler=none";
  }
  if (takes.spillBytes == 0)
    return success();
  std::string spills = std::to_string(takes.spillBytes) +
                       " bytes of a thread are kept in memory for want of "
                       "registers, of which it has " +
                       std::to_string(takes.registers);
  return sayKeptInMemory(module, by, spills, isHot(compiled), options);
}

LogicalResult
MachineCodeWriter::run(Kernels kernels,
                       llvm::MutableArrayRef<CompiledKernel> compiled,
                       ProgramBinary &binary) {
  auto found = Assembler::find(options.assembler);
  if (!found)
    return refuse(found.takeError());
  const std::string &processor = machine.code.processor;
  if (!*found) {
    auto text = joinModules(compiled, machine);
    if (!text)
      return emitError(program.getLoc()) << llvm::toString(text.takeError());
    remark::missed(program.getLoc(), about(program, "MachineCode", "code"))
        << "PTX alone for " << processor
        << ", which the driver compiles at load: no assembler is asked "
           "(--assembler)";
    binary.image = std::move(*text);
    saveBytes(options.saveTemps, "kernels.ptx", binary.image);
    for (auto [kernel, code] : llvm::zip_equal(kernels, compiled))
      binary.codeBytes[kernel.symbol] = code.text.size();
    return success();
  }
  const Assembler &assembler = **found;
  std::string text;
  auto assembled = assemble(assembler, compiled, text);
  if (!assembled)
    return refuse(assembled.takeError());
  if (llvm::Error error =
          takeFewerRegisters(assembler, kernels, compiled, text, *assembled))
    return refuse(std::move(error));
  saveBytes(options.saveTemps, "kernels.ptx", text);
  saveBytes(options.saveTemps, "kernels.cubin", assembled->image);
  bool isSound = true;
  for (auto [kernel, code] : llvm::zip_equal(kernels, compiled)) {
    AssembledKernel &own = assembled->kernels[kernel.symbol];
    own.resources.sharedBytes += code.sharedBytes;
    computeOccupancy(machine, kernel.threads, own.resources);
    binary.resources[kernel.symbol] = own.resources;
    binary.codeBytes[kernel.symbol] = own.codeBytes;
    isSound &= succeeded(check(kernel, code, assembler, own));
  }
  binary.otherForms.push_back({binary.format, std::move(text)});
  binary.format = "cubin-" + processor;
  binary.image = std::move(assembled->image);
  binary.madeBy = assembler.version;
  remark::passed(program.getLoc(), about(program, "MachineCode", "code"))
      << "machine code for " << processor << " by " << assembler.version;
  return success(isSound);
}
