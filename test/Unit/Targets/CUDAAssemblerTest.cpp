// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is read of an assembler's words, and how many blocks a multiprocessor
// holds of kernels that take so much.

#include "Assembler.h"
#include "Occupancy.h"
#include "ashlar/Targets/CUDA/Targets.h"
#include "gtest/gtest.h"

using namespace ashlar;
using namespace ashlar::cuda;

namespace {

TEST(CUDAAssembler, ReadsResourcesOfEachKernel) {
  llvm::StringMap<AssembledKernel> kernels;
  readAssemblerLog(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k1' for 'sm_90a'
ptxas info    : Function properties for k1
    32 bytes stack frame, 28 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 32 bytes cumulative stack size, 8192 bytes smem, 420 bytes cmem[0]
ptxas info    : Compile time = 55.982 ms
ptxas info    : Compiling entry function 'k2' for 'sm_90a'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers
ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma instructions defining accumulator registers of a wgmma between start and end of the pipeline stage in the function 'k1'
)",
                   kernels);
  ASSERT_EQ(kernels.size(), 2u);
  const AssembledKernel &first = kernels["k1"], &second = kernels["k2"];
  EXPECT_EQ(first.resources.registers, 255u);
  EXPECT_EQ(first.resources.stackBytes, 32u);
  EXPECT_EQ(first.resources.spillBytes, 28u);
  EXPECT_EQ(first.resources.sharedBytes, 8192u);
  EXPECT_NE(first.serialized.find("(C7511)"), std::string::npos);
  EXPECT_EQ(second.resources.registers, 24u);
  EXPECT_EQ(second.resources.spillBytes, 0u);
  EXPECT_EQ(second.resources.sharedBytes, 0u);
  EXPECT_TRUE(second.serialized.empty());
}

MachineModel machineOf(llvm::StringRef preset) {
  return cudaTargetInfo().machineFor(preset);
}

struct Case {
  const char *preset;
  int64_t threads;
  uint64_t registers, shared, groups;
  double occupancy;
};

// By hand, from the sizes and units that the technical specifications state.
TEST(CUDAAssembler, BlocksOfAMultiprocessor) {
  const Case cases[] = {
      {"sm_80", 256, 32, 0, 8, 1.0},        // threads
      {"sm_80", 32, 16, 0, 32, 0.5},        // blocks
      {"sm_80", 256, 128, 0, 2, 0.25},      // registers
      {"sm_80", 256, 255, 0, 1, 0.125},     // registers, by 256 a warp
      {"sm_80", 96, 255, 0, 2, 0.09375},    // warps over four parts
      {"sm_80", 128, 32, 49152, 3, 0.1875}, // 49 KiB of 164
      {"sm_90a", 128, 32, 49152, 4, 0.25},  // 49 KiB of 228
      {"sm_90a", 384, 168, 230400, 1, 0.1875},
      {"sm_80", 1024, 80, 0, 0, 0.0}, // it cannot be launched
  };
  for (const Case &one : cases) {
    KernelResources resources;
    resources.registers = one.registers;
    resources.sharedBytes = one.shared;
    computeOccupancy(machineOf(one.preset), one.threads, resources);
    EXPECT_EQ(resources.groups, one.groups)
        << one.preset << " " << one.threads << " " << one.registers;
    EXPECT_DOUBLE_EQ(resources.occupancy, one.occupancy)
        << one.preset << " " << one.threads << " " << one.registers;
  }
}

TEST(CUDAAssembler, AMachineWithoutLimitsHasNoOccupancy) {
  MachineModel machine = machineOf("sm_80");
  machine.workers.residentGroups = 0;
  KernelResources resources;
  resources.registers = 32;
  computeOccupancy(machine, 256, resources);
  EXPECT_EQ(resources.groups, 0u);
  EXPECT_EQ(resources.occupancy, 0);
}

} // namespace
