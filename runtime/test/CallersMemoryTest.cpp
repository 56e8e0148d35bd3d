// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of the caller's in the memory of any device of the runtime, whatever
// the session runs on: numbers, what is copied, and what is refused.

#include "Place.h"
#include "ProductTest.h"

using namespace ashlar::test;
using ashlar::runtime::Status;

namespace {

/// What is run, and where its inputs and outputs are at home.
struct Model {
  const char *name;
  ModuleBuilder (*make)();
  const char *device, *home;
  std::vector<int64_t> shape; // of each tensor
  size_t inputs;
  float factor = 2;
};

void PrintTo(const Model &model, std::ostream *out) { *out << model.name; }

using Numbers = std::vector<float>;

Numbers reference(const Model &model, const std::vector<Numbers> &in) {
  Numbers z(in[0].size());
  for (size_t i = 0; i < z.size(); ++i) {
    float sum = 0;
    for (size_t k = 0; model.inputs == 1 && k < 8; ++k)
      sum += in[0][i / 8 * 8 + k] * float(int((k + i % 8) % 5) - 2);
    z[i] = model.inputs == 1
               ? model.factor * std::max(sum, 0.f)
               : model.factor * (in[0][i] + sampleStep * float(i)) + in[1][i];
  }
  return z;
}

class CallersMemory : public RuntimeTest {
protected:
  /// Null for "host".
  ashlar_device_t *open(const std::string &name) {
    ashlar_device_t *device = nullptr;
    if (name != "host")
      EXPECT_EQ(ashlar_device_open(runtime, name.c_str(), &device).code,
                ASHLAR_OK);
    return device;
  }
  uint64_t staged() {
    ashlar_session_statistics_t statistics = ASHLAR_SESSION_STATISTICS_INIT;
    EXPECT_EQ(ashlar_session_query(session, &statistics).code, ASHLAR_OK);
    return statistics.staged_tensors;
  }
  void startOn(const char *device) {
    loadOn(device, sampleModule());
    start();
  }
};

class CallersMemoryOf : public CallersMemory,
                        public testing::WithParamInterface<Model> {
protected:
  struct Tensors {
    std::vector<std::unique_ptr<Place>> places; // the output's last
    std::vector<ashlar_tensor_t> inputs;
    ashlar_tensor_t output;
    uint64_t staged = 0; // of a run
  };
  /// The memory that a kernel at home finds at such a place.
  static std::string memoryOf(const std::string &place) {
    return place == "cpu:0" ? "host" : place;
  }
  Tensors tensorsAt(const std::string &in, const std::string &out,
                    uint64_t offset) {
    Tensors made;
    std::string home = memoryOf(GetParam().home);
    size_t count = 1;
    for (int64_t size : GetParam().shape)
      count *= size_t(size);
    for (size_t i = 0; i <= GetParam().inputs; ++i) {
      const std::string &at = i < GetParam().inputs ? in : out;
      made.places.push_back(std::make_unique<Place>(open(at), count, offset));
      made.inputs.push_back(made.places.back()->tensor(GetParam().shape));
      made.staged += offset != 0 || memoryOf(at) != home;
    }
    made.output = made.inputs.back();
    made.inputs.pop_back();
    return made;
  }
  /// Fills the inputs, calls run() and looks at the output.
  template <typename Run> void check(Tensors &at, int seed, const Run &run) {
    std::vector<Numbers> in;
    size_t count = at.places.back()->read().size();
    at.places.back()->fill(Numbers(count, -999));
    for (size_t i = 0; i < at.inputs.size(); ++i) {
      in.emplace_back(count);
      for (size_t j = 0; j < count; ++j)
        in[i][j] = float(int(j * 7 + i + size_t(seed)) % 11 - 5);
      at.places[i]->fill(in[i]);
    }
    uint64_t before = staged();
    ashlar_status_t status = run();
    ASSERT_EQ(status.code, ASHLAR_OK) << status.message << status.place;
    EXPECT_EQ(staged() - before, at.staged);
    EXPECT_EQ(at.places.back()->read(), reference(GetParam(), in));
  }
  ashlar_status_t runOnce(Tensors &at) {
    return ashlar_session_run(session, "main", at.inputs.data(),
                              at.inputs.size(), &at.output, 1);
  }
  ashlar_status_t runAsync(Tensors &at) {
    ashlar_event_t *event = nullptr;
    int32_t done = 0;
    ashlar_status_t status =
        ashlar_session_run_async(session, entry, at.inputs.data(),
                                 at.inputs.size(), &at.output, 1, &event);
    if (status.code == ASHLAR_OK)
      status = ashlar_event_wait(event, ASHLAR_FOREVER, &done);
    ashlar_event_release(event);
    return status;
  }
  void runBound(Tensors &at) {
    ashlar_bindings_t *bindings = nullptr;
    ASSERT_OK(ashlar_bindings_create(session, entry, at.inputs.data(),
                                     at.inputs.size(), &at.output, 1,
                                     &bindings));
    for (int round = 0; round < 4; ++round) {
      // What was given back is asked for again.
      if (round == 2)
        ASSERT_OK(ashlar_session_trim(session, nullptr));
      check(at, round, [&] { return ashlar_bindings_run(bindings); });
    }
    ashlar_bindings_release(bindings);
  }
};

TEST_P(CallersMemoryOf, IsReadAndWrittenWhereverItIs) {
  loadOn(GetParam().device, GetParam().make());
  start();
  const char *places[] = {"host", "cpu:0", "systolic:0", "guard:0", "guard:1"};
  for (const char *in : places)
    for (const char *out : places)
      for (uint64_t offset : {0, 4, 60}) {
        SCOPED_TRACE(testing::Message()
                     << in << " to " << out << " + " << offset);
        Tensors at = tensorsAt(in, out, offset);
        ashlar_tensor_t given = at.output;
        check(at, 1, [&] { return runOnce(at); });
        check(at, 2, [&] { return runAsync(at); });
        runBound(at);
        EXPECT_EQ(at.output.data, given.data);
        EXPECT_EQ(at.output.device, given.device);
      }
}

// Nobody sees the memory of either of guard's two devices.
const Model models[] = {
    {"OnTheHost", sampleModule, "cpu:0", "cpu:0", {sampleCount}, 2},
    {"OnADevice", sampleModule, "guard:0", "guard:0", {sampleCount}, 2},
    {"OnTheSecond", sampleModule, "guard:1", "guard:1", {sampleCount}, 2},
    {"BesideACompanion", sharedModule, "cpu:0", "cpu:0", {8, 8}, 1},
    {"OnADeviceBesideOne", sharedModule, "guard:0", "guard:0", {8, 8}, 1},
    {"OfACompanion", awayModule, "systolic:0", "cpu:0", {8, 8}, 1},
    {"OnASimulator",
     [] { return systolicModule(); },
     "systolic:0",
     "systolic:0",
     {8, 8},
     1,
     1},
};
INSTANTIATE_TEST_SUITE_P(All, CallersMemoryOf, testing::ValuesIn(models),
                         [](const auto &info) { return info.param.name; });

TEST_F(CallersMemory, OfAnotherRuntimeIsRefused) {
  startOn("cpu:0");
  ashlar_runtime_t *other = nullptr;
  ashlar_device_t *device = nullptr;
  ASSERT_OK(ashlar_runtime_create(nullptr, &other));
  ASSERT_OK(ashlar_device_open(other, "guard:0", &device));
  SampleArguments a;
  a.inputs[1].device = device;
  ashlar_status_t status =
      ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1);
  EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(status.message, "guard:0 of another runtime; expected"),
            nullptr)
      << status.message;
  EXPECT_NE(std::strstr(status.place, "inputs[1]"), nullptr) << status.place;
  a.inputs[1].device = nullptr;
  a.outputs[0].device = device;
  EXPECT_CODE(ASHLAR_INVALID_ARGUMENT,
              ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  a.outputs[0].device = nullptr;
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  a.expectResult();
  ashlar_runtime_release(other);
}

