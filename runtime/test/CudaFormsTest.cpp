// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that hold machine code beside PTX: the driver is given the one that
// the device takes, or PTX where it is too old for the other. Of programs for
// several chips that which suits the device is taken. Runs with the double as
// its driver, which runs PTX in place of machine code.

#include "Loaded.h"
#include "NeedsCuda.h"
#include "ashlar/runtime/gpu_abi.h"
#include "cuda/FindDouble.h"

using namespace ashlar::test;

namespace {

void put(std::vector<uint8_t> &to, size_t at, uint64_t value, size_t bytes) {
  to.resize(std::max(to.size(), at + bytes));
  for (size_t i = 0; i < bytes; ++i)
    to[at + i] = uint8_t(value >> (8 * i));
}

/// An ELF file that says of each kernel of the program how many parameters it
/// takes, for a chip (as ptxas 12 writes its flags), and holds nothing else.
std::vector<uint8_t> cubinOf(const ashlar::fb::ProgramT &program,
                             uint32_t flags) {
  constexpr size_t header = 64, sectionHeader = 64;
  std::vector<uint8_t> image(header);
  std::string names(1, '\0');
  struct Section {
    size_t name, offset, size;
  };
  std::vector<Section> sections = {{0, 0, 0}};
  for (const auto &kernel : program.kernels) {
    Section one = {names.size(), image.size(), 0};
    names += ".nv.info." + kernel->symbol + '\0';
    const uint32_t count =
        ASHLAR_GPU_PARAMETERS(kernel->bindings, kernel->parameters);
    put(image, image.size(), 0x00103702, 4); // a value in itself
    for (uint32_t i = 0; i < count; ++i) {
      put(image, image.size(), 0x000c1704, 4); // 12 bytes of a parameter
      put(image, image.size(), i, 8);
      put(image, image.size(), 0, 4);
    }
    one.size = image.size() - one.offset;
    sections.push_back(one);
  }
  sections.push_back({0, image.size(), names.size()});
  image.insert(image.end(), names.begin(), names.end());
  image.resize((image.size() + 7) / 8 * 8);
  const size_t headers = image.size();
  for (const Section &one : sections) {
    size_t at = image.size();
    put(image, at, one.name, 4);
    put(image, at + 0x18, one.offset, 8);
    put(image, at + 0x20, one.size, 8);
    image.resize(at + sectionHeader);
  }
  const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 51, 7};
  std::copy(std::begin(magic), std::end(magic), image.begin());
  put(image, 0x12, 190, 2);
  put(image, 0x28, headers, 8);
  put(image, 0x30, flags, 4);
  put(image, 0x3a, sectionHeader, 2);
  put(image, 0x3c, sections.size(), 2);
  put(image, 0x3e, sections.size() - 1, 2);
  return image;
}

class CudaForms : public RuntimeTest {
protected:
  void SetUp() override {
    if (std::string why = whyNoCuda(); !why.empty())
      GTEST_SKIP() << why;
    driver = findDouble();
    if (!driver)
      GTEST_SKIP() << noDouble;
    driver->isMisuseFailure = true;
    misusesBefore = driver->misuses;
    std::vector<uint8_t> ptx = cudaKernels();
    source.assign(ptx.begin(), ptx.end());
    RuntimeTest::SetUp();
  }
  void TearDown() override {
    RuntimeTest::TearDown();
    if (!driver)
      return;
    driver->sourceOfCode = nullptr;
    EXPECT_EQ(driver->misuses, misusesBefore);
    expectNothingAlive(*driver);
  }

  /// The sample as PTX, and as machine code in front of it. The double's
  /// device is of 8.0.
  ModuleBuilder withCode(const char *format, uint32_t flags) {
    ModuleBuilder b = sampleModule();
    EXPECT_TRUE(b.useCuda());
    auto ptx = std::make_unique<ashlar::fb::ExecutableT>();
    ptx->format = ASHLAR_PTX_FORMAT;
    ptx->section = b.program().executables[0]->section;
    ptx->variant_of = 1;
    std::vector<uint8_t> code = cubinOf(b.program(), flags);
    codeBytes = std::max<uint64_t>(code.size(), source.size());
    b.program().executables[0]->format = format;
    b.program().executables[0]->section =
        b.addSection(ashlar::fb::SectionKind::Code, std::move(code));
    b.program().executables.push_back(std::move(ptx));
    b.program().required_features = {ASHLAR_MODULE_FORMAT_1_1};
    return b;
  }
  void runSample() {
    start(1);
    SampleArguments a(sampleCount);
    ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
    a.expectResult();
  }
  void expectCorrupt(ModuleBuilder &b, const char *text) {
    ModuleBytes built = b.build();
    ashlar_load_options_t options = trusting();
    const char *devices[] = {"cuda:0"};
    options.devices = devices;
    options.device_count = 1;
    expectSays(ashlar_module_load_memory(runtime, built.data(), built.size(),
                                         &options, &module),
               ASHLAR_CORRUPT, text);
  }
  uint64_t loads() { return driver->codeLoads; }

