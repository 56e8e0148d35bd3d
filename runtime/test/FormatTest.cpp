// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What format-1.1 added: a home, orders, variants, workgroups and arguments of
// kernels. Numbers of programs that have them, refusals of those that
// contradict themselves.

#include "ProductTest.h"

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

class Format : public ProductTest {
protected:
  template <typename Change>
  void refused(const char *why, ModuleBuilder builder, Change change) {
    change(builder);
    expectCorrupt(std::move(builder), "", why);
  }
};

fb::DispatchT &dispatchOf(ModuleBuilder &b) {
  return *b.programEntry().commands[0].AsDispatch();
}

TEST_F(Format, InputsAndOutputsAreAtHome) {
  load(awayModule());
  ashlar_module_info_t info = ASHLAR_MODULE_INFO_INIT;
  ASSERT_OK(ashlar_module_query(module, &info));
  EXPECT_STREQ(info.device, "systolic:0");
  for (uint32_t threads : {1u, 2u}) {
    start(threads);
    runShared();
    ashlar_session_release(session);
    session = nullptr;
  }
}

TEST_F(Format, OneDeviceGoesOnBehindAnother) {
  load(orderedModule());
  start();
  runShared();
}

TEST_F(Format, TheFirstFormThatTheDeviceAcceptsIsLoaded) {
  ModuleBuilder b = sampleModule();
  b.program().required_features.push_back(ASHLAR_MODULE_FORMAT_1_1);
  auto &executables = b.program().executables;
  uint32_t wrong = b.addSection(fb::SectionKind::Code, {1, 2, 3});
  for (int i = 0; i < 2; ++i) {
    executables.push_back(
        std::make_unique<fb::ExecutableT>(*executables.front()));
    executables.back()->variant_of = 1;
  }
  executables[0]->format = executables[1]->format = "imaginary";
  executables[0]->section = executables[1]->section = wrong;
  load(std::move(b));
  start();
  SampleArguments a;
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  a.expectResult();
}

TEST_F(Format, AModuleWithoutAFormThatRunsIsNotTaken) {
  ModuleBuilder b = sampleModule();
  b.program().executables[0]->format = "imaginary";
  bytes = std::make_unique<ModuleBytes>(b.build());
  ashlar_load_options_t options = trusting();
  ashlar_status_t status = ashlar_module_load_memory(
      runtime, bytes->data(), bytes->size(), &options, &module);
  EXPECT_EQ(status.code, ASHLAR_UNSUPPORTED);
  EXPECT_NE(std::strstr(status.message, "cpu:0 does not run imaginary"),
            nullptr)
      << status.message;
}

TEST_F(Format, AKernelThatTheDeviceCannotCallIsUnsupported) {
  auto message = [&](ModuleBuilder b) -> std::string {
    bytes = std::make_unique<ModuleBytes>(b.build());
    ashlar_load_options_t options = trusting();
    ashlar_status_t status = ashlar_module_load_memory(
        runtime, bytes->data(), bytes->size(), &options, &module);
    EXPECT_EQ(status.code, ASHLAR_UNSUPPORTED);
    return status.message;
  };
  EXPECT_NE(message(mappedModule()).find("takes tensor maps, which cpu:0 does"),
            std::string::npos);
  ModuleBuilder b = mappedModule();
  b.program().kernels[0]->arguments.clear();
  EXPECT_NE(message(std::move(b)).find("workgroups"), std::string::npos);
}

TEST_F(Format, WhatOlderRuntimesMustNotPassOverIsRequired) {
  auto forget = [](ModuleBuilder &b) { b.program().required_features.clear(); };
  refused("needs the feature format-1.1", awayModule(), forget);
  refused("needs the feature format-1.1", orderedModule(), forget);
  refused("needs the feature format-1.1", mappedModule(), forget);
  refused("needs the feature format-1.1", sampleModule(), [](auto &b) {
    b.program().executables.push_back(
        std::make_unique<fb::ExecutableT>(*b.program().executables[0]));
    b.program().executables.back()->variant_of = 1;
  });
}

TEST_F(Format, HomesAndOrdersAreDevicesOfTheProgram) {
  refused("its home is device 2 of 2", awayModule(),
          [](auto &b) { b.program().home = 2; });
  refused("its home is device 4294967295 of 2", awayModule(),
          [](auto &b) { b.program().home = UINT32_MAX; });
  // Kernels then are given bytes of another device.
  refused("given bytes of another", awayModule(),
          [](auto &b) { b.program().home = 0; });
  auto order = [](ModuleBuilder &b) -> fb::OrderT & {
    return *b.programEntry().commands[1].AsOrder();
  };
  refused("an order of devices 2 and 0 of 2", orderedModule(),
          [&](auto &b) { order(b).device = 2; });
  refused("an order of devices 1 and 2 of 2", orderedModule(),
          [&](auto &b) { order(b).after = 2; });
  refused("an order of devices 1 and 1 of 2", orderedModule(),
          [&](auto &b) { order(b).after = 1; });
}

