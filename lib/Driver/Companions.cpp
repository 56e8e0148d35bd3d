// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Companions.h"
#include "ashlar/Emit/MemoryNeeds.h"

using namespace mlir;
using namespace ashlar;

JoiningDevices ashlar::joiningDevices(const Target &target) {
  JoiningDevices joining;
  for (auto [i, companion] : llvm::enumerate(target.companions))
    if (companion->capabilities().joinsKernels) {
      joining.devices.push_back(int64_t(i) + 1);
      joining.chipBytes =
          std::max(joining.chipBytes, companion->machine().managedBytes());
    }
  return joining;
}

FailureOr<ProgramBinary> ashlar::emitDevices(Target &target, ModuleOp program,
                                             EmitOptions options) {
  FailureOr<ProgramBinary> binary = target.emit(program, options);
  if (failed(binary))
    return failure();
  binary->machine = target.machine();
  for (auto &companion : target.companions) {
    ++options.device;
    FailureOr<ProgramBinary> other = companion->emit(program, options);
    if (failed(other))
      return failure();
    other->machine = companion->machine();
    binary->companions.push_back(std::move(*other));
  }
  return binary;
}

bool ashlar::fitDevices(ModuleOp module, ArrayRef<ProgramBinary> binaries,
                        llvm::raw_ostream &log) {
  if (llvm::all_of(binaries, [](const ProgramBinary &binary) {
        return binary.companions.empty();
      }))
    return true;
  for (auto [binary, needed] :
       llvm::zip(binaries, measureMemory(module, binaries)))
    for (auto [device, bytes] :
         llvm::zip_equal(binary.companions, needed.companions)) {
      auto has = uint64_t(device.machine.memories.back().bytes);
      if (has == 0 || bytes.weights + bytes.arena <= has)
        continue;
      log << "error: " << device.machine.target << ":" << device.machine.name
          << ": its memory of " << has << " bytes cannot hold " << bytes.weights
          << " bytes of weights and " << bytes.arena
          << " of an arena; expected a machine with more (--machine), or a "
             "smaller model\n";
      return false;
    }
  return true;
}