  CudaDouble *driver = nullptr;
  std::string source;
  uint64_t codeBytes = 0, misusesBefore = 0;
};

TEST_F(CudaForms, MachineCodeOfTheChipIsLoaded) {
  driver->sourceOfCode = source.c_str();
  const uint64_t before = loads();
  loadOn("cuda:0", withCode("cubin-sm_80", 0x500550));
  EXPECT_EQ(loads(), before + 1);
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_EQ(info.code_bytes, codeBytes);
  runSample();
}

TEST_F(CudaForms, AnOlderDriverIsGivenPtx) {
  std::string log;
  ashlar_runtime_release(runtime);
  ashlar_runtime_options_t options = ASHLAR_RUNTIME_OPTIONS_INIT;
  ashlar_logger_t logger = {};
  logger.level = ASHLAR_LOG_WARNING;
  logger.context = &log;
  logger.log = [](void *context, uint32_t, const char *, const char *text) {
    *static_cast<std::string *>(context) += std::string(text) + "\n";
  };
  options.logger = &logger;
  ASSERT_OK(ashlar_runtime_create(&options, &runtime));
  const uint64_t before = loads();
  loadOn("cuda:0", withCode("cubin-sm_80", 0x500550));
  EXPECT_EQ(loads(), before);
  EXPECT_NE(log.find("cubin-sm_80: not taken, cuModuleLoadDataEx failed with "
                     "CUDA_ERROR_NO_BINARY_FOR_GPU"),
            std::string::npos)
      << log;
  EXPECT_NE(log.find("going on with ptx"), std::string::npos) << log;
  runSample();
}

TEST_F(CudaForms, MachineCodeOfOtherChipsIsNotTried) {
  driver->sourceOfCode = source.c_str();
  const uint64_t before = loads();
  loadOn("cuda:0", withCode("cubin-sm_90a", 0x5a0d5a));
  EXPECT_EQ(loads(), before);
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_EQ(info.code_bytes, source.size());
  runSample();
}

TEST_F(CudaForms, WhatLacksAKernelIsRefused) {
  driver->sourceOfCode = source.c_str();
  ModuleBuilder b = withCode("cubin-sm_80", 0x500550);
  b.program().kernels[0]->symbol += "_";
  expectCorrupt(b, "the code lacks the kernel ");
}

TEST_F(CudaForms, ParametersOfMachineCodeAreCounted) {
  driver->sourceOfCode = source.c_str();
  ModuleBuilder b = withCode("cubin-sm_80", 0x500550);
  ++b.program().kernels[0]->bindings;
  std::vector<uint8_t> code = cubinOf(b.program(), 0x500550);
  --b.program().kernels[0]->bindings;
  const uint32_t section = b.program().executables[0]->section;
  b.module.sections[section]->size = code.size();
  b.sectionBytes[section] = std::move(code);
  expectCorrupt(b, " parameters; expected ");
}

TEST_F(CudaForms, TheProgramThatSuitsTheChipIsTaken) {
  ModuleBuilder b = sampleModule();
  ASSERT_TRUE(b.useCuda());
  b.program().preset = "old";
  b.program().required_features = {"sm_70"};
  for (const char *feature : {"sm_80", "sm_75", "sm_90a"}) {
    auto other = std::make_unique<ashlar::fb::ProgramT>(b.program());
    other->preset = feature;
    other->required_features = {feature};
    b.module.programs.push_back(std::move(other));
  }
  loadOn("cuda:0", std::move(b));
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_STREQ(info.preset, "sm_80");
  EXPECT_NE(std::strstr(info.placement_log,
                        "program cuda:old: not taken, program cuda:sm_80 suits "
                        "cuda:0"),
            nullptr)
      << info.placement_log;
  EXPECT_NE(std::strstr(info.placement_log, "lacks sm_90a"), nullptr)
      << info.placement_log;
}

TEST_F(CudaForms, WhereNoProgramIsForTheChipTheErrorListsThem) {
  ModuleBuilder b = sampleModule();
  ASSERT_TRUE(b.useCuda());
  b.program().preset = "sm_90a";
  b.program().required_features = {"sm_90a"};
  auto other = std::make_unique<ashlar::fb::ProgramT>(b.program());
  other->preset = "sm_86";
  other->required_features = {"sm_86"};
  b.module.programs.push_back(std::move(other));
  ModuleBytes built = b.build();
  ashlar_load_options_t options = trusting();
  const char *devices[] = {"cuda:0"};
  options.devices = devices;
  options.device_count = 1;
  ashlar_status_t status = ashlar_module_load_memory(
      runtime, built.data(), built.size(), &options, &module);
  expectSays(status, ASHLAR_UNSUPPORTED,
             "program cuda:sm_90a: not taken, cuda:0 lacks sm_90a");
  expectSays(status, ASHLAR_UNSUPPORTED, "program cuda:sm_86: not taken");
}

} // namespace