TEST_F(Format, WhatIsReadByTheSessionLiesAtHome) {
  refused("a condition does not lie at home", sharedModule(), [](auto &b) {
    fb::CheckT check;
    check.message = "no";
    check.condition =
        b.bind(fb::Storage::Arena, 1, constant(0), constant(1), false);
    fb::CommandUnion command;
    command.Set(std::move(check));
    b.programEntry().commands.push_back(std::move(command));
  });
  refused("its value does not lie at home", sharedModule(), [](auto &b) {
    auto size = std::make_unique<fb::OutputSizeT>();
    size->value =
        b.bind(fb::Storage::Arena, 1, constant(0), constant(8), false);
    b.programEntry().output_sizes.push_back(std::move(size));
  });
}

TEST_F(Format, VariantsHaveABaseOfTheirDevice) {
  auto with = [&](const char *why, auto change) {
    refused(why, sampleModule(), [&](ModuleBuilder &b) {
      b.program().required_features.push_back(ASHLAR_MODULE_FORMAT_1_1);
      auto &list = b.program().executables;
      for (int i = 0; i < 2; ++i)
        list.push_back(std::make_unique<fb::ExecutableT>(*list[0]));
      change(list);
    });
  };
  with("is a form of 1, which", [](auto &l) { l[1]->variant_of = 2; });
  with("is a form of 2, which", [](auto &l) { l[1]->variant_of = 3; });
  with("is a form of 8, which", [](auto &l) { l[1]->variant_of = 9; });
  with("is a form of 1, which",
       [](auto &l) { l[1]->variant_of = 1, l[2]->variant_of = 2; });
  refused("is in a variant of an executable", sampleModule(), [](auto &b) {
    b.program().required_features.push_back(ASHLAR_MODULE_FORMAT_1_1);
    auto &list = b.program().executables;
    list.push_back(std::make_unique<fb::ExecutableT>(*list[0]));
    list[1]->variant_of = 1;
    b.program().kernels[0]->executable = 1;
  });
}

TEST_F(Format, BlocksGridsAndSharedMemoryAreSound) {
  auto with = [&](const char *why, auto change) {
    refused(why, mappedModule(), [&](ModuleBuilder &b) {
      change(*b.program().kernels[0], dispatchOf(b));
    });
  };
  const char *none = "is none that a machine has";
  with(none, [](auto &k, auto &) { k.block = {0}; });
  with(none, [](auto &k, auto &) { k.block = {1, 1, 1, 1}; });
  with(none, [](auto &k, auto &) { k.block = {UINT32_MAX, UINT32_MAX}; });
  with(none, [](auto &k, auto &) { k.cluster = {1 << 16, 2}; });
  with(none, [](auto &k, auto &) { k.shared_bytes = UINT64_MAX; });
  with(none, [](auto &k, auto &d) { k.block.clear(), d.grid.clear(); });
  with("has a grid of 0 numbers", [](auto &, auto &d) { d.grid.clear(); });
  with("has a grid of 4 numbers", [](auto &, auto &d) {
    d.grid.push_back(constant(1)), d.grid.push_back(constant(1));
  });
  with("a grid has 20 workgroups",
       [](auto &, auto &d) { d.grid[0] = constant(5); });
  with("a grid overflows",
       [](auto &, auto &d) { d.grid[0] = constant(INT64_MAX); });
  with("", [](auto &, auto &d) { d.grid[0] = constant(-1); });
  with("", [](auto &, auto &d) {
    d.grid[0] = expression({{fb::SizeOpcode::Symbol, 0}}, 1);
  });
}

TEST_F(Format, ArgumentsAreWhatADispatchGives) {
  auto with = [&](const char *why, auto change) {
    refused(why, mappedModule(), [&](ModuleBuilder &b) {
      change(b.program().kernels[0]->arguments);
    });
  };
  const char *none = "is neither given to it nor a tensor map";
  with(none, [](auto &a) { a[1]->index = 2; });
  with(none, [](auto &a) { a[1]->kind = fb::ParameterKind::Integer; });
  with(none, [](auto &a) { a[1]->kind = fb::ParameterKind(3); });
  with(none, [](auto &a) { a[1]->kind = fb::ParameterKind::TensorMap; });
  with(none, [](auto &a) { a[0]->kind = fb::ParameterKind::Pointer; });
  with(none, [](auto &a) { a[0]->index = 2; });
  with(none, [](auto &a) { a[0]->map->box.clear(); });
  with(none, [](auto &a) { a[0]->map->steps.push_back(1); });
  with(none, [](auto &a) { a[0]->map->strides.pop_back(); });
  with(none, [](auto &a) { a[0]->map->sizes.clear(); });
  const char *leaves = "a tensor map leaves its 1024 bytes";
  with(leaves, [](auto &a) { a[0]->map->sizes[1] = constant(17); });
  with(leaves, [](auto &a) { a[0]->map->sizes[0] = constant(0); });
  with(leaves, [](auto &a) { a[0]->map->sizes[1] = constant(INT64_MAX); });
  with(leaves, [](auto &a) { a[0]->map->strides[0] = constant(8); });
  with(leaves, [](auto &a) { a[0]->map->strides[1] = constant(INT64_MAX); });
  with(leaves, [](auto &a) { a[0]->map->type = fb::ElementType(99); });
  with(leaves, [](auto &a) { a[0]->map->box[0] = 0; });
  with(leaves, [](auto &a) { a[0]->map->steps[0] = UINT32_MAX; });
  with(leaves, [](auto &a) { a[0]->map->swizzle = 48; });
}

} // namespace
