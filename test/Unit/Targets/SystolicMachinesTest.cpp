// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SystolicMachines.h"
#include "Machines.h"
#include "ashlar/Machine/MachineFile.h"
#include <gtest/gtest.h>

using namespace ashlar;

namespace {
TEST(SystolicMachines, EveryPresetIsReadAndAccepted) {
  for (const std::string &preset : systolic::presets()) {
    MachineModel machine = systolic::machineFor(preset);
    EXPECT_EQ(machine.name, preset);
    EXPECT_EQ(machine.target, "systolic");
    EXPECT_EQ(systolic::checkSystolicMachine(machine), "") << preset;
    EXPECT_EQ(systolic::checkMachine(systolic::streamMachine(machine)), "")
        << preset;
    auto again = parseMachine(printMachine(machine));
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    EXPECT_EQ(machineDigest(*again), machineDigest(machine));
  }
}

// The simulator's own tests run on the same figures.
TEST(SystolicMachines, StreamsSayWhatTheFilesSay) {
  for (const ashlar_systolic_machine_t &expected :
       {systolic::tpu128(), systolic::gemmini(), systolic::gemminiWS()}) {
    auto found = systolic::streamMachine(systolic::machineFor(expected.name));
    EXPECT_EQ(std::memcmp(&found, &expected, sizeof(found)), 0)
        << expected.name;
  }
}

TEST(SystolicMachines, AMachineMustHoldOneTile) {
  auto errorAfter = [](void (*change)(MachineModel &)) {
    MachineModel machine = systolic::machineFor("tpu-128");
    change(machine);
    return systolic::checkSystolicMachine(machine);
  };
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.memories[1].bytes = 65280; }),
            "memories 'scratchpad'.bytes: cannot hold one tile; expected at "
            "least 65536, found 65280");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.memories[0].bytes = 512; }),
            "memories 'accumulator'.bytes: cannot hold one tile; expected at "
            "least 65536, found 512");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.memories[0].lineBytes = 256; }),
            "memories 'accumulator'.line_bytes: expected a row of the array, "
            "512, found 256");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.memories[1].banks = 7; }),
            "memories 'scratchpad'.banks: expected as many rows in each, found "
            "7 banks for 12582912 bytes");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.units[0].k = 64; }),
            "units 'array': expected one row of a square of at most 1024, "
            "found 1 x 128 x 64");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.units.resize(1); }),
            "units: expected 'array-sums' where systolic.weights_stay is "
            "false, and nowhere else");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.systolic->extended = false; }),
            "units: expected 'vector-unit' where systolic.extended is true, "
            "and nowhere else");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.workers.count = 5; }),
            "workers.count: expected at most 4 arrays, found 5");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.systolic.reset(); }),
            "systolic: is missing; expected an object");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.systolic->commandRows = 127; }),
            "systolic.command_rows: expected 128 to 65535, found 127");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.systolic->arraySumBits = 33; }),
            "systolic.array_sum_bits: expected at most 32, found 33");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.systolic->leastDepth = 129; }),
            "systolic.least_depth: expected at most 128, found 129");
  EXPECT_EQ(
      errorAfter([](MachineModel &m) { m.systolic->requestsInFlight = 16; }),
      "systolic.request_bytes: expected a power of two of 64 to 65536, "
      "found 0");
  EXPECT_EQ(errorAfter([](MachineModel &m) { m.code.format = "elf"; }),
            "code.format: expected 'systolic', found 'elf'");
}
} // namespace
