// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ashlar/Targets/CPU/Targets.h"
#include "Machines.h"
#include "ashlar/Targets/CPU/CPUTarget.h"

using namespace ashlar;
using namespace ashlar::cpu;

TargetInfo ashlar::cpu::cpuTargetInfo() {
  return {"cpu",
          presets(),
          machineFor,
          checkCPUMachine,
          [](MachineModel machine) -> std::unique_ptr<Target> {
            return std::make_unique<CPUTarget>(std::move(machine));
          },
          /*isHost=*/true,
          /*objectPreset=*/"riscv64"};
}
