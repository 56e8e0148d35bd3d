// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States: an input and the output that it becomes, in one place of the
// caller's.

#include "Loaded.h"

using namespace ashlar::test;
namespace fb = ashlar::fb;

namespace {

constexpr int64_t part = 16, most = 4 * part;
constexpr uint64_t stateBytes = (most + part) * sizeof(float);

Size bytesOf(int64_t parts, int64_t largest) {
  return expression({{fb::SizeOpcode::Symbol, 0},
                     {fb::SizeOpcode::Constant, parts * part},
                     {fb::SizeOpcode::Add, 0},
                     {fb::SizeOpcode::Constant, sizeof(float)},
                     {fb::SizeOpcode::Multiply, 0}},
                    largest * int64_t(sizeof(float)));
}

std::vector<Size> oneDim(Size size) {
  std::vector<Size> dims;
  dims.push_back(std::move(size));
  return dims;
}

/// all = past and then added, where past is; sum is a copy of it.
ModuleBuilder stateModule() {
  ModuleBuilder b;
  b.addInput("past", oneDim(symbol(0, most)));
  b.addInput("added", oneDim(constant(part)));
  b.addOutput("all", oneDim(expression({{fb::SizeOpcode::Symbol, 0},
                                        {fb::SizeOpcode::Constant, part},
                                        {fb::SizeOpcode::Add, 0}},
                                       most + part)));
  b.addOutput("seen", oneDim(expression({{fb::SizeOpcode::Symbol, 0},
                                         {fb::SizeOpcode::Constant, part},
                                         {fb::SizeOpcode::Add, 0}},
                                        most + part)));
  b.entry().inputs[0]->state_bytes = stateBytes;
  b.entry().outputs[0]->state_bytes = stateBytes;
  b.entry().outputs[0]->state_input = 0;
  auto n = std::make_unique<fb::SymbolT>();
  n->name = "N";
  n->minimum = 0;
  n->maximum = most;
  n->step = part;
  b.module.symbols.push_back(std::move(n));
  int64_t bytes = part * int64_t(sizeof(float));
  b.copy(
      b.bind(fb::Storage::Input, 1, constant(0), constant(bytes), false),
      b.bind(fb::Storage::Output, 0, bytesOf(0, most), constant(bytes), true));
  b.barrier();
  b.copy(b.bind(fb::Storage::Output, 0, constant(0), bytesOf(1, most + part),
                false),
         b.bind(fb::Storage::Output, 1, constant(0), bytesOf(1, most + part),
                true));
  b.contract().state_bytes = stateBytes;
  b.contract().outputs_bytes = stateBytes;
  b.contract().staging_bytes = bytes;
  b.contract().peak_bytes = stateBytes + uint64_t(bytes);
  b.program().required_features.push_back("state");
  return b;
}

class States : public RuntimeTest {
protected:
  ashlar_status_t run(int64_t count, void *data) {
    inputs[0] = tensorOf(memory.data(), most + part);
    inputs[0].shape[0] = count;
    inputs[1] = tensorOf(added.data(), part);
    outputs[0] = {};
    outputs[0].data = data;
    outputs[0].capacity = data ? stateBytes : 0;
    outputs[1] = {};
    return ashlar_session_run(session, "main", inputs, 2, outputs, 2);
  }

