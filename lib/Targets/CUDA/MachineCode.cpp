// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MachineCode.h"
#include "../LLVM/CompileEach.h"
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

static uint64_t spillsOf(Assembled &all, StringRef symbol) {
  return all.kernels[symbol].resources.spillBytes;
}

llvm::Expected<std::vector<CompiledKernel>>
MachineCodeWriter::writeAnew(const std::vector<CompiledKernel> &kernels,
                             const WriteWay &way) {
  std::vector<std::string> errors;
  std::vector<CompiledKernel> codes = compileSideBySide<CompiledKernel>(
      program.getContext(), kernels, errors, [&](const CompiledKernel &kernel) {
        return cuda::writeAnew(kernel, machine, way);
      });
  for (const std::string &error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  return codes;
}

/// Takes of `codes`, one for each of `spilling`, what spills less; whether
/// there is any.
llvm::Expected<bool>
MachineCodeWriter::tryOther(const Assembler &assembler, Kernels kernels,
                            llvm::MutableArrayRef<CompiledKernel> compiled,
                            llvm::ArrayRef<CompiledKernel> codes,
                            Spilling &spilling) {
  std::string alone;
  auto trial = assemble(assembler, codes, alone);
  if (!trial)
    return trial.takeError();
  bool isBetter = false;
  for (auto [of, code] : llvm::zip_equal(spilling, codes)) {
    auto &[i, bytes] = of;
    uint64_t now = spillsOf(*trial, kernels[i].symbol);
    if (now >= bytes)
      continue;
    bytes = now;
    compiled[i] = code;
    isBetter = true;
  }
  return isBetter;
}

/// Hot kernels that spill, once more in other ways, if that helps; the others
/// stay. All of them are assembled again at most once.
llvm::Error MachineCodeWriter::takeFewerRegisters(
    const Assembler &assembler, Kernels kernels,
    llvm::MutableArrayRef<CompiledKernel> compiled, std::string &text,
    Assembled &assembled) {
  // What wants more registers wants another strategy: ways save some bytes.
  const uint64_t most = options.mayTryAgain ? 256 : UINT64_MAX;
  Spilling spilling;
  std::vector<CompiledKernel> codes;
  for (auto [i, kernel] : llvm::enumerate(kernels))
    if (uint64_t bytes = spillsOf(assembled, kernel.symbol);
        bytes != 0 && bytes <= most && isHot(compiled[i])) {
      spilling.emplace_back(i, bytes);
      codes.push_back(compiled[i]);
    }
  bool isBetter = false;
  // Nothing is written anew for one block alone.
  struct Way {
    bool oneBlock;
    WriteWay own;
    bool keepsRegisters = false;
  };
  constexpr Way ways[] = {
      {true, {false, false, false}}, {true, {false, false, false}, true},
      {false, {true, false, false}}, {true, {true, false, false}},
      {false, {false, true, false}}, {true, {false, true, false}},
      {true, {false, false, true}},  {true, {true, false, true}}};
  auto key = [](const WriteWay &way) {
    return std::tuple(way.sinks, way.keepsAddresses, way.keepsLoops);
  };
  WriteWay last;
  for (const Way &way : ways) {
    if (spilling.empty())
      break;
    if (key(way.own) != key(last)) {
      auto made = writeAnew(codes, way.own);
      if (!made)
        return made.takeError();
      codes = std::move(*made);
    }
    last = way.own;
    std::vector<CompiledKernel> asked = codes;
    if (way.oneBlock)
      llvm::for_each(asked, askForOneBlock);
    if (way.keepsRegisters && llvm::count_if(asked, keepRegisters) == 0)
      continue;
    auto helps = tryOther(assembler, kernels, compiled, asked, spilling);
    if (!helps)
      return helps.takeError();
    isBetter |= *helps;
    Spilling left;
    std::vector<CompiledKernel> ofLeft;
    for (auto [of, code] : llvm::zip_equal(spilling, codes))
      if (of.second != 0) {
        left.push_back(of);
        ofLeft.push_back(std::move(code));
      }
    spilling = std::move(left);
    codes = std::move(ofLeft);
  }
  if (!isBetter)
    return llvm::Error::success();
  auto whole = assemble(assembler, compiled, text);
  if (!whole)
    return whole.takeError();
  assembled = std::move(*whole);
  return llvm::Error::success();
}

LogicalResult MachineCodeWriter::check(
    const cpu::LoweredKernels::Kernel &kernel, const CompiledKernel &compiled,
    const Assembler &assembler, const AssembledKernel &assembled) {
  ModuleOp module = kernel.module;
  const KernelResources &takes = assembled.resources;
  std::string by = "kernel " + kernel.symbol + " by " + assembler.version;
  if (!assembled.serialized.empty()) {
    if (options.triesAgain && options.triesAgain(module))
      return success();
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
