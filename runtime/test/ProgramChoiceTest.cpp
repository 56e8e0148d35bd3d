// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of programs that the machine meets, the first of the same targets counts, and
// of these the fastest is taken. The log says why.

#include "Loaded.h"

#include <cstring>

using namespace ashlar::test;

namespace {

class ProgramChoice : public RuntimeTest {
protected:
  /// The sample with a program before it that asks for something else.
  ModuleBuilder alternatives(const char *device, const char *feature) {
    ModuleBuilder b = sampleModule();
    auto first = std::make_unique<ashlar::fb::ProgramT>(*b.module.programs[0]);
    first->preset = "first";
    first->device_type = device;
    first->required_features = {feature};
    b.module.programs.insert(b.module.programs.begin(), std::move(first));
    return b;
  }
  ashlar_status_t loadFor(ModuleBuilder builder,
                          std::vector<const char *> devices, bool strict) {
    bytes = std::make_unique<ModuleBytes>(builder.build());
    ashlar_load_options_t options = trusting();
    options.devices = devices.data();
    options.device_count = devices.size();
    options.placement =
        strict ? ASHLAR_PLACEMENT_STRICT : ASHLAR_PLACEMENT_SOFT;
    return ashlar_module_load_memory(runtime, bytes->data(), bytes->size(),
                                     &options, &module);
  }
  ashlar_module_info_t info() {
    ashlar_module_info_t result = ASHLAR_MODULE_INFO_INIT;
    EXPECT_CODE(ASHLAR_OK, ashlar_module_query(module, &result));
    return result;
  }
};

TEST_F(ProgramChoice, SkipsMissingInstructionSets) {
  ASSERT_OK(loadFor(alternatives("cpu", "avx9999"), {}, true));
  EXPECT_STREQ(info().preset, "test");
  EXPECT_NE(std::strstr(info().placement_log,
                        "program cpu:first: not taken, cpu:0 lacks avx9999"),
            nullptr)
      << info().placement_log;
  EXPECT_EQ(info().program_count, 2u);
}

TEST_F(ProgramChoice, TakesTheFirstThatFits) {
#if defined(__x86_64__)
  ASSERT_OK(loadFor(alternatives("cpu", "sse2"), {}, true));
  EXPECT_STREQ(info().preset, "first");
#endif
}

/// The sample, 2,000 ns, behind a program of another target.
static ModuleBuilder slowerFirst(uint64_t predicted) {
  ModuleBuilder b = sampleModule();
  b.module.programs[0]->predicted_ns = 2000;
  auto first = std::make_unique<ashlar::fb::ProgramT>(*b.module.programs[0]);
  first->target = "other";
  first->preset = "first";
  first->predicted_ns = predicted;
  b.module.programs.insert(b.module.programs.begin(), std::move(first));
  return b;
}

TEST_F(ProgramChoice, TakesTheFastestOfSeveralTargets) {
  ASSERT_OK(loadFor(slowerFirst(3000), {}, true));
  EXPECT_STREQ(info().preset, "test");
  EXPECT_NE(std::strstr(info().placement_log,
                        "program other:first: not taken, slower, predicted 3 "
                        "us\nprogram cpu:test: taken, on cpu:0, predicted 2 "
                        "us\n"),
            nullptr)
      << info().placement_log;
}

TEST_F(ProgramChoice, TakesTheFastestOnADeviceAskedFor) {
  ASSERT_OK(loadFor(slowerFirst(3000), {"cpu:0"}, true));
  EXPECT_STREQ(info().preset, "test");
}

TEST_F(ProgramChoice, TakesTheFirstWhereOneIsNotPredicted) {
  ASSERT_OK(loadFor(slowerFirst(0), {}, true));
  EXPECT_STREQ(info().preset, "first");
  EXPECT_NE(std::strstr(info().placement_log,
                        "program cpu:test: not taken, an earlier one runs"),
            nullptr)
      << info().placement_log;
}

TEST_F(ProgramChoice, TakesTheFirstVariantOfOneTarget) {
  ModuleBuilder b = alternatives("cpu", "");
  b.module.programs[0]->required_features.clear();
  b.module.programs[0]->predicted_ns = 3000;
  b.module.programs[1]->predicted_ns = 2000;
  ASSERT_OK(loadFor(std::move(b), {}, true));
  EXPECT_STREQ(info().preset, "first");
}

TEST_F(ProgramChoice, SkipsDevicesThatAreNotThere) {
  ASSERT_OK(loadFor(alternatives("warp-drive", ""), {}, true));
  EXPECT_STREQ(info().preset, "test");
  EXPECT_NE(std::strstr(info().placement_log, "no device warp-drive"), nullptr);
}

TEST_F(ProgramChoice, ErrorsOfferOnlyDevicesThatCompute) {
  ashlar_device_t *device = nullptr;
  ashlar_status_t status = ashlar_device_open(runtime, "cpu:7", &device);
  EXPECT_EQ(status.code, ASHLAR_NOT_FOUND);
  EXPECT_STREQ(status.message, "no device cpu:7; there are cpu:0, "
                               "systolic:0");
  ASSERT_OK(ashlar_device_open(runtime, "null", &device));
}

TEST_F(ProgramChoice, StrictPlacementIsAnError) {
  ashlar_status_t status = loadFor(sampleModule(), {"null:0", "cpu:0"}, true);
  EXPECT_EQ(status.code, ASHLAR_UNSUPPORTED);
  EXPECT_NE(std::strstr(status.message, "null:0: no program is for it"),
            nullptr)
      << status.message;
}

TEST_F(ProgramChoice, SoftPlacementFallsBackAndCounts) {
  ASSERT_OK(loadFor(sampleModule(), {"cuda:7", "null:0"}, false));
  EXPECT_STREQ(info().device, "cpu:0");
  EXPECT_EQ(info().fallbacks, 2u);
}

TEST_F(ProgramChoice, ForeignCodeIsUnsupported) {
  ModuleBuilder b = sampleModule();
  b.program().executables[0]->format = "elf-riscv64";
  ashlar_status_t status = loadFor(std::move(b), {}, true);
  EXPECT_EQ(status.code, ASHLAR_UNSUPPORTED);
  EXPECT_NE(std::strstr(status.message, "does not run elf-riscv64"), nullptr);
}

TEST_F(ProgramChoice, RunsOnADeviceWithMemoryOfItsOwn) {
  ModuleBuilder b = sampleModule();
  b.program().device_type = "null";
  b.program().executables[0]->format = "null";
  ASSERT_OK(loadFor(std::move(b), {"null"}, true));
  EXPECT_STREQ(info().device, "null:0");
  start();
  SampleArguments a;
  // Kernels of the null device compute nothing; everything else happens.
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
  ASSERT_OK(ashlar_session_query(session, &statistics));
  EXPECT_EQ(statistics.staged_tensors, 3u);
}

TEST_F(ProgramChoice, FeaturesHaveLlvmNames) {
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_device_open(runtime, "cpu:0", &device));
#if defined(__x86_64__)
  EXPECT_NE(std::strstr(ashlar_device_features(device), "sse2"), nullptr);
  auto has = [&](const char *name) {
    return std::strstr(ashlar_device_features(device), name) != nullptr;
  };
  EXPECT_EQ(has("avx2"), bool(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(has("avx512f"), bool(__builtin_cpu_supports("avx512f")));
  EXPECT_EQ(has("avx512bf16"), bool(__builtin_cpu_supports("avx512bf16")));
#endif
}

} // namespace
