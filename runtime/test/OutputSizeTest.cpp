// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outputs whose sizes the program finds out.

#include "Loaded.h"

using namespace ashlar::test;

namespace {

class OutputSizes : public RuntimeTest {
protected:
  OutputSizes() : x(sampleCount), z(sampleCount) {
    inputs[0] = tensorOf(x.data(), sampleCount);
    inputs[1].data = count;
    inputs[1].capacity = sizeof(int64_t);
    inputs[1].type = ASHLAR_TYPE_I64;
    inputs[1].rank = 1;
    inputs[1].shape[0] = 1;
    output = tensorOf(z.data(), sampleCount);
  }

  Floats x, z;
  alignas(64) int64_t count[8] = {};
  ashlar_tensor_t inputs[2] = {};
  ashlar_tensor_t output = {};
};

TEST_F(OutputSizes, AreInTheShapeAfterARun) {
  load(sizedModule());
  start();
  for (int64_t wanted : {3, 0, 256, 17}) {
    count[0] = wanted;
    ASSERT_OK(ashlar_session_run(session, "main", inputs, 2, &output, 1));
    EXPECT_EQ(output.shape[0], wanted);
  }
}

TEST_F(OutputSizes, CanBeAskedForAfterARunOfBindings) {
  load(sizedModule());
  start();
  ashlar_bindings_t *bindings = nullptr;
  ASSERT_OK(
      ashlar_bindings_create(session, entry, inputs, 2, &output, 1, &bindings));
  int64_t shape[1] = {};
  ASSERT_OK(ashlar_bindings_output_shape(bindings, 0, shape));
  EXPECT_EQ(shape[0], sampleCount);
  for (int64_t wanted : {5, 200}) {
    count[0] = wanted;
    ASSERT_OK(ashlar_bindings_run(bindings));
    ASSERT_OK(ashlar_bindings_output_shape(bindings, 0, shape));
    EXPECT_EQ(shape[0], wanted);
  }
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_bindings_output_shape(bindings, 1, shape));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_bindings_output_shape(bindings, 0, nullptr));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_bindings_output_shape(nullptr, 0, shape));
  ashlar_bindings_release(bindings);
}

TEST_F(OutputSizes, CanBeAskedForAfterAnAsynchronousRun) {
  load(sizedModule());
  start();
  count[0] = 9;
  ashlar_event_t *event = nullptr;
  ASSERT_OK(
      ashlar_session_run_async(session, entry, inputs, 2, &output, 1, &event));
  int32_t done = 0;
  ASSERT_OK(ashlar_event_wait(event, ASHLAR_FOREVER, &done));
  int64_t shape[1] = {};
  ASSERT_OK(ashlar_session_output_shape(session, entry, 0, shape));
  EXPECT_EQ(shape[0], 9);
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_output_shape(session, entry, 7, shape));
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_output_shape(nullptr, entry, 0, shape));
  ashlar_event_release(event);
}

TEST_F(OutputSizes, AreDescribedAsOpen) {
  load(sizedModule());
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  ASSERT_OK(ashlar_entry_output(entry, 0, &info));
  EXPECT_EQ(info.shape[0], -1);
  EXPECT_EQ(info.maximum[0], sampleCount);
  EXPECT_STREQ(info.shape_text, "<=256");
}

TEST_F(OutputSizes, ThatCannotBeAreRefused) {
  load(sizedModule());
  start();
  for (int64_t wrong : {int64_t(-1), int64_t(257), INT64_MAX, INT64_MIN}) {
    count[0] = wrong;
    EXPECT_CODE(ASHLAR_INTERNAL,
                ashlar_session_run(session, "main", inputs, 2, &output, 1));
  }
}

TEST_F(OutputSizes, OfHostileModulesAreRefused) {
  auto expectCorrupt = [&](auto change) {
    ModuleBuilder builder = sizedModule();
    change(*builder.programEntry().output_sizes[0]);
    ModuleBytes file = builder.build();
    ashlar_load_options_t options = trusting();
    ashlar_module_t *tried = nullptr;
    EXPECT_CODE(ASHLAR_CORRUPT,
                ashlar_module_load_memory(runtime, file.data(), file.size(),
                                          &options, &tried));
    ashlar_module_release(tried);
  };
  expectCorrupt([](auto &size) { size.output = 1; });
  expectCorrupt([](auto &size) { size.dimension = 1; });
  expectCorrupt([](auto &size) { size.value.reset(); });
  expectCorrupt([](auto &size) { size.value->length = constant(4); });
  expectCorrupt([](auto &size) { size.value->offset = constant(8); });
  expectCorrupt([](auto &size) { size.value->index = 2; });
}

} // namespace
