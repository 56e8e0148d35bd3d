// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IdleDevices.h"
#include "ashlar/Dialects/Exec/IR/ExecOps.h"
#include "ashlar/Support/Remarks.h"

using namespace mlir;
using namespace ashlar;

/// Of a piece, by number.
static ModuleOp programAt(ModuleOp module, size_t number) {
  return *std::next(module.getOps<ModuleOp>().begin(), ptrdiff_t(number));
}

static bool isUsed(ModuleOp program, unsigned device) {
  return llvm::any_of(
      program.getOps<exec::KernelOp>(),
      [&](exec::KernelOp kernel) { return kernel.getDevice() == device; });
}

static void dropLast(ModuleOp program, ProgramBinary &binary) {
  Builder b(program.getContext());
  auto names = program->getAttrOfType<ArrayAttr>(exec::companionsAttrName);
  auto name = cast<exec::TargetAttr>(names.getValue().back());
  auto line =
      remark::missed(program.getLoc(), about(program, "Device", "place"));
  std::string target = name.getName().str();
  if (!name.getPreset().empty())
    target += ":" + name.getPreset().str();
  line << remark::metric("Target", target)
       << " is left out of the program: nothing was placed there";
  binary.companions.pop_back();
  if (binary.companions.empty())
    program->removeAttr(exec::companionsAttrName);
  else
    program->setAttr(exec::companionsAttrName,
                     b.getArrayAttr(names.getValue().drop_back()));
  for (auto entry : program.getOps<exec::ProgramOp>()) {
    ArrayRef<int64_t> arenas = *entry.getCompanionArenas();
    if (binary.companions.empty())
      entry.removeCompanionArenasAttr();
    else
      entry.setCompanionArenasAttr(b.getDenseI64ArrayAttr(arenas.drop_back(2)));
  }
}

void ashlar::dropIdleDevices(const CompileOptions &options,
                             ArrayRef<CompiledPiece> pieces) {
  std::vector<ProgramBinary> &first = pieces.front().binaries;
  for (size_t i = 0; i != first.size() && i < options.targets.size(); ++i) {
    if (options.targets[i].companions.size() != first[i].companions.size())
      continue;
    while (!first[i].companions.empty() &&
           llvm::none_of(pieces, [&](const CompiledPiece &piece) {
             return isUsed(programAt(piece.module, i),
                           unsigned(first[i].companions.size()));
           }))
      for (const CompiledPiece &piece : pieces)
        dropLast(programAt(piece.module, i), piece.binaries[i]);
  }
}