TEST_F(CallersMemory, ThatIsAnInputAndAnOutputIsRefused) {
  startOn("cpu:0");
  Place both(open("guard:0"), sampleCount, 0);
  SampleArguments a;
  a.inputs[1] = a.outputs[0] = both.tensor({sampleCount});
  ashlar_status_t status =
      ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1);
  EXPECT_EQ(status.code, ASHLAR_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(status.message, "shares memory with input 1"), nullptr)
      << status.message;
}

TEST_F(CallersMemory, IsCopiedWithinTheBudget) {
  constexpr uint64_t size = sampleCount * sizeof(float);
  ASSERT_OK(ashlar_budget_create(runtime, "small", 1 << 20, &budget));
  startOn("guard:0");
  ashlar_budget_statistics_t statistics = ASHLAR_BUDGET_STATISTICS_INIT;
  ASSERT_OK(ashlar_budget_query(budget, &statistics));
  ASSERT_OK(ashlar_budget_set_limit(budget, statistics.current + 2 * size));
  Place x(open("guard:1"), sampleCount, 0), z(open("guard:1"), sampleCount, 0);
  SampleArguments a;
  a.inputs[0] = a.inputs[1] = x.tensor({sampleCount});
  a.outputs[0] = z.tensor({sampleCount});
  ashlar_status_t status =
      ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1);
  EXPECT_EQ(status.code, ASHLAR_OUT_OF_BUDGET);
  EXPECT_NE(std::strstr(status.message, "of staging"), nullptr)
      << status.message;
  ASSERT_OK(ashlar_budget_set_limit(budget, statistics.current + 3 * size));
  ASSERT_OK(ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
}

TEST_F(CallersMemory, OfALostDeviceFailsAloneWithTheFirstCause) {
  startOn("cpu:0");
  ashlar_device_t *device = open("guard:1");
  Place y(device, sampleCount, 0);
  y.fill(Numbers(sampleCount, 1));
  SampleArguments a, b;
  a.inputs[1] = y.tensor({sampleCount});
  ashlar_bindings_t *bindings = nullptr;
  ASSERT_OK(ashlar_bindings_create(session, entry, a.inputs, 2, a.outputs, 1,
                                   &bindings));
  ASSERT_OK(ashlar_bindings_run(bindings));
  device->lose(Status(ASHLAR_INTERNAL, "it burns"));
  ashlar_status_t status = ashlar_bindings_run(bindings);
  EXPECT_EQ(status.code, ASHLAR_DEVICE_LOST);
  EXPECT_STREQ(status.message, "it burns");
  EXPECT_STREQ(status.place, "guard:1");
  EXPECT_CODE(ASHLAR_DEVICE_LOST,
              ashlar_session_run(session, "main", a.inputs, 2, a.outputs, 1));
  ashlar_bindings_release(bindings);
  ASSERT_OK(ashlar_session_run(session, "main", b.inputs, 2, b.outputs, 1));
  b.expectResult();
}

} // namespace