  Floats memory{most + part}, added{part}, other{most + part};
  ashlar_tensor_t inputs[2], outputs[2];
};

TEST_F(States, GrowWhereTheyAre) {
  load(stateModule());
  start();
  for (int64_t count = 0; count <= most; count += part) {
    for (int64_t i = 0; i < part; ++i)
      added[size_t(i)] = float(100 * count + i);
    // The output is named, or not.
    ASSERT_OK(run(count, count % 2 ? memory.data() : nullptr));
    EXPECT_EQ(outputs[0].data, memory.data());
    EXPECT_EQ(outputs[0].shape[0], count + part);
    EXPECT_GE(outputs[0].capacity, stateBytes);
    auto *seen = static_cast<const float *>(outputs[1].data);
    for (int64_t i = 0; i < count + part; ++i) {
      float expected = float(100 * (i / part * part) + i % part);
      ASSERT_EQ(memory[size_t(i)], expected) << i;
      ASSERT_EQ(seen[i], expected) << i;
    }
  }
}

TEST_F(States, BoundOnceRunAgain) {
  load(stateModule());
  start();
  ASSERT_OK(run(part, memory.data()));
  ashlar_bindings_t *bindings = nullptr;
  ASSERT_OK(
      ashlar_bindings_create(session, entry, inputs, 2, outputs, 2, &bindings));
  added[3] = 7;
  ASSERT_OK(ashlar_bindings_run(bindings));
  EXPECT_EQ(memory[part + 3], 7);
  ashlar_bindings_release(bindings);
}

TEST_F(States, TellTheirBytes) {
  load(stateModule());
  ashlar_tensor_info_t info = ASHLAR_TENSOR_INFO_INIT;
  ASSERT_OK(ashlar_entry_input(entry, 0, &info));
  EXPECT_EQ(info.maximum_bytes, stateBytes);
  EXPECT_EQ(info.state_input, -1);
  ASSERT_OK(ashlar_entry_output(entry, 0, &info));
  EXPECT_EQ(info.maximum_bytes, stateBytes);
  EXPECT_EQ(info.state_input, 0);
  ASSERT_OK(ashlar_entry_output(entry, 1, &info));
  EXPECT_EQ(info.state_input, -1);
  ashlar_contract_t cost = ASHLAR_CONTRACT_INIT;
  ASSERT_OK(ashlar_entry_contract(entry, &cost));
  EXPECT_EQ(cost.state_bytes, stateBytes);
  start();
  ASSERT_OK(run(part, nullptr));
  // At these sizes, the other output and the other input; the state beside.
  ASSERT_OK(ashlar_entry_contract_at(entry, inputs, 2, &cost));
  EXPECT_EQ(cost.state_bytes, stateBytes);
  EXPECT_EQ(cost.outputs_bytes, 2 * part * sizeof(float));
  EXPECT_EQ(cost.staging_bytes, part * sizeof(float));
  EXPECT_EQ(cost.peak_bytes, 3 * part * sizeof(float));
}

TEST_F(States, AnotherPlaceIsRefused) {
  load(stateModule());
  start();
  expectSays(run(part, other.data()), ASHLAR_INVALID_ARGUMENT,
             "it is the state that input 0, 'past', becomes; give it that "
             "input's data, or NULL");
}

TEST_F(States, TooLittleMemoryIsRefused) {
  load(stateModule());
  start();
  ASSERT_OK(run(part, nullptr));
  inputs[0].capacity = stateBytes - 1;
  expectSays(ashlar_session_run(session, "main", inputs, 2, outputs, 2),
             ASHLAR_INVALID_ARGUMENT,
             "the shape 16 needs 320 bytes, capacity is 319");
}

TEST_F(States, UnalignedMemoryIsRefused) {
  load(stateModule());
  start();
  ASSERT_OK(run(part, nullptr));
  inputs[0].data = memory.data() + 1;
  outputs[0].data = nullptr;
  expectSays(ashlar_session_run(session, "main", inputs, 2, outputs, 2),
             ASHLAR_INVALID_ARGUMENT,
             "it is a state; expected memory that is aligned to 64 bytes, "
             "where the module's inputs are");
}

TEST_F(States, OthersMayNotShareTheirPlace) {
  load(stateModule());
  start();
  ASSERT_OK(run(part, nullptr));
  outputs[1].data = memory.data();
  outputs[1].capacity = stateBytes;
  expectSays(ashlar_session_run(session, "main", inputs, 2, outputs, 2),
             ASHLAR_INVALID_ARGUMENT, "it shares memory with input 0, 'past'");
}

TEST_F(States, EndsThatDoNotMatchAreCorrupt) {
  const char *why = "an output is the state of no input of its bytes";
  ModuleBuilder b = stateModule();
  b.entry().outputs[0]->state_input = 7;
  expectCorrupt(std::move(b), "an input that is not there", why);
  b = stateModule();
  b.entry().outputs[0]->state_input = 1;
  expectCorrupt(std::move(b), "an input that is no state", why);
  b = stateModule();
  b.entry().outputs[0]->state_bytes = stateBytes + 64;
  expectCorrupt(std::move(b), "other bytes", why);
  b = stateModule();
  b.entry().outputs[0]->state_bytes = flatbuffers::nullopt;
  expectCorrupt(std::move(b), "no bytes", why);
  b = stateModule();
  b.program().required_features.clear();
  expectCorrupt(std::move(b), "older runtimes would pass over it",
                "a state needs the feature state");
  b = stateModule();
  b.entry().inputs[0]->state_bytes = 64;
  b.entry().outputs[0]->state_bytes = 64;
  expectCorrupt(std::move(b), "fewer bytes than elements",
                "the largest shape is negative or has too many bytes");
}

} // namespace
